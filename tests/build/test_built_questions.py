"""Steps of building: what they make, what they refuse, and that they go on."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from making_sets import make_set
from PIL import Image, ImageFilter
from serving import scripted
from shell import mmdyn

from making import blank, choice, image_ref, open_ended, picture, true_false, write_set
from mmdyn.build import build
from mmdyn.build.kept import difference
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.plugins import load
from mmdyn.sample import Sample


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def says(**reply: Any) -> str:
    return json.dumps(reply, ensure_ascii=False)


def wrong(*texts: str) -> str:
    return says(distractors=texts)


def reasons(made: SampleSet) -> dict[str, str]:
    return {item.id: item.reason for item in made.dropped()}


def questions(folder: Path, count: int) -> SampleSet:
    return write_set(
        folder, [open_ended(f"q{k}", answer=f"{k + 100}", fields={"subject": "law"}) for k in range(count)]
    )


def test_open_questions_become_choices_whose_right_options_are_balanced(tmp_path: Path) -> None:
    model = scripted(tmp_path, {"match": "Write 5 wrong", "reply": wrong("1", "2", "3", "4", "5")})
    source = questions(tmp_path / "set", 120)
    made = build("options", source, tmp_path / "out", model=model, quiet=True)
    assert len(made) == 120 and made.manifest.parent is None
    for before, after in zip(source, made, strict=True):
        assert after.task_type == "single_choice" and [option.label for option in after.options] == list("ABCDEF")
        assert after.options[-1].text == "All other answers are incorrect"
        texts = {option.label: option.text for option in after.options}
        right = [label for label, text in texts.items() if text == before.answer] or ["F"]
        assert list(after.answer) == right
        assert after.meta == {
            "open_answer": before.answer,
            "built": [{"step": "options", "version": 3, "of": before.digest}],
        }
    places = Counter(sample.answer[0] for sample in made)
    assert set(places) == set("ABCDEF") and max(places.values()) < 35
    shown = Counter(option.text for sample in made for option in sample.options)
    assert min(shown[text] for text in "12345") > 80, "each wrong answer is left out of a sixth of the questions"
    again = build("options", source, tmp_path / "again", model=model, name="out", quiet=True)
    assert again.manifest.digest == made.manifest.digest


@pytest.mark.parametrize(
    ("answer", "texts", "told"),
    [
        ("100", ("1", "2", "3", "102", "5"), "'100' and '102' say the same, or nearly"),
        ("0.5", ("1/2", "2", "3", "4", "5"), "'0.5' and '1/2' say the same"),
        ("iron", ("Iron", "gold", "tin", "lead", "zinc"), "'iron' and 'Iron' say the same"),
        ("iron", ("gold", "tin", "tin", "lead", "zinc"), "'tin' and 'tin' say the same"),
        ("iron", ("gold", "tin", "lead", "zinc"), "it holds 4 wrong answers, not 5"),
    ],
)
def test_options_that_may_be_equal_are_not_taken(
    tmp_path: Path, answer: str, texts: tuple[str, ...], told: str
) -> None:
    source = write_set(tmp_path / "set", [open_ended("q", answer=answer)])
    made = build(
        "options", source, tmp_path / "out", model=scripted(tmp_path, {"reply": wrong(*texts)}), seed=3, quiet=True
    )
    (dropped,) = made.dropped()
    assert len(made) == 0 and dropped.status == "failed"
    assert "gave nothing usable in" in dropped.reason and told in dropped.reason


def test_what_cannot_be_done_is_refused_with_the_reason(tmp_path: Path) -> None:
    two = blank("two", question="__ and __", answer=(("1",), ("2",)))
    source = write_set(tmp_path / "set", [two, choice("c"), open_ended("no", answer="9")])
    done = mmdyn(
        "build",
        "options",
        source.folder,
        "-o",
        tmp_path / "out",
        "-m",
        scripted(tmp_path, {"reply": says(cannot="no idea")}),
    )
    assert done.returncode == 1, done.stderr
    told = reasons(SampleSet(tmp_path / "out"))
    assert told["two"] == "it is fill_in_the_blank, neither open nor a single blank"
    assert told["c"] == "it is single_choice, neither open nor a single blank"
    assert told["no"].endswith("declines (no idea)")
    assert "3 refused by options" in done.stderr


def translations(tmp_path: Path, *texts: str, same: bool = True, back: tuple[str, ...] = ()) -> str:
    return scripted(
        tmp_path,
        {"match": "Two versions of an exam", "reply": says(same=same, why="the number")},
        {"match": "翻译成中文", "reply": says(texts=texts)},
        {"reply": says(texts=back)},
    )


def test_translations_keep_formulas_and_numbers_and_are_put_back(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [open_ended("q", question="What is $x^2$ at 3?", answer="nine: 9")])
    model = translations(tmp_path, "3 处的 $x^2$ 是多少？", "九：9", back=("What is $x^2$ at 3?", "nine: 9"))
    (made,) = build("translate", source, tmp_path / "out", model=model, quiet=True)
    assert (made.id, made.language, made.group) == ("q-zh", "zh", "q")
    assert (made.question, made.answer) == ("3 处的 $x^2$ 是多少？", "九：9")
    model = translations(
        tmp_path, "3 处的 $x^2$ 是多少？", "九：9", back=("What is $x^2$ at 3?", "nine: 9"), same=False
    )
    assert reasons(build("translate", source, tmp_path / "other", model=model, quiet=True)) == {
        "q": "the translation asks something else (the number)"
    }
    model = translations(tmp_path, "4 处的 $x^2$ 是多少？", "九：9")
    (reason,) = reasons(build("translate", source, tmp_path / "lost", model=model, quiet=True)).values()
    assert "'3' became '4'" in reason


def test_questions_that_stand_twice_leave(tmp_path: Path) -> None:
    base = "A body of mass 2 kg falls freely from a height of 20 m; how long does it take to reach the ground?"
    rows = [
        open_ended("a", question=base),
        open_ended("b", question=base.replace("falls freely", "falls  FREELY")),
        open_ended(
            "c",
            question=base.replace("how long does it take to reach the ground", "with which speed does it arrive there"),
        ),
        open_ended("d", question="质量为2千克的物体从20米高处自由下落，多久落地？", language="zh"),
        open_ended("e", question="质量为2千克的物体从20米高处自由下落,多久落地？", language="zh"),
    ]
    made = build("dedup", write_set(tmp_path / "set", rows), tmp_path / "out", quiet=True)
    assert [sample.id for sample in made] == ["a", "c", "d"]
    assert reasons(made) == {"b": "it says the same as 'a', or nearly", "e": "it says the same as 'd', or nearly"}


def test_equal_words_under_other_pictures_are_other_questions(tmp_path: Path) -> None:
    source = make_set(tmp_path / "set")
    pictured = [sample for sample in source if sample.id.endswith("-open")]
    assert len(pictured) == 2
    made = build("dedup", source, tmp_path / "out", quiet=True)
    assert len(made) + len(list(made.dropped())) == len(source)
    assert all(made.images.read(ref) == source.images.read(ref) for sample in made for ref in sample.all_images)


def test_no_more_than_so_many_of_a_kind(tmp_path: Path) -> None:
    rows = [open_ended(f"q{k}", fields={"subject": "law" if k % 3 else "art"}) for k in range(30)]
    done = mmdyn("build", "cap", write_set(tmp_path / "set", rows).folder, "-o", tmp_path / "out", "--most", 7)
    assert done.returncode == 0, done.stderr
    kept = Counter(sample.fields["subject"] for sample in SampleSet(tmp_path / "out"))
    assert kept == {"law": 7, "art": 7}
    backwards = build("cap", write_set(tmp_path / "back", rows[::-1]), tmp_path / "out2", cap_of(7), quiet=True)
    assert {sample.id for sample in backwards} == {sample.id for sample in SampleSet(tmp_path / "out")}


def cap_of(most: int) -> Any:
    from mmdyn.build.steps.cap import Cap

    return Cap.Settings(most=most)


def test_a_model_that_did_not_answer_is_asked_again_by_the_same_command(tmp_path: Path) -> None:
    source = questions(tmp_path / "set", 3)
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"error": "transient"}) + "\n")
    words = ("build", "options", source.folder, "-o", tmp_path / "out", "-m", f"scripted:{script},max_tries=1")
    done = mmdyn(*words)
    assert done.returncode == 1 and "3 failed by options" in done.stderr


def test_the_gap_between_numbers_may_be_none(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [open_ended("q", answer="100")])
    model = scripted(tmp_path, {"match": "Write 3 wrong", "reply": wrong("101", "102", "103")})
    settings = ("--options", 4, "--no-none", "--gap", 0, "--seed", 1)
    done = mmdyn("build", "options", source.folder, "-o", tmp_path / "out", "-m", model, *settings)
    assert done.returncode == 0, done.stderr
    assert [len(made.options) for made in SampleSet(tmp_path / "out")] == [4]


def test_settings_that_do_not_fit_are_told(tmp_path: Path) -> None:
    source = questions(tmp_path / "set", 3)
    with pytest.raises(UserError, match="options asks a model: give --model"):
        build("options", source, tmp_path / "out", quiet=True)
    with pytest.raises(UserError, match=r"there is no step .optoins. \(did you mean .options.\?\)"):
        build("optoins", source, tmp_path / "out", quiet=True)
    build("cap", source, tmp_path / "out", cap_of(2), quiet=True)
    with pytest.raises(UserError, match="already holds another set"):
        build("cap", source, tmp_path / "out", cap_of(1), quiet=True)


def test_a_built_set_is_a_standard_one(tmp_path: Path) -> None:
    made = build("cap", questions(tmp_path / "set", 4), tmp_path / "out", cap_of(3), quiet=True)
    done = mmdyn("eval", made.folder, "-m", "baseline:lexical", "-o", tmp_path / "run", "-q")
    assert done.returncode == 0, done.stderr
    samples: list[Sample] = list(made)
    assert len(samples) == 3


SOUND = [
    open_ended("en", question="A lens has a focal length of 10 cm; where is the image of an object 15 cm away?"),
    open_ended("zh", question="已知集合A，求A的子集个数。", language="zh"),
    open_ended("short", question="$99 \\times 9 =$"),
    choice(
        "signs",
        texts=("+", "-", "<", ">"),
        question="Which sign stands between 3 and 5 in the row 3 ? 5 of growing numbers?",
    ),
    choice("reference", question="Which of the above-mentioned metals, iron or tin, is the heavier one?"),
    blank("two", question="1 + 1 = ____ and 2 + 2 = ____", answer=(("2",), ("4",))),
    choice("told", answer="B", explanation="A is not right. So the answer is B."),
    open_ended("year", fields={"year": 2019}),
    open_ended("less", question="For which x is 2 < x > 1, if x & y are whole numbers?"),
]
UNSOUND = {
    "it speaks of a picture ('shown in the figure') and has none": open_ended(
        "q", question="Find the area that is shown in the figure."
    ),
    "it speaks of a picture ('如图') and has none": open_ended("q", question="如图，求阴影部分的面积。", language="zh"),
    "the question asks nothing": open_ended("q", question="Question: 1."),
    "the question ends in the middle ('ty of a body and the')": open_ended(
        "q", question="Find the velocity of a body and the"
    ),
    "the question ends in the middle ('dy at $t = 3 s when?')": open_ended(
        "q", question="What is the velocity of a body at $t = 3 s when?"
    ),
    "it was read in a wrong encoding": open_ended(
        "q", question="ä¸\x8bå\x88\x97å\x8f\x99è¿°æ\xad£ç¡®ç\x9a\x84æ\x98¯", language="zh"
    ),
    "it holds characters that cannot be read": open_ended(
        "q", question="What is the \ufffd\ufffd of a circle of radius 3?"
    ),
    "it holds markup ('<br/>')": open_ended("q", question="What is the area<br/> of a circle of radius 3?"),
    "option C is empty": choice("q", texts=("red", "blue", "（）", "green")),
    "two options are equal": choice("q", texts=("red", "blue", "green", " green ")),
    "the options stand in the question, too": choice(
        "q", texts=("red", "blue"), question="Which colour has the sky?\nA. red\nB. blue"
    ),
    "it shows 2 blanks, and has 1 answers": blank("q", question="1 + 1 = ____ and 2 + 2 = ____"),
    "the explanation says C": choice("q", answer="B", explanation="因为它最大，故选C。"),
    "it needs what stands elsewhere ('previous question')": open_ended(
        "q", question="Using your result from the previous question, find x."
    ),
    "the year 1887 is impossible": open_ended("q", fields={"year": 1887}),
}


@pytest.mark.parametrize(("told", "sample"), UNSOUND.items(), ids=range(len(UNSOUND)))
def test_unsound_questions_are_refused(tmp_path: Path, told: str, sample: Sample) -> None:
    made = build("screen", write_set(tmp_path / "set", [*SOUND, sample]), tmp_path / "out", quiet=True)
    assert reasons(made) == {"q": told}


def test_fields_that_are_required(tmp_path: Path) -> None:
    source = write_set(
        tmp_path / "set",
        [open_ended("a", fields={"year": 2019}), open_ended("b", question="Why is the sky blue at noon?")],
    )
    done = mmdyn("build", "screen", source.folder, "-o", tmp_path / "out", "--require", "year")
    assert done.returncode == 0, done.stderr
    assert reasons(SampleSet(tmp_path / "out")) == {"b": "the field year is missing"}


def test_pictures_that_nobody_can_use(tmp_path: Path) -> None:
    sharp = Image.open(io.BytesIO(picture(200, 160, text="7 + 8")))
    blurred = sharp.filter(ImageFilter.GaussianBlur(6))
    broken = sharp.copy()
    broken.paste((128, 128, 128), (0, 90, 200, 160))
    pictures = {
        "": sharp,
        "a picture of 20 x 16 pixels is too small": sharp.resize((20, 16)),
        "a picture is blurred": blurred,
        "a picture is blank": Image.new("RGB", (200, 160), (255, 255, 255)),
        "a picture ends in an empty area, as a broken download does": broken,
    }
    data = [png(one) for one in pictures.values()]
    questions = [
        "How much is the sum?",
        "What is written here in ink?",
        "Name the digits!",
        "Say which operation is meant.",
        "Add both numbers.",
    ]
    samples = [
        open_ended(f"q{at}", question=question, images=(image_ref(one),))
        for at, (one, question) in enumerate(zip(data, questions, strict=True))
    ]
    made = build("screen", write_set(tmp_path / "set", samples, images=data), tmp_path / "out", quiet=True)
    assert reasons(made) == {f"q{at}": told for at, told in enumerate(pictures) if told}


def test_the_same_question_under_the_same_picture_in_another_size_stands_twice(tmp_path: Path) -> None:
    one, other = (Image.open(io.BytesIO(picture(200, 160, text=text))) for text in ("7 + 8", "a"))
    data = [png(one), png(one.resize((150, 120))), png(other.rotate(90))]
    samples = [
        open_ended(f"q{at}", question="How much is the sum of both numbers?", images=(image_ref(each),))
        for at, each in enumerate(data)
    ]
    made = build("dedup", write_set(tmp_path / "set", samples, images=data), tmp_path / "out", quiet=True)
    assert reasons(made) == {"q1": "it says the same as 'q0', or nearly"}


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("sample", "texts", "told"),
    [
        (blank("q", question="It is __.", answer=(("hue", "colour"),)), ("Colour", "a", "b", "c"), "'colour' and 'Col"),
        (open_ended("q", answer="iron"), ("None of the above", "a", "b", "c"), "speaks of the other answers"),
        (open_ended("q", answer="铁", language="zh"), ("以上都不对", "甲", "乙", "丙"), "speaks of the other answers"),
        (open_ended("q", answer="100 cm"), ("1.02 m", "5 m", "7 m", "9 m"), "'100 cm' and '1.02 m' say the same"),
    ],
)
def test_no_second_option_is_right(tmp_path: Path, sample: Sample, texts: tuple[str, ...], told: str) -> None:
    source = write_set(tmp_path / "set", [sample])
    model = scripted(tmp_path, {"match": "4", "reply": wrong(*texts)}, {"reply": wrong(*texts)})
    kind = load("steps", "options")
    made = build("options", source, tmp_path / "out", kind.Settings(no_none=True), model=model, quiet=True)
    assert len(made) == 0 and told in reasons(made)["q"]
    with pytest.raises(UserError, match="--options 1: give 2 to 25"):
        build("options", source, tmp_path / "few", kind.Settings(options=1), model=model, quiet=True)


def test_a_false_statement_and_its_pair_stay_a_pair_in_translation(tmp_path: Path) -> None:
    rows = [
        true_false("a", True, question="Iron is a metal."),
        true_false("a-false-1", False, question="Iron is a gas.", meta={"pair": "a"}),
    ]
    made = build(
        "translate",
        write_set(tmp_path / "set", rows),
        tmp_path / "out",
        load("steps", "translate").Settings(unchecked=True),
        model=translations(tmp_path, "铁。"),
        quiet=True,
    )
    assert [(one.id, one.meta.get("pair")) for one in made] == [("a-zh", None), ("a-false-1-zh", "a-zh")]


def test_a_changed_power_is_seen_though_it_is_no_formula(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [open_ended("q", question="Is it 10⁵ m?", answer="yes")])
    made = build("translate", source, tmp_path / "o", model=translations(tmp_path, "是 10⁶ m 吗？", "是"), quiet=True)
    assert "'5 m' became '6 m'" in reasons(made)["q"]


@pytest.mark.parametrize(
    ("text", "other", "told"),
    [
        ("It weighs 5 kg.", "它重5千克。", ""),
        ("It weighs 5 kg.", "它重5克。", "'5 kg' became '5 g'"),
        ("It is -5 °C.", "气温为零下5℃。", ""),
        ("It is -5 °C.", "气温为5℃。", "'-5 °C' became '5 °C'"),
        ("There are five birds.", "有六只鸟。", "'5' became '6'"),
        ("It costs $5 and $6.", "它卖5美元和6美元。", ""),
        (r"Solve \(x+1=2\).", r"解\(y+1=2\)。", r"'\\(x+1=2\\)' is not in both texts"),
    ],
)
def test_what_a_translation_keeps(text: str, other: str, told: str) -> None:
    assert difference(text, other) == told


def test_a_blank_keeps_its_answer_where_the_order_changes(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [blank("q", question="__ is in __.", answer=(("Rome",), ("Italy",)))])
    model = translations(
        tmp_path, "在<blank 2>有<blank 1>。", "罗马", "意大利", back=("<blank 1> is in <blank 2>.", "Rome", "Italy")
    )
    (made,) = build("translate", source, tmp_path / "out", model=model, quiet=True)
    assert (made.question, made.answer) == ("在__有__。", (("意大利",), ("罗马",)))


def test_what_a_step_does_not_take_is_told(tmp_path: Path) -> None:
    source = questions(tmp_path / "set", 3)
    with pytest.raises(UserError, match="leave --limit out"):
        build("cap", source, tmp_path / "out", limit=2)
    with pytest.raises(UserError, match="has the field 'subjct'"):
        build("cap", source, tmp_path / "out", load("steps", "cap").Settings(field="subjct"))
    for step in ("cap", "effort", "bank"):
        shown = mmdyn("build", step, "--help")
        assert shown.returncode == 0 and "--limit" not in shown.stdout and "used more than once" not in shown.stderr
        assert "--model" not in shown.stdout
    assert not (tmp_path / "out").exists()


def test_chinese_with_a_foreign_name_is_compared_by_characters(tmp_path: Path) -> None:
    text = "下列关于 New York 这座城市的人口、面积与气候的说法中，正确的是哪一项？请选出来"
    rows = [open_ended("a", question=text, language="zh"), open_ended("b", question=f"{text}吧", language="zh")]
    assert reasons(build("dedup", write_set(tmp_path / "set", rows), tmp_path / "out", quiet=True)).keys() == {"b"}


def test_questions_of_a_group_share_a_text_and_an_explanation(tmp_path: Path) -> None:
    text = (
        "A passage about ice, which floats on water since it is less dense than that, as people have known for long. "
    )
    rows = [
        choice(f"g{k}", "ABA"[k], question=text + ask, group="passage", explanation="1. A 2. B. The answer is B")
        for k, ask in enumerate(("Why?", "Since when?", "Why?"))
    ]
    made = build("screen", write_set(tmp_path / "set", rows), tmp_path / "out", quiet=True)
    assert reasons(made) == {"g2": "it says the same as 'g0', or nearly"}


def test_a_set_of_nothing_says_where_the_reasons_are(tmp_path: Path) -> None:
    model = scripted(tmp_path, {"reply": says(cannot="no idea")})
    build("options", questions(tmp_path / "set", 1), tmp_path / "out", model=model, quiet=True)
    done = mmdyn("data", "show", tmp_path / "out")
    assert done.returncode == 2 and "has no sample: its dropped.jsonl says why" in done.stderr
