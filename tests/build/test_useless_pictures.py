"""Pictures that nobody can use, and stems that send to a code, leave; what is right stays, above all real pictures."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.real_sets import real, source
from PIL import Image, ImageDraw, ImageFilter
from serving import scripted
from shell import mmdyn

from making import choice, open_ended, write_set
from mmdyn.build.quality import picture_problem, scans, word_problems
from mmdyn.data import ImageFolder, SampleSet

SIZES = ((300, 400), (1100, 800))
QR = """
#######..##...#.#.#######
#.....#..#..##.##.#.....#
#.###.#.##.#....#.#.###.#
#.###.#.#.#.###...#.###.#
#.###.#.#..#....#.#.###.#
#.....#.###.####..#.....#
#######.#.#.#.#.#.#######
........#.#.#.#.#........
#.#####..#####....#####..
.#####.#...###...#.#...#.
#...#####..#.####..#.#.##
##.###.#.#....###.##....#
.##.#.##..#..###.##.#.###
#.#..#..##..#.#.#..#.#.#.
#.#.#######....#..####.##
#.........#.#.#######...#
#.#####...#.##..#####.#..
........#....#.##...##...
#######....####.#.#.#.###
#.....#.####..#.#...##.#.
#.###.#.#.####.######.###
#.###.#.#.#.#.##.##.#####
#.###.#.#...####.....##.#
#.....#..##.#.#.##.###..#
#######.#...#....########
"""
"""A QR code of version 2 that names an address."""


def code(scale: int = 5) -> Image.Image:
    modules = np.array([[one == "#" for one in line] for line in QR.split()])
    return Image.fromarray(np.kron(~np.pad(modules, 4), np.ones((scale, scale), bool)).astype(np.uint8) * 255)


def problem(
    folder: Path, given: np.ndarray | Image.Image, format: str = "PNG", quality: int = 0, about: str = ""
) -> str:
    image = given if isinstance(given, Image.Image) else Image.fromarray(np.clip(given, 0, 255).astype(np.uint8))
    out = io.BytesIO()
    image.save(out, format, **({"quality": quality} if quality else {}))
    images = ImageFolder(folder)
    return picture_problem(images, images.put(out.getvalue()), about)


def salted(rng: np.random.Generator, size: tuple[int, int], share: float) -> np.ndarray:
    drawn = rng.random(size)
    return np.where(drawn < share / 2, 0, np.where(drawn > 1 - share / 2, 255, 128))


@pytest.mark.parametrize("size", SIZES)
def test_noise_leaves(tmp_path: Path, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    noise = [rng.integers(0, 256, size), rng.integers(0, 256, (*size, 3)), rng.normal(128, 40, size)]
    noise += [rng.normal(235, 3, size), *(salted(rng, size, share) for share in (0.01, 0.05, 0.2, 0.5))]
    for one in noise:
        assert problem(tmp_path, one) == "a picture is noise"
    for quality in (90, 75, 50):
        assert problem(tmp_path, noise[0], "JPEG", quality) == "a picture is noise"
        assert problem(tmp_path, noise[-1], "JPEG", quality) == "a picture is noise"


@pytest.mark.parametrize("size", SIZES)
def test_nearly_blank_pages_leave(tmp_path: Path, size: tuple[int, int]) -> None:
    rng, (height, width) = np.random.default_rng(1), size
    specks, line = np.full(size, 250), np.full(size, 250)
    for row, column in rng.integers(4, min(size) - 4, (9, 2)):
        specks[row : row + 2, column : column + 3] = 60
    line[height // 3 : height // 3 + 2] = 90
    ramp = np.linspace(225, 250, width)[None] + np.zeros(size)
    vignette = 250 - 12 * (np.linspace(-1, 1, height)[:, None] ** 2 + np.linspace(-1, 1, width) ** 2)
    pages = [line, line.T, line + rng.normal(0, 3, size), ramp, vignette]
    told = [problem(tmp_path, page, "JPEG", 75) for page in pages]
    pages += [specks, np.minimum(specks, line), specks + rng.normal(0, 2, size)]
    told += [problem(tmp_path, page) for page in pages]
    assert set(told) == {"a picture is nearly blank"}


def drawings(width: int, height: int) -> dict[str, Image.Image]:
    """What is little, and is right."""
    found = dict[str, Image.Image]()

    def drawn(name: str) -> ImageDraw.ImageDraw:
        found[name] = Image.new("L", (width, height), 250)
        return ImageDraw.Draw(found[name])

    drawn("letter").text((width * 0.4, height // 3), "A", fill=90)
    drawn("pale letters").text((width * 0.4, height // 3), "x = 1", fill=220)
    drawn("segment").line((width * 0.2, height // 3, width * 0.8, height // 3), fill=90, width=2)
    drawn("slope").line((0, 0, width, height), fill=90, width=1)
    draw = drawn("dots")
    for at in range(12):
        draw.ellipse((20 + 20 * at, 30, 25 + 20 * at, 35), fill=0)
    draw = drawn("grid")
    for at in range(0, width, 20):
        draw.line((at, 0, at, height), fill=150)
    disc = Image.new("L", (width, height), 200)
    ImageDraw.Draw(disc).ellipse((width * 0.2, height * 0.2, width * 0.8, height * 0.8), fill=120)
    found["dithered"] = disc.convert("1").convert("L")
    rng = np.random.default_rng(1)
    noisy = np.asarray(disc, float) + rng.normal(0, 40, (height, width))
    found["noisy"] = Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))
    lettered = np.asarray(found["letter"], float) + rng.normal(0, 5, (height, width))
    found["letter on a rough page"] = Image.fromarray(np.clip(lettered, 0, 255).astype(np.uint8))
    both = np.indices((height, width))
    found["checkerboard"] = Image.fromarray((both.sum(0) % 2 * 255).astype(np.uint8))
    found["stripes"] = Image.fromarray((both[1] % 4 // 2 * 255).astype(np.uint8))
    found["ramp"] = Image.fromarray((np.linspace(0, 255, width)[None] + np.zeros((height, 1))).astype(np.uint8)).convert("1").convert("L")  # fmt: skip
    return found


@pytest.mark.parametrize("size", [*SIZES, (100, 120), (64, 80)])
def test_little_that_is_right_stays(tmp_path: Path, size: tuple[int, int]) -> None:
    assert {name: told for name, one in drawings(*size[::-1]).items() if (told := problem(tmp_path, one))} == {}


def test_a_qr_code_leaves_but_where_it_is_asked_about(tmp_path: Path) -> None:
    plain, captioned = code(), Image.new("L", (205, 240), 255)
    captioned.paste(plain, (20, 0))
    ImageDraw.Draw(captioned).text((20, 210), "scan to see the solution", fill=0)
    blue = Image.new("RGB", plain.size, (230, 240, 255))
    blue.paste((20, 60, 160), mask=Image.eval(plain, lambda grey: 255 - grey))
    codes = [code(2), plain, captioned, blue, plain.rotate(20, expand=True, fillcolor=255), plain.filter(ImageFilter.GaussianBlur(1.5))]  # fmt: skip
    for one in codes:
        assert problem(tmp_path, one) == "a picture is a QR code"
    assert problem(tmp_path, plain, "JPEG", 20) == "a picture is a QR code"
    for about in ("如图是一个正方形二维码，求黑色部分的面积。", "How many modules has this QR code?"):
        assert problem(tmp_path, plain, about=about) == ""
    poster = Image.new("L", (800, 800), 255)
    poster.paste(plain, (10, 10))
    for row in range(200, 800, 30):
        ImageDraw.Draw(poster).text((20, row), 20 * "A poster. ", fill=0)
    targets = Image.new("L", (300, 300), 255)
    for x, y in ((20, 20), (200, 20), (20, 200)):
        ImageDraw.Draw(targets).ellipse((x, y, x + 70, y + 70), outline=0, width=4)
        ImageDraw.Draw(targets).ellipse((x + 28, y + 28, x + 42, y + 42), fill=0)
    assert problem(tmp_path, poster) == problem(tmp_path, targets) == ""


SENT = [
    "扫描二维码", "请扫描下方二维码查看答案", "扫码看视频讲解", "微信扫一扫，获取本题解析", "视频讲解请扫描二维码。", "已知x=3，求y。扫码查看解析",
    "用手机扫描右侧二维码，听录音，回答问题。", "答案请扫码", "使用微信扫描二维码观看微课", "请同学们打开微信，扫一扫二维码看讲解", "Scan the QR code.",
    "Scan the QR code to see the solution.", "Please scan this QR code for the answer", "Find x. (Scan the code below for the video explanation.)",
    "For the solution, scan the QR code.",
]  # fmt: skip
ASKED = [
    "小明用手机扫码支付了30元，还剩多少元？", "顾客扫描二维码即可点餐，这体现了什么？", "下图是一个正方形二维码，边长为2cm，求黑色部分的面积。",
    "某共享单车，扫码开锁后按时收费，求费用y与时间x的关系。", "扫码支付已成为人们常用的支付方式，这说明货币的什么职能？",
    "店员说：“请扫码。”小红付了5元。她买了几支笔？", "扫描电子显微镜的分辨率为多少？", "CT扫描的原理是什么？", "根据视频监控，小偷扫码乘车逃走，下列说法正确的是",
    "某校答案公布后，家长扫码缴费，缴费率为90%", "A shop lets customers scan a QR code to pay. How much do they save?", "Which device is used to scan a code?",
    "Scanning the QR code takes 3 s. How many codes in a minute?", "The scan code of an A key is 30. What is it in hex?",
    "Scan the following list of numbers and find the largest.",
]  # fmt: skip


def test_stems_that_send_to_a_code_leave_and_those_about_one_stay() -> None:
    assert [one for one in SENT if not scans(open_ended("q", question=one))] == []
    assert [one for one in ASKED if scans(open_ended("q", question=one))] == []


@pytest.mark.parametrize(
    "question",
    [
        "If a pen costs $5, what do 3 pens cost at $4 each",
        "The capital of France is",
        "Find the value of a",
        "已知集合 $A=\\{x \\mid x>1\\}$, 则 $\\left.A \\cap B=（ \\quad\\right)$ 等于多少",
        "$3-(-4)=$ ____",
        "数$1$是（ ）．",
        "In the calculation shown below, letters are digits.\n$AA\\times AB=5467$\nWhat is A+B?",
        "他试图一举成功，线下图书的销量如何？",
        "How many are there? (adapted from Level 3, Question #6）",
    ],
)
def test_stems_that_rules_took_for_damaged_stay(question: str) -> None:
    assert list(word_problems(open_ended("q", question=question))) == []


def test_options_that_differ_in_a_capital_or_an_article_are_two() -> None:
    for texts in (("Dear Uncle Tom,", "Dear uncle Tom,"), ("best", "the best"), ("m²", "m2")):
        assert list(word_problems(choice("q", texts=texts, question="Which is written in the right way?"))) == []


RIGHTLY = {"gaokao_mm": 0, "scemqa": 0, "we_math": 1, "math_vision": 1, "gaokao_bench": 3, "tal_scq5k": 6}
"""Real questions that are unsound, each looked at: equal options, no picture, another question, nothing asked."""


@pytest.mark.parametrize("name", RIGHTLY)
def test_no_real_question_that_is_right_leaves(name: str) -> None:
    assert sum(any(word_problems(sample)) for sample in real(name).values()) == RIGHTLY[name]


@pytest.mark.slow
def test_no_real_picture_leaves(tmp_path: Path) -> None:
    looked = 0
    for name in ("gaokao_mm", "scemqa", "we_math", "math_vision", "dynamath"):
        images = ImageFolder(tmp_path / name)
        for file in sorted(path for path in source(name).rglob("*") if path.suffix in (".png", ".jpg", ".jpeg")):
            assert (str(file), picture_problem(images, images.put(file.read_bytes()), "")) == (str(file), "")
            looked += 1
    assert looked > 500


def test_the_funnel_says_how_many_stems_are_cut_off(tmp_path: Path) -> None:
    whole = dict.fromkeys(("whole", "consistent", "reasoned", "factual", "clear", "complete"), True)
    replies = [
        {"match": f"number {k}", "reply": json.dumps(whole | {"whole": False, "why": f"it ends at 'number {k}'"})}
        for k in (1, 2)
    ]
    replies.append({"reply": json.dumps(whole | {"why": "none"})})
    rows = [choice(f"q{k}", question=f"What does the law of number {k} say of") for k in range(1, 5)]
    source_set = write_set(tmp_path / "set", rows)
    done = mmdyn("build", "review", source_set.folder, "-o", tmp_path / "out", "-m", scripted(tmp_path, *replies))
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-2:] == ["        2 refused by review", "            2 it is not whole (…)"]
    told = [item.reason for item in SampleSet(tmp_path / "out").dropped()]
    assert told == [f"it is not whole ('it ends at ’number {k}’')" for k in (1, 2)]
