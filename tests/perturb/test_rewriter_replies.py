"""What becomes of twelve kinds of reply of a rewriter model, with and without a judge; docs/perturbation.md shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from serving import bare_environment as bare_environment, scripted

from making import choice, open_ended, write_set
from mmdyn.sample import Language, Sample
from perturb import perturb

DOCS = Path(__file__).resolve().parents[2] / "docs" / "perturbation.md"

QUESTIONS: dict[Language, tuple[Sample, Sample]] = {
    "en": (
        open_ended(
            "ride",
            question="A cyclist rides at 15 km/h for 2 hours. Her sister walks behind her. How far does the cyclist ride?",
            answer="30 km",
        ),
        choice(
            "gas",
            question="A gas is cooled from 300 K in a closed steel bottle. Which of its properties decreases?",
            texts=("pressure", "mass", "volume"),
            answer="A",
        ),
    ),
    "zh": (
        open_ended(
            "ride",
            question="小红以15 km/h的速度骑车2小时。她的妹妹在后面步行。小红骑行了多远？",
            answer="30 km",
            language="zh",
        ),
        choice(
            "gas",
            question="密闭的钢瓶里装着气体，气体从300 K被冷却。它的哪个物理量减小？",
            texts=("压强", "质量", "体积"),
            answer="A",
            language="zh",
        ),
    ),
}
REWORDED: dict[Language, dict[str, tuple[str, str]]] = {
    "en": {
        "good": (
            "Riding at 15 km/h, a cyclist is on the road for 2 hours, and her sister walks behind her. What distance does the"
            " cyclist ride?",
            "A closed steel bottle holds a gas that is cooled from 300 K. Which property of the gas decreases?",
        ),
        "number changed": (
            "Riding at 18 km/h, a cyclist is on the road for 2 hours, and her sister walks behind her. What distance does the"
            " cyclist ride?",
            "A closed steel bottle holds a gas that is cooled from 400 K. Which property of the gas decreases?",
        ),
        "sentence dropped": (
            "Riding at 15 km/h for 2 hours, how far does a cyclist get?",
            "Which property of a gas of 300 K decreases?",
        ),
        "negated": (
            "Riding at 15 km/h, a cyclist is on the road for 2 hours, and her sister does not walk behind her. What distance"
            " does the cyclist ride?",
            "A closed steel bottle holds a gas that is cooled from 300 K. Which property of the gas does not decrease?",
        ),
        "other question": (
            "Riding at 15 km/h, a cyclist is on the road for 2 hours, and her sister walks behind her. Who arrives first?",
            "Which metal are steel bottles for a gas of 300 K mostly made of?",
        ),
        "opposite word": (
            "Riding at 15 km/h, a cyclist is on the road for 2 hours, and her sister walks in front of her. What distance does"
            " the cyclist ride?",
            "A closed steel bottle holds a gas that is cooled from 300 K. Which property of the gas increases?",
        ),
    },
    "zh": {
        "good": (
            "小红骑车，速度是15 km/h，骑了2小时。妹妹在她后面步行。小红骑行的路程是多少？",
            "密闭的钢瓶里有气体，现在从300 K开始冷却它。气体的哪一个物理量减小？",
        ),
        "number changed": (
            "小红骑车，速度是18 km/h，骑了2小时。妹妹在她后面步行。小红骑行的路程是多少？",
            "密闭的钢瓶里有气体，现在从400 K开始冷却它。气体的哪一个物理量减小？",
        ),
        "sentence dropped": ("小红骑车，速度是15 km/h，骑行2小时的路程是多少？", "300 K的气体的哪一个物理量减小？"),
        "negated": (
            "小红骑车，速度是15 km/h，骑了2小时。妹妹没有在她后面步行。小红骑行的路程是多少？",
            "密闭的钢瓶里有气体，现在从300 K开始冷却它。气体的哪一个物理量不减小？",
        ),
        "other question": (
            "小红骑车，速度是15 km/h，骑了2小时。妹妹在她后面步行。她们谁先到达终点？",
            "装有300 K的气体的钢瓶主要是用哪种金属制成的？",
        ),
        "opposite word": (
            "小红骑车，速度是15 km/h，骑了2小时。妹妹在她前面步行。小红骑行的路程是多少？",
            "密闭的钢瓶里有气体，现在从300 K开始冷却它。气体的哪一个物理量增大？",
        ),
    },
}
PREFIX: dict[Language, tuple[str, str]] = {
    "en": ("The answer is 30 km. ", "Answer: pressure\n"),
    "zh": ("答案是30 km。", "答案：压强\n"),
}
HINT: dict[Language, tuple[str, str]] = {
    "en": (" Hint: multiply speed and time.", " Remember the law of Gay-Lussac."),
    "zh": ("提示：用速度乘时间。", "想一想查理定律。"),
}
KINDS = (
    "good", "fenced", "refusal", "over-long", "unchanged", "number changed", "sentence dropped", "negated",
    "other question", "answer prefixed", "hint appended", "opposite word",
)  # fmt: skip


def said(kind: str, language: Language, number: int) -> str:
    """The reply of a rewriter model to one of the two questions."""
    texts, question = REWORDED[language], QUESTIONS[language][number].question
    good = texts["good"][number]
    text = {
        "unchanged": question,
        "over-long": good * 40,
        "answer prefixed": PREFIX[language][number] + good,
        "hint appended": good + HINT[language][number],
        **{name: text[number] for name, text in texts.items()},
    }.get(kind, good)
    reply = json.dumps({"question": text}, ensure_ascii=False)
    if kind == "refusal":
        return "I'm sorry, but I can't help with that." if language == "en" else "抱歉，我无法完成这个请求。"
    return f"```json\n{reply}\n```" if kind == "fenced" else reply


def outcomes(folder: Path, kind: str, language: Language, judge: str) -> str:
    """What becomes of both replies of a kind, in a word where it is the same. The model judge is always right."""
    (folder / "judge").mkdir(parents=True)
    (folder / "rewriter").mkdir()
    verdict = json.dumps({"same": kind in ("good", "fenced"), "confidence": 0.9, "reason": "it is so"})
    samples = QUESTIONS[language]
    replies = (
        {"match": sample.question[:12], "reply": said(kind, language, number)} for number, sample in enumerate(samples)
    )
    made = perturb(
        write_set(folder / "set", list(samples)),
        folder / "out",
        ops="paraphrase",
        rewriter=scripted(folder / "rewriter", *replies),
        judge=scripted(folder / "judge", verdict) if judge == "model" else judge,
        redraws=0,
        quiet=True,
    )
    counts = [status.replace("_", " ") for status in made.manifest.counts if status != "samples"]
    return " or ".join(sorted("kept" if status == "unjudged" else status for status in counts))


def cell(english: str, chinese: str) -> str:
    """What the table shows of outcomes in both languages."""
    return english if english == chinese else f"{english} (en), {chinese} (zh)"


def shown() -> dict[str, list[str]]:
    """The rows of the table in the documentation, by kind."""
    rows = [line.strip("| ").split(" | ") for line in DOCS.read_text("utf-8").splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in rows if row[0] in KINDS}


@pytest.mark.usefixtures("bare_environment")
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_reply_ends_as_the_documentation_says(kind: str, tmp_path: Path) -> None:
    found = [
        cell(*(outcomes(tmp_path / f"{language}-{judge}", kind, language, judge) for language in QUESTIONS))
        for judge in ("", "embedded", "model")
    ]
    assert found == shown()[kind]
