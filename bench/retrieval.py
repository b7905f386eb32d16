"""Time and memory of retrieval over made knowledge points, lexical beside rank-bm25, on one core.

    python bench/retrieval.py [--sizes 6225,100000] [--queries N] [--embed FOLDER]

Each size and searcher is a process of its own that runs on one core; its peak memory is what the operating system says
(ru_maxrss). Points have a name and a description of about 40 words, drawn from 20,000 made words by Zipf's law; every
fifth is Chinese. Queries are 30 words from the same. Both searchers get the same words from `kprag.retrieval.words`,
and both return the best ten points. `hybrid` has random vectors of 384 numbers, so that its search is timed and no
model; with --embed, a model of sentence-transformers embeds 1,000 points, too. rank-bm25 (pip install rank-bm25) is
asked fewer queries.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package

import numpy as np

from kprag import Index, Node, Taxonomy
from kprag.index import open_index
from kprag.retrieval.lexical import words
from kprag.retrieval.vectors import KeptVectors

BAR_SIZE, BAR_RATE = 6225, 10_000
"""Points, and the lexical queries a minute that one core is to answer over them."""

DIMENSIONS = 384
SEARCHERS = ("lexical", "hybrid", "rank-bm25")


class MadeVectors:
    """Stands for a model: vectors that depend on nothing but the number of texts."""

    name = identity = "made"

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Float32 of shape (texts, 384), rows of length 1."""
        vectors = np.random.default_rng(len(texts)).standard_normal((len(texts), DIMENSIONS), np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def main() -> None:
    """Print a table of sizes and searchers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=f"{BAR_SIZE},100000")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--embed", default="", metavar="FOLDER")
    parser.add_argument("--child", nargs=2, metavar=("SEARCHER", "SIZE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measure(given.child[0], int(given.child[1]), given.queries)))
        return
    print(f"{'points':>8}  {'searcher':<10}{'build s':>9}{'open s':>8}{'ms a query':>12}{'a minute':>10}{'peak MB':>9}")
    for size in map(int, given.sizes.split(",")):
        for searcher in SEARCHERS:
            row = child(searcher, size, given.queries)
            print(f"{size:>8}  {searcher:<10}" + (shown(row) if row else "  is not installed"), flush=True)
            if row and searcher == "lexical" and size == BAR_SIZE:
                verdict = "reached" if row["rate"] >= BAR_RATE else "MISSED"
                print(f"{'':>10}the bar of {BAR_RATE:,} a minute is {verdict}")
    if given.embed:
        embedding(given.embed)


def child(searcher: str, size: int, queries: int) -> dict[str, float] | None:
    """What a process of its own measured; None where the searcher is not installed."""
    command = [sys.executable, __file__, "--child", searcher, str(size), "--queries", str(queries)]
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **one})
    if "No module named 'rank_bm25'" in done.stderr:
        return None
    if done.returncode:
        sys.exit(done.stderr)
    row: dict[str, float] = json.loads(done.stdout)
    return row


def measure(searcher: str, size: int, queries: int) -> dict[str, float]:
    """Build, open and search on one core; seconds of CPU time, so that other processes do not count."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    taxonomy, asked = Taxonomy((node, "made", None) for node in made_points(size)), made_texts(queries, 30, "query")
    with TemporaryDirectory() as folder:
        start = time.process_time()
        if searcher == "rank-bm25":
            search, opened, asked = baseline(taxonomy), 0.0, asked[: max(20, queries * 500 // size)]
            built = time.process_time() - start
        else:
            search, built, opened = ours(taxonomy, Path(folder), searcher == "hybrid")
        start = time.process_time()
        for text in asked:
            search(text)
        each = (time.process_time() - start) / len(asked)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"built": built, "opened": opened, "each": each, "rate": 60 / each, "peak": peak}


def ours(taxonomy: Taxonomy, folder: Path, meaning: bool) -> tuple[Callable[[str], object], float, float]:
    """Our search over an index that was written and opened again, with the seconds of both."""
    import kprag.index

    kept = KeptVectors(MadeVectors(), folder / "cache")  # type: ignore[arg-type]
    kprag.index.keep_vectors = lambda embedder: kept
    start = time.process_time()
    Index.build(taxonomy, kept=kept if meaning else None).write(folder / "index")
    built, start = time.process_time() - start, time.process_time()
    index = open_index(folder / "index")
    return lambda text: index.search(text, 10), built, time.process_time() - start


def baseline(taxonomy: Taxonomy) -> Callable[[str], object]:
    """rank-bm25 over the same words; each word of a query once."""
    from rank_bm25 import BM25Okapi

    nodes = list(taxonomy)
    ranked = BM25Okapi([words(f"{node.text}\n{node.description}") for node in nodes])
    return lambda text: ranked.get_top_n(list(dict.fromkeys(words(text))), nodes, 10)


def made_points(size: int) -> list[Node]:
    """Points under a hundred topics."""
    topics = [Node(f"t{number}", f"Topic {number}") for number in range(100)]
    texts = zip(made_texts(size, 4, "name"), made_texts(size, 40, "description"), strict=True)
    points = [
        Node(f"p{number}", f"{name} {number}", parent=f"t{number % 100}", description=text)
        for number, (name, text) in enumerate(texts)
    ]
    return [*topics, *points]


def made_texts(count: int, length: int, salt: str) -> list[str]:
    """Texts of so many words each; every fifth is Chinese."""
    draw = np.random.default_rng(sum(salt.encode()))
    ranks = draw.zipf(1.2, (count, length)) % 20_000
    letters = np.array(["ka", "lo", "mi", "ne", "su", "ta", "ro", "vi", "pe", "du"])
    latin = ["".join(letters[[int(digit) for digit in str(rank)]]) for rank in range(20_000)]
    han = [chr(0x4E00 + rank // 150) + chr(0x5000 + rank % 3000) for rank in range(20_000)]
    return [
        ("" if number % 5 == 0 else " ").join((han if number % 5 == 0 else latin)[rank] for rank in row)
        for number, row in enumerate(ranks)
    ]


def embedding(folder: str) -> None:
    """Print how long a model takes for 1,000 points, and for the same again with 10 new ones."""
    from mmdyn.models import Embedder

    texts = made_texts(1010, 40, "description")
    with TemporaryDirectory() as cache:
        kept = KeptVectors(Embedder(folder, keep=1, threads=os.cpu_count() or 1, device=""), Path(cache))
        kept.encode(texts[:1])
        for what, some in (("1,000 texts", texts[1:1001]), ("10 more", texts[1:])):
            start = time.perf_counter()
            kept.encode(some)
            print(f"embedding {what}: {time.perf_counter() - start:.2f} s")


def shown(row: dict[str, float]) -> str:
    """A row's cells."""
    return (
        f"{row['built']:>9.1f}{row['opened']:>8.2f}{1000 * row['each']:>12.2f}{row['rate']:>10,.0f}{row['peak']:>9.0f}"
    )


if __name__ == "__main__":
    main()
