"""How fast variants are made: pictures beside their codec alone and beside albumentations, and texts by the embedded
rewriter.

    python bench/perturb.py [--data FOLDER ...] [--ops substitute,paraphrase,substitute+paraphrase] [--small]

Pictures: `pad+invert+salt_pepper` on one core, from a file's bytes to the variant's. The codec alone decodes the same
    bytes and encodes the picture that the chain makes of them. albumentations pads to the same size (its Pad, InvertImg
    and SaltAndPepper, made beforehand) between OpenCV's imdecode and imencode, as PNG at OpenCV's default level and at
    level 1, or as JPEG of our quality where the source is one. What is compared takes turns, three times for every
    picture, and three times in a row as in a set; of each the least CPU time counts, and the ratio by the clock stands
    beside. Then whole sets by `mmdyn.perturb`, by one and two worker processes in turn, by the clock, with all reading,
    hashing, storing and writing.

Texts: a generated set, or the samples of `--texts` again and again under new ids, by the command line on one core.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where this file would hide the package

import msgspec
import numpy as np
from PIL import Image, ImageDraw

import mmdyn
from mmdyn.data import SetWriter
from mmdyn.keys import canonical, stream
from mmdyn.sample import Language, Option, Sample
from perturb import Item, NotApplicable, Operator, Picture
from perturb.codec import JPEG_QUALITY, decode, encode
from perturb.image.invert import Invert
from perturb.image.pad import Pad
from perturb.image.salt_pepper import SaltPepper

CHAIN: tuple[Operator, ...] = (Pad(), Invert(), SaltPepper())
OPS = "pad+invert+salt_pepper"
REF = "images/0.png"
ROUNDS, IN_A_ROW = 3, 3
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tiff")

Runs = dict[str, Callable[[], bytes]]

Times = dict[str, tuple[float, float]]
"""Seconds of CPU and by the clock, of each of several functions."""


def main() -> None:
    """Print three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="folders of real pictures")
    parser.add_argument("--texts", type=Path, help="a set folder or file of real texts")
    parser.add_argument("--ops", default="substitute,paraphrase,substitute+paraphrase", help="the chains for texts")
    parser.add_argument("--small", action="store_true", help="little of everything, to see that it runs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MMDYN_CACHE"] = f"{folder}/cache"
        print_chains(args.data, args.small)
        print_workers(Path(folder), args.small)
        print_texts(Path(folder), args.texts, args.ops, args.small)


def print_chains(folders: list[Path], small: bool) -> None:
    """The chain beside its codec alone and beside albumentations, in CPU milliseconds a picture."""
    theirs = rival()
    print(f"{OPS}, one core, CPU ms a picture (codec alone: decode the input, encode the chain's output)\n")
    head = ["pictures", "n", "codec", "ours", "ours/codec", "by the clock", "KB"]
    print_row(*head, *(["albumentations", "theirs/ours", "KB", "at level 1", "theirs/ours", "KB"] if theirs else []))
    print_row(*["---"] * (len(head) + 6 * bool(theirs)))
    count = 2 if small else 24
    sources = {f"drawn, {w}x{h}": [drawing(w, h, n) for n in range(count)] for w, h in ((640, 480), (1600, 1200))}
    for name, pictures in {**sources, **{folder.name: real(folder, 2 * count) for folder in folders}}.items():
        total: Times = {}
        sizes = dict[str, int]()
        for number, data in enumerate(pictures):
            runs = contenders(data, number, theirs)
            for what, (cpu, clock) in least(runs, 1 if small else ROUNDS, IN_A_ROW).items():
                before = total.get(what, (0.0, 0.0))
                total[what] = (before[0] + cpu, before[1] + clock)
                sizes[what] = sizes.get(what, 0) + len(runs[what]())
        print_chain_row(name, len(pictures), total, sizes)
    if not theirs:
        print("\nalbumentations is not installed, so it is left out: pip install albumentations")


def print_chain_row(name: str, count: int, total: Times, sizes: dict[str, int]) -> None:
    """One kind of pictures: means of CPU ms and of KB, and ratios."""
    (codec, codec_clock), (ours, ours_clock) = total["codec"], total["ours"]
    cells = [f"{1000 * codec / count:.2f}", f"{1000 * ours / count:.2f}", f"{ours / codec:.2f}"]
    cells += [f"{ours_clock / codec_clock:.2f}", f"{sizes['ours'] / count / 1024:.0f}"]
    for what in ("default", "level 1"):
        if what in total:
            cpu = total[what][0]
            cells += [f"{1000 * cpu / count:.2f}", f"{cpu / ours:.2f}", f"{sizes[what] / count / 1024:.0f}"]
    print_row(name, count, *cells)


