"""mmdyn view: runs and sets as pages in a browser."""

from __future__ import annotations

import sys
import threading
import webbrowser
from pathlib import Path

import click

from mmdyn.cli._shared import OutPath, quiet_option
from mmdyn.errors import MissingExtra, counted

PORT = 8765
HOST = "127.0.0.1"


@click.command("view")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one.")
@click.option("--host", default=HOST, show_default=True, envvar="MMDYN_VIEW_HOST", help="Address to listen on.")
@click.option("--no-open", is_flag=True, help="Only print the address, in a terminal too.")
@click.option("--export", "folder", metavar="FOLDER", type=OutPath(), help="Write the pages as files instead.")
@quiet_option
def command(path: Path, port: int, host: str, no_open: bool, folder: Path | None, quiet: bool) -> None:
    """Show a run, a set, or a folder of them in a browser.

    \b
    mmdyn view mmdyn-demo
    mmdyn view mmdyn-demo --export pages

    \b
    It listens on 127.0.0.1 alone, to whoever opens the printed address.
    From another machine: ssh -L 8765:127.0.0.1:8765 HOST, and the same address.
    Nothing is written in PATH.
    In a container: --host 0.0.0.0 (the image of the Dockerfile does so), and
    docker run -p 127.0.0.1:8765:8765. Whatever the address, it answers by the
    names 127.0.0.1 and localhost alone.
    """
    try:
        from mmdyn.view import export, serve
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "view") from None

    if folder:
        found = export(path, folder, quiet=quiet)
        click.echo(f"wrote {found.pages} pages and {counted(found.pictures, 'picture')}: open {folder / 'index.html'}")
        return

    def tell(address: str) -> None:
        click.echo(f"open {address}\nCtrl-C ends it")
        if sys.stdout.isatty() and not no_open:
            # A browser that keeps the terminal (or waits for the page) must not keep the viewer from answering it.
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()

    serve(path, port, tell, host)
