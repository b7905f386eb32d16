"""Samples that went from right to wrong and back."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from tables.making_runs import DYNAMIC, STANDARD, answer, answers, write_run

from making import choice, image_ref, picture, write_set
from mmdyn.errors import InputError, command_line
from mmdyn.keys import digest
from mmdyn.record import Condition, Record
from mmdyn.sample import Option, Sample
from mmdyn.tables import print_flips, summarise
from mmdyn.tables.flips import Flip
from mmdyn.work import RunFolder


def flips_of(run: RunFolder) -> list[Flip]:
    flips = summarise([run], flips=True).flips
    assert isinstance(flips, list)
    return flips


def printed(flips: list[Flip], run: RunFolder) -> list[str]:
    print_flips(flips, [run], out := io.StringIO())
    return out.getvalue().splitlines()


def test_both_directions_losses_first(tmp_path: Path) -> None:
    first, second = flips_of(write_run(tmp_path / "run", [*answers("1100x1"), *answers("011011", DYNAMIC)]))
    assert (first.direction, first.parent, first.a_score, first.b_score) == ("right to wrong", "s00", 1.0, 0.0)
    assert (second.direction, second.parent, second.a_score, second.b_score) == ("wrong to right", "s02", 0.0, 1.0)
    assert (first.factor, first.a, first.b, first.held["chain"]) == ("variant", "standard", "dynamic", "pad")
    assert [reply.sample for reply in (*first.a_replies, *first.b_replies)] == ["s00", "s00~pad~0"]


def test_pictures_and_answers_of_both_sides(tmp_path: Path) -> None:
    sides = {"exam": ("p", picture(), STANDARD, "B"), "exam-dynamic": ("p~pad~0", picture(80, 60), DYNAMIC, "C")}
    records, samples = list[Record](), list[Sample]()
    for name, (sample, shown, condition, given) in sides.items():
        samples.append(choice(sample, images=(image_ref(shown),)))
        write_set(tmp_path / "run" / "sets" / name, samples[-1:], images=[shown])
        records.append(answer("p", float(given == "B"), condition, extracted=[given], sample=samples[-1]))
    run = write_run(tmp_path / "run", records, samples=samples)
    (flip,) = flips_of(run)
    (before,), (after,) = flip.a_replies, flip.b_replies
    files = [str(tmp_path / "run" / "sets" / name / image_ref(shown)) for name, (_, shown, *_) in sides.items()]
    assert (before.extracted, before.expected, before.pictures) == (["B"], ("B",), (files[0],))
    assert (after.extracted, after.pictures) == (["C"], (files[1],))
    assert printed([flip], run) == [
        "Flips from standard to dynamic: 1 right to wrong",
        "m1 on exam, chain pad: right to wrong",
        "  p",
        "    question: How many sides has a triangle?",
        "    standard: p: B, expected B (three)",
        "    dynamic: p~pad~0: C, expected B (three)",
        "what a variant changed: mmdyn data show"
        f" {command_line(tmp_path / 'run' / 'sets' / 'exam-dynamic', 'p~pad~0')}",
    ]
    Path(files[0]).unlink()
    (flip,) = flips_of(run)
    assert flip.a_replies[0].pictures == (f"{samples[0].images[0]} (no longer there)",)


def turned(tmp_path: Path, before: Sample, after: Sample) -> list[str]:
    """What is printed of a variant that was read as A, below the question that was right."""
    records = [answer(before.id, 1.0, sample=before, extracted=["B"])]
    records.append(answer(before.id, 0.0, DYNAMIC, sample=after, extracted=["A"]))
    run = write_run(tmp_path / "run", records, samples=[before, after])
    lines = printed(flips_of(run), run)
    return lines[lines.index(f"  {before.id}") + 2 :]


def variant(sample: Sample, **changes: Any) -> Sample:
    return replace(sample, id=f"{sample.id}~pad~0", **changes)


def moved(sample: Sample, *order: int) -> tuple[Option, ...]:
    return tuple(Option(label, sample.options[place].text) for label, place in zip(sample.labels, order, strict=True))


@pytest.mark.parametrize(
    ("order", "answer", "said"),
    [
        ((1, 0, 2), ("A",), "The options moved: right was B and is now A."),
        ((2, 1, 0), ("B",), "The options moved: right was B and is still B."),
        ((0, 1, 2), ("B",), ""),
    ],
)
def test_it_is_said_that_options_moved(
    order: tuple[int, ...], answer: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    before = choice("p", texts=("one", "two", "three"))
    found = turned(tmp_path, before, variant(before, options=moved(before, *order), answer=answer))
    assert found == [
        "    standard: p: B, expected B (two)",
        f"    dynamic: p~pad~0: A, expected {answer[0]} (two)",
        *([f"      {said}"] if said else []),
    ]


def test_other_options_are_no_moved_ones(tmp_path: Path) -> None:
    before = choice("p", texts=("one", "two", "three"))
    others = tuple(Option(label, text) for label, text in zip("ABC", ("two", "one", "four"), strict=True))
    assert len(turned(tmp_path, before, variant(before, options=others, answer=("A",)))) == 2


def test_it_is_said_that_the_form_is_another(tmp_path: Path) -> None:
    before = choice("p", texts=("one", "two", "three"))
    gone: dict[str, Any] = {"options": (), "task_type": "fill_in_the_blank", "answer": (("2", "two"), ("x",))}
    assert turned(tmp_path / "gone", before, variant(before, **gone))[1:] == [
        "    dynamic: p~pad~0: A, expected 2 or two, x",
        "      The options are gone: the question became fill_in_the_blank.",
    ]
    claim = Sample("q", "Seven is a\nprime number.", "true_false", True)
    chosen: dict[str, Any] = {"options": (Option("A", "False"), Option("B", "True")), "task_type": "single_choice"}
    assert turned(tmp_path / "claim", claim, variant(claim, answer=("B",), **chosen)) == [
        "    standard: q: B, expected true",
        "    dynamic: q~pad~0: A, expected B (True)",
        "      True or false became options: the right one is B.",
    ]


def test_other_contrasts_are_counted_and_a_question_is_cut(tmp_path: Path) -> None:
    sample = choice("s00", question="一" * 200)
    records = [answer("s00", 1.0, sample=sample), answer("s00", 0.0, model="m2", sample=sample)]
    records += [*answers("0", DYNAMIC), *answers("0", Condition("dynamic", "shuffle"))]
    run = write_run(tmp_path / "run", records, samples=[sample])
    lines = printed(flips_of(run), run)
    assert lines[0] == "Flips from standard to dynamic: 2 right to wrong"
    assert lines[-1] == "and 2 in other contrasts (all chains together 1, model 1): --json has them"
    (question, _) = (line for line in lines if line.startswith("    question: "))
    assert question.endswith("一 …") and cell_len(question) in (159, 160)
    assert printed([], run) == ["Flips from standard to dynamic: none"]


def test_draws_that_are_even_are_no_flip(tmp_path: Path) -> None:
    draws = [answer("p", 1.0, DYNAMIC), answer("p", 0.0, DYNAMIC, draw=1)]
    assert flips_of(write_run(tmp_path / "even", [answer("p", 1.0), *draws])) == []
    (flip,) = flips_of(write_run(tmp_path / "most", [answer("p", 1.0), *draws, answer("p", 0.0, DYNAMIC, draw=2)]))
    assert (flip.b_score, len(flip.b_replies)) == (0.333333, 3)


def test_a_flip_over_all_chains_shows_every_chain(tmp_path: Path) -> None:
    records: list[Record] = answers("1")
    records += [*answers("0", DYNAMIC), *answers("u", Condition("dynamic", "shuffle"))]
    pooled = [flip for flip in flips_of(write_run(tmp_path / "run", records)) if flip.held["chain"] == "all"]
    found = [(reply.sample, reply.status) for reply in pooled[0].b_replies]
    assert found == [("s00~pad~0", "ok"), ("s00~shuffle~0", "unparsed")]


def test_a_sample_that_is_not_in_the_store_is_a_sentence(tmp_path: Path) -> None:
    records = [answer("p", 1.0), answer("p", 0.0, DYNAMIC)]
    run = write_run(tmp_path / "run", records, keep_samples=False)
    with pytest.raises(InputError, match=r"the sample p.* is not in the store: run the same `mmdyn eval` once more"):
        flips_of(run)


def test_without_the_request_there_are_no_flips(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*answers("1"), *answers("0", DYNAMIC)])
    assert b'"flips"' not in summarise([run]).to_json()
    assert b'"flips"' in summarise([run], flips=True).to_json()
    assert digest(flips_of(run)) == digest(flips_of(run))
