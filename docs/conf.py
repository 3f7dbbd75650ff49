"""How Sphinx builds the pages; the tables come from `generate` at the start of every build."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

import ctxmeasure

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402 - needs the path above

project = "ctxmeasure"
author = "The ctxmeasure authors"
version = release = ctxmeasure.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "_generated"]
html_theme = "furo"
html_title = f"ctxmeasure {release}"

default_role = "py:obj"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"
# "Attributes:" sections are the description of a record's fields: autodoc lists them only once.
napoleon_use_ivar = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False

# No network at build time, so what is not ours has no target; nor has a type variable.
nitpick_ignore_regex = [("py:.*", r"(?!ctxmeasure\.).*"), ("py:class", r".*\.StateT")]


def setup(app: Sphinx) -> None:
    """Write the generated tables before the first page is read."""
    app.connect("builder-inited", lambda _: generate.write(HERE / "_generated"))
