"""How the documentation is made into a site: `sphinx-build -W -b html docs build/docs`. It asks no other host."""

from __future__ import annotations

import re
from importlib.metadata import version as installed
from typing import Any

from sphinx.application import Sphinx

project = "mmdyn"
author = "the mmdyn developers"
version = release = installed("mmdyn")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "sphinx_copybutton"]
exclude_patterns = ["pictures/*.py"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
default_role = "code"

smartquotes = False

html_theme = "furo"
html_title = "mmdyn"
html_copy_source = False
html_show_sphinx = False


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _name_fields)


def _name_fields(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings say `name: what it is`, a line each, with what goes on indented: fields, as Sphinx spells them."""
    found, inside = list[str](), False
    for line in lines:
        field = re.match(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*): (?=\S)", line)
        inside_still = bool(field) or (inside and line.startswith(" "))
        if inside_still != inside and found and found[-1]:
            found.append("")
        found.append(f":param {field[1]}: {line[field.end() :]}" if field else line)
        inside = inside_still
    lines[:] = found
