"""Vendors by their hosts, the variables that hold their keys, and what a MODEL out of somebody's file may send."""

from __future__ import annotations

import sys
from functools import cache
from ipaddress import ip_address
from pathlib import Path

from mmdyn import plugins
from mmdyn.errors import InputError, UserError
from mmdyn.models.model import Spec


def key_variables(base_url: str) -> tuple[str, ...]:
    """The variables of the environment that hold a key for the vendor or gateway at an address, the usual one first.

    Args:
        base_url: An address, with or without a path.

    Returns:
        Their names. Empty where the address is none of a vendor, such as a server of one's own, and where it is not
        https, under which anybody on the way could read a key.
    """
    from yarl import URL  # what connects reads the host so, too

    try:
        url = URL(base_url)
        host, labels = url.host or "", (url.host or "").split(".", 1)
    except ValueError:
        return ()
    if url.scheme != "https" or len(labels) < 2:
        return ()
    return _by_host().get(host) or _by_host().get(f"*.{labels[1]}", ())


@cache
def _by_host() -> dict[str, tuple[str, ...]]:
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if not line.startswith("#"))
    return {host: tuple(variables.split(",")) for host, variables in pairs}


ALLOW = "read it, then give --allow-secrets"


def without_secrets(text: str, where: str | Path) -> str:
    """A text out of a file; where it is a MODEL, as one that sends no variable but a vendor's key to that vendor.

    Whoever reads MODELs out of a file asks for them so. Those of this machine get whatever they name.

    Args:
        text: What the file holds.
        where: The file.

    Returns:
        The text, with `api_key_env=none` where a key is kept back, which the user is told.

    Raises:
        InputError: It names a variable for another server.
    """
    try:
        spec = Spec.parse(text)
        kind = plugins.load("models", spec.backend)
    except UserError:
        return text
    try:
        text, told = kind.without_secrets(spec) if hasattr(kind, "without_secrets") else (text, "")
    except UserError as error:
        raise InputError(where, None, str(error)) from None
    if told:
        tell(f"{where}: {told}")
    return text


def may_receive(address: str, variable: str) -> bool:
    """Whether a server that a file names may get a variable: a vendor the key that it gave out, this machine any."""
    return variable in key_variables(address) or is_this_machine(address)


def is_this_machine(address: str) -> bool:
    """Whether an address is of this machine by its name alone; no name server is asked."""
    from yarl import URL

    try:
        host = URL(address).host or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def tell(text: str) -> None:
    """Say something on standard error, once."""
    print(text, file=sys.stderr)
