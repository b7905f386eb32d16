"""A sample as people read it, whatever is in the data."""

from __future__ import annotations

from pathlib import Path

from making import blank, choice, image_ref, picture, write_set
from mmdyn.data import describe_sample
from mmdyn.sample import Step, Variant, Verdict

PNG = picture()


def test_everything_is_shown(tmp_path: Path) -> None:
    trail = Variant("q1", "pad", 0, 7, (Step("image.pad", {"left": 0.1}),), Verdict("kept", "embedded", "same"))
    sample = choice(
        "q1~pad~0",
        question="Look:\n<image 1>",
        images=(image_ref(PNG), "images/none.png"),
        points=6,
        fields={"year": 2021},
        group="passage",
        knowledge_points=("counting",),
        hints={"background": "a hint"},
        explanation="because",
        meta={"caption": ["A box.", ""]},
        variant=trail,
    )
    folder = write_set(tmp_path / "set", [sample], images=[PNG])
    assert describe_sample(sample, folder.images).splitlines() == [
        "q1~pad~0  (single_choice, en, 6 points)",
        "  Look:",
        "  <image 1>",
        "    A. two",
        "  * B. three",
        "    C. four",
        "    D. five",
        "  answer: B",
        f"  image 1: {tmp_path / 'set' / image_ref(PNG)} (64x48)",
        f"  image 2: images/none.png (image 'images/none.png' is missing: put the file into {tmp_path / 'set'})",
        "  year: 2021",
        "  group: passage",
        "  caption: A box.",
        "  knowledge: counting",
        "  hint background: a hint",
        "  explanation: because",
        "  variant of q1: pad, draw 0, seed 7; kept by embedded: same",
        '    image.pad {"left":0.1}',
    ]


def test_nothing_reaches_the_terminal_that_steers_it(tmp_path: Path) -> None:
    hostile = "\x1b]0;title\x07 \x9b31m \u202ereversed \r overwritten \x08 中文　全角 👩‍🔬"
    sample = blank("id\x1b[2J", answer=((hostile,), ("x", "y")), question=hostile, fields={"a\x1b": "b"})
    text = describe_sample(sample, write_set(tmp_path / "set", [sample]).images)
    assert not any(char in text for char in "\x1b\x07\x9b\u202e\r\x08")
    assert r"\x1b]0;title\x07 \x9b31m \u202ereversed \r overwritten \x08 中文　全角 👩‍🔬" in text
    assert "id\\x1b[2J" in text
    assert ", x | y" in text
