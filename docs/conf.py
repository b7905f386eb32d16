"""How the documentation is made into a site: `sphinx-build -W -b html docs build/docs`. It asks no other host."""

from __future__ import annotations

import re
from importlib.metadata import version as installed
from typing import Any

from docutils import nodes
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
html_static_path = ["_static"]
html_js_files = [("site.js", {"defer": "defer"})]
html_show_sphinx = False
html_show_search_summary = False  # it fetches pages, which browsers refuse of files
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _name_fields)
    app.connect("sphinx-click-process-description", _show_examples)
    app.connect("doctree-read", _set_dashes)


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


def _show_examples(app: Sphinx, context: Any, lines: list[str]) -> None:
    """What a command's help sets line by line, its examples, is code, which can be copied."""
    found, inside = list[str](), False
    for line in lines:
        example = line.startswith("| ")
        if example and not inside:
            found += [".. code-block:: sh", ""]
        found.append(f"   {line[2:]}" if example else line)
        inside = example
    lines[:] = found


def _set_dashes(app: Sphinx, page: nodes.document) -> None:
    """Between a parameter and what it is; smart quotes would make dashes of options, too."""
    for text in list(page.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))
