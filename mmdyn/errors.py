"""The tree of errors, and the exit status that each one ends in.

MmdynError
├── UserError            2   bad usage or input: one sentence that says how to mend it
│   ├── InputError       2   a file: its name, the line and the mend
│   ├── PluginError      2   an unknown or ambiguous plug-in name, or two plug-ins of one name
│   ├── MissingExtra     2   an optional package is not installed: the pip command that brings it
│   └── ModelError       2   a model that cannot be asked at all (wrong key, URL, name or request)
├── Stopped              3   a limit on requests or cost was reached; the same command goes on
└── Busy                75   somebody else holds the folder

NotNow, a ValueError, is no such error: it fails one piece of work, which is noted and tried again by the next run.

Exit status 1 (done, but some samples failed) and 130 (interrupted, saved) are outcomes rather than errors: a command
returns them after it has printed what it did.
"""

from __future__ import annotations

import difflib
import shlex
import unicodedata
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

_BESIDE = 1000
"""Names in a folder that are looked at for one that is near."""


class MmdynError(Exception):
    """The root: everything that mmdyn raises on purpose."""

    exit_status = 2


class UserError(MmdynError):
    """Bad usage or input; the message is one sentence that says how to mend it."""


class InputError(UserError):
    """A bad place in a file.

    `where` is the file's name as the user typed it, `line` the 1-based line (None where the format has no lines).
    """

    def __init__(self, where: str | Path, line: int | None, problem: str) -> None:
        self.where, self.line, self.problem = str(where), line, problem
        super().__init__(f"{where}:{line}: {problem}" if line is not None else f"{where}: {problem}")


class PluginError(UserError):
    """A plug-in's name that is unknown, ambiguous or taken twice."""


class MissingExtra(UserError):
    """An optional package that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is needed for this and is not installed: pip install 'mmdyn[{extra}]'")


class ModelError(UserError):
    """A model that cannot be asked at all; asking again would fail the same way."""


class Stopped(MmdynError):
    """Asking was stopped on purpose with work left, such as at a limit on cost; what was done is kept."""

    exit_status = 3


class Busy(MmdynError):
    """Another process holds the folder."""

    exit_status = 75


class NotNow(ValueError):
    """One piece of work could not be done now and may succeed later: a request without an answer, too little memory."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' (did you mean x?)' for the nearest known name, or the empty string."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def counted(n: int, what: str, verbs: str = "") -> str:
    """A number of things, and what they do.

    >>> counted(1, "reply"), counted(2, "reply"), counted(1, "sample", "is/are"), counted(0, "key", "is/are")
    ('1 reply', '2 replies', '1 sample is', '0 keys are')
    """
    one, _, several = verbs.partition("/")
    stem = f"{what[:-1]}ie" if what.endswith("y") and what[-2:-1] not in "aeo" else what
    return f"{n} {what if n == 1 else f'{stem}s'} {one if n == 1 else several}".rstrip()


def no_such_path(path: str | Path) -> InputError:
    """The one error for a path at which nothing is, with the nearest name that lies beside it."""
    path = Path(path)
    try:
        beside = [found.name for found in islice(path.parent.iterdir(), _BESIDE)]
    except OSError:
        beside = []
    return InputError(path, None, f"no such file or folder{did_you_mean(path.name, beside)}: check the path")


def unreadable(path: str | Path, error: Exception, mend: str) -> InputError:
    """A file that is not there or cannot be read."""
    if isinstance(error, FileNotFoundError):
        return no_such_path(path)
    return InputError(path, None, f"cannot be read ({getattr(error, 'strerror', None) or error}): {mend}")


def sentence_of(error: Exception) -> str:
    """What is said of an error where it may not end the rest: of one that nobody raised on purpose, its kind too."""
    said = " ".join(str(error).split())[:300]
    return str(error) if isinstance(error, MmdynError) else f"{type(error).__name__}: {said}"


def reason_of(error: Exception) -> str:
    """Why one piece of work failed: a ValueError's own words, meant for this, or what is said of any other error."""
    return str(error) if isinstance(error, ValueError) else sentence_of(error)


def command_line(*words: str | Path) -> str:
    """A command as it can be pasted into a shell."""
    return shlex.join(map(str, words))


def printable(text: str) -> str:
    """Text out of data that is safe on a terminal: control and format characters as escapes (\\x1b), tabs and new lines
    kept."""
    kept = "\n\t\u200c\u200d"  # the joiners are part of words and emoji
    return "".join(
        char if char in kept or unicodedata.category(char)[0] != "C" else char.encode("unicode_escape").decode()
        for char in text
    )
