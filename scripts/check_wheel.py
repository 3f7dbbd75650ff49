"""Check that the built wheel is whole and works alone.

Usage: ``python scripts/check_wheel.py DIST`` with the folder that ``python -m build`` wrote. The
wheel must hold every file of the package, and in an empty virtual environment, installed with
nothing but its own requirements, every module but the command line's must import and one reading
must come out right.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

USE_IT = """
import importlib, pkgutil
import ctxmeasure as cm

for module in pkgutil.walk_packages(cm.__path__, "ctxmeasure."):
    if module.name.split(".")[1] not in {"cli", "testing"}:  # these need an extra
        importlib.import_module(module.name)

usage = {"input_tokens": 1000, "cache_read_input_tokens": 40000,
         "cache_creation_input_tokens": 500, "output_tokens": 20}
payload = {"session_id": "s", "version": "2.1.332", "model": {"id": "claude-opus-4-5"},
           "context_window": {"context_window_size": 200000, "current_usage": usage}}
observation = cm.observe("claude.status_line", payload)
assert isinstance(observation, cm.Observed), observation
assert observation.value.used_tokens == 41500, observation
print("read", observation.value.used_percent, "% from an installed wheel")
"""


def main(dist: Path) -> None:
    """Check the only wheel in *dist*; raises on the first fault."""
    (wheel,) = dist.glob("*.whl")
    _check_contents(wheel)
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "venv"
        venv.create(environment, with_pip=True)
        python = str(environment / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        # -I: neither the working folder nor the environment lends it anything.
        subprocess.run([python, "-I", "-W", "error", "-c", USE_IT], check=True, cwd=folder)


def _check_contents(wheel: Path) -> None:
    source = ROOT / "src"
    ours = {
        path.relative_to(source).as_posix()
        for path in (source / "ctxmeasure").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    if ours != shipped:
        sys.exit(f"wheel and source differ: {sorted(ours ^ shipped)}")
    print(f"the wheel holds all {len(ours)} files of the package")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
