"""What of a sample is looked up, and what of it is an example."""

from __future__ import annotations

from pathlib import Path

import pytest
from making_bases import tree
from msgspec.structs import replace

from kprag import Node, QueryWriter, gather_questions, read_joined
from kprag.retrieval import passages as module
from kprag.retrieval.passages import example, examples, sources
from making import choice, picture
from mmdyn.data import ImageFolder
from mmdyn.errors import InputError, MissingExtra, UserError
from mmdyn.sample import Step, Variant, Verdict

BASE = tree("Area", Node("v1", "Volume"), Node("v2", "Volume", parent="Area"))


def test_a_query_is_the_question_and_its_options(tmp_path: Path) -> None:
    sample = choice(
        question="<image 1> How large is it?",
        images=("images/a.png",),
        texts=("3 cm", "None of the above", "", "5 m"),
        options_in_image=True,
    )
    sample = replace(sample, meta={"caption": "A cube of edge 3."})
    assert QueryWriter(ImageFolder(tmp_path))(sample) == "  How large is it?\n3 cm\n5 m"
    assert QueryWriter(ImageFolder(tmp_path), ("caption",))(sample).endswith("5 m\nA cube of edge 3.")
    several = replace(sample, meta={"caption": ["A cube <image 1>.", "A ball."]})
    assert QueryWriter(ImageFolder(tmp_path), ("caption",))(several).endswith("5 m\nA cube .\nA ball.")


def test_the_words_in_pictures_join_a_query(tmp_path: Path) -> None:
    images = ImageFolder(tmp_path)
    sample = choice(
        images=(images.put(picture(400, 200, "RGBA", text="RADIUS")), images.put(picture(300, 200, text="42")))
    )
    lines = QueryWriter(images, ("ocr",))(sample).splitlines()
    assert lines[:2] == ["How many sides has a triangle?", "two"]
    assert [line for line in lines if "RADIUS" in line.upper()]


def test_a_picture_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images/a.png").write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"images/a\.png: cannot be read \(not a picture .*\): replace the picture"):
        QueryWriter(ImageFolder(tmp_path), ("ocr",))(choice(images=("images/a.png",)))


def test_ocr_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "open_ocr", lambda: None)
    with pytest.raises(MissingExtra, match=r"pip install 'mmdyn\[ocr\]'"):
        QueryWriter(ImageFolder(tmp_path), ("ocr",))


def test_what_joins_is_checked() -> None:
    assert read_joined(["caption", "ocr"]) == ("ocr", "caption")
    with pytest.raises(
        UserError, match=r"'captoin' cannot join a query \(did you mean 'caption'\?\): use ocr or caption"
    ):
        read_joined(["captoin"])


def test_an_example_is_question_and_explanation_with_all_that_a_name_means() -> None:
    sample = choice(question="How  large?", explanation="Length times width.", knowledge_points=("Volume", "Nothing"))
    found = example(sample, BASE)
    assert found is not None
    assert (found.text, found.points, found.example) == ("How  large?\nLength times width.", ("v1", "v2"), True)
    assert found.sources == sources(sample)
    assert len(set(sources(sample)) & set(sources(choice("s2", question="How large?", explanation="Other.")))) == 1
    assert (
        len(set(sources(sample)) & set(sources(choice("s2", question="Other?", explanation="Length times\nwidth."))))
        == 1
    )
    assert not set(sources(sample)) & set(sources(choice("s2", question="Other?", explanation="")))


def test_samples_without_explanation_or_known_points_and_variants_are_no_examples() -> None:
    whole = choice(explanation="Because.", knowledge_points=("Area",))
    variant = Variant("s1", "shuffle", 0, 0, (Step("text.shuffle", {}),), Verdict("unjudged"))
    given = [
        whole,
        replace(whole, id="s1~shuffle~0", variant=variant),
        replace(whole, id="s2", explanation=" "),
        replace(whole, id="s3", knowledge_points=("Nothing",)),
        replace(whole, id="s4", knowledge_points=()),
    ]
    assert [found.sources for found in examples(given, BASE)] == [sources(whole)]


def test_what_a_set_asks(tmp_path: Path) -> None:
    given = [
        choice("a", knowledge_points=("volume", "Volume")),
        choice("b"),
        choice("c", knowledge_points=("Area", "Unknown"), group="passage"),
    ]
    asked = gather_questions(given, BASE, QueryWriter(ImageFolder(tmp_path)))
    assert [(sorted(one.gold), one.cluster) for one in asked.asked] == [
        (["volume"], "a"),
        (["area", "unknown"], "passage"),
    ]
    assert (asked.without, asked.unknown) == (1, ("Unknown",))
