"""The checks of this repository; ``.ci/run`` runs the same sessions from nothing.

``nox`` runs them all, ``nox -s typing`` runs one, ``nox -l`` lists them.
"""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2025.2"
nox.options.sessions = ["lint", "typing", "tests", "docs", "build", "fuzz"]
nox.options.reuse_existing_virtualenvs = True

PYTHONS = ["3.11", "3.12", "3.13"]


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def typing(session: nox.Session) -> None:
    """Check all types strictly, those that users' checkers see included."""
    session.install("-e", ".[dev]")
    session.run("mypy")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests; every line and branch of the package has to be covered."""
    session.install("-e", ".[test]")
    # Few random inputs: what is covered must not hang on how many are tried.
    session.run(
        "pytest", "--numprocesses=auto", "--cov", "--hypothesis-profile=brief", *session.posargs
    )


@nox.session
def docs(session: nox.Session) -> None:
    """Build the pages with every reference resolved; their examples are among the tests."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "-n", "-q", "-b", "html", "docs", "docs/_build/html")


@nox.session
def build(session: nox.Session) -> None:
    """Build sdist and wheel, and use the wheel alone in an empty environment."""
    session.install("build")
    dist = Path(session.create_tmp()) / "dist"
    session.run("python", "-m", "build", "--outdir", str(dist))
    session.run("python", "scripts/check_wheel.py", str(dist))


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz every source for two seconds, where atheris can be installed."""
    session.install("-e", ".[fuzz]")
    briefly = ["--seconds=2", "--jobs=2"]
    session.run("python", "tests/fuzz/run.py", *(session.posargs or briefly))


@nox.session
def mutation(session: nox.Session) -> None:
    """Mutate the rooms that decide, or those that are named: a test has to fail."""
    session.install("-e", ".[mutation]")
    session.run("python", "tests/mutation/run.py", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Print the ratios of every benchmark, quickly."""
    session.install("-e", ".")
    for script in sorted(Path("benchmarks").glob("*.py")):
        session.run("python", str(script), "--quick")
