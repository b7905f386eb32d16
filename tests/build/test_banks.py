"""From pages to a bank of statements, and from that to questions."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from composing import composed, spec_of
from PIL import Image
from serving import scripted
from shell import mmdyn

from making import open_ended, picture, true_false, write_set
from mmdyn.build import build
from mmdyn.data import SampleSet
from mmdyn.errors import InputError, UserError
from mmdyn.plugins import load


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def pdf(file: Path, pages: int) -> Path:
    """A PDF whose pages are pictures."""
    drawn = [Image.open(io.BytesIO(picture(300, 400, text=str(number)))) for number in range(pages)]
    drawn[0].save(file, save_all=True, append_images=drawn[1:], resolution=72)
    return file


def says(**reply: Any) -> str:
    return json.dumps(reply, ensure_ascii=False)


def false(text: str, kind: str = "detail falsification") -> str:
    return says(statement=text, error_type=kind, why="the number")


def verdict(*, definite: bool = True) -> str:
    return says(definite=definite, professional=True, consistent=True, central=True, why="it may be so")


def reasons(made: SampleSet) -> dict[str, str]:
    return {item.id: item.reason for item in made.dropped()}


def test_the_pages_of_a_pdf_become_pictures(tmp_path: Path) -> None:
    file = pdf(tmp_path / "book.pdf", 3)
    done = mmdyn(
        "build", "pages", file, "-o", tmp_path / "out", "--dpi", 144, "--discipline", "law", "--mask", "0,0.5,1,1"
    )
    assert done.returncode == 0, done.stderr
    made = SampleSet(tmp_path / "out")
    assert [(sample.id, sample.fields) for sample in made] == [
        (f"book-{k}", {"discipline": "law", "book": "book", "page": k}) for k in (1, 2, 3)
    ]
    for sample in made:
        with Image.open(io.BytesIO(made.images.read(sample.images[0]))) as page:
            assert page.size == (600, 800)
            assert page.crop((0, 401, 600, 800)).convert("L").getextrema() == (255, 255)
            assert page.crop((0, 0, 600, 399)).convert("L").getextrema()[0] < 100
    assert (
        mmdyn(
            "build", "pages", file, "-o", tmp_path / "out", "--dpi", 144, "--discipline", "law", "--mask", "0,0.5,1,1"
        ).returncode
        == 0
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"data": b"%PDF-1.4 nothing"}, "cannot be read as a PDF (PdfiumError"),
        ({"megabytes": 1}, "raise --megabytes"),
        ({"mask": "0,0,2,1"}, "give shares from 0 to 1"),
        ({"mask": "all"}, "is not left,top,right,bottom"),
    ],
)
def test_a_pdf_that_cannot_be_read_is_told(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    file = pdf(tmp_path / "book.pdf", 1)
    if data := given.pop("data", b""):
        file.write_bytes(data)
    words = [part for name, value in given.items() for part in (f"--{name}", value)]
    done = mmdyn("build", "pages", file, "-o", tmp_path / "out", *words)
    assert done.returncode == 2 and told in done.stderr
    assert not (tmp_path / "out").exists()


def test_statements_are_taken_from_pages(tmp_path: Path) -> None:
    pages = build("pages", pdf(tmp_path / "book.pdf", 2), tmp_path / "pages", quiet=True)
    found = [
        {"title": "Inertia", "statement": "A body keeps its motion."},
        {"title": "Mass", "statement": "Mass is a measure."},
    ]
    made = build(
        "statements", pages, tmp_path / "out", model=scripted(tmp_path, {"reply": says(statements=found)}), quiet=True
    )
    assert [(sample.id, sample.question, sample.answer) for sample in made] == [
        (f"book-{page}-{number}", f"{one['title']}: {one['statement']}", True)
        for page in (1, 2)
        for number, one in enumerate(found, 1)
    ]
    assert [sample.meta["source"] for sample in made] == ["book-1", "book-1", "book-2", "book-2"]
    empty = build(
        "statements", pages, tmp_path / "none", model=scripted(tmp_path, {"reply": says(statements=[])}), quiet=True
    )
    assert reasons(empty) == dict.fromkeys(("book-1", "book-2"), "the page holds no statement")


def test_false_statements_stand_beside_true_ones(tmp_path: Path) -> None:
    true = "Water boils at 100 degrees at sea level."
    source = write_set(
        tmp_path / "set", [true_false("a", True, question=true), true_false("b", False), open_ended("c")]
    )
    model = scripted(
        tmp_path,
        {"match": "Judge the false one", "reply": verdict()},
        {"reply": false("Water boils at 90 degrees at sea level.")},
    )
    made = build("falsify", source, tmp_path / "out", model=model, quiet=True)
    first, second = made
    assert first.question == true and first.answer is True
    assert (second.id, second.answer, second.question) == (
        "a-false-1",
        False,
        "Water boils at 90 degrees at sea level.",
    )
    assert (second.meta["pair"], second.meta["error_type"]) == ("a", "detail falsification")
    assert reasons(made) == dict.fromkeys(("b", "c"), "it is no true statement")


@pytest.mark.parametrize(
    ("reply", "judged", "told"),
    [
        (
            false("Water boils at 90 degrees at sea level."),
            verdict(definite=False),
            "the false statement is not definite (it may be so)",
        ),
        (false("Water  boils at 100 degrees at SEA level."), verdict(), "the statement was not changed"),
        (false("No."), verdict(), "far shorter or longer than the true one"),
        (false("Water boils at 90 degrees at sea level.", "magic"), verdict(), "Invalid enum value"),
        (says(cannot="it is a name"), verdict(), "declines (it is a name)"),
        ("no idea", verdict(), "it holds no JSON object"),
    ],
)
def test_false_statements_that_do_not_do_are_refused(tmp_path: Path, reply: str, judged: str, told: str) -> None:
    source = write_set(tmp_path / "set", [true_false("a", True, question="Water boils at 100 degrees at sea level.")])
    made = build(
        "falsify",
        source,
        tmp_path / "out",
        model=scripted(tmp_path, {"match": "Judge the false one", "reply": judged}, {"reply": reply}),
        quiet=True,
    )
    assert [one.id for one in made] == ["a"] and told in reasons(made)["a"], "the true statement stays"
    assert {item.status for item in made.dropped()} <= {"incomplete", "failed"}, "and is not refused"


def test_a_false_statement_that_does_not_do_leaves_the_others(tmp_path: Path) -> None:
    rows = [true_false(id, True, question=f"Water {id} boils at 100 degrees.") for id in ("one", "two")]
    replies = [
        {"match": "Water two boils at 9", "reply": verdict(definite=False)},
        {"match": "Judge the false one", "reply": verdict()},
        {"match": "Water one", "reply": false("Water one boils at 90 degrees.")},
        {"reply": false("Water two boils at 90 degrees.")},
    ]
    given, model = write_set(tmp_path / "set", rows), scripted(tmp_path, *replies)
    made = build("falsify", given, tmp_path / "out", load("steps", "falsify").Settings(each=2), model=model, quiet=True)
    assert [one.id for one in made] == ["one", "one-false-1", "one-false-2", "two"]
    assert reasons(made) == {"two": "; ".join(2 * ["the false statement is not definite (it may be so)"])}


STATEMENTS = {
    "A body at rest stays at rest unless a force acts on it.": "",
    "牛顿第一定律指出，物体在不受外力时保持静止或匀速直线运动状态。": "",
    "As shown in Figure 3, the field decreases with the distance.": "it is not independent ('Figure 3')",
    "The properties mentioned above hold for every group.": "it is not independent ('mentioned above')",
    "如图所示，电流由正极流向负极，方向不变。": "it is not independent ('如图')",
    "In our country the age of majority is eighteen years.": "it is not clear ('our country')",
    "我国的最高权力机关是全国人民代表大会。": "it is not clear ('我国')",
    "The energy is $E = mc^2$ (2.14) for a body at rest.": "it is not concise ('(2.14)')",
    "上面的公式只适用于理想气体，不适用于真实气体。": "it is not independent ('上面的公式')",
    "化学平衡移动的规律如下，它由勒夏特列提出。": "it is not independent ('如下')",
    "The most common reactions of alkenes are as follows": "it is not independent ('as follows')",
    "The rate has been measured many times [3] and is known well.": "it is not concise ('[3]')",
    "视网膜位于晶状体的后面，脉络膜在它的外侧。": "",
    "上下文无关文法可以由下推自动机识别，地下文物归国家所有。": "",
    "有化石证据表明，三十八亿年前地球上存在液态水。": "",
    "日本国的首都是东京，该国的资本市场成立于十九世纪。": "",
    "唐朝（618–907）的都城是长安，人口超过一百万。": "",
    "The law of cooling reads as follows: the rate is proportional to the difference.": "",
    "Every continuous function on [0,1] is bounded, as $f(0.5)$ and $\\sqrt[3]{2}$ show.": "",
    "Too short.": "it has 10 characters",
}


def test_statements_that_do_not_stand_on_their_own_leave(tmp_path: Path) -> None:
    rows = [true_false(f"s{at}", True, question=text) for at, text in enumerate(STATEMENTS)]
    made = build("screen_statements", write_set(tmp_path / "set", rows), tmp_path / "out", quiet=True)
    assert reasons(made) == {f"s{at}": told for at, told in enumerate(STATEMENTS.values()) if told}


def test_false_statements_are_no_copies_of_their_true_ones(tmp_path: Path) -> None:
    text = "Water boils at a temperature of {} degrees at the level of the sea under usual pressure of the air."
    rows = [
        true_false("a", True, question=text.format(100)),
        true_false("a-false-1", False, question=text.format(90), meta={"pair": "a"}),
        true_false("a-false-2", False, question=text.format(80), meta={"pair": "a"}),
        true_false("b", True, question=text.format(100).upper()),
    ]
    assert reasons(build("dedup", write_set(tmp_path / "set", rows), tmp_path / "out", quiet=True)).keys() == {"b"}


def test_a_bank_becomes_a_set_and_that_questions(tmp_path: Path) -> None:
    lines = [{"id": f"t{k}", "text": f"Fact {k} holds.", "label": True, "discipline": "law"} for k in range(30)]
    lines += [
        {
            "id": f"f{k}",
            "text": f"Fact {k} fails.",
            "label": False,
            "discipline": "law",
            "pair": f"t{k}",
            "error_type": "x",
        }
        for k in range(30)
    ]
    file = tmp_path / "bank.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    bank = build("bank", file, tmp_path / "bank", quiet=True)
    assert next((one.id, one.question, one.answer) for one in bank) == ("t0", "Fact 0 holds.", True)
    made = composed(bank.folder, tmp_path / "a", spec_of(questions=20), name="x")
    assert [one.meta for one in made] == [
        one.meta for one in composed(file, tmp_path / "b", spec_of(questions=20), name="x")
    ]
    with pytest.raises(InputError, match="o1 is a open_ended, and no statement"):
        composed(write_set(tmp_path / "open", [open_ended()]).folder, tmp_path / "c")
    with pytest.raises(UserError, match="no such file or folder"):
        build("bank", tmp_path / "nothing", tmp_path / "d")


def test_variants_are_no_bank(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", [open_ended(f"q{k}", answer=f"{k}") for k in range(3)])
    done = mmdyn("perturb", source.folder, "-o", tmp_path / "variants", "--ops", "text.convert:blank", "-q")
    assert done.returncode == 0, done.stderr
    with pytest.raises(InputError, match="is a set of variants"):
        composed(tmp_path / "variants", tmp_path / "out", spec_of(questions=1))
