"""A step that is not perturbing: samples in; samples, or reasons why not, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from making_sets import tree

from making import open_ended, write_set
from mmdyn.data import Dropped, SampleSet
from mmdyn.sample import Sample
from mmdyn.work import Outcome, SetStep, is_unsettled, make_set


class Louder:
    """Makes a question loud, twice where it is short; refuses one that is silent, and does not know one of all."""

    def __init__(self, unknown: str) -> None:
        self._unknown = unknown

    def __call__(self, sample: Sample) -> Iterator[Outcome]:
        def refused(status: str, reason: str) -> Dropped:
            return Dropped(f"{sample.id}~loud", sample.id, "loud", 0, 0, status, reason)

        if sample.id == self._unknown:
            yield Outcome(dropped=refused("failed", "nobody answered"), may_pass=True)
        elif sample.question == "...":
            yield Outcome(dropped=refused("not_applicable", "it is silent"))
        for number in range(1 + (len(sample.question) < 3)):
            yield Outcome(open_ended(f"{sample.id}-{number}", question=sample.question.upper()))

    def close(self) -> None:
        """There is nothing to let go of."""


def prepare(unknown: str, _: SampleSet, __: Path, scratch: Path) -> Callable[[], Louder]:
    scratch.write_text("in the way of nobody")
    return partial(Louder, unknown)


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    questions = ["a b c", "...", "x", "how loud?", "so loud!"]
    made = (open_ended(f"q{number}", question=question) for number, question in enumerate(questions))
    return write_set(tmp_path / "source", made, "quiet")


def louder(source: SampleSet, out: Path, unknown: str = "", threads: int = 0, workers: int = 1) -> SampleSet:
    step = SetStep("shouting", {"command": "shout", "by": 2}, threads, partial(prepare, unknown))
    return make_set(step, source, out, name="loud", workers=workers, quiet=True)


def test_outcomes_stand_in_their_samples_order_whoever_made_them(source: SampleSet, tmp_path: Path) -> None:
    one = louder(source, tmp_path / "one")
    assert [sample.id for sample in one] == ["q0-0", "q1-0", "q2-0", "q2-1", "q3-0", "q4-0"]
    assert next(iter(one)).question == "A B C" and [dropped.reason for dropped in one.dropped()] == ["it is silent"]
    assert one.manifest.counts == {"samples": 6, "not_applicable": 1}
    assert one.manifest.parent is not None and one.manifest.parent.name == "quiet"
    assert one.manifest.made == {"command": "shout", "by": 2, "limit": None, "version": one.manifest.made["version"]}
    assert not list(one.folder.glob(".*")), "nothing is left over"
    assert tree(louder(source, tmp_path / "two", workers=2).folder) == tree(one.folder)
    assert tree(louder(source, tmp_path / "three", threads=3).folder) == tree(one.folder)


def test_what_may_pass_is_tried_again_and_the_rest_is_not(source: SampleSet, tmp_path: Path) -> None:
    holes = louder(source, tmp_path / "out", unknown="q3")
    assert holes.manifest.counts["failed"] == 1 and is_unsettled(tmp_path / "out")
    whole = louder(source, tmp_path / "out")
    assert "failed" not in whole.manifest.counts and not is_unsettled(tmp_path / "out")
    assert tree(whole.folder) == tree(louder(source, tmp_path / "undisturbed").folder)
