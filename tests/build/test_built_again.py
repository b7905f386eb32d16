"""Built sets made again without a model; what asking cost; bad rows of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from serving import script, scripted, serve
from shell import mmdyn

from making import choice, image_ref, open_ended, picture, write_set
from mmdyn.build import build, replay
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.plugins import load

SOUND = dict.fromkeys(("whole", "consistent", "reasoned", "factual", "clear", "complete"), True)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def reviewed(folder: Path, **more: Any) -> tuple[SampleSet, SampleSet]:
    """A set with pictures that a model reviewed: one stays, one is refused, one could not be judged."""
    data = picture()
    rows = [
        choice("good", question="What is it?", images=(image_ref(data),)),
        choice("bad", question="Which way?"),
        choice("odd", question="?"),
    ]
    model = scripted(
        folder,
        {"match": "Which way?", "reply": json.dumps({**SOUND, "clear": False, "why": "from where?"})},
        {"match": "What is", "reply": json.dumps({**SOUND, "why": ""})},
        {"reply": "no JSON"},
    )
    source = write_set(folder / "set", rows, images=[data])
    return source, build("review", source, folder / "out", model=model, quiet=True, **more)


def test_what_a_model_made_is_made_again_without_it(tmp_path: Path) -> None:
    source, made = reviewed(tmp_path)
    assert not (tmp_path / "cache/replies").exists()
    found = {again.before.id: again for again in replay(made, source) if again.before}
    assert {id: (len(again.after), again.differing) for id, again in found.items()} == {
        "good": (1, []), "bad": (0, []), "odd": (0, []),
    }  # fmt: skip
    kept = {reply.of: reply.replies for reply in made.replies()}
    assert [len(kept[sample.digest]) for sample in source] == [1, 1, 3], "three tries for what is no JSON"
    assert "from where?" in kept[found["bad"].before.digest][0][1]  # type: ignore[union-attr]


def test_a_changed_sample_picture_or_reply_is_told(tmp_path: Path) -> None:
    source, made = reviewed(tmp_path)
    file = made.folder / "samples.jsonl"
    file.write_text(file.read_text().replace('"answer":["B"]', '"answer":["A"]'))
    next((made.folder / "images").rglob("*.png")).write_bytes(b"another")
    replies = made.folder / "replies.jsonl"
    replies.write_text(replies.read_text().replace("from where?", "to where?"))
    good, bad, odd = replay(SampleSet(made.folder), source)
    assert good.differing == ["answer", image_ref(picture())] and odd.differing == []
    assert bad.differing == ["it leaves (it is not clear ('to where?'))"]
    done = mmdyn("data", "show", made.folder, "good", "--replay")
    assert done.returncode == 1 and "good replayed: answer; " in done.stdout and done.stdout.rstrip().endswith("differ")


def test_show_replays_what_a_step_built(tmp_path: Path) -> None:
    _, made = reviewed(tmp_path)
    done = mmdyn("data", "show", made.folder, "--replay")
    assert done.returncode == 0, done.stderr
    assert "good replayed: equal, byte for byte" in done.stdout and "bad replayed: it leaves as then" in done.stdout
    assert "before" in done.stdout and "after" in done.stdout


def test_a_sieve_and_a_source_are_done_again(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.txt").write_text("One.")
    (tmp_path / "papers" / "b.txt").write_text("One.")
    texts = build("texts", tmp_path / "papers", tmp_path / "texts", quiet=True)
    assert [again.differing for again in replay(texts, tmp_path / "papers")] == [[], []]
    done = mmdyn("data", "show", texts.folder, "a", "--replay", "--parent", tmp_path / "papers")
    assert done.returncode == 0 and "a replayed: equal" in done.stdout, done.stderr
    sieved = build("dedup", texts, tmp_path / "sieved", quiet=True)
    assert [(len(again.after), again.differing) for again in replay(sieved, texts)] == [(1, []), (0, [])]
    (sieved.folder / "dropped.jsonl").unlink()
    assert [again.differing for again in replay(SampleSet(sieved.folder), texts)][1][0].startswith("it leaves (")
    (tmp_path / "papers" / "b.txt").write_text("Two.")
    with pytest.raises(UserError, match=r"was not made of .* as it is now"):
        list(replay(texts, tmp_path / "papers"))


def test_what_cannot_be_replayed_says_why(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [choice("a")])
    with pytest.raises(UserError, match="was not made by `mmdyn build`"):
        list(replay(source, source))
    names = tmp_path / "names.txt"
    names.write_text("a\nb\n")
    model = scripted(tmp_path, {"reply": json.dumps({"name": "a", "sure": True})})
    settings = load("steps", "taxonomy").Settings(names=str(names))
    made = build("taxonomy", source, tmp_path / "out", settings, model=model, quiet=True)
    names.write_text("a\nc\n")
    with pytest.raises(UserError, match="or a file that it read, is another one now"):
        list(replay(made, source))


def test_the_cost_is_told_and_limited(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [open_ended(f"q{k}", answer=str(100 + k)) for k in range(4)])
    model = scripted(tmp_path, {"reply": json.dumps({"distractors": list("12345")})})
    words = ["build", "options", source.folder, "-o", tmp_path / "out", "-m", model]
    stopped = mmdyn(*words, "--max-requests", 1, "--concurrency", 1)
    assert (
        stopped.returncode != 0
        and "stopped at --max-requests 1" in stopped.stderr
        and "asked 1 request" in stopped.stderr
    )
    done = mmdyn(*words)
    assert done.returncode == 0, done.stderr
    assert "asked " in done.stderr and "tokens in" in done.stderr
    whole = build("options", source, tmp_path / "whole", model=model, name="out", quiet=True)
    for name in ("samples.jsonl", "replies.jsonl", "set.json"):
        assert (whole.folder / name).read_bytes() == (tmp_path / "out" / name).read_bytes(), (
            "the cost is not in the set"
        )


def test_bad_rows_of_a_file_are_left_out(tmp_path: Path) -> None:
    bank = tmp_path / "bank.jsonl"
    bank.write_text('{"id": "a", "text": "Iron rusts.", "label": true}\n{"id": "b"}\n')
    assert mmdyn("build", "bank", bank, "-o", tmp_path / "no").returncode == 2
    done = mmdyn("build", "bank", bank, "-o", tmp_path / "out", "--skip-bad")
    assert done.returncode == 0, done.stderr
    assert "bank: 2 came in, 1 went on" in done.stderr and "1 rejected by bank" in done.stderr


def test_a_dry_run_counts_and_asks_nothing(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [open_ended(f"q{k}", answer=str(100 + k)) for k in range(4)])
    model = scripted(tmp_path, {"reply": json.dumps({"distractors": list("12345")})})
    words = ["build", "options", source.folder, "-m", model]
    dry = mmdyn(*words, "-o", tmp_path / "out", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "4 requests to send; nothing to pay" in dry.stdout or "4 requests to send; cost" in dry.stdout
    assert not (tmp_path / "out").exists() and "nothing was asked or written" in dry.stderr
    assert mmdyn(*words, "-o", tmp_path / "out").returncode == 0
    dry = mmdyn(*words, "-o", tmp_path / "out", "--dry-run")
    assert dry.returncode == 0 and "0 requests to send" in dry.stdout, "all are in the set"


def test_a_dry_run_knows_the_replies_in_the_cache(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [open_ended(f"q{k}", answer=str(100 + k)) for k in range(4)])
    with serve(reply=script(tmp_path, {"reply": json.dumps({"distractors": list("12345")})})) as server:
        words = ["build", "options", source.folder, "-m", f"openai:m,base_url={server.url}", "--cache", "shared"]
        assert mmdyn(*words, "-o", tmp_path / "first", "-n", 2).returncode == 0
        asked = server.stats.total
        dry = mmdyn(*words, "-o", tmp_path / "second", "--dry-run")
        assert dry.returncode == 0 and "2 requests to send; cost of openai:m unknown" in dry.stdout, dry.stderr
        assert server.stats.total == asked and not (tmp_path / "second").exists()
