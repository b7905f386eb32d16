"""How fast replies are read and answers compared, and how well, beside other readers and comparers. Prints tables.

    python bench/scoring.py [--speed] [--accuracy] [--data DIR] [--list] [--small]

Speed: replies to choices of 1,000 characters on one core, beside VLMEvalKit's option reader where $MMDYN_VLMEVAL_PYTHON
    names an interpreter that has it; the two take turns on the same replies, and reading alone is timed. Equivalences
    of formulas, asked for by two threads on two cores, beside math-verify called in one process on every fifth of the
    same pairs but the hostile ones, some of which it would never leave. The seconds of a pair are the caller's, with
    waiting and the start of workers in them.

Accuracy: pairs of answers whose verdict is known, beside math-verify; real replies, ours beside the extraction that
    lies with them (`--list` prints each reply that the two read or mark otherwise, and each pair that is missed). DIR
    holds the public data; by default it is `shared/data` beside the checkout. Without `--speed` or `--accuracy` both
    are measured.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]  # where perturb.py would hide the package
sys.path[:0] = [str(HERE.parent / "tests" / room) for room in ("scoring", "equal")]

import hard_pairs
import real_outputs
from made_answers import HOSTILE, algebra, choices
from real_outputs import Output

from mmdyn.equal import same
from mmdyn.sample import Match
from mmdyn.scoring.extract import extract

CHOICES, CHOICE_BAR = 100_000, 4.5
"""Replies to read, and the CPU seconds they may take on one core."""

PAIRS, PAIRS_BAR, PAIR_BAR = 10_000, 10.0, 2.0
"""Pairs to compare, the seconds by the clock they may take on two cores, and those of a single one."""

VLMEVAL = """
import importlib.util, json, logging, sys, time, types
folder = importlib.util.find_spec("vlmeval").submodule_search_locations[0]
sys.modules |= {name: types.ModuleType(name) for name in ("vlmeval", "vlmeval.smp", "vlmeval.smp.log")}
sys.modules["vlmeval.smp.log"].get_logger = logging.getLogger
spec = importlib.util.spec_from_file_location("matching_util", folder + "/utils/matching_util.py")
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
rows = json.load(open(sys.argv[1], encoding="utf-8"))
began = time.process_time()
found = [reader.can_infer(reply, dict(zip("ABCDEFGHIJ", texts))) for reply, texts, _ in rows]
seconds = time.process_time() - began
print(json.dumps({"seconds": seconds, "found": [letter if letter != "Z" else False for letter in found]}))
"""
"""The file of its option reader alone: the whole package takes long to import, and more than reading needs."""

KIT = os.environ.get("MMDYN_VLMEVAL_PYTHON", "")
"""An interpreter that has VLMEvalKit, where there is one."""

MATH_VERIFY = importlib.util.find_spec("math_verify") is not None
"""Is math-verify there? Without it ours stands alone."""

Pair = tuple[str, str, bool | None, dict[str, Any], str]
"""Gold, given, whether they are equal (None: not to be counted), how they are compared, where the pair is from."""


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", action="store_true", help="speed alone, unless --accuracy is given, too")
    parser.add_argument("--accuracy", action="store_true", help="accuracy alone, unless --speed is given, too")
    parser.add_argument("--data", type=Path, default=real_outputs.DATA, help="the folder of the public data")
    parser.add_argument("--list", action="store_true", help="print what is missed or read otherwise")
    parser.add_argument("--small", action="store_true", help="little of everything, to see that it runs")
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "FILE"), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.measure:
        what, file = args.measure
        print(json.dumps(MEASURES[what](json.loads(Path(file).read_text(encoding="utf-8")))))
        return
    both = args.speed == args.accuracy
    if args.speed or both:
        with tempfile.TemporaryDirectory() as folder:
            print_choices(Path(folder) / "choices.json", 1000 if args.small else CHOICES, 1 if args.small else 3)
            print_formulas(Path(folder) / "formulas.json", 200 if args.small else PAIRS, args.data)
    if args.accuracy or both:
        if not (args.data / "answer-extraction").is_dir():
            raise SystemExit(f"{args.data} does not hold the public data: name their folder with --data")
        logging.disable(logging.WARNING)  # math-verify warns of every answer that it cannot read
        print_pairs(args.data, args.list)
        print_outputs(args.data, args.list)


def print_choices(file: Path, count: int, rounds: int) -> None:
    """Seconds for replies to choices, ours and theirs in turns."""
    replies = choices(count)
    file.write_text(json.dumps(replies), encoding="utf-8")
    commands = {"ours": [sys.executable, __file__, "--measure", "choices", str(file)]}
    if KIT:
        commands["VLMEvalKit"] = [KIT, "-c", VLMEVAL, str(file)]
    turns: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            turns[name].append(measured(command, cores=1))
    print(f"\n{count:,} replies to choices, 1,000 characters, one core (bar: {CHOICE_BAR:g} s for {CHOICES:,})\n")
    print_row("reader", "CPU s", "read", "right", "")
    print_row(*["---"] * 5)
    for name, taken in turns.items():
        met = verdict(statistics.median(turn["seconds"] for turn in taken) / count * CHOICES, CHOICE_BAR)
        seconds, found = spread([turn["seconds"] for turn in taken]), taken[0]["found"]
        right = sum(letter == wanted for letter, (*_, wanted) in zip(found, replies, strict=True))
        print_row(name, seconds, sum(map(bool, found)), right, met if name == "ours" else "")
    if not KIT:
        print("\nVLMEvalKit's reader: not measured; $MMDYN_VLMEVAL_PYTHON names no interpreter that has it")


def print_formulas(file: Path, count: int, data: Path) -> None:
    """Seconds for equivalences, ours and math-verify's, by where the pairs are from."""
    pairs = equivalences(count, data)
    file.write_text(json.dumps(pairs), encoding="utf-8")
    ours = measured([sys.executable, __file__, "--measure", "formulas", str(file)], cores=2)
    others = [pair for pair in pairs[::5] if pair[-1] != "hostile"]
    file.write_text(json.dumps(others), encoding="utf-8")
    compared = [("ours", ours, pairs)]
    if MATH_VERIFY:
        theirs = measured([sys.executable, __file__, "--measure", "math-verify", str(file)], cores=2)
        compared.append(("math-verify", theirs, others))
    whole = f"{PAIRS_BAR:g} s for {PAIRS:,}, {PAIR_BAR:g} s for one"
    print(f"\n{count:,} equivalences on two cores, the wall clock (bars: {whole})\n")
    print_row("comparer", "pairs", "seconds", "ms a pair: median", "p99", "longest", "right", "of", "")
    print_row(*["---"] * 9)
    for name, found, asked in compared:
        rows = [(pair, equal, took) for pair, (equal, took) in zip(asked, found["results"], strict=True)]
        longest = max(took for *_, took in rows)
        met = f"{verdict(found['seconds'] / len(rows) * PAIRS, PAIRS_BAR)}, {verdict(longest, PAIR_BAR)}"
        print_row(f"{name}, all", len(rows), f"{found['seconds']:.1f}", *spans(rows), met if name == "ours" else "")
        for source in dict.fromkeys(pair[-1] for pair in asked):
            some = [row for row in rows if row[0][-1] == source]
            print_row(f"{name}, {source}", len(some), "", *spans(some), "")


