"""The command line: a thin face of the public API. A command is a file here, imported when it is typed."""

from __future__ import annotations

import _thread
import errno
import gc
import io
import os
import re
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

import click

from mmdyn.cli._shared import WholeGroup
from mmdyn.errors import InputError, MmdynError, did_you_mean, printable, unreadable

_LONG = re.compile(r"(?<=[^\n]{2000})[^\n]+")
"""What a line of an error has beyond what anybody reads."""


SECTIONS = {
    "Start": ("demo", "list", "run"),
    "Make sets": ("data", "perturb", "build", "compose", "knowledge"),
    "Evaluate": ("plan", "eval", "score", "compare", "extract", "grade", "judge"),
    "Read results": ("report", "view", "errors", "probe", "runs"),
    "Other": ("fake-server", "completion"),
}
"""The commands in the order in which `mmdyn --help` lists them."""


class Commands(WholeGroup):
    """The group of commands: `fake-server` is cli/fake_server.py, which defines `command`."""

    sections = SECTIONS

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name."""
        files = Path(__file__).parent.glob("*.py")
        return sorted(file.stem.replace("_", "-") for file in files if not file.stem.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import a command's file."""
        known = self.list_commands(ctx)
        if cmd_name not in known:
            raise click.UsageError(f"there is no command {cmd_name!r}{did_you_mean(cmd_name, known)}", ctx)
        command = import_module(f"mmdyn.cli.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="mmdyn")
@click.option("-v", "--verbose", is_flag=True, help="Log steps, retries and failures; RUN/log.txt has them, too.")
def commands(verbose: bool) -> None:
    """Make new questions from old ones, and measure how much of a model's score survives.

    \b
    mmdyn demo
    """
    if verbose:
        from mmdyn.work import log_to_terminal

        log_to_terminal()


def main() -> None:
    """Run a command; a user's mistake ends in one sentence and the exit status of the error's kind."""
    sys.unraisablehook = _interrupt_again
    gc.set_threshold(10_000)  # a command makes few cycles, and looking for them takes a thirtieth of its time
    _open_streams()
    try:
        status = commands.main(standalone_mode=False, prog_name="mmdyn")  # what ctx.exit(status) was told
        sys.stdout.flush()
        sys.exit(status)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except MmdynError as error:
        _tell(error)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        _leave_output()
        sys.exit(128 + 13)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        told = unreadable(error.filename or "a file", error, "mend that and run again")
        if full:
            where = error.filename or "standard output"
            told = InputError(where, None, f"cannot be written ({error.strerror}): free some space and run again")
            _leave_output()
        _tell(told)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # a further one ends the process while it tidies up, without a word
        print("mmdyn: interrupted; what was done is saved, the same command goes on from here", file=sys.stderr)
        sys.exit(130)


def _open_streams() -> None:
    """Where a stream is closed, nothing is read or printed, and no file of ours takes its number; a character that the
    terminal's encoding lacks is printed as an escape."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    nothing = Path(os.devnull)
    sys.stdin = sys.stdin or nothing.open(encoding="utf-8")
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or nothing.open("w", encoding="utf-8")
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        setattr(sys, name, stream)


def _tell(error: MmdynError) -> None:
    print(f"mmdyn: {_LONG.sub('…', printable(str(error)))}", file=sys.stderr)


def _leave_output() -> None:
    """Nothing more can be said to standard output: Python would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised within a callback, such as that of a weak reference, even an interrupt: then the
    command would go on. The same interrupt comes again when the callback has ended."""
    if lost.exc_type is KeyboardInterrupt:
        _thread.start_new_thread(_interrupt_soon, ())  # takes none of the locks that the callback may have come upon
    else:
        sys.__unraisablehook__(lost)


def _interrupt_soon() -> None:
    time.sleep(0.1)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL:  # else the command is ending already
        os.kill(os.getpid(), signal.SIGINT)
