"""A command whose help has headings, and which answers options of former versions with how they are written now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import click
from msgspec import Struct

from mmdyn.errors import UserError

S = TypeVar("S", bound=Struct)


class Command(click.Command):
    """headings: the heading that begins at an option, by its parameter's name. gone: what to write in place of options
    that there were."""

    def __init__(
        self, *args: Any, headings: Mapping[str, str] | None = None, gone: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self._headings, self._gone = headings or {}, gone or {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, those before the first heading with --help under Options."""
        heading, listed = "Options", dict[str, list[tuple[str, str]]]()
        for parameter in self.get_params(ctx):
            heading = self._headings.get(parameter.name or "", heading)
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record:
                listed.setdefault("Options" if "--help" in parameter.opts else heading, []).append(record)
        for title, records in listed.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments. Raises UserError for an option that is gone."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name in self._gone:
                raise UserError(f"{error.option_name} is gone: {self._gone[error.option_name]}") from None
            raise


def take(arguments: dict[str, Any], section: type[S]) -> S:
    """Take the options that are fields of a section out of a command's arguments."""
    return section(**{name: arguments.pop(name) for name in section.__struct_fields__})
