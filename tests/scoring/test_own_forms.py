"""Our own words are read: replies to every form of question that text.convert and our prompts make.

form_replies.jsonl holds twelve replies, written by hand, for each form and language. `read` is what a careful person
reads in the reply: labels, true or false, a text a blank, a text, or null where there is no clear final answer;
`misread` names the kind of mistake that is still made there.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from making_items import item
from msgspec import Struct

from making import blank, choice, multi, open_ended, true_false
from mmdyn.equal import same
from mmdyn.keys import stream
from mmdyn.prompts import LANGUAGES, __file__ as prompts
from mmdyn.sample import Option, Sample
from mmdyn.scoring.extract import extract
from mmdyn.task_types import OURS
from perturb import NotApplicable
from perturb.text.convert import Convert

REPLIES = 12
READ_SHARE = 0.85
"""Least share of the replies with a final answer that are read right."""

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("form_replies.jsonl").read_text(encoding="utf-8").splitlines()
]


class Parent(Struct, frozen=True):
    """A sample to convert, wrong answers to claim or to offer, and a stem that stands alone."""

    sample: Sample
    wrong: tuple[str, ...] = ()
    stem: str = ""
    accepted: tuple[str, ...] = ()


def _circuit(question: str, **more: Any) -> Sample:
    options = tuple(Option(label) for label in "ABCD")
    return Sample("circuit", question, "single_choice", ("D",), options=options, options_in_image=True, **more)


PICTURE = {"images": ("images/circuits.png",)}
ZH: dict[str, Any] = {"language": "zh"}
# fmt: off
PARENTS = (
    Parent(choice("fall", "B", ("10 m", "20 m", "30 m", "40 m"), question="A stone falls freely from rest for 2 s. How far does it fall? (g = 10 m/s²)")),
    Parent(choice("pentagon", "C", ("360°", "450°", "540°", "720°"), question="The sum of the interior angles of a pentagon is (  ).")),
    Parent(_circuit("In which of the circuits shown does the lamp stay lit when S is opened?", **PICTURE)),
    Parent(choice("gas", "B", ("Oxygen", "Carbon dioxide", "Nitrogen", "Helium"), question="Which of the following gases do plants take in for photosynthesis?"), stem="What gas do plants take in for photosynthesis?", accepted=("Carbon dioxide", "CO2")),
    Parent(choice("planet", "B", ("Earth", "Mercury", "Venus", "Mars"), question="Which of these planets is closest to the Sun?"), stem="The planet closest to the Sun is", accepted=("Mercury",)),
    Parent(multi("primes", "AC", ("2", "9", "11", "15"), question="Which of these numbers are prime?")),
    Parent(multi("energy", "BC", ("Coal", "Wind", "Sunlight", "Natural gas"), question="Which of these sources of energy are renewable?")),
    Parent(multi("mammals", "B", ("Trout", "Whale", "Frog", "Eagle"), question="Which of these animals are mammals?")),
    Parent(blank("boil", (("100",),), question="At standard pressure water boils at ____ °C."), ("90", "80", "110")),
    Parent(blank("canberra", (("Canberra",),), question="The capital of Australia is ____."), ("Sydney", "Melbourne", "Perth")),
    Parent(blank("spin", (("anticlockwise",),), question="In which direction does the Earth spin, seen from above the North Pole? (clockwise or anticlockwise) ____"), ("clockwise",)),
    Parent(blank("roots", (("3",), ("4",)), question="The roots of x² − 7x + 12 = 0 are ____ and ____.")),
    Parent(open_ended("leap", "366", question="How many days are there in a leap year?"), ("364", "365", "367")),
    Parent(open_ended("force", "newton", question="What is the SI unit of force?"), ("joule", "watt", "pascal")),
    Parent(open_ended("ice")),
    Parent(true_false("sound", True, question="Sound travels faster in water than in air.")),
    Parent(true_false("odd", False, question="The square of every odd number is even.")),
    Parent(choice("friction", "C", ("0 N", "2.5 N", "5 N", "10 N"), question="一个物体在水平面上受到5 N的拉力做匀速直线运动，它受到的摩擦力是多少？", **ZH)),
    Parent(choice("equation", "C", ("4", "5", "6", "10"), question="若 $a+2=8$，则 $a=$（　　）", **ZH)),
    Parent(_circuit("图中哪个电路在开关S断开后灯泡仍然发光？", **PICTURE, **ZH)),
    Parent(choice("gas", "B", ("氧气", "二氧化碳", "氮气", "氦气"), question="下列气体中，植物进行光合作用时吸收的是（　　）", **ZH), stem="植物进行光合作用时吸收什么气体？", accepted=("二氧化碳", "CO2")),
    Parent(choice("planet", "B", ("地球", "水星", "金星", "火星"), question="下列行星中，离太阳最近的是（　　）", **ZH), stem="离太阳最近的行星是", accepted=("水星",)),
    Parent(multi("primes", "ACD", ("2", "9", "11", "13"), question="下列各数中，是质数的有（　　）", **ZH)),
    Parent(multi("energy", "BC", ("煤", "风能", "太阳能", "天然气"), question="下列能源中，属于可再生能源的有（　　）", **ZH)),
    Parent(multi("mammals", "B", ("鳟鱼", "鲸", "青蛙", "老鹰"), question="下列动物中，属于哺乳动物的有（　　）", **ZH)),
    Parent(blank("boil", (("100",),), question="标准大气压下，水的沸点是____℃。", **ZH), ("90", "80", "110")),
    Parent(blank("poet", (("李白",),), question="《静夜思》的作者是____。", **ZH), ("杜甫", "白居易", "王维")),
    Parent(blank("spin", (("逆时针",),), question="从北极上空看，地球自转的方向是什么？（填“顺时针”或“逆时针”）____", **ZH), ("顺时针",)),
    Parent(blank("roots", (("3",), ("4",)), question="方程 $x^2-7x+12=0$ 的两个根是____和____。", **ZH)),
    Parent(open_ended("seasons", "4个", question="一年有几个季节？", **ZH), ("3个", "2个", "5个")),
    Parent(open_ended("force", "牛顿", question="力的国际单位是什么？", **ZH), ("焦耳", "瓦特", "帕斯卡")),
    Parent(open_ended("ice", "因为冰的密度比水小。", question="冰为什么会浮在水面上？", **ZH)),
    Parent(true_false("sound", True, question="声音在水中的传播速度比在空气中快。", **ZH)),
    Parent(true_false("odd", False, question="所有奇数的平方都是偶数。", **ZH)),
)
# fmt: on


def params_of(parent: Parent) -> Iterator[dict[str, Any]]:
    """What text.convert may draw for a parent; some of it may not apply."""
    sample = parent.sample
    if sample.options:
        assert isinstance(sample.answer, tuple)
        yield from ({"target": "true_false", "claim": label} for label in sample.labels)
    if sample.task_type == "true_false":
        yield from ({"target": "single_choice", "true_first": first} for first in (True, False))
    if parent.wrong:
        right = sample.answer if isinstance(sample.answer, str) else sample.answer[0][0]  # type: ignore[index]
        yield from ({"target": "true_false", "filled": text} for text in (right, *parent.wrong))
        for place in range(len(parent.wrong) + 1):
            yield {"target": "single_choice", "distractors": [*parent.wrong], "place": place}
    if parent.sample.task_type == "fill_in_the_blank" and len(sample.answer) > 1:  # type: ignore[arg-type]
        yield from ({"target": "open_ended", "blank": place} for place in range(len(sample.answer)))  # type: ignore[arg-type]
    for target in set(chain.from_iterable(sample.kind.becomes)) & {"fill_in_the_blank", "open_ended"}:
        if parent.stem:
            accepted = parent.accepted if target == "fill_in_the_blank" else parent.accepted[:1]
            yield {"target": target, "stem": parent.stem, "accepted": [*accepted]}
        elif sample.task_type != "multi_select":
            yield {"target": target}


def form_of(sample: Sample, params: dict[str, Any]) -> str:
    variant = ", alone" if "stem" in params else ""
    if "true_first" in params:
        variant = ", true first" if params["true_first"] else ", false first"
    return f"{sample.task_type} as {params['target']}{variant}"


def seen(form: str, sample: Sample) -> str:
    """All that a row says of its question."""
    texts = [option.text for option in sample.options]
    return json.dumps([form, sample.language, sample.task_type, sample.question, texts, sample.answer])


def made() -> Iterator[tuple[str, dict[str, Any], Sample]]:
    """Every form's name, parameters and samples."""
    for parent in PARENTS:
        for params in params_of(parent):
            changed = Convert().apply(item(sample=parent.sample), params)
            if not isinstance(changed, NotApplicable):
                yield form_of(parent.sample, params), params, changed.sample


