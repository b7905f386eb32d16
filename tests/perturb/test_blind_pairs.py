"""Pairs that somebody wrote who had not seen the rules: what is caught and kept by rules, and with a right model behind
them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mmdyn.sample import Option, Sample
from perturb import Case
from perturb.judge.embedded_judge import EmbeddedJudge

HERE = Path(__file__).resolve().parent


class Counts(NamedTuple):
    """Of the changed pairs how many rules catch; of the others how many they keep, and how many a model that is always
    right can keep, as the rules are not certain of them."""

    caught: int
    kept: int
    kept_by_model: int


def sample(side: dict[str, Any], language: str) -> Sample:
    options = tuple(Option(label, text) for label, text in zip("ABCDEFGH", side["options"], strict=False))
    shared: dict[str, Any] = {"id": "pair", "question": side["question"], "language": language}
    if options:
        return Sample(task_type="single_choice", options=options, answer=(side["answer"],), **shared)
    return Sample(task_type="open_ended", answer=side["answer"], **shared)


def count(file: Path) -> Counts:
    judge, caught, kept, kept_by_model = EmbeddedJudge(), 0, 0, 0
    for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        sides = (sample(row[name], row["language"]) for name in ("original", "variant"))
        status = judge.judge(Case(*sides)).status
        if row["same"]:
            kept += status == "kept"
            kept_by_model += status != "rejected"
        else:
            caught += status != "kept"
    return Counts(caught, kept, kept_by_model)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("blind_pairs", Counts(110, 111, 120)),
        ("blind_pairs_2", Counts(103, 105, 119)),
        ("blind_pairs_3", Counts(120, 88, 120)),
        ("blind_pairs_4", Counts(102, 64, 108)),
        ("blind_pairs_5", Counts(98, 102, 119)),
        ("blind_pairs_6", Counts(100, 107, 119)),
        ("blind_pairs_7", Counts(89, 113, 120)),
    ],
)
def test_what_rules_and_a_right_model_make_of_unseen_pairs(name: str, least: Counts) -> None:
    found = count(HERE / f"{name}.jsonl")
    assert all(one >= floor for one, floor in zip(found, least, strict=True)), found
