"""Find words for colours, for light and dark, and for directions; English and Chinese."""

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
    """Find the first word of a text that names a colour or speaks of colours; "" where there is none.

    >>> names_a_colour("Which of the green squares is larger?"), names_a_colour("Find x.")
    ('green', '')
    """
    return _first(_COLOUR, text)


def names_a_hue(text: str) -> str:
    """Find the first word of a text that names a hue or speaks of colours; black, white and grey are no hues.

    >>> names_a_hue("the black line"), names_a_hue("the blue line")
    ('', 'blue')
    """
    return _first(_HUE, text)


def names_a_shade(text: str) -> str:
    """Find the first word of a text that would be wrong if light and dark were swapped and hues stayed; else "".

    These are words for light and dark, black, white and grey, colours in general, and hues whose names say how light
    they are: brown is a dark orange, pink a light red, and a dark yellow is called olive.

    >>> names_a_shade("the blue line"), names_a_shade("the pink line")
    ('', 'pink')
    """
    return _first(_SHADE, text)


def known_by_colour(text: str) -> str:
    """Find the first thing in a text that is recognised by its colours or its light and dark parts; else "".

    Examples are a flag, litmus paper and a phase of the moon.

    >>> known_by_colour("Dip the litmus paper into the acid.")
    'litmus'
    """
    return first_listed("known_by_colour.txt", text)


def first_listed(table: str, text: str) -> str:
    """Find the first match in a text of any expression in a table beside this file; "" where there is none."""
    return _first(listed(table), text)


@cache
def listed(table: str) -> re.Pattern[str]:
    """Compile the expressions of a table beside this file into one pattern."""
    text = files("mmdyn.text").joinpath(table).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return re.compile("|".join(rf"\b(?:{line})\b" if line.isascii() else line for line in lines), re.IGNORECASE)


def _first(words: re.Pattern[str], text: str) -> str:
    found = words.search(_COMMAND.sub(" ", text))
    return found[0] if found else ""


def names_a_direction(text: str) -> str:
    """Find the first word of a text that may be wrong about a picture that was turned; else "".

    Uses that mean no direction are ignored: what is left of a sum, a price that rises, a name such as North America.

    >>> names_a_direction("What is to the left of the tree?"), names_a_direction("How many apples are left?")
    ('left', '')
    """
    return first_listed("directions.txt", listed("no_directions.txt").sub("·", text))
