"""The statements of composed questions, asked alone and together: what is asked, and what is told of it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from composing import composed, secret_in, spec_of
from shell import mmdyn

from making import write_set
from mmdyn.build import build
from mmdyn.data import SampleSet


def bank(folder: Path, each: int = 60, subjects: tuple[str, ...] = ("law",), language: str = "en") -> Path:
    """True statements, each with its falsification."""
    lines = list[dict[str, Any]]()
    for name in subjects:
        about = {"discipline": name, "language": language}
        for number in range(each):
            true = {"id": f"{name}-{number}", "text": f"{name} holds {number}", "label": True}
            false = {"id": f"{name}-{number}-false", "text": f"{name} denies {number}", "label": False}
            lines += [true | about, false | about | {"pair": f"{name}-{number}"}]
    file = folder / "bank.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def judged(source: SampleSet, out: Path) -> tuple[list[Any], list[Any]]:
    """What is asked together, and alone."""
    made = list(build("judgments", source, out, quiet=True))
    return tuple([one for one in made if one.fields["setting"] == name] for name in ("together", "alone"))  # type: ignore[return-value]


@pytest.mark.parametrize(("uses", "language"), [(1, "en"), (8, "zh")])
def test_every_statement_is_asked_once_alone_and_with_its_question(tmp_path: Path, uses: int, language: str) -> None:
    spec = spec_of(questions=6 * uses, max_uses=uses, statements="5-8")
    source = composed(bank(tmp_path, subjects=("law", "art"), language=language), tmp_path / "set", spec)
    texts = {row["id"]: row["text"] for row in map(json.loads, (tmp_path / "bank.jsonl").read_text().splitlines())}
    labels = {row["id"]: row["label"] for row in map(json.loads, (tmp_path / "bank.jsonl").read_text().splitlines())}
    together, alone = judged(source, tmp_path / "out")
    assert [one.id for one in together] == [one.id for one in source]
    uses_of = Counter(id for one in source for id in one.meta["statements"])  # type: ignore[union-attr]
    assert sorted(one.meta["statements"][0] for one in alone) == sorted(uses_of)
    assert (max(uses_of.values()) > 1) is (uses > 1)
    for one in alone:
        (id,) = one.meta["statements"]
        assert one.question.endswith(f"\n\n{texts[id]}") and one.answer is labels[id] and one.language == language
        assert one.meta["true"] == [one.answer] and one.group == one.meta["origins"][0]
        of = {sample.id: len(sample.meta["statements"]) for sample in source if id in sample.meta["statements"]}  # type: ignore[arg-type, operator]
        assert one.meta["questions"] == of and one.id.rpartition("-")[0] in of
        assert one.fields["statements"] == 1 and {"asked", "combination"}.isdisjoint(one.fields)
    for one, sample in zip(together, source, strict=True):
        ids = sample.meta["statements"]
        assert [option.text for option in one.options] == [texts[id] for id in ids]  # type: ignore[union-attr]
        asked = any(labels[id] for id in ids)  # type: ignore[union-attr]
        right = [option.label for option, id in zip(one.options, ids, strict=True) if labels[id] is asked]  # type: ignore[arg-type]
        assert one.answer == tuple(right) and one.match.each and one.meta == {**sample.meta}
        assert {"asked", "combination"}.isdisjoint(one.fields)


def test_where_no_statement_is_correct_the_incorrect_ones_are_asked_for(tmp_path: Path) -> None:
    spec = spec_of(questions=4, statements="4", combination="4", options="4", asked="incorrect")
    with pytest.raises(Exception, match="4 statements make fewer than 4 options"):
        composed(bank(tmp_path), tmp_path / "none", spec)
    spec = spec_of(questions=12, statements="4", combination="3-4", options="4", asked="incorrect")
    together, _ = judged(composed(bank(tmp_path), tmp_path / "set", spec), tmp_path / "out")
    words = {any(one.meta["true"]): one.question.rpartition(" ")[2] for one in together}
    assert words == {True: "correct?", False: "incorrect?"}
    assert {one.answer for one in together if not any(one.meta["true"])} == {("A", "B", "C", "D")}


def test_nothing_that_is_asked_tells_a_label(tmp_path: Path) -> None:
    """Ids are those of questions with a place; a bank's own, which may say false, stand in `meta` and `group` alone."""
    source = composed(bank(tmp_path), tmp_path / "set", spec_of(questions=5))
    together, alone = judged(source, tmp_path / "out")
    ids = {id for one in source for id in one.meta["statements"]}  # type: ignore[union-attr]
    for one in (*together, *alone):
        shown = json.dumps([one.id, one.question, [option.text for option in one.options], one.fields])
        assert not any(f'"{id}"' in shown for id in ids)
    places = {one.id: one.meta["statements"][0] for one in alone}
    assert all(dict(zip(one.meta["statements"], range(9), strict=False))[places[f"{one.id}-{k + 1}"]] == k for one in source for k in range(3))  # type: ignore[arg-type, index, operator]  # fmt: skip


