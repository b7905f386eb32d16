"""How well the rules of `mmdyn build screen` tell damaged questions from sound ones.

Real questions of five sets: 200 are left as they are, 200 others are damaged, ten in each of twenty ways. Sound ones
that the rules refuse are listed, as a real set may hold unsound questions itself.

    python bench/screening.py --data DATA
"""

from __future__ import annotations

import argparse
import io
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PIL import Image, ImageFilter

from mmdyn import plugins
from mmdyn.build import build
from mmdyn.build.steps.screen import Screen
from mmdyn.data import ImageFolder, SampleSet, SetWriter
from mmdyn.sample import Option, Sample

SETS = {
    "gaokao_bench": "gaokao-bench", "gaokao_mm": "gaokao-mm", "we_math": "we-math", "scemqa": "scemqa",
    "tal_scq5k": "tal-scq5k",
}  # fmt: skip
SOUND, OF_A_KIND = 200, 10

Damage = Callable[[random.Random, Sample, ImageFolder], Sample | None]
"""A damaged sample; None where it cannot be damaged so."""


def saved(picture: Image.Image, images: ImageFolder, format: str = "PNG") -> str:
    """A picture put into the set."""
    out = io.BytesIO()
    picture.convert("RGB").save(out, format)
    return images.put(out.getvalue())


