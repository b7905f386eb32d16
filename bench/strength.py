"""How strong variants are, by operator, language and set: the table in docs/appendix/perturbation.md.

    python bench/strength.py SET... [--ops substitute,paraphrase,...] [--swaps 12] [--read 60 --seed 0]

Each SET is a set folder. Eligible are the parents of which a variant was made; the median is over them, of the share of
tokens that changed; SSIM is the median over variants whose pictures changed. `--swaps` lists which words became which,
by their share of all edits of `substitute`; `--read` prints so many parents and variants of a language, drawn at random
over all sets, for people to read.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where this file would hide the package

import mmdyn
from mmdyn.sample import Language, Sample
from perturb.rewrite._lexicon import swaps

OPS = "pad,invert,salt_pepper,style,substitute,substitute@strong,paraphrase,paraphrase@strong,convert,shuffle"

LANGUAGES: tuple[Language, ...] = ("en", "zh")

Pair = tuple[str, Sample, Sample]


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, nargs="+", help="set folders")
    parser.add_argument("--ops", default=OPS, help="chains")
    parser.add_argument("--swaps", type=int, default=0, metavar="N", help="list the N most frequent swaps")
    parser.add_argument("--read", type=int, default=0, metavar="N", help="print N pairs of each language")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        parents = {(path.name, sample.id): sample for path in args.sets for sample in mmdyn.load(path)}
        made = list[Pair]()
        for path in args.sets:
            variants = mmdyn.perturb(path, Path(folder) / path.name, ops=args.ops, seed=args.seed, quiet=True)
            made += [(path.name, parents[path.name, variant.parent], variant) for variant in variants]
    print_strengths(parents, made, args.ops.split(","))
    if args.swaps:
        print_swaps(made, args.swaps)
    for language in LANGUAGES if args.read else ():
        print_pairs([pair for pair in made if pair[1].language == language and changed(pair)], args.read, args.seed)


def print_strengths(parents: dict[tuple[str, str], Sample], made: Sequence[Pair], chains: Sequence[str]) -> None:
    """A row for each chain, set and language."""
    print("| chain | set | language | eligible | tokens changed, median | under 3 % | SSIM, median |")
    print("|---|---|---|---|---|---|---|")
    places = Counter((name, sample.language) for (name, _), sample in parents.items())
    for chain in chains:
        for (name, language), asked in places.items():
            found = [v.variant for n, p, v in made if n == name and p.language == language and v.variant]
            strengths = [trail.strength for trail in found if trail.chain == chain and trail.strength]
            if strengths:
                shares = [one.tokens for one in strengths]
                alike = [one.ssim for one in strengths if one.ssim is not None]
                weak = sum(share < 0.03 for share in shares) / len(shares)
                shown = f"{100 * median(shares):.1f} %", f"{weak:.0%}", f"{median(alike):.2f}" if alike else ""
                print(f"| {chain} | {name} | {language} | {len(shares)} of {asked} | {' | '.join(shown)} |")
    print()


def print_swaps(made: Sequence[Pair], most: int) -> None:
    """The most frequent swaps of `substitute` by the embedded rewriter, by language."""
    for language in LANGUAGES:
        pairs = [pair for pair in made if pair[1].language == language and pair[2].variant]
        alone = [pair for _, *pair in pairs if pair[1].variant and pair[1].variant.chain == "substitute"]
        found = [swap for pair in alone for swap in swaps(*pair)]
        counted = Counter(f"{word.lower()} -> {now.lower()}" for word, now, _ in found)
        print(f"{language}: {len(found)} edits by {len(counted)} swaps")
        print(f"  {sum(hit.scaffolding for *_, hit in found) / max(len(found), 1):.0%} ask, point or join")
        for swap, count in counted.most_common(most):
            print(f"  {count / len(found):.1%} {swap}")


def changed(pair: Pair) -> bool:
    """Whether the question changed."""
    return pair[1].question != pair[2].question


def print_pairs(pairs: Sequence[Pair], count: int, seed: int) -> None:
    """Some pairs, drawn at random."""
    for number, (name, parent, variant) in enumerate(random.Random(seed).sample(pairs, min(count, len(pairs))), 1):
        print(f"--- {number} {name} {variant.id}\n{parent.question}\n>>>\n{variant.question}\n")


if __name__ == "__main__":
    main()