def print_workers(folder: Path, small: bool) -> None:
    """Drawn pictures by `mmdyn.perturb`, by one and two workers and by the codec alone in turn; the least of three
    times."""
    count, kinds = (6, 3) if small else (2000, 50)
    with SetWriter(folder / "drawn", "drawn") as writer:
        drawings = [drawing(640, 480, number) for number in range(kinds)]
        refs = [writer.images.put(data) for data in drawings]
        for number in range(count):
            ref = refs[number % kinds]
            writer.add(Sample(f"s{number}", "What is shown?", "open_ended", "A drawing.", images=(ref,)))
    codecs = [contenders(data, number, None)["codec"] for number, data in enumerate(drawings)]
    runs: Runs = {
        "codec alone": lambda: b"".join(codecs[number % kinds]()[:1] for number in range(count)),
        "one worker": partial(make_set, folder, 1),
        "two workers": partial(make_set, folder, 2),
    }
    clock = {what: seconds for what, (_, seconds) in least(runs, 1 if small else 3).items()}
    print(f"\n{OPS} by mmdyn.perturb, {count} drawings of 640x480, all included, by the clock\n")
    print_row("", "seconds", "pictures/s", "time of the codec alone", "speed of one worker")
    print_row(*["---"] * 5)
    for what, seconds in clock.items():
        ratios = f"{seconds / clock['codec alone']:.2f}", f"{clock['one worker'] / seconds:.2f}"
        print_row(what, f"{seconds:.2f}", f"{count / seconds:.0f}", *ratios)


def make_set(folder: Path, workers: int) -> bytes:
    """Make the drawn set's variants into a folder of their own."""
    out = tempfile.mkdtemp(dir=folder)
    made = mmdyn.perturb(folder / "drawn", Path(out) / "made", ops=OPS, workers=workers, quiet=True)
    return canonical(made.manifest)


def print_texts(folder: Path, texts: Path | None, ops: str, small: bool) -> None:
    """Some 100,000 texts by the command line, in one process of one thread."""
    chains = ops.count(",") + 1
    count = 300 if small else round(100_000 / chains)
    if texts:
        samples = (msgspec.structs.replace(s, id=f"{s.id}-{n}") for n, s in enumerate(cycle(list(mmdyn.load(texts)))))
    else:
        samples = (question(number) for number in range(count))
    with SetWriter(folder / "texts", "texts") as writer:
        for sample in islice(samples, count):
            writer.add(sample)
    print(f"\n{ops}: {count * chains:,} texts on one core ({texts or 'generated, half of them Chinese'})\n")
    print_row("chain", "asked for", "made", "seconds", "CPU s", "asked for/s", "made/s", "peak MB")
    print_row(*["---"] * 8)
    for chain in [ops, *(ops.split(",") if chains > 1 else [])]:
        asked = count * (chain.count(",") + 1)
        with tempfile.TemporaryDirectory(dir=folder) as out:
            arguments = ["perturb", str(folder / "texts"), "-o", f"{out}/made", "--ops", chain, "--quiet"]
            seconds, cpu, peak = measure([sys.executable, "-m", "mmdyn", *arguments])
            made = len(mmdyn.load(f"{out}/made"))
        rates = f"{asked / seconds:.0f}", f"{made / seconds:.0f}"
        print_row(chain, f"{asked:,}", f"{made:,}", f"{seconds:.1f}", f"{cpu:.1f}", *rates, f"{peak:.0f}")


def contenders(data: bytes, number: int, theirs: Any) -> Runs:
    """What is compared on one picture; each gives the encoded picture."""
    sample = Sample(f"s{number}", "What is shown?", "open_ended", "A drawing.", images=(REF,))
    picture = decode(data)
    output = changed(sample, picture, number)
    runs: Runs = {
        "codec": lambda: (decode(data), encode(output))[1],
        "ours": lambda: encode(changed(sample, decode(data), number)),
    }
    if theirs:
        for what, level in (("default", None), ("level 1", 1)):
            runs[what] = theirs(data, picture, draws(sample, number)[0], level)
    return runs


def draws(sample: Sample, number: int) -> list[dict[str, Any]]:
    """What each operator of the chain draws."""
    drawn = [operator.params(stream(number, place), sample) for place, operator in enumerate(CHAIN)]
    return [params for params in drawn if not isinstance(params, NotApplicable)]


def changed(sample: Sample, picture: Picture, number: int) -> Picture:
    """The picture after the chain; drawing counts."""
    item: Item | NotApplicable = Item(sample, {REF: picture})
    for operator, params in zip(CHAIN, draws(sample, number), strict=True):
        assert isinstance(item, Item)
        item = operator.apply(item, params)
    assert isinstance(item, Item)
    return item.pictures[REF]


