"""Samples that went from right to wrong and back."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tables.making_runs import DYNAMIC, answer, answers, write_run

from making import choice, image_ref, picture, write_set
from mmdyn.errors import InputError
from mmdyn.keys import digest
from mmdyn.record import Condition, Record
from mmdyn.tables import print_flips, summarise
from mmdyn.tables.flips import Flip
from mmdyn.work import RunFolder


def flips_of(run: RunFolder) -> list[Flip]:
    flips = summarise([run], flips=True).flips
    assert isinstance(flips, list)
    return flips


def test_both_directions_losses_first(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*answers("1100x1"), *answers("011011", DYNAMIC)])
    found = flips_of(run)
    assert [(flip.direction, flip.parent, flip.a_score, flip.b_score) for flip in found] == [
        ("right to wrong", "s00", 1.0, 0.0),
        ("wrong to right", "s02", 0.0, 1.0),
    ]
    assert (found[0].factor, found[0].a, found[0].b, found[0].held["chain"]) == (
        "variant",
        "standard",
        "dynamic",
        "pad",
    )
    assert [reply.sample for reply in (*found[0].a_replies, *found[0].b_replies)] == ["s00", "s00~pad~0"]


def test_pictures_and_answers_of_both_sides(tmp_path: Path) -> None:
    plain, padded = picture(), picture(80, 60)
    standard = choice("p", images=(image_ref(plain),))
    variant = choice("p~pad~0", images=(image_ref(padded),))
    write_set(tmp_path / "run" / "sets" / "exam", [standard], images=[plain])
    write_set(tmp_path / "run" / "sets" / "exam-dynamic", [variant], images=[padded])
    records = [
        answer("p", 1.0, extracted=["B"], sample=standard),
        answer("p", 0.0, DYNAMIC, extracted=["C"], sample=variant),
    ]
    run = write_run(tmp_path / "run", records, samples=[standard, variant])
    (flip,) = flips_of(run)
    (before,), (after,) = flip.a_replies, flip.b_replies
    assert (before.extracted, before.expected, before.pictures) == (
        ["B"],
        ("B",),
        (str(tmp_path / "run" / "sets" / "exam" / image_ref(plain)),),
    )
    assert (after.extracted, after.pictures) == (
        ["C"],
        (str(tmp_path / "run" / "sets" / "exam-dynamic" / image_ref(padded)),),
    )
    out = io.StringIO()
    print_flips([flip], out)
    lines = out.getvalue().splitlines()
    assert lines[:3] == [
        "Flips: 1 in all contrasts",
        "m1: standard to dynamic (chain pad, context none, style direct), right to wrong",
        "  p",
    ]
    assert lines[3] == f'    standard: p: ["B"], expected B  {before.pictures[0]}'
    Path(before.pictures[0]).unlink()
    assert flips_of(run)[0].a_replies[0].pictures == (f"{image_ref(plain)} (no longer there)",)


def test_draws_that_are_even_are_no_flip(tmp_path: Path) -> None:
    draws = [answer("p", 1.0, DYNAMIC), answer("p", 0.0, DYNAMIC, draw=1)]
    assert flips_of(write_run(tmp_path / "even", [answer("p", 1.0), *draws])) == []
    (flip,) = flips_of(write_run(tmp_path / "most", [answer("p", 1.0), *draws, answer("p", 0.0, DYNAMIC, draw=2)]))
    assert (flip.b_score, len(flip.b_replies)) == (0.333333, 3)


def test_a_flip_over_all_chains_shows_every_chain(tmp_path: Path) -> None:
    records: list[Record] = answers("1")
    records += [*answers("0", DYNAMIC), *answers("u", Condition("dynamic", "shuffle"))]
    pooled = [flip for flip in flips_of(write_run(tmp_path / "run", records)) if flip.held["chain"] == "all"]
    assert [(reply.sample, reply.status) for reply in pooled[0].b_replies] == [
        ("s00~pad~0", "ok"),
        ("s00~shuffle~0", "unparsed"),
    ]


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
