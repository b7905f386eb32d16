"""The pictures of sheets in docs: of the demo's questions, in Chromium, light and dark.

python docs/pictures/make_sheets.py
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _camera import Scheme, camera, save, seen
from msgspec.structs import replace

from mmdyn.build import build
from mmdyn.data import SampleSet, SetWriter
from mmdyn.demo import make_demo
from mmdyn.plugins import load
from mmdyn.sample import Sample
from mmdyn.sheets import audit
from perturb import perturb

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IN_CHINESE = {
    "en-cell": ("植物细胞的哪一部分进行光合作用？", "细胞核", "叶绿体", "细胞壁", "液泡"),
    "en-ice": ("冰为什么浮在水面上？写出决定这一点的性质。", "密实度"),
}
SHOTS = {"audit": (1200, 700), "review": (1200, 570), "funnel": (1200, 420)}
KEYS = {"audit": "j 1 j 2", "review": "j 1 j 2 c n", "funnel": "Tab Enter"}


def main() -> None:
    """Make the sets, their sheets and the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that no path of this machine is in a picture
        make_sheets(make_demo(Path("demo")))
        with camera() as browser:
            for name in SHOTS:
                shoot(browser, name, "light")
                shoot(browser, name, "dark")


def make_sheets(demo: SampleSet) -> None:
    """A sheet each of variants, of translations and of what screening left."""
    variants = perturb(demo, "variants", ops="invert,paraphrase", seed=1, quiet=True)
    audit(variants, Path("audit.html"), demo.folder, 12)
    english = [sample for sample in demo if sample.id in IN_CHINESE]
    replies = [
        {"match": sample.question, "reply": json.dumps({"texts": IN_CHINESE[sample.id]}, ensure_ascii=False)}
        for sample in english
    ]
    Path("model.jsonl").write_text("".join(json.dumps(line) + "\n" for line in replies), "utf-8")
    unchecked = load("steps", "translate").Settings(unchecked=True)
    source = written("english", english, demo)
    made = build("translate", source, "chinese", unchecked, model="scripted:model.jsonl", quiet=True)
    audit(made, Path("review.html"), review=True)
    raw = [*demo, *(replace(sample, id=f"{sample.id}-again") for sample in english)]
    raw += [
        replace(english[0], id="cut", question="?"),
        replace(english[1], id="lost", images=(), question="See <image>"),
    ]
    sound = build("screen", written("raw", raw, demo), "sound", quiet=True)
    few = load("steps", "cap").Settings(field="discipline", most=6)
    audit(build("cap", sound, "final", few, quiet=True), Path("funnel.html"), review=True)


def written(name: str, samples: list[Sample], demo: SampleSet) -> SampleSet:
    """A set of samples with the demo's pictures."""
    with SetWriter(Path(name), name, made={"command": "mmdyn data convert"}) as writer:
        for sample in samples:
            for ref in sample.all_images:
                writer.images.bring(demo.images, ref)
            writer.add(sample)
    return SampleSet(name)


def shoot(browser: Browser, name: str, scheme: Scheme) -> None:
    """Open a sheet, press keys as a person does, and take its picture."""
    width, height = SHOTS[name]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(Path(f"{name}.html").resolve().as_uri())
    for key in KEYS[name].split():
        page.keyboard.press(key)
    if name == "review":
        page.keyboard.type("密实度 → 密度")
    save(seen(page), f"sheet-{name}-{scheme}", 64)
    page.close()


if __name__ == "__main__":
    main()
