"""The README's picture: two of the demo's questions, in English and Chinese, and variants of them.

python docs/pictures/make_variants.py
"""

from __future__ import annotations

import tempfile
from html import escape
from pathlib import Path

from _camera import Scheme, camera, save, seen

from mmdyn.data import SampleSet
from mmdyn.demo import make_demo
from mmdyn.sample import Sample
from perturb import perturb

SHOWN = ("en-triangle", "zh-bars")
CHAINS = {
    "": "as it was",
    "pad@strong": "padded",
    "invert": "inverted",
    "salt_pepper@strong": "noise",
    "style+paraphrase+shuffle": "style, words, order",
    "convert+pad": "another form, padded",
}
STYLE = """
:root { color-scheme: light dark; --text: #1b2126; --muted: #56616b; --line: #d5dade; --gold: #e5f3ea; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e3e7ea; --muted: #a5afb8; --line: #3a4148; --gold: #1c3527; --back: #14171a; } }
body { margin: 0; padding: 14px; width: 1172px; background: var(--back); color: var(--text);
  font: 14px/1.45 "Noto Sans", "DejaVu Sans", "Noto Sans CJK SC", sans-serif; }
.row { display: grid; grid-template-columns: repeat(6, 1fr); gap: 10px; margin-bottom: 12px; }
article { border: 1px solid var(--line); border-radius: 6px; padding: 8px 10px; }
h2 { margin: 0 0 6px; font-size: 12px; font-weight: 600; color: var(--muted); }
img { display: block; width: 100%; height: 118px; object-fit: contain; background: #fff; border-radius: 3px; }
p { margin: 8px 0; white-space: pre-wrap; } ul { list-style: none; margin: 0; padding: 0; }
li { padding: 1px 5px; border-radius: 3px; }
li.right { background: var(--gold); font-weight: 600; }
"""


def main() -> None:
    """Make the variants, and the picture light and dark."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        demo = make_demo(folder / "demo")
        made = perturb(demo, folder / "made", ops=[one for one in CHAINS if one], seed=7, quiet=True)
        rows = "".join(f'<div class="row">{"".join(_cards(demo, made, parent))}</div>' for parent in SHOWN)
        page = folder / "page.html"
        page.write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{rows}", "utf-8")
        with camera() as browser:
            for scheme in ("light", "dark"):
                _shoot(browser.new_page(viewport={"width": 1200, "height": 300}, color_scheme=scheme), page, scheme)


def _shoot(window: object, file: Path, scheme: Scheme) -> None:
    from playwright.sync_api import Page

    assert isinstance(window, Page)
    window.goto(file.as_uri())
    save(seen(window, whole=True), f"variants-{scheme}")


def _cards(demo: SampleSet, made: SampleSet, parent: str) -> list[str]:
    variants = {one.variant.chain: one for one in made if one.parent == parent and one.variant}
    found = [("", demo[parent], demo), *((chain, variants.get(chain), made) for chain in CHAINS if chain)]
    return [_card(CHAINS[chain], sample, opened) for chain, sample, opened in found if sample]


def _card(title: str, sample: Sample, opened: SampleSet) -> str:
    right = sample.answer if isinstance(sample.answer, tuple) else ()
    options = "".join(
        f'<li class="{"right" if option.label in right else ""}">{option.label} {escape(option.text)}</li>'
        for option in sample.options
    )
    answer = options or f'<li class="right">{escape(_told(sample))}</li>'
    picture = opened.images.path(sample.images[0]).resolve().as_uri()
    return f'<article><h2>{title}</h2><img src="{picture}"><p>{escape(sample.question)}</p><ul>{answer}</ul></article>'


def _told(sample: Sample) -> str:
    if isinstance(sample.answer, tuple):
        return ", ".join(part if isinstance(part, str) else part[0] for part in sample.answer)
    return str(sample.answer)


if __name__ == "__main__":
    main()
