"""Replies out of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import user

from mmdyn.errors import InputError, ModelError
from mmdyn.models import TransientError, open_model
from mmdyn.testing import write_script


async def test_the_first_line_that_fits_counts(tmp_path: Path):
    lines = {"match": "sky", "reply": "Answer: A"}, {"match": "草", "reply": "答案：B"}, "Answer: C"
    model = open_model(f"scripted:{write_script(tmp_path / 'replies.jsonl', *lines)}")
    said = [(await model.ask(user(text))).text for text in ("the sky and 草", "草", "else")]
    assert said == ["Answer: A", "答案：B", "Answer: C"]
    assert (model.label, model.cached) == ("scripted:replies.jsonl", False)


async def test_failures_can_be_scripted(tmp_path: Path):
    lines = {"match": "later", "error": "transient"}, {"match": "never", "error": "fatal"}
    model = open_model(f"scripted:{write_script(tmp_path / 'r.jsonl', *lines)}")
    for asked, kind, says in (
        ("later", TransientError, r"a failure scripted in r\.jsonl"),
        ("never", ModelError, r"a failure scripted in .*: take the line out"),
        ("else", ModelError, r"no line of .*r\.jsonl fits 'else': add one without match"),
    ):
        with pytest.raises(kind, match=says):
            await model.ask(user(asked))


@pytest.mark.parametrize(("content", "says"), [
    ('{"reply": "x"}\n\n{"mtch": "y"}', r"r\.jsonl:3: unknown key 'mtch' \(did you mean 'match'\?\)"),
    ("nonsense", r"r\.jsonl:1: not valid JSON"),
    ('{"error": "sometimes"}', r"r\.jsonl:1: .*'sometimes'"),
    (None, r"r\.jsonl: no such file or folder: check the path"),
])  # fmt: skip
def test_a_bad_file_is_told(tmp_path: Path, content: str | None, says: str):
    path = tmp_path / "r.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=says):
        open_model(f"scripted:{path}")


def test_the_identity_is_the_files_content(tmp_path: Path):
    one, other, third = (write_script(tmp_path / f"{n}.jsonl", "yx"[n > 1]) for n in range(3))
    found = [open_model(f"scripted:{path}").identity for path in (one, other, third)]
    assert found[0] == found[1] != found[2]
