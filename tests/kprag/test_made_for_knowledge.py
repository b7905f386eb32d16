"""On a set whose questions only their knowledge answers, matching words gains from it, and not from distractors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from made_for_knowledge import made_for_knowledge, write_made_for_knowledge
from running import QUIET
from scipy.stats import binomtest
from tables.making_runs import change

from kprag import Knowledge, Layout, Node, Taxonomy, read_taxonomy
from mmdyn.context import NONE, Context
from mmdyn.models import Baseline, Message, Spec, TextPart
from mmdyn.prompts import template
from mmdyn.run import ConditionSpec, evaluate
from mmdyn.sample import Sample
from mmdyn.tables import report

SAMPLES, TEXTS = made_for_knowledge()
KNOWLEDGE = Knowledge(TEXTS, Taxonomy((Node(name, name, description=TEXTS[name]), "x", 1) for name in TEXTS), Layout())


def test_the_question_gives_nothing_away_and_its_knowledge_does(tmp_path: Path) -> None:
    assert len(SAMPLES) == 120 and len(TEXTS) == 128
    assert set(Counter((sample.language, sample.answer) for sample in SAMPLES).values()) == {15}
    for sample in SAMPLES:
        built = KNOWLEDGE.build_context(sample, Context.parse("kprag"))
        assert built is not None and built.beside.leaks
        assert not any(option.text in sample.question for option in sample.options)
        assert sum(option.text in built.text for option in sample.options) == 1
    written = write_made_for_knowledge(tmp_path / "made")
    assert list(written) == SAMPLES and {one.point: one.text for one in written.knowledge()} == TEXTS
    assert {node.text: node.description for node in read_taxonomy(written.folder)} == TEXTS


@pytest.mark.parametrize("form", ["kprag", "knowledge", "expansion", "hint"])
def test_knowledge_helps_and_distractors_do_not(form: str) -> None:
    right = {
        context: sum(answers(sample, context, form) for sample in SAMPLES) for context in (NONE, "kprag", "distractor")
    }
    assert right["kprag"] == 120
    for context in (NONE, "distractor"):
        assert binomtest(right[context], 120, 0.25).pvalue > 0.05, right


def answers(sample: Sample, context: str, form: str) -> bool:
    """Whether the lexical baseline answers a sample rightly in a context, shown by the templates of one form."""
    built = KNOWLEDGE.build_context(sample, Context.parse(context)) if context != NONE else None
    values = {
        "question": sample.question,
        "options": "\n".join(f"{option.label}. {option.text}" for option in sample.options),
        "knowledge": built.text if built else "",
        "instruction": template("answer_single_choice", sample.language).text,
    }
    blocks = template(f"{form}_direct" if built else "direct", sample.language).blocks(set(values))
    text = "".join(block if isinstance(block, str) else values[block[0]] for block in blocks)
    reply = Baseline(Spec.parse("baseline:lexical")).reply((Message("user", (TextPart(text),)),))
    return reply[-1] == sample.answer[0]  # type: ignore[index]


def test_the_report_says_that_knowledge_helps_and_that_distractors_do_not(tmp_path: Path) -> None:
    made = write_made_for_knowledge(tmp_path / "made")
    contexts = [NONE, *(f"{kind}{way}" for kind in ("kprag", "distractor") for way in ("", ":inline", ":two-turn"))]
    asked = ConditionSpec("standard", contexts)
    run = evaluate(made, "baseline:lexical", tmp_path / "run", conditions=asked, execution=QUIET)
    found = report(run)
    for way in ("", ":inline", ":two-turn"):
        for other in (NONE, f"distractor{way}"):
            gain = change(found, a=other, b=f"kprag{way}")
            assert gain.value is not None and gain.p_adjusted is not None
            assert gain.value > 0.5 and gain.p_adjusted < 1e-10 and (gain.n, gain.left_out) == (120, 0)
        control = change(found, a=NONE, b=f"distractor{way}")
        assert control.p_adjusted is not None and control.p_adjusted > 0.5
