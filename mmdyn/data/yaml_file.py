"""Read YAML of unknown origin, which may be wrong or harmful, or refuse it in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from mmdyn.errors import InputError, unreadable

MOST_BYTES = 1 << 19
MOST_VALUES = 100_000
DEEPEST = 50


class _Twice(yaml.MarkedYAMLError):
    """A key that is given twice, of which PyYAML takes the last."""


class _Loader(yaml.SafeLoader):
    def fetch_flow_collection_start(self, TokenClass: Any) -> None:  # noqa: N803 - PyYAML's name
        if self.flow_level > DEEPEST:  # PyYAML looks through all levels at each token
            raise RecursionError
        super().fetch_flow_collection_start(TokenClass)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen = set[str]()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise _Twice(problem=key.value[:80], problem_mark=key.start_mark)
            seen |= {key.value} if isinstance(key, yaml.ScalarNode) else set()
        return node


def read_yaml(file: Path, mend: str) -> Any:
    """Read a YAML file.

    Args:
        file: The file, of MOST_BYTES at most.
        mend: How to correct a file that is no text, for the error message.

    Raises:
        InputError: The file cannot be read, or is not valid.
    """
    try:
        if file.exists() and not file.is_file():
            raise InputError(file, None, f"is no file: {mend}")
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error, mend) from None
    if len(data) > MOST_BYTES:
        raise InputError(file, None, f"has more than {MOST_BYTES:,} bytes: {mend}")
    return read_yaml_text(text, file)


def read_yaml_text(text: str, where: str | Path) -> Any:
    r"""Read a YAML text.

    Args:
        text: The text.
        where: Its file, for error messages.

    Raises:
        InputError: It is not valid, repeats a key, is nested too deeply, or holds too many values.

    >>> read_yaml_text("models: [a, b]", "file.yaml")
    {'models': ['a', 'b']}
    >>> read_yaml_text("seed: 1\nseed: 2", "file.yaml")
    Traceback (most recent call last):
        ...
    mmdyn.errors.InputError: file.yaml:2: the key 'seed' is given twice: keep one of them
    """
    line, problem = None, ""
    try:
        value = yaml.load(text, _Loader)
        if _count(value, {}, 0) > MOST_VALUES:
            problem = f"holds more than {MOST_VALUES:,} values, what aliases stand for counted each time: write less"
    except yaml.MarkedYAMLError as error:
        twice = f"the key {error.problem!r} is given twice: keep one of them"
        problem = twice if isinstance(error, _Twice) else "is not YAML: mend the line"
        line = error.problem_mark.line + 1 if error.problem_mark else None
    except RecursionError:
        problem = "is nested too deeply: write a plain mapping"
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError) as error:  # PyYAML's, of one value
        problem = f"holds a value that is not read ({' '.join(str(error).split())[:80]}): put it in quotation marks"
    if problem:
        raise InputError(where, line, problem)
    return value


def _count(value: object, known: dict[int, int], depth: int) -> int:
    """The values in a value, what an alias stands for counted each time; many of one that holds itself. Raises
    RecursionError for one that is too deep, ValueError for a number that no setting takes."""
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, int) and abs(value) >= 1 << 64:
        raise ValueError("a number of more than 64 bits")
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = MOST_VALUES + 1
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_count(one, known, depth + 1) for one in inside)
    return known[id(value)]
