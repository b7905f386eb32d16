"""Samples that went from right to wrong and back."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tables.making_runs import DYNAMIC, STANDARD, answer, answers, write_run

from making import choice, image_ref, picture, write_set
from mmdyn.errors import InputError
from mmdyn.keys import digest
from mmdyn.record import Condition, Record
from mmdyn.sample import Sample
from mmdyn.tables import print_flips, summarise
from mmdyn.tables.flips import Flip
from mmdyn.work import RunFolder


def flips_of(run: RunFolder) -> list[Flip]:
    flips = summarise([run], flips=True).flips
    assert isinstance(flips, list)
    return flips


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
    print_flips([flip], out := io.StringIO())
    assert out.getvalue().splitlines()[:4] == [
        "Flips: 1 in all contrasts",
        "m1: standard to dynamic (chain pad, context none, style direct), right to wrong",
        "  p",
        f'    standard: p: ["B"], expected B  {files[0]}',
    ]
    Path(files[0]).unlink()
    (flip,) = flips_of(run)
    assert flip.a_replies[0].pictures == (f"{samples[0].images[0]} (no longer there)",)


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
