"""What a notebook shows: tables in which all that came from elsewhere is text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from mmdyn.errors import printable

LEFT = "text-align:left;vertical-align:top;white-space:pre-wrap"


class Html(str):
    """Markup that is made here, and so is shown as it is."""


def markup(cell: object) -> Html:
    """A cell as markup; what is no Html is text."""
    return cell if isinstance(cell, Html) else Html(escape(printable(str(cell))))


def html_table(
    heads: Sequence[object], lines: Iterable[Sequence[object]], title: str = "", notes: Sequence[str] = ()
) -> Html:
    """A table under its title, with its notes below."""
    rows = [f'<td style="{LEFT}">' + f'</td><td style="{LEFT}">'.join(map(markup, line)) + "</td>" for line in lines]
    head = f'<th style="{LEFT}">' + f'</th><th style="{LEFT}">'.join(map(markup, heads)) + "</th>"
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    below = "".join(f"<br>{markup(note)}" for note in notes)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return Html(f'<div><b style="{LEFT}">{markup(title)}</b>{table}<small>{below}</small></div>')
