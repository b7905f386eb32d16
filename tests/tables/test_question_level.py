"""Question level: questions whose statements were judged alone weigh the same, whatever was judged of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import pytest
from tables.making_counts import counted
from tables.making_runs import answer, write_run
from tables.paper_numbers import row

from making import true_false
from mmdyn.record import Record
from mmdyn.sample import Sample
from mmdyn.table import Pivot
from mmdyn.tables import tabulate

QUESTIONS = {"q": "abcdefgh", "r": "ab", "s": "ihg"}
"""Questions of eight, two and three statements, some of which are shared."""


def statement(name: str, truth: bool = True) -> Sample:
    of = {question: len(names) for question, names in QUESTIONS.items() if name in names}
    fields = {"setting": "alone", "discipline": "law"}
    return true_false(name, answer=truth, fields=fields, meta={"questions": of, "true": [truth]})


def record(name: str, value: float | None, **more: object) -> Record:
    sample = statement(name)
    kinds = {"task_type": "true_false", "parent_type": "true_false", "chance": 0.5}
    lost = {"error": "the server said 500"} if value is None else {}
    return answer(name, value, sample=sample, fields=sample.fields, **(kinds | lost | more))  # type: ignore[arg-type]


def level(values: Mapping[str, float | None]) -> float:
    """From scratch: the mean over questions of the mean over their statements that were judged."""
    told = [[values[name] for name in names if values.get(name) is not None] for names in QUESTIONS.values()]
    return fmean(fmean(value for value in of if value is not None) for of in told if of)


CASES: dict[str, dict[str, float | None]] = {
    "all judged": dict.fromkeys("abcdefgh", 1.0) | {"a": 0.0, "i": 0.0, "g": 0.0},
    "18.75 and no 50.0": dict.fromkeys("abcdefghi", 0.0) | {"a": 1.0, "b": 1.0},
    "some failed": {"a": None, "b": 1.0, "c": None, "d": 0.0, "e": 1.0, "f": 1.0, "g": None, "h": 0.0, "i": 1.0},
    "some not asked": {"a": 1.0, "c": 0.0, "i": 1.0},
    "a question without any": {"c": 1.0, "d": 0.0, "e": 0.0},
    "one alone": {"h": 1.0},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("weight", [1.0, 4.0])
def test_every_question_weighs_the_same(tmp_path: Path, name: str, weight: float) -> None:
    """The mean of the questions' means, of scores and of what they are corrected to; what lacks is told."""
    values = CASES[name]
    records = [record(one, value, weight=weight) for one, value in values.items()]
    run = write_run(tmp_path / "run", records, samples=map(statement, "abcdefghi"))
    by = ("model", "setting")
    found = tabulate([run], [Pivot(by=by), Pivot(by=by, measure="corrected"), Pivot(by=by, measure="true_statements")])
    score, corrected = (row(found, place, setting="alone") for place in (0, 1))
    assert score.value == pytest.approx(level(values), abs=1e-6)
    assert corrected.value == pytest.approx(2 * level(values) - 1, abs=1e-6)
    assert row(found, 2, setting="alone").value == 1.0
    assert score.n == len([one for one in values.values() if one is not None])
    asked = [question for question, names in QUESTIONS.items() if any(one in values for one in names)]
    judged = sum(values.get(one) is not None for question in asked for one in QUESTIONS[question])
    lacking = sum(len(QUESTIONS[question]) for question in asked) - judged
    told = f"{lacking} statements of questions were not judged alone: a question has the mean of its others"
    assert (told in found.parts[0].notes) is (lacking > 0)
    assert score.failed == list(values.values()).count(None)
    (low, high) = score.ci95 or (1, 0)
    assert low <= (score.value or 0) <= high


def test_models_sets_and_epochs_are_counted_apart(tmp_path: Path) -> None:
    """One model lacks what the other has judged; a statement that is asked twice counts once."""
    full = CASES["all judged"]
    records = [record(one, value) for one, value in full.items()]
    records += [record(one, 0.0, epoch=1) for one in "abc"]
    records += [record(one, value, model="m2") for one, value in CASES["some failed"].items()]
    records += [record(one, 1.0, set="other") for one in "ab"]
    run = write_run(tmp_path / "run", records, samples=map(statement, "abcdefghi"))
    found = tabulate([run], [Pivot(by=("model", "set"))])
    twice = full | {one: (full[one] or 0.0) / 2 for one in "abc"}
    assert row(found, 0, model="m1", set="exam").value == pytest.approx(level(twice), abs=1e-6)
    assert row(found, 0, model="m2", set="exam").value == pytest.approx(level(CASES["some failed"]), abs=1e-6)
    assert row(found, 0, model="m1", set="other").value == 1.0


def test_a_field_of_somebody_else_changes_nothing(tmp_path: Path) -> None:
    """A set may have a field `setting`, of which `alone` is a value, and whatever else in `meta`."""
    samples = [true_false(f"x{n}", fields={"setting": "alone"}, meta=meta) for n, meta in enumerate(({}, {"questions": 3}, {"questions": ["q"]}))]  # fmt: skip
    records = [answer(one.id, float(n == 0), sample=one, fields=one.fields) for n, one in enumerate(samples)]
    found = tabulate([write_run(tmp_path / "run", records, samples=samples)], [Pivot(by=("model", "setting"))])
    assert row(found, 0, setting="alone").value == pytest.approx(1 / 3, abs=1e-6) and not found.parts[0].notes
    plain = write_run(tmp_path / "plain", counted([({"setting": "multi"}, 3, 4)]))
    assert row(tabulate([plain], [Pivot(by=("model", "setting"))]), 0, setting="multi").value == 0.75


def test_the_length_of_replies_in_characters(tmp_path: Path) -> None:
    """Where no tokens are counted there is a length all the same; thoughts count."""
    records = [record("a", 1.0), record("b", None)]
    run = write_run(tmp_path / "run", records, samples=map(statement, "ab"))
    by = ("model",)
    parts = [Pivot(by=by, measure=name) for name in ("response_tokens", "response_characters")]
    found = tabulate([run], parts)
    assert row(found, 0).value is None and row(found, 1).value == len("The answer is A.")
    assert row(found, 1).unit == "characters"
