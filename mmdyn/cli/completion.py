"""mmdyn completion: what makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print what makes a shell complete commands and options when you press Tab.

    \b
    mmdyn completion bash

    Switch it on once:

    \b
    bash: eval "$(mmdyn completion bash)" in ~/.bashrc
    zsh:  eval "$(mmdyn completion zsh)" in ~/.zshrc
    fish: mmdyn completion fish > ~/.config/fish/completions/mmdyn.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(click.get_current_context().find_root().command, {}, "mmdyn", "_MMDYN_COMPLETE").source())