MADE = tuple(made())
GROUPS: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
for one in ROWS:
    GROUPS[one["form"], one["language"]].append(one)


def test_every_form_that_the_operator_makes_has_its_replies() -> None:
    forms = {(form, sample.language) for form, _, sample in MADE}
    assert {group for group in GROUPS if " as " in group[0]} == forms
    pairs = {tuple(form.split(",")[0].split(" as ")) for form, _ in forms}
    assert pairs == {(kind, target) for kind, row in OURS.items() for target in chain(*row.becomes)}
    assert {len({row["response"] for row in rows}) for rows in GROUPS.values()} == {REPLIES}
    assert {len(rows) for rows in GROUPS.values()} == {REPLIES}


def test_the_operator_draws_no_parameters_that_make_another_form() -> None:
    """A new parameter may stand for a new wording: name it in `params_of` and write replies."""
    known = {"by", "pool", *chain.from_iterable(params for _, params, _ in MADE)}
    drawn = [Convert().params(stream("forms", n), parent.sample) for parent in PARENTS for n in range(20)]
    assert {name for params in drawn if not isinstance(params, NotApplicable) for name in params} <= known


def test_the_questions_are_those_that_we_make() -> None:
    questions = {seen(form, sample) for form, _, sample in MADE}
    plain = {seen("", parent.sample) for parent in PARENTS}
    for row in ROWS:
        form = row["form"] if " as " in row["form"] else ""
        texts = [row[name] for name in ("language", "task_type", "question", "options", "answer")]
        assert json.dumps([form, *texts]) in (questions if form else plain), row


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_way_in_which_prompts_ask_has_replies_of_every_task_type(language: str) -> None:
    folder, ways = Path(prompts).parent / "answer" / language, defaultdict(set)
    for file in folder.glob("*.txt"):
        text = file.read_text(encoding="utf-8")
        if "{instruction}" in text and "likelihood" not in file.stem:
            ways[text.partition("{options}")[2]].add(file.stem)
    kinds = {kind for kind, row in OURS.items() if row.form != "rules"}  # whose questions are asked in their own words
    assert {f"answer_{kind}" for kind in kinds} == {file.stem for file in folder.glob("answer_*.txt")}
    for names in ways.values():
        rows = [row for row in ROWS if row["language"] == language and row["form"].split()[0] in names]
        assert {row["task_type"] for row in rows} == kinds, names


