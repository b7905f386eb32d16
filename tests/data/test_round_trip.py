"""A set written in any format is read back equal, whatever its texts hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from making import blank, choice, image_ref, multi, open_ended, picture, true_false, write_set
from mmdyn.data import ImageFolder, Tsv
from mmdyn.data.formats.jsonl import Jsonl
from mmdyn.data.formats.parquet import Parquet
from mmdyn.data.load_set import Format
from mmdyn.keys import canonical
from mmdyn.sample import Match, Option, Sample, Step, Variant, Verdict, from_json

FORMATS: list[Format] = [Tsv(), Jsonl(), Parquet()]
PNG, JPG, RGBA = picture(), picture(text="8", format="JPEG"), picture(text="9", mode="RGBA")
ONE, TWO, THREE = image_ref(PNG), image_ref(JPG, "jpg"), image_ref(RGBA)
TRAIL = (Step("image.pad", {"left": 0.13, "value": 128, "deep": [None, {"a": [1]}]}), Step("image.invert", {}))

SAMPLES = [
    choice(
        "everything",
        question='tab\there, "quotes", a\r\nline, <image 1> 和 <image 2>',
        texts=("None", "NA", "001", "=1+1", "nan ", ' "x', "7\t"),
        images=(ONE, TWO),
        language="zh",
        group="passage-4",
        fields={"category": "None", "split": "NA", "l2-category": "", "year": 2021, "x": 1.5, "discipline": "biology"},
        knowledge_points=("k, 1", "['k2']"),
        explanation=" because\n",
        points=6,
        hints={"background": "b\0"[:1], "": "empty key"},
        checklist=("one", "two"),
        match=Match(ordered=False, tolerance=0.01, unit="m"),
        meta={"source": [1, None, {"deep": True}], "中": "文"},
    ),
    multi("AC", answer="CA", images=(THREE,)),
    choice("in the picture", texts=("", "", "", ""), options_in_image=True, images=(ONE,)),
    choice("half in the picture", texts=("x", "", "", " "), options_in_image=True, images=(ONE,)),
    Sample("labels", "Welche?", "multi_select", ("乙", "1"), options=(Option("甲", "x"), Option("乙", "y"), Option("1", "z"))),
    Sample("clash", "q", "multi_select", ("A", "C"), options=(Option("A", "1"), Option("C", "2"), Option("AC", "3"))),
    Sample("pictures", "q", "single_choice", ("B",), images=(ONE, ONE, THREE), options=(Option("A", image=TWO), Option("B", "<image 3>", image=ONE), Option("C", "<image 2>", image=THREE))),
    Sample("only pictures", "", "open_ended", "a", images=(ONE,)),
    blank("one blank"),
    blank("plain blank", (("4",),)),
    blank("list-like blanks", (("[4]", '["4"]'), ("{}",))),
    blank("a list-like blank", (('["4"]',),)),
    blank("spaces", ((" 4 ",),)),
    true_false("yes", True),
    true_false("no", False),
    open_ended("NaN", "None"),
    open_ended("list", "['a']"),
    open_ended("p~pad+invert~2", variant=Variant("p", "pad+invert", 2, 7, TRAIL, Verdict("kept", "embedded", "r", 0.5), 1)),
    open_ended("p~pad~0", variant=Variant("p", "pad", 0, 0, (), Verdict("unjudged"))),
]  # fmt: skip


def back(form: Format, samples: list[Sample], folder: Path) -> list[Sample | str]:
    path = folder / f"out{form.suffixes[0]}"
    form.write(write_set(folder / "set", samples, images=[PNG, JPG, RGBA]), path)
    rows = form.read(path, ImageFolder(folder / "in"))
    return [row.sample or row.problem for row in rows]


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: type(form).__name__)
def test_every_kind_of_sample_comes_back_equal(form: Format, tmp_path: Path) -> None:
    assert back(form, SAMPLES, tmp_path) == SAMPLES
    for data, ref in ((PNG, ONE), (JPG, TWO), (RGBA, THREE)):
        assert (tmp_path / "in" / ref).read_bytes() == data


ALPHABET = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXT = st.one_of(
    st.text(ALPHABET, min_size=1, max_size=20),
    st.text("\t\n\r\"'\\,;[]{}|=+-@ AB中文$_^", min_size=1, max_size=12),
    st.sampled_from(
        ["None ", "NULL", "=SUM(A1)", "-1", "1e5", "true", "[]", '""', "<image>", "\ufeff", "\u2028", "\x1c"]
    ),
)
FILLED = TEXT.filter(lambda text: bool(text.strip()))


@st.composite
def samples(draw: st.DrawFn, id: str) -> Sample:
    kind = draw(st.sampled_from(["single_choice", "multi_select", "fill_in_the_blank", "true_false", "open_ended"]))
    common = {
        "id": id + draw(TEXT),
        "question": draw(FILLED),
        "task_type": kind,
        "fields": draw(st.dictionaries(st.one_of(TEXT, st.sampled_from(["category", "split"])), TEXT, max_size=2)),
        "explanation": draw(TEXT),
        "knowledge_points": tuple(draw(st.lists(TEXT, max_size=2))),
        "meta": draw(
            st.dictionaries(TEXT, st.one_of(st.none(), TEXT, st.lists(st.integers(-(2**53), 2**53))), max_size=2)
        ),
    }
    if kind in ("single_choice", "multi_select"):
        labels = draw(st.one_of(st.just(["A", "B", "C"]), st.lists(FILLED, min_size=2, max_size=4, unique=True)))
        answers = st.lists(st.sampled_from(labels), min_size=1, max_size=len(labels), unique=True)
        answer = draw(answers)[: 1 if kind == "single_choice" else None]
        options = tuple(Option(label, draw(FILLED)) for label in labels)
        return Sample(**common, options=options, answer=tuple(answer))
    if kind == "true_false":
        return Sample(**common, answer=draw(st.booleans()))
    if kind == "open_ended":
        return Sample(**common, answer=draw(FILLED))
    blanks = st.lists(st.lists(FILLED, min_size=1, max_size=2).map(tuple), min_size=1, max_size=3)
    return Sample(**common, answer=tuple(draw(blanks)))


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: type(form).__name__)
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_text_comes_back_equal(form: Format, data: st.DataObject) -> None:
    made = [data.draw(samples(f"{number}-")) for number in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        assert back(form, made, Path(folder)) == made


def test_equal_samples_have_one_digest_however_they_were_written() -> None:
    line = '{"answer":"a","id":"1","question":"q","task_type":"open_ended"'
    plain = from_json(line + "}", Sample)
    spelled = from_json(line + ',"points":1,"match":{"ordered":true},"language":"en","meta":{}}', Sample)
    made = Sample("1", "q", "open_ended", "a", points=1, match=Match(ordered=True))
    assert plain.digest == spelled.digest == made.digest
    whole = open_ended(points=6, match=Match(tolerance=1))
    assert from_json(canonical(whole), Sample).digest == whole.digest
