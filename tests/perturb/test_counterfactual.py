"""text.counterfactual: what becomes of a question, what is refused, and that no number of the same question counts it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from making_items import change, refusal
from msgspec.structs import replace
from serving import bare_environment as bare_environment, script, scripted

from making import blank, choice, multi, open_ended, true_false, write_set
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.run import ConditionSpec, Execution, evaluate
from mmdyn.sample import Match, Sample
from mmdyn.tables import full_text, report
from perturb import Services, parse_chains, perturb, summarize
from perturb.services import ToolNames
from perturb.text.counterfactual import Counterfactual

pytestmark = pytest.mark.usefixtures("bare_environment")

ASKED, QUIET = ConditionSpec(modes="counterfactual"), Execution(quiet=True)
CHANGE, SOLVE = "Change exactly one condition", "Solve a question"


def changed(question: str, answer: str) -> dict[str, str]:
    return {"match": CHANGE, "reply": json.dumps({"question": question, "answer": answer})}


def solved(answer: str) -> dict[str, str]:
    return {"match": SOLVE, "reply": json.dumps({"working": "counted", "answer": answer})}


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Callable[..., Counterfactual]]:
    with ExitStack() as opened:

        def made(*replies: Any) -> Counterfactual:
            tools = ToolNames(rewriter=scripted(tmp_path, *replies, tries=2))
            return Counterfactual(opened.enter_context(closing(Services(tools))))

        yield made


@pytest.mark.parametrize(("sample", "question", "given", "again", "answer"), [
    (choice(), "How many sides has a square?", "C", "c", ("C",)),
    (blank(), "2 + 3 = ____", "5", "5.0", (("5",),)),
    (blank(match=Match(unit="m"), answer=(("4 m",),)), "The length is ____", "500 cm", "5 m", (("500 cm",),)),
    (true_false(), "Eight is a prime number.", "false", "False", False),
    (open_ended(answer="4"), "What is 7 - 2?", "5", "5", "5"),
])  # fmt: skip
def test_the_question_and_its_answer_change(
    sample: Sample, question: str, given: str, again: str, answer: object, operator: Callable[..., Counterfactual]
) -> None:
    sample = replace(sample, explanation="as before", hints={"background": "old"}, checklist=("old",))
    made = change(operator(changed(question, given), solved(again)), sample)
    assert (made.question, made.answer, made.options) == (question, answer, sample.options)
    assert (made.explanation, made.hints, made.checklist) == ("", {}, ())


@pytest.mark.parametrize(("sample", "replies", "reason"), [
    (choice(), [changed("How many sides has a square?", "C"), solved("D")], "two solutions differ (C and D)"),
    (choice(), [changed("How many sides has it?", "B"), solved("B")], "the new answer (B) is not surely another one"),
    (choice(), [changed("How many sides has it?", "six"), solved("six")], "the new answer (six) is not surely"),
    (choice(), [changed("How many sides has it? <image 1>", "C"), solved("C")], "changed the marks of pictures"),
    (blank(), [changed("3 + 1 = ____", "four"), solved("four")], "the new answer (four) is not surely another"),
    (blank(), [changed("2 + 3 = ____", "5"), solved("about 5 or 6")], "two solutions differ"),
    (blank(), [{"match": CHANGE, "reply": '{"cannot": "it lies in the picture"}'}], "declines (it lies in the picture)"),
    (blank(), [changed("2 + 3 = ____", "5"), {"match": SOLVE, "reply": '{"cannot": "no"}'}], "declines (no)"),
    (true_false(), [changed("Five is prime.", "true"), solved("true")], "not surely another one than before"),
    (multi(), [], "it has several answers"),
    (blank(answer=(("1",), ("2",)), question="____ ____"), [], "it has several answers"),
])  # fmt: skip
def test_what_is_unsure_is_not_made(
    sample: Sample, replies: list[Any], reason: str, operator: Callable[..., Counterfactual]
) -> None:
    assert reason in refusal(operator(*(replies or ["never asked"])), sample)


def test_rules_change_no_condition() -> None:
    assert (
        refusal(Counterfactual(), choice()) == "the rewriter changes no conditions: give a model with --rewriter MODEL"
    )


@pytest.mark.parametrize("ops", ["counterfactual+pad", "shuffle+counterfactual"])
def test_it_stands_alone_in_its_chain(ops: str) -> None:
    with pytest.raises(UserError, match="an operator that changes the answer must be alone in its chain"):
        parse_chains(ops)


def test_no_factorial_takes_it(tmp_path: Path) -> None:
    write_set(tmp_path / "set", [choice()])
    with pytest.raises(UserError, match="--factorial cannot take counterfactual, which changes the answer"):
        perturb(tmp_path / "set", tmp_path / "out", ops="counterfactual,pad", factorial=True, quiet=True)


QUESTIONS = [choice(f"q{n}", question=f"How many sides has figure {n} of three?") for n in range(12)]


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Path, Path]:
    """A set, and its variants: shuffled ones, and ones with another answer."""
    rewriter = scripted(tmp_path, changed("How many sides has a square?", "C"), solved("C"))
    write_set(tmp_path / "set", QUESTIONS)
    perturb(
        tmp_path / "set",
        tmp_path / "out",
        ops="shuffle,counterfactual",
        rewriter=rewriter,
        judge="embedded",
        quiet=True,
    )
    return tmp_path / "set", tmp_path / "out"


def test_it_is_a_condition_of_its_own(sets: tuple[Path, Path], tmp_path: Path) -> None:
    manifest = json.loads((sets[1] / "set.json").read_text())
    assert {chain: far["role"] for chain, far in manifest["strength"].items()} == {
        "shuffle": "treatment",
        "counterfactual": "counterfactual",
    }
    lines = [json.loads(line) for line in (sets[1] / "samples.jsonl").read_text().splitlines()]
    own = [line["variant"] for line in lines if line["variant"]["chain"] == "counterfactual"]
    assert len(own) == 12
    assert all(one["keeps_answer"] is False and one["verdict"]["status"] == "unjudged" for one in own)
    assert all(one["hidden"] == {"right": [["three"]], "wrong": ["two", "four", "five"]} for one in own)
    run = evaluate(sets, f"scripted:{script(tmp_path, 'The answer is B.')}", tmp_path / "run", execution=QUIET)
    assert [one.variant for one in run.config.conditions] == ["standard", "dynamic", "counterfactual"]
    found = report(run)
    scores = {(row.factors["variant"], row.factors["chain"]): row.value for row in found.rows("scores", "score")}
    assert scores["standard", "(not given)"] == 1.0
    assert scores["counterfactual", "counterfactual"] == 0.0
    assert ("dynamic", "all") not in scores  # there is one chain that keeps the answer
    compared = {(row.factors["a"], row.factors["b"]) for row in found.rows("contrasts")}
    assert compared == {("standard", "dynamic")}
    assert not [row for row in found.rows("position") if "counterfactual" in row.factors["questions"]]


def test_the_mode_needs_such_variants(sets: tuple[Path, Path], tmp_path: Path) -> None:
    model = f"scripted:{script(tmp_path, 'B')}"
    run = evaluate(sets, model, tmp_path / "run", conditions=ASKED, execution=QUIET)
    assert {record.condition.variant for record in run.records()} == {"counterfactual"}
    perturb(sets[0], tmp_path / "plain", ops="shuffle", quiet=True)
    with pytest.raises(UserError, match="a counterfactual mode needs variants"):
        evaluate((sets[0], tmp_path / "plain"), model, tmp_path / "other", conditions=ASKED, execution=QUIET)


def test_such_a_set_alone_is_asked_as_what_it_is(tmp_path: Path) -> None:
    rewriter = scripted(tmp_path, changed("How many sides has a square?", "C"), solved("C"))
    write_set(tmp_path / "set", QUESTIONS)
    perturb(tmp_path / "set", tmp_path / "out", ops="counterfactual", rewriter=rewriter, quiet=True)
    model = f"scripted:{script(tmp_path, 'C')}"
    run = evaluate((tmp_path / "set", tmp_path / "out"), model, tmp_path / "run", execution=QUIET)
    assert [one.variant for one in run.config.conditions] == ["standard", "counterfactual"]
    assert "weak" not in full_text(report(run))


def test_its_answers_are_no_claims_of_a_conversion(sets: tuple[Path, Path]) -> None:
    assert summarize(SampleSet(sets[1]))["counterfactual"].claims.total() == 0