def painted(change: Callable[[Image.Image], Image.Image]) -> Damage:
    """All pictures of a sample changed."""

    def damage(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
        if not sample.images or any(option.image for option in sample.options):
            return None
        opened = [Image.open(io.BytesIO(images.read(ref))) for ref in sample.images]
        return replace(sample, images=tuple(saved(change(picture.convert("RGB")), images) for picture in opened))

    return damage


def worded(change: Callable[[random.Random, str], str | None]) -> Damage:
    """The question changed."""

    def damage(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
        changed = change(rng, sample.question)
        return None if changed is None or changed == sample.question else replace(sample, question=changed)

    return damage


def no_picture(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
    if not sample.images or sample.options_in_image or not re.search(r"图|figure|diagram|shown|graph", sample.question):
        return None
    return replace(sample, images=(), question=re.sub(r"<image \d+>", "", sample.question))


def empty_option(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
    if len(sample.options) < 3 or sample.options_in_image or any(option.image for option in sample.options):
        return None
    place = rng.randrange(len(sample.options))
    options = list(sample.options)
    options[place] = Option(options[place].label, rng.choice([".", "-", "_", "（）"]))
    return replace(sample, options=tuple(options))


def equal_options(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
    wrong = [at for at, option in enumerate(sample.options) if option.label not in sample.answer and option.text]
    if len(wrong) < 2:
        return None
    options = list(sample.options)
    options[wrong[0]] = Option(options[wrong[0]].label, f" {options[wrong[1]].text} ")
    return replace(sample, options=tuple(options))


def other_key(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
    """The explanation ends with another letter than the answer."""
    if sample.task_type != "single_choice" or not sample.explanation:
        return None
    other = rng.choice([label for label in sample.labels if label not in sample.answer])
    ending = f"故选：{other}。" if sample.language == "zh" else f"So the answer is {other}."
    return replace(sample, explanation=f"{sample.explanation} {ending}")


def bad_year(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
    return replace(sample, fields=sample.fields | {"year": rng.choice([1887, 2099, 20, 0, 19999])})


def no_discipline(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
    return replace(sample, fields={name: value for name, value in sample.fields.items() if name != "discipline"})


def too_many_blanks(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
    if sample.task_type != "fill_in_the_blank":
        return None
    return replace(sample, question=f"{sample.question}\n____；____；____")


def doubled_options(rng: random.Random, sample: Sample, images: ImageFolder) -> Sample | None:
    if len(sample.options) < 3 or sample.options_in_image:
        return None
    listed = "\n".join(f"{option.label}. {option.text}" for option in sample.options)
    return replace(sample, question=f"{sample.question}\n{listed}")


def cut_off(rng: random.Random, text: str) -> str | None:
    return text[: int(len(text) * rng.uniform(0.3, 0.6))].rstrip(" .。？?，,") if len(text) > 60 else None


def mojibake(rng: random.Random, text: str) -> str | None:
    if re.search(r"[\u4e00-\u9fff]", text):
        return text.encode("utf-8").decode("latin-1")
    return text.replace(" ", " Â ", 3).replace("'", "â€™") if len(text) > 40 else None


def markup(rng: random.Random, text: str) -> str | None:
    return rng.choice(["<p>{}</p>", "{}<br/>&nbsp;", '{}<img src="q.png">', "<span style='x'>{}</span>"]).format(text)


def specks(rng: random.Random, text: str) -> str | None:
    letters = list(text)
    for _ in range(max(3, len(text) // 15)):
        letters[rng.randrange(len(letters))] = "\N{REPLACEMENT CHARACTER}"
    return "".join(letters)


def elsewhere(rng: random.Random, text: str) -> str | None:
    if re.search(r"[\u4e00-\u9fff]", text):
        return rng.choice(["根据上一题的结论，", "接第12题，", "阅读上文，"]) + text
    return (
        rng.choice(["Using your result from the previous question, ", "As in question 12, ", "See the passage above. "])
        + text
    )


def half(picture: Image.Image) -> Image.Image:
    """What a broken download leaves: the lower half is grey."""
    picture.paste((128, 128, 128), (0, picture.height // 2, picture.width, picture.height))
    return picture


def smaller(picture: Image.Image) -> Image.Image:
    """The picture at three quarters of its size."""
    return picture.resize((picture.width * 3 // 4 + 1, picture.height * 3 // 4 + 1))


KINDS: dict[str, Damage] = {
    "its picture is missing": no_picture,
    "a tiny picture": painted(lambda picture: picture.resize((24, 16))),
    "a blurred picture": painted(lambda picture: picture.filter(ImageFilter.GaussianBlur(max(picture.size) / 20))),
    "a blank picture": painted(lambda picture: Image.new("RGB", picture.size, (255, 255, 255))),
    "half a picture": painted(half),
    "a stem that is cut off": worded(cut_off),
    "a stem of nothing": worded(lambda rng, text: rng.choice(["Question:", "（  ）", "1.", "Which?"])),
    "an empty option": empty_option,
    "two equal options": equal_options,
    "an explanation of another answer": other_key,
    "the same words twice": lambda rng, sample, images: sample,
    "the same again under a resized picture": painted(smaller),
    "no discipline": no_discipline,
    "an impossible year": bad_year,
    "a wrong encoding": worded(mojibake),
    "markup": worded(markup),
    "unreadable characters": worded(specks),
    "more blanks than answers": too_many_blanks,
    "options in the stem, too": doubled_options,
    "a reference elsewhere": worded(elsewhere),
}  # fmt: skip
TWICE = ("the same words twice", "the same again under a resized picture")
"""Kinds that stand beside the sound question that they repeat."""


def read_all(data: Path, images: ImageFolder) -> list[Sample]:
    """The questions of all sets; those of one passage are left out, as the passage makes them alike."""
    rows = (
        row for name, place in SETS.items() for row in plugins.load("benchmarks", name)().read(data / place, images)
    )
    return [row.sample for row in rows if row.sample and not row.sample.group] + [
        row.sample
        for name in ("we_math", "scemqa")
        for row in plugins.load("benchmarks", name)().read(data / SETS[name], images)
        if row.sample
    ]


def make(data: Path, folder: Path, seed: int) -> tuple[SampleSet, dict[str, str]]:
    """The set of sound and damaged questions, and what was done to which id."""
    rng, told, kept = random.Random(seed), dict[str, str](), list[Sample]()
    with SetWriter(folder, "screened") as writer:
        found = list({sample.id: sample for sample in read_all(data, writer.images)}.values())
        rng.shuffle(found)
        kept, left = found[:SOUND], found[SOUND:]
        for kind, damage in KINDS.items():
            pool = [sample for sample in kept if sample.images or kind == TWICE[0]] if kind in TWICE else left
            done = 0
            for sample in list(pool):
                if done < OF_A_KIND and (damaged := damage(rng, sample, writer.images)) is not None:
                    pool.remove(sample)
                    kept.append(replace(damaged, id=f"{sample.id}-damaged-{len(told)}"))
                    told[kept[-1].id] = kind
                    done += 1
            if done < OF_A_KIND:
                print(f"only {done} of {kind!r}")
        for sample in kept:
            writer.add(sample)
    return SampleSet(folder), told


def main() -> None:
    """Print recall by kind, precision, and the sound questions that are refused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source, told = make(given.data, Path(scratch) / "set", given.seed)
        screened = build("screen", source, Path(scratch) / "out", Screen.Settings(require="discipline"), quiet=True)
        refused = {item.id: item.reason for item in screened.dropped()}
    caught = Counter(kind for id, kind in told.items() if id in refused)
    for kind, count in Counter(told.values()).items():
        print(f"{caught[kind]:3} of {count:2}  {kind}")
    wrongly = {id: reason for id, reason in refused.items() if id not in told}
    print(f"recall {sum(caught.values())} of {len(told)}; refused {len(refused)}")
    print(f"of the {SOUND} that were left as they were {len(wrongly)} were refused:")
    for id, reason in wrongly.items():
        print(f"    {id}: {reason}")


if __name__ == "__main__":
    main()
