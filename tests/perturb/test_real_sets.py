"""All operators over public data: acceptance is pinned, and so is that workers change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from making_sets import tree

from mmdyn import plugins
from mmdyn.data import ImageFolder, SampleSet, SetWriter
from mmdyn.sample import Sample
from perturb import perturb, summarize
from perturb.text._other_forms import as_blank

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
OPS = "pad,invert,salt_pepper,shuffle,convert"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public data are not beside the checkout")


def load(benchmark: str, folder: str, out: Path) -> SampleSet:
    with SetWriter(out, benchmark) as writer:
        for row in plugins.load("benchmarks", benchmark)().read(DATA / folder, ImageFolder(out)):
            if row.sample:
                writer.add(row.sample)
    return SampleSet(out)


@pytest.mark.parametrize(("benchmark", "folder"), [("gaokao_mm", "gaokao-mm"), ("scemqa", "scemqa"), ("we_math", "we-math")])  # fmt: skip
def test_one_and_two_workers_make_the_same_set(benchmark: str, folder: str, tmp_path: Path) -> None:
    source = load(benchmark, folder, tmp_path / "source")
    one, two = (
        perturb(source, tmp_path / str(n), ops=OPS, draws=2, seed=1, limit=25, workers=n, quiet=True) for n in (1, 2)
    )
    assert one.manifest.digest == two.manifest.digest
    assert tree(one.folder) == tree(two.folder)
    assert one.manifest.counts.get("failed", 0) == 0
    chains = summarize(one)
    assert [chains[name].made for name in ("pad", "salt_pepper")] == [50, 50]
    assert chains["invert"].made >= 22, "some questions speak of colours"
    assert chains["invert"].made + chains["invert"].outcomes["not_applicable"] == 25


@pytest.mark.parametrize(("benchmark", "folder", "shuffled", "converted", "blanks"), [
    ("gaokao_mm", "gaokao-mm", (63, 72), (72, 72), 8),
    ("scemqa", "scemqa", (151, 201), (196, 201), 27),
    ("we_math", "we-math", (206, 215), (214, 215), 145),
    ("math_vision", "math-vision", (24, 80), (78, 80), 13),
    ("gaokao_bench", "gaokao-bench", (594, 802), (639, 802), 123),
    ("tal_scq5k", "tal-scq5k", (1582, 1597), (1596, 1597), 988),
])  # fmt: skip
def test_how_many_questions_take_another_order_or_form(
    benchmark: str, folder: str, shuffled: tuple[int, int], converted: tuple[int, int], blanks: int, tmp_path: Path
) -> None:
    """What is refused is looked at by eye; a change of these counts is a change of what counts as certain."""
    source = load(benchmark, folder, tmp_path / "source")
    out = perturb(source, tmp_path / "out", ops="shuffle,convert", draws=2, seed=1, quiet=True)
    parents = dict[str, set[str]]()
    for sample in out:
        assert sample.variant is not None
        parents.setdefault(sample.variant.chain, set()).add(sample.variant.parent)
    assert (len(parents["shuffle"]), len(source)) == shuffled
    assert (len(parents["convert"]), len(source)) == converted
    assert out.manifest.counts.get("failed", 0) == 0
    found = sum(isinstance(as_blank(sample), Sample) for sample in source if sample.options)
    assert found == pytest.approx(blanks, rel=0.03, abs=1)
