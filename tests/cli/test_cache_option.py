"""Where the replies of a server of one's own are kept while a set is made of them, and who finds them again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from serving import serve
from shell import mmdyn

from making import choice, image_ref, picture, write_set
from mmdyn.data import SampleSet
from mmdyn.testing import write_script

PICTURES = [picture(text=str(number)) for number in range(2)]
MADE = {
    "perturb": (["perturb", "set", "--ops", "paraphrase", "--rewriter"], {"reply": '{"question": "Which is it?"}'}),
    "build": (["build", "caption", "set", "-m"], {"reply": '{"captions": ["A box."]}'}),
}


@pytest.fixture(params=[*MADE])
def making(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], str]:
    """A command that makes a set of two requests' replies, without a model's name, and a script of the replies."""
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    rows = [choice(f"q{place}", images=(image_ref(data),)) for place, data in enumerate(PICTURES)]
    write_set(tmp_path / "set", rows, images=PICTURES)
    words, reply = MADE[request.param]
    return words, str(write_script(tmp_path / "replies.jsonl", reply))


@pytest.mark.parametrize(
    ("cache", "asked"),
    [([], 4), (["--cache", "own"], 4), (["--cache", "none"], 4), (["--cache", "shared"], 2)],
    ids=["left out", "own", "none", "shared"],
)
def test_another_folder_finds_shared_replies_alone(
    making: tuple[list[str], str], cache: Sequence[str], asked: int
) -> None:
    words, script = making
    with serve(reply=script) as server:
        for out in ("one", "two"):
            done = mmdyn(*words, f"openai:m,base_url={server.url}", "-o", out, "-q", *cache)
            assert done.returncode == 0, done.stderr
        assert server.stats.total == asked
    assert SampleSet("one").manifest.digest == SampleSet("two").manifest.digest
    assert Path("cache/replies").is_dir() == ("shared" in cache)


def test_another_word_is_refused(making: tuple[list[str], str]) -> None:
    done = mmdyn(*making[0], "openai:m", "-o", "out", "--cache", "mine")
    assert (done.returncode, "there is no cache 'mine': use shared, own, none" in done.stderr) == (2, True), done.stderr
