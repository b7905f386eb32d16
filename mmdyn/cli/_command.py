"""A command whose options are the fields of sections."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

import click
from msgspec import Struct
from msgspec.structs import fields

from mmdyn.cli._shared import Number, WholeGroup

S = TypeVar("S", bound=Struct)
Groups = Mapping[str, list[click.Option]]

SPELT = {
    **{"n": ("-n", "--limit"), "quiet": ("-q", "--quiet")},
    **{"modes": ("--mode",), "contexts": ("--context",), "styles": ("--style",), "judges": ("--judge",)},
}
"""Options that are not called like their field."""
METAVARS = {
    **dict.fromkeys(("prompt", "prices"), "FILE"),
    **dict.fromkeys(("judges", "rerank", "rewriter", "variant_judge"), "MODEL"),
    **{"ops": "CHAINS", "take": "FIELD=VALUE:N,…", "base": "BASE,…", "executor": "NAME,…", "layout": "KEY=VALUE,…"},
    **dict.fromkeys(("retriever", "rubric"), "NAME,…"),
    **{
        "cache": "shared|own|none",
        "shots": "K:WAY",
        "examples": "SET,…",
        "is_random": "SET,…",
        "published": "FIELD=VALUE",
    },
    **{"File": "FILE", "Files": "FILE,…", "Runs": "RUN,…"},
}
LARGEST = (1 << 63) - 1
"""Of a seed."""
FROM_ZERO = {"gap", "max_shared"}
"""Numbers that may be 0 though that is not their default."""


class Command(click.Command):
    """What its docstring says of options stands behind a form feed, as `name: text`.

    groups: the options under each heading of its help, after those of the command itself; made when they are needed.
    """

    def __init__(self, *args: Any, groups: Callable[[], Groups] = dict, **more: Any) -> None:
        super().__init__(*args, **more)
        self._groups, self._headings = groups, dict[str | None, str]()
        self.help, _, about = inspect.cleandoc(self.help or "").partition("\f\n")
        said = _said(about)
        for option in self.params:
            if isinstance(option, click.Option):
                option.help = option.help or said.get(option.name or "")

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its parameters, those of the groups at the end."""
        for heading, options in self._groups().items() if not self._headings else ():
            self.params += options
            self._headings |= {option.name: heading for option in options}
        return super().get_params(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings."""
        listed = dict[str, list[tuple[str, str]]]()
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                names, said = record
                heading = self._headings.get(parameter.name, "Options")
                listed.setdefault(heading, []).append((names, said.replace(f"0<=x<={LARGEST}", "x>=0")))
        for heading, records in listed.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class CommandGroup(WholeGroup):
    """A group of such commands."""

    command_class = Command


def options_of(section: type[Struct], *only: str, required: str = "") -> list[click.Option]:
    """An option for each field of a section, or for some, with what its docstring says of it; that it goes with the one
    that is `required` is not said."""
    said, made = _said(inspect.getdoc(section) or ""), []
    for field in fields(section):
        if only and field.name not in only:
            continue
        names = SPELT.get(field.name, (f"--{field.name.replace('_', '-')}",))
        about = said[field.name].removeprefix(f"With --{required}: ")
        typed = re.match(r"[\w.]+[,:=]", about)  # a value of the option, which stands as it is typed
        about = about if typed else about[0].upper() + about[1:]
        more: dict[str, Any] = {"help": about, "required": field.name == required}
        if field.type is bool:
            more |= {"default": field.default, "is_flag": True, "flag_value": not field.default}
        elif field.name != required:
            more |= {"default": None if field.default in ("", ()) else field.default, "show_default": True}
        made.append(click.Option([*names, field.name], **more, **_kind_of(field.name, field.type, field.default)))
    return made


def limits_options() -> list[click.Option]:
    """What asking costs, and where it stops, without how many samples."""
    from mmdyn.run import Limits

    return options_of(Limits, "max_cost", "max_requests", "prices", "concurrency")


def asking_options() -> list[click.Option]:
    """The same, and where replies are kept."""
    from mmdyn.run import Execution

    return [*limits_options(), *options_of(Execution, "cache")]


def scoring_options(*only: str) -> list[click.Option]:
    """How replies are scored."""
    from mmdyn.run import ScoringConfig

    return options_of(ScoringConfig, *only)


def take(arguments: dict[str, Any], section: type[S]) -> S:
    """Take the options that are fields of a section out of a command's arguments; one that is not given is left out."""
    given = {name: arguments.pop(name, None) for name in section.__struct_fields__}
    return section(**{name: value for name, value in given.items() if value is not None})


def _said(doc: str) -> dict[str, str]:
    """What a docstring says of each name."""
    found = re.findall(r"^(\w+): (.*(?:\n    .*)*)", doc, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def _kind_of(name: str, annotation: Any, default: Any) -> dict[str, Any]:
    """How an option's value is read and shown."""
    kinds = (annotation, *get_args(annotation))
    if bool in kinds:
        return {}
    if int in kinds and str not in kinds:
        return {"metavar": "N", "type": click.IntRange(*((0, LARGEST) if default == 0 or name in FROM_ZERO else (1,)))}
    if float in kinds:
        return {"metavar": "X", "type": Number(min=0, min_open=name not in FROM_ZERO)}
    metavar = METAVARS.get(name) or METAVARS.get(getattr(annotation, "__name__", ""), "NAME")
    return {"metavar": metavar, "type": str, "multiple": name == "judges"}
