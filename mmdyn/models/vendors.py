"""Vendors by host, the environment variables of their keys, and which of them a MODEL from a file may send."""

from __future__ import annotations

import sys
from functools import cache
from ipaddress import ip_address
from pathlib import Path

from mmdyn import plugins
from mmdyn.errors import InputError, UserError
from mmdyn.models.model import Spec


def key_variables(base_url: str) -> tuple[str, ...]:
    """The environment variables that hold a key for the vendor or gateway at an address, the usual one first.

    Args:
        base_url: An address, with or without a path.

    Returns:
        Their names; none where the host is no vendor's, or the address is not https, so that others could read the key.

    >>> key_variables("https://api.anthropic.com/v1"), key_variables("http://127.0.0.1:8000/v1")
    (('ANTHROPIC_API_KEY',), ())
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
"""The advice in an error about a secret."""


def without_secrets(text: str, where: str | Path) -> str:
    """Rewrite a MODEL that a file names, so that it sends no environment variable but a vendor's key to that vendor.

    Every reader of MODELs in files calls this. A server on this machine may get any variable.

    Args:
        text: A text from the file; one that is no MODEL stays as it is.
        where: The file, for messages.

    Returns:
        The text, with `api_key_env=none` where a key is held back; a message then tells the user.

    Raises:
        InputError: The MODEL names a variable for another server.
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
    """Tell whether a server that a file names may get a variable: a vendor its own key, this machine any."""
    return variable in key_variables(address) or is_this_machine(address)


def is_this_machine(address: str) -> bool:
    """Tell whether an address is this machine's by its host alone, without a name server.

    >>> is_this_machine("http://localhost:8000/v1"), is_this_machine("https://api.openai.com/v1")
    (True, False)
    """
    from yarl import URL

    try:
        host = URL(address).host or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def tell(text: str) -> None:
    """Print a text to standard error, once per process."""
    print(text, file=sys.stderr)