def spans(rows: Sequence[tuple[Pair, bool, float]]) -> tuple[object, ...]:
    """Milliseconds a pair (median, 99th percentile, longest), how many were told apart, and of how many that is
    known."""
    took = sorted(1000 * seconds for *_, seconds in rows)
    times = (statistics.median(took), took[len(took) * 99 // 100], took[-1])
    known = [pair[2] is equal for pair, equal, _ in rows if pair[2] is not None]
    return (*(f"{value:.1f}" for value in times), sum(known), len(known))


def measure_choices(rows: list[list[Any]]) -> dict[str, Any]:
    """CPU seconds of reading, and the letter that was read in each reply, False where none was."""
    labels = tuple("ABCD")
    began = time.process_time()
    found = [
        extract("single_choice", reply, labels=labels, option_texts=tuple(texts)).found for reply, texts, _ in rows
    ]
    seconds = time.process_time() - began
    return {"seconds": seconds, "found": [isinstance(letters, tuple) and letters[0] for letters in found]}


def measure_formulas(pairs: list[list[Any]]) -> dict[str, Any]:
    """Seconds by the clock, and of each pair the verdict and the seconds, from two threads."""

    def compare(pair: list[Any]) -> tuple[bool, float]:
        gold, given, _, match, _ = pair
        start = time.perf_counter()
        return same(given, gold, Match(**match)), time.perf_counter() - start

    began = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(compare, pairs))
    return {"seconds": time.perf_counter() - began, "results": results}


def measure_math_verify(pairs: list[list[Any]]) -> dict[str, Any]:
    """The same by math-verify, in this process and thread, as its own guide calls it."""
    logging.disable(logging.WARNING)
    began, results = time.perf_counter(), []
    for gold, given, *_ in pairs:
        start = time.perf_counter()
        results.append((verified(gold, given), time.perf_counter() - start))
    return {"seconds": time.perf_counter() - began, "results": results}


MEASURES: dict[str, Callable[[list[Any]], dict[str, Any]]] = {
    "choices": measure_choices,
    "formulas": measure_formulas,
    "math-verify": measure_math_verify,
}


def verified(gold: str, given: str) -> bool:
    """Whether math-verify calls them equal; text without a mark of mathematics is put between dollars."""
    from math_verify import parse, verify  # type: ignore[import-untyped]

    marked = [text if "$" in text or "\\boxed" in text else f"${text}$" for text in (gold, given)]
    return bool(verify(*map(parse, marked)))


def measured(command: Sequence[str], cores: int) -> dict[str, Any]:
    """What a process of its own says, held to so many cores."""
    own = sorted(os.sched_getaffinity(0))[:cores]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, own), check=False
    )
    if done.returncode:
        raise SystemExit(f"{Path(command[0]).name} ended with {done.returncode}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def print_pairs(data: Path, listed: bool) -> None:
    """How many pairs of answers are told apart, ours and math-verify's."""
    maintainers = real_outputs.maintainer_pairs(data)
    readings = real_outputs.maintainer_readings(data)
    read = sum(real_outputs.read_as(*each) for each in readings)
    equal_as_read = real_outputs.equal_as_read
    hard = [(row["gold"], row["given"], row["equal"], hard_pairs.found_same(row)) for row in hard_pairs.PAIRS]
    replies = [(row["gold"], row["given"], row["equal"], hard_pairs.credited(row)) for row in hard_pairs.REPLIES]
    tables = {
        "maintainers' cases": [
            (gold, given, equal, equal_as_read(gold, given, letters)) for gold, given, equal, letters in maintainers
        ],
        "hard pairs": hard,
        "hard replies": replies,
    }
    print(
        f"\nPairs whose verdict is known. Of {len(maintainers) + len(readings)} cases of the maintainers"
        f" {len(maintainers)} say of a gold answer\nand a prediction whether they are equal; the others say which"
        f" letter or word is to be read ({read} of {len(readings)} are).\n"
    )
    print_row("pairs", "n", "equal: found", "of", "unequal: credited", "of", "right", "math-verify right")
    print_row(*["---"] * 8)
    for name, rows in tables.items():
        found = Counter((equal, said) for _, _, equal, said in rows)
        theirs = ""
        if name != "hard replies" and MATH_VERIFY:
            theirs = f"{sum(verified(gold, given) is equal for gold, given, equal, _ in rows) / len(rows):.1%}"
        right = (found[True, True] + found[False, False]) / len(rows)
        equal, unequal = ((found[kind, True], found[kind, True] + found[kind, False]) for kind in (True, False))
        print_row(name, len(rows), *equal, *unequal, f"{right:.1%}", theirs)
        for gold, given, wanted, said in rows if listed else ():
            if wanted is not said:
                print(f"    {'missed' if wanted else 'credited'}: {gold!r} and {given[-120:]!r}")


def print_outputs(data: Path, listed: bool) -> None:
    """Real replies: what is read and marked right, by ours, by the extraction that lies with them, and by VLMEvalKit's
    reader."""
    print("\nReal replies. `same` and `differ` are of those that both read; right means equal to the key\n")
    print_row("replies", "n", *COUNTED, "VLMEvalKit: read", "right")
    print_row(*["---"] * (4 + len(COUNTED)))
    for name, outputs in real_outputs.OUTPUTS.items():
        everything = list(outputs(data))
        choices = [output for output in everything if output.options]
        for kind, some in (("choices", choices), ("others", [output for output in everything if not output.options])):
            if some:
                counted, lines = count_outputs(some)
                kit = read_by_kit(some) if KIT and kind == "choices" else ("", "")
                print_row(f"{name}, {kind}", len(some), *(counted[column] for column in COUNTED), *kit)
                print("\n".join(lines if listed else ()), end="\n" if listed else "")


COUNTED = (
    "read",
    "theirs: read",
    "same",
    "differ",
    "right",
    "theirs: right",
    "both right",
    "theirs alone",
    "ours alone",
)


def count_outputs(outputs: Sequence[Output]) -> tuple[Counter[str], list[str]]:
    """The counts by their names, and a line for each reply that the two read or mark otherwise."""
    counted, lines = Counter[str](), list[str]()
    for output in outputs:
        ours, theirs = output.read(), output.theirs
        agree = output.equal(ours, theirs)
        right = ours is not None and output.equal(ours, output.gold)
        both = ours is not None and theirs is not None
        facts = (ours is not None, theirs is not None, both and agree, both and not agree, right, output.right)
        shared = (right and output.right, output.right and not right, right and not output.right)
        counted.update(dict(zip(COUNTED, map(int, facts + shared), strict=True)))
        if not agree or right != output.right:
            said = f"key {output.gold}, ours {ours} ({right}), theirs {theirs} ({output.right})"
            lines.append(f"    {output.id}: {said}: {output.reply[-200:]!r}")
    return counted, lines


def read_by_kit(outputs: Sequence[Output]) -> tuple[int, int]:
    """How many VLMEvalKit's reader reads, and how many as the key has them."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump([(output.reply, output.options, "") for output in outputs], file)
        file.flush()
        found = measured([KIT, "-c", VLMEVAL, file.name], cores=1)["found"]
    right = sum((letter,) == output.gold for letter, output in zip(found, outputs, strict=True))
    return sum(map(bool, found)), right


def equivalences(count: int, data: Path) -> list[Pair]:
    """The hard pairs, the maintainers' cases where they are there, formulas that are made to last, and made algebra."""
    pairs: list[Pair] = [
        (row["gold"], row["given"], row["equal"], row.get("match", {}), "hard pairs") for row in hard_pairs.PAIRS
    ]
    if data.exists():
        cases = real_outputs.maintainer_pairs(data)
        pairs += [(gold, given, None, {}, "maintainers', as they are") for gold, given, *_ in cases]
    pairs = pairs[: count // 2] + [(*pair, None, {}, "hostile") for pair in HOSTILE]
    return pairs + [(*pair, {}, "algebra") for pair in algebra(count - len(pairs))]


def verdict(seconds: float, bar: float) -> str:
    """Whether a bar is met."""
    return f"{'met' if seconds <= bar else 'missed'} ({seconds:.1f} s)"


def spread(values: Sequence[float]) -> str:
    """The median, with the least and the most."""
    low, middle, high = (f"{value:.2f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low} to {high})" if low != high else middle


def print_row(*cells: object) -> None:
    """A line of a Markdown table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
