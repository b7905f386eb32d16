"""Who is answered: wrong tokens, hosts, methods and paths get nothing, over raw sockets too."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from view.conftest import viewed

from making import choice, image_ref, picture, write_set
from mmdyn.keys import sha256


def ask(
    viewer: str, target: str, *headers: str, host: str | None = "127.0.0.1", method: str = "GET", to: str = "127.0.0.1"
) -> tuple[int, str, str]:
    """Status, head and body of a raw request to an address of this machine."""
    lines = [
        f"{method} {target} HTTP/1.1",
        *([f"Host: {host}"] if host is not None else []),
        *headers,
        "Connection: close",
    ]
    with socket.create_connection((to, urlsplit(viewer).port or 0), 10) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.decode("latin-1").partition("\r\n\r\n")
    return int(head.split()[1]), head.lower(), body


@pytest.fixture
def cookie(viewer: str) -> str:
    return cookie_of(viewer)


def cookie_of(viewer: str) -> str:
    parts = urlsplit(viewer)
    return f"Cookie: mmdyn-{parts.port}={parts.query.removeprefix('token=')}"


def test_the_token_becomes_a_cookie_and_leaves_the_address(viewer: str) -> None:
    parts = urlsplit(viewer)
    status, head, _ = ask(viewer, f"/?{parts.query}&text=exam")
    assert status == 303 and "\r\nlocation: /?text=exam\r\n" in f"{head}\r\n"
    (told,) = (line for line in head.split("\r\n") if line.startswith("set-cookie"))
    assert f"mmdyn-{parts.port}=" in told and "httponly" in told and "samesite=strict" in told and "domain" not in told
    assert "\r\nlocation: /evil.example\r\n" in ask(viewer, f"//evil.example?{parts.query}")[1] + "\r\n"


@pytest.mark.parametrize(
    "target", ["/", "/run/x", "/static/view.js", "/picture/" + "0" * 64, "/?token=wrong", "/?token="]
)
def test_without_the_token_nothing_is_shown(viewer: str, target: str) -> None:
    status, head, body = ask(viewer, target)
    assert status == 403 and "set-cookie" not in head
    assert body == "Open the address that mmdyn view printed: it holds the token without which nothing is shown.\n"
    assert ask(viewer, target, f"Cookie: mmdyn-{urlsplit(viewer).port}=wrong")[0] == 403
    assert ask(viewer, target, "Cookie: ;;=\x01")[0] in (400, 403)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost:80:80", "[::1]", "127.0.0.1@evil.example"]
)
def test_another_host_gets_nothing(viewer: str, cookie: str, host: str) -> None:
    status, _, body = ask(viewer, "/", cookie, host=host)
    assert status in (400, 403) and "exam" not in body
    assert ask(viewer, f"/?{urlsplit(viewer).query}", host=host)[0] in (400, 403)


def test_it_listens_elsewhere_where_that_is_asked_for_alone(viewer: str, shown: Path, tmp_path: Path) -> None:
    with pytest.raises(ConnectionRefusedError):
        ask(viewer, "/", to="127.0.0.2")
    with viewed(shown, tmp_path, MMDYN_VIEW_HOST="0.0.0.0") as address:  # as in a container
        assert urlsplit(address).hostname == "127.0.0.1"
        token = f"/?{urlsplit(address).query}"
        assert ask(address, token, to="127.0.0.2")[0] == 303
        assert ask(address, "/", cookie_of(address), to="127.0.0.2")[0] == 200
        assert ask(address, "/", to="127.0.0.2")[0] == 403, "no token"
        assert ask(address, token, host="127.0.0.2", to="127.0.0.2")[0] == 403, "another name"
    with viewed(shown, tmp_path, "--host", "") as address, pytest.raises(ConnectionRefusedError):
        ask(address, "/", to="127.0.0.2")


def test_a_missing_and_a_double_host_get_nothing(viewer: str, cookie: str) -> None:
    assert ask(viewer, "/", cookie, host=None)[0] == 400
    assert ask(viewer, "/", cookie, "Host: evil.example")[0] in (400, 403)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_it_only_shows(viewer: str, cookie: str, method: str) -> None:
    assert ask(viewer, "/", cookie, method=method)[0] == 405


def test_every_answer_has_the_headers(viewer: str, cookie: str) -> None:
    for target in ("/", "/nothing", "/static/view.js"):
        _, head, _ = ask(viewer, target, cookie)
        assert "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';" in head
        assert "unsafe" not in head and "\r\nserver:" not in head
        for line in ("referrer-policy: no-referrer", "x-content-type-options: nosniff", "cache-control: no-store"):
            assert line in head


@pytest.mark.parametrize(
    "target",
    [
        "/static/../security.py", "/static/%2e%2e/security.py", "/static/..%2f..%2frecord.py", "/../../etc/passwd", "/picture/../../etc/passwd",
        "/picture/%2e%2e%2fetc%2fpasswd", "/run/../run.json", "/run/%2e%2e", "/set/..%2fexam", "/static/%00", "/run/run.json", "/etc/passwd",
    ],
)  # fmt: skip
def test_no_path_leads_out(viewer: str, cookie: str, target: str) -> None:
    status, _, body = ask(viewer, target, cookie)
    assert status in (400, 404) and "root:" not in body and "import" not in body


def test_a_picture_is_had_by_its_digest_once_a_page_has_shown_it(viewer: str, cookie: str, shown: Path) -> None:
    (file,) = (shown / "sets" / "exam" / "images").rglob("*.png")
    assert ask(viewer, f"/picture/{file.stem}", cookie)[0] == 404
    place = next(part for part in ask(viewer, "/", cookie)[2].split('"') if part.startswith("/set/"))
    assert f"/picture/{file.stem}" in ask(viewer, place, cookie)[2]
    status, head, body = ask(viewer, f"/picture/{file.stem}", cookie)
    assert status == 200 and "content-type: image/png" in head and "immutable" in head
    assert sha256(body.encode("latin-1")) == file.stem


def test_markup_under_a_picture_s_name_is_no_picture(tmp_path: Path) -> None:
    data = b'<svg xmlns="http://www.w3.org/2000/svg"><script>window.ran = 1</script></svg>'
    folder = tmp_path / "set"
    write_set(folder, [choice("q", images=(image_ref(picture()),))], "pictured", images=[picture()])
    (file,) = (folder / "images").rglob("*.png")
    file.write_bytes(data)
    with viewed(folder, tmp_path / "cache") as address:
        cookie = cookie_of(address)
        place = next(part for part in ask(address, "/", cookie)[2].split('"') if part.startswith("/set/"))
        assert ask(address, place, cookie)[0] == 200
        for name in (file.stem, sha256(data)):
            status, _, body = ask(address, f"/picture/{name}", cookie)
            assert status == 404 and "svg" not in body


def test_a_link_out_of_the_set_is_no_picture(tmp_path: Path) -> None:
    folder, secret = tmp_path / "set", tmp_path / "secret.png"
    write_set(folder, [choice("q", images=(image_ref(picture()),))], "pictured", images=[picture()])
    (file,) = (folder / "images").rglob("*.png")
    file.rename(secret)
    file.symlink_to(secret)
    with viewed(folder, tmp_path / "cache") as address:
        cookie = cookie_of(address)
        place = next(part for part in ask(address, "/", cookie)[2].split('"') if part.startswith("/set/"))
        assert "/picture/" not in ask(address, place, cookie)[2]
        assert ask(address, f"/picture/{file.stem}", cookie)[0] == 404