def rival() -> Any:
    """What makes albumentations' chain for one picture; None where it is not installed."""
    os.environ.setdefault("NO_ALBUMENTATIONS_UPDATE", "1")  # it would ask the network for its newest version
    try:
        import albumentations  # type: ignore[import-not-found, unused-ignore]
        import cv2
    except ImportError:
        return None
    cv2.setNumThreads(1)

    def make(data: bytes, picture: Picture, frame: dict[str, Any], level: int | None) -> Callable[[], bytes]:
        height, width = picture.pixels.shape[:2]
        sides = (("left", width), ("top", height), ("right", width), ("bottom", height))
        padding = tuple(max(1, round(frame[side] * size)) for side, size in sides)
        pad = albumentations.Pad(padding=padding, fill=frame["value"], p=1)
        noise = albumentations.SaltAndPepper(amount=(0.01, 0.03), salt_vs_pepper=(0.5, 0.5), p=1)
        chain = albumentations.Compose([pad, albumentations.InvertImg(p=1), noise])
        how = [] if level is None else [cv2.IMWRITE_PNG_COMPRESSION, level]
        if picture.suffix == "jpg":
            sampling = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
            how = [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY, *sampling]
        colour = cv2.IMREAD_GRAYSCALE if picture.pixels.ndim == 2 else cv2.IMREAD_COLOR

        def run() -> bytes:
            pixels = cv2.imdecode(np.frombuffer(data, np.uint8), colour)
            made = chain(image=pixels)["image"]
            encoded: bytes = cv2.imencode(f".{picture.suffix}", made, how)[1].tobytes()
            return encoded

        return run

    return make


def least(runs: Runs, rounds: int, in_a_row: int = 1) -> Times:
    """The least seconds of CPU and by the clock of each; they take turns, each so often in a row."""
    best: Times = {}
    for _ in range(rounds):
        for what, run in [turn for turn in runs.items() for _ in range(in_a_row)]:
            cpu, clock = time.process_time(), time.perf_counter()
            run()
            cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
            before = best.get(what, (cpu, clock))
            best[what] = (min(before[0], cpu), min(before[1], clock))
    return best


def measure(command: list[str]) -> tuple[float, float, float]:
    """Seconds by the clock, seconds of CPU and peak megabytes of a command. Raises SystemExit where it fails."""
    started = time.perf_counter()
    found = subprocess.run([sys.executable, "-c", GO_BETWEEN, *command], stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - started
    code, cpu, peak = found.stdout.splitlines()[-1].split()
    if int(code):
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    return seconds, float(cpu), float(peak) / 1024


GO_BETWEEN = """
import os, sys
_, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""
"""A process's peak counts from the memory of the one that started it, so a small one has to."""


def print_row(*cells: object) -> None:
    """A line of a Markdown table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def drawing(width: int, height: int, number: int) -> bytes:
    """Line art with labels, as a PNG."""
    random = stream("drawing", width, height, number)
    image = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(image)
    for label in range(12):
        x, other = sorted(random.integers(0, width, 2).tolist())
        y, below = sorted(random.integers(0, height, 2).tolist())
        draw.line((x, below, other, y), fill="black", width=max(1, width // 300))
        draw.ellipse((x, y, other + 1, below + 1), outline=tuple(random.integers(0, 200, 3).tolist()), width=2)
        draw.text((x, y), f"{number} {'ABCDEFGHIJKL'[label]}", fill="black", font_size=height // 30)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def real(folder: Path, most: int) -> list[bytes]:
    """Pictures from anywhere in a folder, evenly picked, at most so many. Raises SystemExit where there are none."""
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES)
    if not files:
        raise SystemExit(f"{folder} holds no pictures ({', '.join(SUFFIXES)})")
    picked = np.linspace(0, len(files) - 1, min(most, len(files))).astype(int)
    return [files[place].read_bytes() for place in picked]


ENGLISH = (
    (
        "A tank holds {a} litres of water and gains {b} litres every minute. How many litres does it hold after {c}"
        " minutes?"
    ),
    "Which of the following numbers is the largest common divisor of {a} and {b}?",
    "The figure shows a circuit with two resistors of {a} Ω and {b} Ω in series. What is the total resistance?",
    "Calculate the area of a rectangle whose length is {a} cm and whose width is {b} cm.",
    "A farmer has {a} sheep and buys {b} more. She then sells {c} of them. Find the number of sheep that remain.",
    "If $x + {a} = {b}$, what is the value of $x$?",
)
CHINESE = (
    "水箱里有 {a} 升水，每分钟流入 {b} 升，{c} 分钟后水箱里共有多少升水？",
    "下列各数中，{a} 和 {b} 的最大公约数是哪一个？",
    "如图所示，两个电阻 {a} Ω 和 {b} Ω 串联，总电阻是多少？",
    "一个长方形的长是 {a} 厘米，宽是 {b} 厘米，求它的面积。",
    "农场有 {a} 只羊，又买来 {b} 只，卖出 {c} 只，还剩下多少只羊？",
    "已知 $x + {a} = {b}$，则 $x$ 的值为（　　）",
)


def question(number: int) -> Sample:
    """An exam question, every other one in Chinese."""
    language: Language = "zh" if number % 2 else "en"
    texts = CHINESE if number % 2 else ENGLISH
    text = texts[number // 2 % len(texts)].format(a=number % 97 + 3, b=number % 53 + 2, c=number % 11 + 2)
    options = tuple(Option(label, f"{number % 89 + 7 * place}") for place, label in enumerate("ABCD"))
    return Sample(f"q{number}", text, "single_choice", ("ABCD"[number % 4],), language, options)


if __name__ == "__main__":
    main()
