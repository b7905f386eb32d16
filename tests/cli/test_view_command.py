"""What `mmdyn view` says where there is nothing to show, nothing to listen on, or nothing to show it with."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from running import typed

from making import choice, write_set
from mmdyn.errors import InputError, MissingExtra, UserError


def test_there_must_be_something_to_show(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder: name a run, a set, or a folder of them"):
        raise typed("view", tmp_path / "none").exception or AssertionError
    with pytest.raises(InputError, match="there is neither a run nor a set in it"):
        raise typed("view", tmp_path).exception or AssertionError


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    write_set(tmp_path / "set", [choice()])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"port {port} cannot be had"):
            raise typed("view", tmp_path, "--port", port).exception or AssertionError


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid", "::1"])
def test_an_address_that_is_not_of_this_machine(host: str, tmp_path: Path) -> None:
    write_set(tmp_path / "set", [choice()])
    with pytest.raises(
        UserError, match=rf"port 0 cannot be had on {host} \(.+\): name .* an IPv4 address of this machine"
    ):
        raise typed("view", tmp_path, "--port", 0, "--host", host).exception or AssertionError


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("mmdyn.view")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtra, match=r"pip install 'mmdyn\[view\]'"):
        raise typed("view", tmp_path).exception or AssertionError
