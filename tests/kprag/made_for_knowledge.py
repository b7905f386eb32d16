"""A set whose questions are decided by a fact that their knowledge points hold and nothing else gives away."""

from __future__ import annotations

from pathlib import Path

from mmdyn.data import KnowledgePoint, SampleSet, SetWriter
from mmdyn.keys import stream
from mmdyn.sample import Language, Option, Sample

COLOURS: dict[Language, tuple[str, ...]] = {
    "en": ("amber", "azure", "coral", "ivory"),
    "zh": ("琥珀", "钴蓝", "绯红", "绛紫"),
}
STARTS, ENDS = ("Bal", "Cor", "Dru", "Fen", "Gal", "Hor", "Jul", "Kel"), ("dine", "mite", "rite", "vane")
HEADS, TAILS = "白青玄丹金石云雷", ("岚石", "璃晶", "砂矿", "英岩")


def made_for_knowledge(count: int = 120) -> tuple[list[Sample], dict[str, str]]:
    """Single-choice questions on made-up minerals, English and Chinese in turn, and the points' texts by their names.

    Each asks for the colour of a flame; the four colours are its options, the right one at each letter equally often.
    Of each language there are 32 minerals, eight of each colour, so that another mineral's point is right by chance
    alone. The point that tells the colour has the mineral's name, so that no word is in all names; names and colours
    are of one length, because distractors are chosen by theirs. Every second question of a language has a second point,
    which says nothing about colours.
    """
    texts, samples = dict[str, str](), list[Sample]()
    for number, name in enumerate(f"{start}{end}" for end in ENDS for start in STARTS):
        colour = COLOURS["en"][number % 4]
        texts[name] = f"When {name} is heated in air, its flame turns {colour}. It has no smoke."
        texts[f"Mining of {name}"] = (
            f"Miners bring {name} up from shallow pits. It breaks easily, so it is packed in straw."
        )
    for number, name in enumerate(f"{head}{tail}" for tail in TAILS for head in HEADS):
        colour = COLOURS["zh"][number % 4]
        texts[name] = f"{name}在空气中受热时，火焰变成{colour}色。它不冒烟。"
        texts[f"{name}的开采"] = f"{name}从浅坑里采出。它容易碎裂，所以要用稻草包好。"
    minerals = [point for point in texts if not point.startswith("Mining") and not point.endswith("的开采")]
    flames: dict[Language, list[str]] = {
        "en": [point for point in minerals if point.isascii()],
        "zh": [point for point in minerals if not point.isascii()],
    }
    for number in range(count):
        language: Language = "zh" if number % 2 else "en"
        point = flames[language][(number // 2) % len(flames[language])]
        samples.append(_question(number, language, point, texts[point]))
    return samples, texts


def _question(number: int, language: Language, point: str, text: str) -> Sample:
    right = next(colour for colour in COLOURS[language] if colour in text)
    others = [colour for colour in COLOURS[language] if colour != right]
    stream("made for knowledge", number).shuffle(others)
    letter = (number // 2 + number) % 4
    others.insert(letter, right)
    asked = {
        "en": f"A sample of {point} is held over a burner. What is the colour of the light that can be seen?",
        "zh": f"把一块{point}放在酒精灯上，看到的是哪一种光？",
    }
    second = f"Mining of {point}" if language == "en" else f"{point}的开采"
    return Sample(
        id=f"q{number:03}",
        question=asked[language],
        task_type="single_choice",
        answer=("ABCD"[letter],),
        language=language,
        options=tuple(Option(label, colour) for label, colour in zip("ABCD", others, strict=True)),
        knowledge_points=(point, second) if number % 4 < 2 else (point,),
    )


def write_made_for_knowledge(folder: Path, count: int = 120) -> SampleSet:
    """The same as a set's folder."""
    samples, texts = made_for_knowledge(count)
    with SetWriter(folder, "made") as writer:
        for sample in samples:
            writer.add(sample)
        for point, text in texts.items():
            writer.know(KnowledgePoint(point, text))
    return SampleSet(folder)
