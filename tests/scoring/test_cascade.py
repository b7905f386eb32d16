"""Rules, then judges: who is asked next, and what counts, by what was said so far."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from making_judges import in_turn, judged_by

from mmdyn.errors import UserError
from mmdyn.models import Asker
from mmdyn.record import Judgement, Reply, Score
from mmdyn.scoring import Cascade, Scorer, graders
from mmdyn.scoring.judge import Judge
from mmdyn.scoring.scorer import SCORING_VERSION

Judgements = Sequence[Judgement | None]
RIGHT, WRONG = Score("ok", 1.0, ["A"], "slot"), Score("ok", 0.0, ["B"], "slot", (0.0, 1.0), 2.0)
LOST = Score("unparsed", 0.0, rule="none")
SAID, WITHHELD = Reply("Answer: B", "stop"), Reply("", "content_filter")
NONE, FAILED, FULL, SOME, NOTHING = (
    None, Judgement(None, error="did not answer"), Judgement(1.0), Judgement(0.5), Judgement(0.0),
)  # fmt: skip


def judges(*labels: str) -> list[Judge]:
    made = list[Judge]()
    for label in labels:
        _, model = judged_by(in_turn("x"))
        model.label, model.identity = label, {"told": label}
        made.append(Judge(Asker(model)))
    return made


def cascade(mode: str, *labels: str) -> Cascade:
    return Cascade(Scorer(), judges(*(labels or ("cheap", "strong"))), mode)


@pytest.mark.parametrize(("score", "judgements", "next_ones", "of_all", "value"), [
    (RIGHT, (NONE, NONE), (), (0, 1), 1.0), (WRONG, (NONE, NONE), (0,), (0, 1), None),
    (LOST, (NONE, NONE), (0,), (0, 1), None), (WRONG, (FULL, NONE), (), (1,), 1.0),
    (WRONG, (SOME, NONE), (1,), (1,), None), (WRONG, (NOTHING, NONE), (1,), (1,), None),
    (WRONG, (FAILED, NONE), (1,), (1,), None), (WRONG, (NONE, FULL), (0,), (0,), None),
    (WRONG, (SOME, NOTHING), (), (), 0.0), (WRONG, (NOTHING, FULL), (), (), 1.0), (WRONG, (FULL, NOTHING), (), (), 1.0),
    (WRONG, (FAILED, SOME), (), (), 0.5), (WRONG, (SOME, FAILED), (), (), None),
    (WRONG, (FAILED, FAILED), (), (), None), (RIGHT, (NOTHING, NOTHING), (), (), 1.0),
])  # fmt: skip
def test_who_is_asked_next_and_what_counts(
    score: Score, judgements: Judgements, next_ones: tuple[int, ...], of_all: tuple[int, ...], value: float | None
) -> None:
    assert cascade("wrong").pending(SAID, score, judgements) == next_ones
    assert cascade("all").pending(SAID, score, judgements) == of_all
    found = [cascade(mode).combined(SAID, score, judgements) for mode in ("wrong", "all")]
    assert found[0] == found[1] and (found[0].value if found[0] else None) == value


@pytest.mark.parametrize(("score", "judgement", "expected"), [
    (WRONG, SOME, Score("ok", 0.5, ["B"], "judge:cheap", (0.0, 1.0), 2.0)),
    (LOST, SOME, Score("ok", 0.5, rule="judge:cheap")), (LOST, NOTHING, Score("unparsed", 0.0, rule="judge:cheap")),
    (Score("refused", 0.0, rule="refused"), NOTHING, Score("refused", 0.0, rule="judge:cheap")),
    (RIGHT, NOTHING, RIGHT),
])  # fmt: skip
def test_the_combined_score_keeps_what_the_rules_read(score: Score, judgement: Judgement, expected: Score) -> None:
    assert cascade("wrong", "cheap").combined(SAID, score, [judgement]) == expected


def test_what_was_withheld_is_no_judges_matter_and_without_judges_the_rules_count() -> None:
    refused = Score("refused", 0.0, rule="refused")
    for mode in ("wrong", "all"):
        assert cascade(mode).pending(WITHHELD, refused, (NONE, NONE)) == ()
        assert cascade(mode).combined(WITHHELD, refused, (NONE, NONE)) == refused
    assert Cascade(Scorer()).pending(SAID, WRONG, ()) == () and Cascade(Scorer()).combined(SAID, WRONG, ()) == WRONG


def test_the_name_holds_the_judges_in_their_order_and_is_that_of_a_calibration() -> None:
    one, two = judges("cheap", "strong")
    assert Cascade(Scorer("strict")).name == f"strict@{SCORING_VERSION}"
    assert Cascade(Scorer(), [one, two]).name == f"mdk12@{SCORING_VERSION}+unsure({one.id},{two.id})"
    assert Cascade(Scorer(), [one, two], "all").name == f"mdk12@{SCORING_VERSION}+wrong({one.id},{two.id})"
    assert Cascade(Scorer(), [two, one], "wrong").name != Cascade(Scorer(), [one, two], "all").name
    for several in ([one], [one, two]):
        measured = graders(Cascade(Scorer(), several, "all"))
        for mode in ("unsure", "wrong"):
            assert measured[f"combined.{mode}"][1] == Cascade(Scorer(), several, mode).name


def test_what_cannot_be_combined_is_refused() -> None:
    with pytest.raises(UserError, match="two judges are called cheap: give one of them once, or tell them apart"):
        cascade("wrong", "cheap", "strong", "cheap")
    one, other = judges("cheap", "strong")
    other.id = one.id
    with pytest.raises(UserError, match="cheap and strong are one judge, which would say all twice: give it once"):
        Cascade(Scorer(), [one, other])
    with pytest.raises(
        UserError, match=r"^no score of metric.rouge_l@\d+ needs a judge: give the judge mode wrong, or all"
    ):
        Cascade(Scorer("rouge_l"), [one])
    assert Cascade(Scorer("rouge_l"), [one], "wrong").pending(SAID, WRONG, (NONE,)) == (0,)


@pytest.mark.parametrize(("mode", "problem"), [
    ("unsur", ("there is no judge mode 'unsur' (did you mean 'unsure'?): unsure asks about the answers that need a" " judge, wrong asks about whatever the rules do not call right, all asks about everything")),
])  # fmt: skip
def test_a_mode_that_is_none_is_answered_with_those_that_are(mode: str, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        cascade(mode)
    assert str(caught.value) == problem and caught.value.exit_status == 2


UNREAD = Score("unparsed", 0.0, rule="none", needs_judge=True)
MISSED = Score("ok", 0.0, "so", "no_rule_match", confidence=0.99, needs_judge=True, lower_bound=True)
DOUBTED = Score("ok", 1.0, ["A"], "last_words", confidence=0.85, needs_judge=True)


@pytest.mark.parametrize(("score", "judgements", "next_ones", "value"), [
    (RIGHT, (NONE, NONE), (), 1.0), (WRONG, (NONE, NONE), (), 0.0), (WRONG, (FULL, FULL), (), 0.0),
    (UNREAD, (NONE, NONE), (0,), None), (UNREAD, (SOME, NONE), (1,), None), (UNREAD, (NOTHING, SOME), (), 0.5),
    (MISSED, (FULL, NONE), (), 1.0), (MISSED, (SOME, FAILED), (), None), (DOUBTED, (NONE, NONE), (0,), None),
    (DOUBTED, (NOTHING, NOTHING), (), 0.0), (DOUBTED, (NOTHING, FULL), (), 1.0),
])  # fmt: skip
def test_unsure_asks_only_where_a_judge_is_needed_and_then_judges_decide(
    score: Score, judgements: Judgements, next_ones: tuple[int, ...], value: float | None
) -> None:
    unsure = cascade("unsure")
    assert unsure.pending(SAID, score, judgements) == next_ones
    found = unsure.combined(SAID, score, judgements)
    assert (found.value if found else None) == value
    assert found is None or not (found.needs_judge or found.lower_bound), "what a judge has settled, or need not"


def test_what_is_right_but_not_surely_read_is_right_in_the_other_modes() -> None:
    for mode in ("wrong", "all"):
        found = cascade(mode).combined(SAID, DOUBTED, (NOTHING, NOTHING))
        assert found and (found.value, found.needs_judge) == (1.0, False)
    assert Cascade(Scorer()).combined(SAID, DOUBTED, ()) == DOUBTED, "without judges it still needs one"
