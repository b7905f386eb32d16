"""Replies out of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import user

from mmdyn.errors import InputError, ModelError
from mmdyn.models import TransientError, open_model


async def test_the_first_line_that_fits_counts(tmp_path: Path):
    path = tmp_path / "replies.jsonl"
    path.write_text(
        '{"match": "sky", "reply": "Answer: A"}\n\n{"match": "草", "reply": "答案：B"}\n{"reply": "Answer: C"}\n',
        "utf-8",
    )
    model = open_model(f"scripted:{path}")
    said = [(await model.ask(user(text))).text for text in ("the sky and 草", "草", "else")]
    assert said == ["Answer: A", "答案：B", "Answer: C"]
    assert (model.label, model.cached) == ("scripted:replies.jsonl", False)


async def test_failures_can_be_scripted(tmp_path: Path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"match": "later", "error": "transient"}\n{"match": "never", "error": "fatal"}')
    model = open_model(f"scripted:{path}")
    with pytest.raises(TransientError, match=r"a failure scripted in r\.jsonl"):
        await model.ask(user("later"))
    with pytest.raises(ModelError, match=r"a failure scripted in .*: take the line out"):
        await model.ask(user("never"))
    with pytest.raises(ModelError, match=r"no line of .*r\.jsonl fits 'else': add one without match"):
        await model.ask(user("else"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"reply": "x"}\n{"mtch": "y"}', r"r\.jsonl:2: unknown key 'mtch' \(did you mean 'match'\?\)"),
        ("nonsense", r"r\.jsonl:1: not valid JSON"),
        ('{"error": "sometimes"}', r"r\.jsonl:1: .*'sometimes'"),
    ],
)
def test_a_bad_line_is_told(tmp_path: Path, content: str, says: str):
    path = tmp_path / "r.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=says):
        open_model(f"scripted:{path}")


def test_a_missing_file_is_told(tmp_path: Path):
    with pytest.raises(
        InputError, match=r"gone\.jsonl: cannot be read \(No such file or directory\): name a JSONL file"
    ):
        open_model(f"scripted:{tmp_path / 'gone.jsonl'}")


def test_the_identity_is_the_files_content(tmp_path: Path):
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text('{"reply": "x"}')
    other.write_text('{"reply": "x"}')
    assert open_model(f"scripted:{one}").identity == open_model(f"scripted:{other}").identity
    other.write_text('{"reply": "y"}')
    assert open_model(f"scripted:{one}").identity != open_model(f"scripted:{other}").identity
