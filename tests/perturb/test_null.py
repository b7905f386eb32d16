"""Null operators: other bytes, nothing that anyone would call a change, and no judge who is asked."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making_items import apply, array, change, draw, item, refusal
from PIL import Image
from serving import scripted

from making import choice, image_ref, open_ended, write_set
from mmdyn.data import ImageFolder, SampleSet, SetWriter
from mmdyn.plugins import load, names
from mmdyn.sample import Sample, Variant
from perturb import perturb
from perturb.codec import decode
from perturb.image.null import Null as ImageNull
from perturb.judge import invariants
from perturb.text.null import Null as TextNull, _gaps

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
EN = "A car goes 3 km along a road. It then stops, and the driver rests. How far has it gone?"
ZH = "小车沿公路行驶，每秒3米。求小车通过的路程。"


def texts(sample: Sample, draws: int = 60) -> set[str]:
    return {change(TextNull(), sample, number).question for number in range(draws)}


def painted(pixels: np.ndarray, number: int = 0) -> np.ndarray:
    before = item(pixels)
    return apply(ImageNull(), before, draw(ImageNull(), before.sample, number)).pictures["images/0.png"].pixels


def trail(sample: Sample) -> Variant:
    assert sample.variant is not None
    return sample.variant


def test_null_operators_say_so_and_others_are_treatment() -> None:
    roles = {name: load("operators", name).role for name in names("operators")}
    assert {name for name, role in roles.items() if role == "null"} == {"image.null", "text.null"}


def test_english_gets_a_space_or_a_line_break_between_sentences_and_a_space_between_clauses() -> None:
    assert texts(open_ended(question=EN)) == {
        EN.replace("road. It", "road.  It"),
        EN.replace("road. It", "road.\nIt"),
        EN.replace("stops, and", "stops,  and"),
        EN.replace("rests. How", "rests.  How"),
        EN.replace("rests. How", "rests.\nHow"),
    }


def test_chinese_gets_them_after_full_width_marks() -> None:
    assert texts(open_ended(question=ZH, language="zh")) == {
        ZH.replace("行驶，每", "行驶， 每"),
        ZH.replace("。求", "。 求"),
        ZH.replace("。求", "。\n求"),
    }


@pytest.mark.parametrize(("question", "wider"), [
    ("What is the area?", {"What  is the area?", "What is  the area?", "What is the  area?"}),
    ("中国最大的湖是哪个？", {"中国最大的湖是哪个？ "}),
    ("1 + 1 = ?", {"1 + 1 = ? "}),
])  # fmt: skip
def test_one_clause_gets_a_space_between_words_or_at_its_end(question: str, wider: set[str]) -> None:
    assert texts(open_ended(question=question)) == wider


@pytest.mark.parametrize("kept", [
    "Let $a, b$ be such that $f(x) = 1. Then x = 2$",
    "```\nprint(one, two)\nif true: print it. Then stop\n```",
    "| one, two | three. Four |",
    "A. one, two. Three B. four, five. Six",
    "“First, look. Then act”",
    "<image 1>",
])  # fmt: skip
def test_formulas_code_tables_options_and_quotations_stay(kept: str) -> None:
    spans = {(begin, end) for begin, end, _ in _gaps(f"Look here first.\n{kept}\nSay it now. Then stop.")}
    begin = len("Look here first.\n")
    assert spans and all(not begin <= place <= begin + len(kept) for span in spans for place in span)


def test_a_question_without_words_has_no_gap() -> None:
    pictured = choice(question="", images=("images/0.png",), options_in_image=True, texts=("", ""))
    assert refusal(TextNull(), pictured) == "the question has no words"


@pytest.mark.parametrize("shape", [(40, 60, 3), (41, 63), (1, 1), (8, 8, 3), (9, 200, 3)])
def test_half_of_the_blocks_move_by_one_level_towards_medium_grey(shape: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    moved = painted(pixels).astype(int) - pixels
    blocks = [moved[row : row + 8, column : column + 8] for row in range(0, shape[0], 8) for column in range(0, shape[1], 8)]  # fmt: skip
    assert all(abs(block).min() == abs(block).max() for block in blocks), "a block moves as a whole"
    assert sum(bool(block.any()) for block in blocks) == (len(blocks) + 1) // 2
    assert set(moved[pixels < 128].ravel().tolist()) <= {0, 1} and set(moved[pixels > 127].ravel().tolist()) <= {0, -1}


def test_pictures_of_a_sample_and_draws_differ() -> None:
    page = np.full((80, 80), 255, np.uint8)
    two = item(page, page)
    after = apply(ImageNull(), two, draw(ImageNull(), two.sample)).pictures
    assert not np.array_equal(*(after[ref].pixels for ref in two.sample.images))
    assert not np.array_equal(painted(page), painted(page, 1))
    assert refusal(ImageNull(), choice()) == "the sample has no picture"


def encoded(image: Image.Image, file_format: str, **how: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, file_format, **how)
    return buffer.getvalue()


def kinds() -> dict[str, bytes]:
    rgb, grey = Image.fromarray(array(64, 96)), Image.fromarray(array(64, 96, grey=True))
    page = Image.new("RGB", (96, 64), "white")
    page.paste(rgb.resize((40, 20)), (20, 20))
    clear = page.convert("RGBA")
    clear.putalpha(grey.point(lambda value: 255 * (value > 60)))
    deep = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    return {
        "rgb": encoded(rgb, "PNG"),
        "grey": encoded(grey, "PNG"),
        "one bit": encoded(grey.convert("1"), "PNG"),
        "palette": encoded(page.quantize(16), "PNG"),
        "alpha": encoded(clear, "PNG"),
        "16 bits": encoded(deep, "PNG"),
        "jpeg": encoded(page, "JPEG", quality=95, subsampling="4:4:4"),
        "grey jpeg": encoded(grey, "JPEG", quality=75),
    }


def test_every_kind_of_picture_becomes_another_file_that_looks_the_same(tmp_path: Path) -> None:
    pictures = kinds()
    samples = [
        choice(id=name, images=(image_ref(data, "jpg" if "jpeg" in name else "png"),))
        for name, data in pictures.items()
    ]
    source = write_set(tmp_path / "source", samples, images=list(pictures.values()))
    made = perturb(source, tmp_path / "out", ops="image.null", draws=2, seed=1, quiet=True)
    assert made.manifest.counts == {"samples": 2 * len(pictures), "unjudged": 2 * len(pictures)}
    files = set[bytes]()
    for sample in made:
        data = made.images.read(sample.images[0])
        before, after = decode(pictures[sample.parent]).pixels.astype(int), decode(data).pixels
        apart = np.abs(after - before)
        assert after.shape == before.shape and 0 < apart.max() <= (8 if "jpeg" in sample.parent else 1), sample.id
        assert sample.images[0].endswith("jpg" if "jpeg" in sample.parent else "png")
        files.add(data)
    assert len(files) == 2 * len(pictures) and not files & set(pictures.values())


def test_no_judge_is_asked_about_a_null_chain(tmp_path: Path) -> None:
    judge = scripted(tmp_path, {"reply": json.dumps({"same": False, "confidence": 0.9, "reason": "no"})})
    source = write_set(tmp_path / "source", [choice(id="q", question="Add the two. What is the sum?")])
    made = perturb(source, tmp_path / "out", ops="text.null,text.null+shuffle", judge=judge, redraws=0, quiet=True)
    (kept,), (dropped,) = list(made), list(made.dropped())
    verdict = trail(kept).verdict
    assert (trail(kept).chain, verdict.status, verdict.by) == ("text.null", "kept", "scripted:replies.jsonl")
    assert verdict.reason == "a null change keeps the meaning by construction"
    assert (dropped.chain, dropped.status, dropped.reason) == ("text.null+shuffle", "rejected", "no")


@pytest.mark.skipif(not DATA.is_dir(), reason="the public data are not beside the checkout")
@pytest.mark.parametrize(("benchmark", "folder", "at_the_end", "n"), [
    ("gaokao_mm", "gaokao-mm", 35, 72), ("we_math", "we-math", 0, 215), ("math_vision", "math-vision", 0, 80),
    ("gaokao_bench", "gaokao-bench", 187, 802),
])  # fmt: skip
def test_all_words_of_public_questions_stay(
    benchmark: str, folder: str, at_the_end: int, n: int, tmp_path: Path
) -> None:
    rows = load("benchmarks", benchmark)().read(DATA / folder, ImageFolder(tmp_path))
    samples = [row.sample for row in rows if row.sample]
    for sample in samples:
        after = change(TextNull(), sample)
        assert after.question != sample.question
        assert "".join(after.question.split()) == "".join(sample.question.split())
        assert invariants.compare(sample, after) is None, sample.id
    ends = sum(_gaps(sample.question)[0][0] == len(sample.question) for sample in samples)
    assert (ends, len(samples)) == (at_the_end, n)


@pytest.mark.skipif(not DATA.is_dir(), reason="the public data are not beside the checkout")
@pytest.mark.parametrize(("benchmark", "folder"), [
    ("gaokao_mm", "gaokao-mm"), ("we_math", "we-math"), ("math_vision", "math-vision"),
])  # fmt: skip
def test_public_pictures_become_others_that_look_the_same(benchmark: str, folder: str, tmp_path: Path) -> None:
    with SetWriter(tmp_path / "source", benchmark) as writer:
        for row in load("benchmarks", benchmark)().read(DATA / folder, writer.images):
            if row.sample:
                writer.add(row.sample)
    source = SampleSet(tmp_path / "source")
    made = perturb(source, tmp_path / "out", ops="image.null", limit=40, quiet=True)
    alike = [trail(sample).strength for sample in made]
    assert len(alike) == 40 and all(far and far.ssim and far.ssim > 0.98 for far in alike)
