"""Vendors and gateways by their hosts, and the variables that hold their keys: vendors.tsv, a line a host."""

from __future__ import annotations

from functools import cache
from pathlib import Path


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
