"""Which scores need a judge, and which are lower bounds: by what was read, how surely, and what was asked for."""

from __future__ import annotations

import pytest

from making import blank, choice, multi, open_ended, true_false
from mmdyn.record import Reply, Score
from mmdyn.sample import Sample
from mmdyn.scoring import Scorer
from mmdyn.scoring.extract import Extraction
from mmdyn.scoring.scorer import UNSURE, needs_judge

WORD, BOTH = blank(answer=(("photosynthesis",),)), blank(answer=(("4",), ("oxygen", "O2")))


def score(sample: Sample, text: str, policy: str = "mdk12", **reply: str) -> Score:
    return Scorer(policy).score(sample, Reply(text, **reply))  # type: ignore[arg-type]


@pytest.mark.parametrize(("sample", "text", "needs", "bound"), [
    (choice(answer="B"), "Answer: B", False, False), (choice(answer="B"), "Answer: C", False, False),
    (choice(answer="B"), "It is hard to say.", True, False), (choice(answer="B"), "Answer: B or C", True, False),
    (choice(answer="B"), "I'm sorry, I can't help with that.", True, False), (choice(answer="B"), " ", False, False),
    (multi(answer="AC"), "Answer: A", False, False), (true_false(), "False", False, False),
    (blank(), "Answer: 5", False, False), (blank(), "<think>It is 4, or 5", True, False),
    (WORD, "Answer: photosynthesis", False, False), (WORD, "Answer: respiration", True, True), (WORD, "", False, False),
    (BOTH, "4; nitrogen", True, True), (blank(answer=(("4",), ("oxygen",))), "4; nitrogen", True, True),
    (blank(answer=(("4",), ("oxygen",))), "5; oxygen", False, False),
    (open_ended(answer="42"), "Answer: 42", False, False), (open_ended(answer="42"), "Answer: 41", True, True),
    (open_ended(), "I'm sorry, I can't help with that.", True, True),
])  # fmt: skip
def test_what_needs_a_judge(sample: Sample, text: str, needs: bool, bound: bool) -> None:
    found = score(sample, text)
    assert (found.needs_judge, found.lower_bound) == (needs, bound), found


def test_what_was_withheld_or_never_came_needs_none() -> None:
    for sample in (choice(), open_ended()):
        for text, reply in (
            ("", {"finish_reason": "content_filter"}),
            ("x", {"finish_reason": "refusal"}),
            ("", {"error": "gone"}),
        ):
            found = score(sample, text, **reply)
            assert not found.needs_judge and not found.lower_bound and found.rule in ("withheld", "failed")


def test_a_right_answer_that_is_not_surely_read_needs_one_and_is_no_bound() -> None:
    def found(confidence: float) -> Score:
        return Scorer().credit(choice(answer="B"), Extraction(("B",), "ok", "some_rule", (0, 1), confidence))

    sure, unsure = found(UNSURE), found(UNSURE - 0.01)
    assert (sure.value, sure.confidence, sure.needs_judge) == (1.0, UNSURE, False)
    assert (unsure.value, unsure.needs_judge, unsure.lower_bound) == (1.0, True, False)
    assert needs_judge(Extraction(None, "unparsed", "none"), lower_bound=False), "what was not read is not sure"


def test_a_metric_and_weighed_options_need_none() -> None:
    for text in ("Ice floats.", ""):
        found = score(open_ended(), text, "rouge_l")
        assert not found.needs_judge and not found.lower_bound
    for sample, text in ((choice(), "C"), (true_false(), "false")):
        assert not score(sample, text, finish_reason="likelihood").needs_judge