def reading(row: dict[str, Any]) -> Any:
    kind, language = row["task_type"], row["language"]
    options = tuple(row["options"])
    blanks = len(row["read"] or row["answer"]) if kind == "fill_in_the_blank" else 1
    more = {"labels": tuple("ABCDEFGH"[: len(options)]), "option_texts": options, "blanks": blanks}
    return extract(kind, row["response"], question=row["question"], language=language, **more).found


def agree(row: dict[str, Any], found: Any) -> bool:
    read = row["read"]
    if found is None or read is None:
        return found is None
    if row["task_type"] == "open_ended":
        return same(found, read)
    if row["task_type"] == "fill_in_the_blank":
        return len(found) == len(read) and all(map(same, found, read))
    return found is read if row["task_type"] == "true_false" else sorted(found) == read


@pytest.mark.parametrize(("form", "language"), GROUPS)
def test_replies_are_read_right_or_not_at_all(form: str, language: str) -> None:
    readings = [(row, reading(row)) for row in GROUPS[form, language]]
    misread = [(row, found) for row, found in readings if not agree(row, found)]
    assert [(row["response"], row["read"], found) for row, found in misread if "misread" not in row] == []
    assert [row for row, _ in misread] == [row for row, _ in readings if "misread" in row], "mended: take `misread` out"


def test_most_replies_with_an_answer_are_read() -> None:
    told = [(row, reading(row)) for row in ROWS if row["read"] is not None]
    missed = Counter(row["task_type"] for row, found in told if found is None or not agree(row, found))
    assert missed.total() <= (1 - READ_SHARE) * len(told), missed
