"""Does a text go by colours, light and dark, or directions? English and Chinese."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_WIDE, _WIDE_ZH = "red|green|blue|bluish|purple|purplish|violet", "红绿蓝紫"
"""Hues that are called so from dark to light."""

_GREY, _GREY_ZH = "black|white|whitish|gr[ae]y", "黑白灰"
"""Colours without a hue."""

_NARROW = "orange|yellow|pink|brown|cyan|magenta|teal|turquoise|navy|crimson|scarlet|maroon|beige|lavender"
_NARROW_ZH = "橙黄粉棕褐青"
"""Hues whose names say how light they are."""

_LIGHT = (
    r"\b(?:dark|bright)(?:er|est|ness)?\b|\blight(?:er|est)\b"
    r"|\b(?:sky|lime|midnight|forest|olive|mint|baby|royal)[ -]?(?:blue|green)"
    rf"|\b(?:light|deep|pale)[ -](?:colou?r|shade|tone|{_WIDE}|{_GREY}|{_NARROW})"
    r"|[粉橙棕褐天墨藏][红绿蓝紫]"
    rf"|[深浅淡暗亮][{_WIDE_ZH}{_GREY_ZH}{_NARROW_ZH}]?色|[明较更最]亮|[较更最]暗|亮度|明暗"
)


def _names(english: str, chinese: str) -> str:
    """After a Chinese name stands what it colours, so that the 红 of a name and the 黄 of a river are none."""
    return (
        rf"\b(?:{english})(?:er|est|d?ish|s)?\b|[{chinese}](?:[色球块格框棋线点光灯旗]|部分)|[金银]色"
        rf"|[变呈显发泛褪](?:成|为)?了?[{chinese}]"
        r"|\bcolou?r(?:s|ed|ful)?\b|[彩颜][色球块格框棋]"
    )


_COMMAND = re.compile(r"\\(?:[a-z]*colou?r[a-z]*\s?\{[^{}]*\}|[A-Za-z]+)")
"""A command of LaTeX, such as \\left; of one that colours print with the colour's name."""

_BOTH = "[黑白][、和与]?[黑白]"
_HUE = re.compile(_names(f"{_WIDE}|{_NARROW}", _WIDE_ZH + _NARROW_ZH), re.IGNORECASE)
_COLOUR = re.compile(f"{_names(f'{_WIDE}|{_GREY}|{_NARROW}', _WIDE_ZH + _GREY_ZH + _NARROW_ZH)}|{_BOTH}", re.IGNORECASE)
_SHADE = re.compile(f"{_LIGHT}|{_names(f'{_GREY}|{_NARROW}', _GREY_ZH + _NARROW_ZH)}|{_BOTH}", re.IGNORECASE)


def names_a_colour(text: str) -> str:
    """The first colour that a text names, or that it speaks of colours; the empty string where it does neither."""
    return _first(_COLOUR, text)


def names_a_hue(text: str) -> str:
    """The same where black, white and grey count as no colours: the first hue, or that it speaks of colours."""
    return _first(_HUE, text)


def names_a_shade(text: str) -> str:
    """The first word that would be wrong if light and dark changed places and hues stayed; else the empty string.

    That is light and dark themselves, black, white and grey, colours in general, and the names that say how light a hue
    is: brown is a dark orange, pink a light red, and a yellow that is dark is called olive.
    """
    return _first(_SHADE, text)


def known_by_colour(text: str) -> str:
    """The first thing in a text that is known by its colour, or by what of it is light and dark, such as a flag,
    litmus paper or a phase of the moon; else the empty string."""
    return first_listed("known_by_colour.txt", text)


def first_listed(table: str, text: str) -> str:
    """The first thing in a text that an expression of a table beside this file finds; else the empty string."""
    return _first(listed(table), text)


@cache
def listed(table: str) -> re.Pattern[str]:
    """What any expression of a table beside this file finds."""
    text = files("mmdyn.text").joinpath(table).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return re.compile("|".join(rf"\b(?:{line})\b" if line.isascii() else line for line in lines), re.IGNORECASE)


def _first(words: re.Pattern[str], text: str) -> str:
    found = words.search(_COMMAND.sub(" ", text))
    return found[0] if found else ""


def names_a_direction(text: str) -> str:
    """The first word that may be wrong of a picture that was turned; the empty string where there is none.

    Words of no direction are passed over: what is left of a sum, a price that rises, a name such as North America.
    """
    return first_listed("directions.txt", listed("no_directions.txt").sub("·", text))