def test_what_is_judged_counts_as_used(tmp_path: Path) -> None:
    """A set that avoids the judgments has none of their statements, nor one of their origins."""
    law = bank(tmp_path, 40)
    source = composed(law, tmp_path / "set", spec_of(questions=3))
    build("judgments", source, tmp_path / "judged", quiet=True)
    used = {str(origin) for one in source for origin in one.meta["origins"]}  # type: ignore[union-attr]
    words = ("compose", law, "-o", tmp_path / "new", "--secret", secret_in(tmp_path), "--questions", 1, "-q")
    done = mmdyn(*words, "--avoid", tmp_path / "judged", "--max-uses", 1)
    assert done.returncode == 0, done.stderr
    assert all(used.isdisjoint(one.meta["origins"]) for one in SampleSet(tmp_path / "new"))  # type: ignore[arg-type]


@pytest.mark.parametrize("statements", [None, 5, ["a"], ["a", "b", "c"]])
def test_what_was_not_composed_is_refused_and_told(tmp_path: Path, statements: Any) -> None:
    source = composed(bank(tmp_path), tmp_path / "set", spec_of(questions=1))
    (first, *_) = source
    rows = [
        {**json.loads(line), "id": "other"}
        for line in (tmp_path / "set" / "samples.jsonl").read_text().splitlines()[:1]
    ]
    rows[0]["meta"]["statements"] = statements
    file = tmp_path / "rows.jsonl"
    file.write_text(
        "".join(
            json.dumps(row) + "\n"
            for row in [*rows, json.loads((tmp_path / "set" / "samples.jsonl").read_text().splitlines()[0])]
        )
    )
    done = mmdyn("build", "judgments", file, "-o", tmp_path / "out")
    assert done.returncode == 0 and "1 it is no choice of `mmdyn compose` with 26 statements at most" in done.stderr
    assert next(one.id for one in SampleSet(tmp_path / "out")) == first.id
    claims = composed(bank(tmp_path), tmp_path / "claims", spec_of(questions=2, form="claim"))
    refused = mmdyn("build", "judgments", claims.folder, "-o", tmp_path / "none")
    assert refused.returncode == 1 and "judgments kept none of" in refused.stderr


def test_more_statements_than_letters_and_an_empty_set(tmp_path: Path) -> None:
    wide = composed(bank(tmp_path), tmp_path / "wide", spec_of(questions=2, statements="26-27", seed=3))
    done = mmdyn("build", "judgments", wide.folder, "-o", tmp_path / "out")
    sizes = [len(one.meta["statements"]) for one in wide]  # type: ignore[arg-type]
    together = [one for one in SampleSet(tmp_path / "out") if one.fields["setting"] == "together"]
    assert len(together) == sizes.count(26) and done.returncode == (0 if together else 1)
    nothing = mmdyn("build", "judgments", write_set(tmp_path / "empty", []).folder, "-o", tmp_path / "nothing")
    assert nothing.returncode == 2 and "there is no sample for" in nothing.stderr
