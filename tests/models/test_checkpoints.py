"""Where a model's weights are looked for, and what is said where they cannot be had."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mmdyn.errors import UserError
from mmdyn.models import Form, find_checkpoint
from mmdyn.models.checkpoint import BLOCK, BLOCKS

FORM = Form("diffusers", "model_index.json", ("*/*",))

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "model_index.json": b'{"_class_name": "FluxPipeline"}',
    "vae/config.json": b"{}",
    "flux1-dev.safetensors": b"the same weights once more, in one piece",
}


class Hub(BaseHTTPRequestHandler):
    """Answers as the hub does: `own/open` may be fetched, `own/gated` not, and there is nothing else."""

    def do_GET(self) -> None:
        where = self.path.partition("?")[0]
        if "own/gated" in where:
            self.answer(403, b"", "GatedRepo")
        elif "own/open" not in where:
            self.answer(401, b"", "RepoNotFound")
        elif "nosuch" in where:
            self.answer(404, b"", "RevisionNotFound")
        elif f"/resolve/{COMMIT}/" in where:
            self.answer(200, FILES[where.partition(f"{COMMIT}/")[2]])
        elif "/tree/" in where:
            tree = [{"type": "file", "path": path, "size": len(data), "oid": "0" * 40} for path, data in FILES.items()]
            self.answer(200, json.dumps(tree).encode())
        else:
            siblings = [{"rfilename": path} for path in FILES]
            self.answer(200, json.dumps({"_id": "1", "id": "own/open", "sha": COMMIT, "siblings": siblings}).encode())

    def do_HEAD(self) -> None:
        self.do_GET()

    def answer(self, status: int, body: bytes, error: str = "") -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "ETag": f'"{"0" * 40}"',
            "X-Repo-Commit": COMMIT,
            **({"X-Error-Code": error, "X-Error-Message": error} if error else {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def found(names: list[str], home: Path, **environment: str) -> list[str]:
    """What a process of its own finds by each name: the libraries read the environment once."""
    code = (
        "import sys\nfrom mmdyn.errors import UserError\nfrom mmdyn.models import Form, find_checkpoint\n"
        "for name in sys.argv[1:]:\n    try:\n        made = find_checkpoint(name.partition('@')[0], Form('diffusers', 'model_index.json', ('*/*',)), name.partition('@')[2] or None)\n"
        "        print(made.identity, sorted(path.name for path in made.folder.rglob('*') if path.is_file()))\n"
        "    except UserError as error:\n        print(error)"
    )
    dropped = ("HF_", "HUGGING", "http", "HTTP")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    quiet = {"HF_HOME": str(home), "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    command, given = [sys.executable, "-c", code, *names], {**kept, **quiet, **environment}
    done = subprocess.run(command, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_the_hub_says_is_said_with_the_mend(hub: str, tmp_path: Path) -> None:
    names = ["own/open", "own/gated", "own/absent", "own/open@nosuch"]
    fetched, gated, absent, revision = found(names, tmp_path, HF_ENDPOINT=hub)
    assert fetched == f"{{'repository': 'own/open', 'revision': '{COMMIT}'}} ['config.json', 'model_index.json']"
    assert gated == (
        "own/gated is gated: accept its licence at https://huggingface.co/own/gated and log in (`hf auth login`), "
        "or name a folder that has it, such as /path/to/gated"
    )
    assert absent == (
        "there is no https://huggingface.co/own/absent, or you may not see it: check the name, log in, "
        "or name a folder that has it, such as /path/to/absent"
    )
    assert revision == ("https://huggingface.co/own/open has no revision 'nosuch': name a branch, a tag or a commit")


def test_offline_the_cache_is_enough_and_what_is_not_there_is_said(hub: str, tmp_path: Path) -> None:
    found(["own/open"], tmp_path, HF_ENDPOINT=hub)
    there, absent = found(["own/open", "black-forest-labs/FLUX.1-dev"], tmp_path, HF_HUB_OFFLINE="1")
    assert there.startswith(f"{{'repository': 'own/open', 'revision': '{COMMIT}'}}")
    assert absent.startswith("black-forest-labs/FLUX.1-dev is not in the cache and cannot be fetched (")
    assert absent.endswith("): go online, or name a folder that has it, such as /path/to/FLUX.1-dev")


@pytest.mark.parametrize(("name", "says"), [
    ("/no/such/folder", "there is no folder /no/such/folder: name a checkpoint's folder, or a repository as owner/name"),
    ("FLUX.1-dev", "there is no folder FLUX.1-dev: name a checkpoint's folder, or a repository as owner/name"),
])  # fmt: skip
def test_a_folder_that_is_not_there(name: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        find_checkpoint(name, FORM)
    assert str(error.value) == says


def large(file: Path, header: bytes, change: int | None = None) -> Path:
    """A file of 9 MiB, mostly a hole; `change` is where one byte differs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as data:
        data.write(len(header).to_bytes(8, "little") + header)
        data.truncate(9 << 20)
        if change is not None:
            data.seek(change)
            data.write(b"x")
    return file


def test_large_weights_are_told_apart_by_samples(tmp_path: Path) -> None:
    """A header is read beyond the first block; then come blocks up to the last one."""
    (tmp_path / "model_index.json").write_text("{}")
    weights = tmp_path / "transformer" / "diffusion_pytorch_model.safetensors"

    def identity(header: bytes = b"{" + b" " * 200_000 + b"}", change: int | None = None) -> Any:
        large(weights, header, change)
        return find_checkpoint(str(tmp_path), FORM).identity

    first = identity()
    assert identity() == first
    size = 9 << 20
    places = 100_000, (size - BLOCK) * 31 // (BLOCKS - 1) + 1, size - 1
    others = [identity(b"{}"), *(identity(change=place) for place in places)]
    assert all(other != first for other in others)
    config = tmp_path / "tokenizer" / "tokenizer.json"
    large(config, b"{}")
    first = identity()
    large(config, b"{}", change=5_000_003)
    assert identity() != first, "configs count whole, however large"


def test_a_checkpoint_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").mkdir()
    with pytest.raises(UserError, match="is no checkpoint in the form of diffusers"):
        find_checkpoint(str(tmp_path), FORM)
    (tmp_path / "model_index.json").rmdir()
    (tmp_path / "model_index.json").write_text("{}")
    (tmp_path / "vae").mkdir()
    secret = tmp_path / "vae" / "config.json"
    secret.write_text("{}")
    secret.chmod(0)
    if os.access(secret, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(UserError) as error:
        find_checkpoint(str(tmp_path), FORM)
    assert str(error.value) == f"{secret} cannot be read (Permission denied): mend the checkpoint"
