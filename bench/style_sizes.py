"""Do `flux` and `klein` paint pictures of every size? By the real pipelines with tiny checkpoints of random weights, on
the CPU, the way that pictures go in `mmdyn perturb`.

    python bench/style_sizes.py [--data DIR] [--sizes 200] [--limit N] [--once] [--backend flux klein]

The pictures are all those of gaokao_mm, we_math, scemqa, math_vision and dynamath, each once (--data DIR; left out
where they are not there; --limit: N of each), and drawn ones of so many --sizes, the sides uniform by their logarithm.
One denoising step is painted. With --once of all pictures that go into one bucket only the first is painted, the others
are put into it and taken out again. Exit status 1 where a picture was not painted.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package
sys.path += [str(HERE), str(HERE.parent / "tests")]

import making_checkpoints
import numpy as np
import torch

import mmdyn
from mmdyn.data import SampleSet, SetWriter, encode_png
from mmdyn.sample import Sample
from perturb.codec import decode
from perturb.style._diffusion import quieten
from perturb.style._painter import fit, put_in, take_out

DATA = HERE.parent.parent / "shared" / "data"
SETS = ("gaokao-mm", "we-math", "scemqa", "math-vision", "dynamath")
STEPS = {"flux": 5, "klein": 1}
"""Of flux a fifth is painted."""
SMALLEST, LARGEST = 1, 4000


def main(argv: list[str] | None = None) -> int:
    """Print a line for each set and backend, and what was not painted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public sets")
    parser.add_argument("--sizes", type=int, default=200, help="how many pictures are drawn")
    parser.add_argument("--limit", type=int, help="so many pictures of each set")
    parser.add_argument("--once", action="store_true", help="paint one picture of each bucket")
    parser.add_argument("--backend", nargs="+", choices=tuple(STEPS), default=tuple(STEPS))
    options = parser.parse_args(argv)
    quieten()
    lost = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["MMDYN_CACHE"] = str(folder / "cache")
        sources = {
            one: islice(real(options.data / one), options.limit) for one in SETS if (options.data / one).is_dir()
        }
        sources["drawn"] = drawn(options.sizes)
        seen = set[tuple[int, int]]() if options.once else None
        sets = [write(folder / one, found, seen) for one, found in sources.items()]
        for backend in options.backend:
            checkpoint = getattr(making_checkpoints, backend)(folder / backend)
            for source in sets:
                lost += paint(source, folder / f"{source.name}-{backend}", backend, checkpoint)
    return int(lost > 0)


def real(folder: Path) -> Iterator[bytes]:
    """Every picture in a folder, each once."""
    files = (file for file in sorted(folder.rglob("*")) if file.suffix in (".png", ".jpg", ".jpeg"))
    return iter(dict.fromkeys(file.read_bytes() for file in files))


def drawn(count: int) -> Iterator[bytes]:
    """Noise of many sizes, grey and in colour."""
    draw = np.random.default_rng(0)
    for number in range(count):
        height, width = np.exp(draw.uniform(np.log(SMALLEST), np.log(LARGEST), 2)).round().astype(int)
        yield encode_png(draw.integers(0, 256, (height, width, 3)[: 2 + number % 2], dtype=np.uint8))


def write(folder: Path, pictures: Iterator[bytes], seen: set[tuple[int, int]] | None) -> SampleSet:
    """A set of them, a question each; of those that go into a bucket that was `seen` none."""
    count = 0
    with SetWriter(folder, folder.name) as writer:
        for data in pictures:
            count += 1
            if seen is not None:
                plan = fit(*(pixels := decode(data).pixels).shape[:2])
                back = take_out(put_in(torch.from_numpy(pixels.copy()), plan), plan)
                assert back.shape == (*pixels.shape[:2], 3)
                if plan.bucket in seen:
                    continue
                seen.add(plan.bucket)
            ref = writer.images.put(data)
            writer.add(Sample(f"{count}", f"What is shown in {ref}?", "open_ended", "A drawing.", images=(ref,)))
    print(f"{folder.name}: {count} pictures", flush=True)
    return SampleSet(folder)


def paint(source: SampleSet, out: Path, backend: str, checkpoint: Path) -> int:
    """How many pictures of a set were not painted."""
    began, style = time.monotonic(), f"{backend}:{checkpoint},device=cpu,steps={STEPS[backend]}"
    made = mmdyn.perturb(source, out, ops="style", style_backend=style)
    sizes = [decode(source.images.read(sample.images[0])).pixels.shape for sample in source]
    buckets = {fit(*size[:2]).bucket for size in sizes}
    wrong = [f"{one.parent}: {one.status}, {one.reason}" for one in made.dropped()]
    most = max((height * width for height, width, *_ in sizes), default=0) / 1e6
    told = f"{len(made)} of {len(source)} pictures painted, {len(buckets)} buckets, largest {most:.2f} megapixels"
    print(f"{backend:<6} {source.name:<12} {told}, {time.monotonic() - began:.0f} s", *wrong, sep="\n  ", flush=True)
    return len(source) - len(made)


if __name__ == "__main__":
    sys.exit(main())
