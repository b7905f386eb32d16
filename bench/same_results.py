"""Does this tree do what a commit did? Runs the same commands with both, and tells what differs, line by line.

    python bench/same_results.py [--commit REV | --checkout FOLDER] [--only PART,…] [--keep FOLDER] [--lines N]

Sets are made in every way, runs are asked of models that need no network, and runs are reported in every format, scored
anew, exported and viewed; `--list` prints the commands. What each command prints, its exit status and every file that
it leaves are compared: text and the records of stores line by line, all else by its bytes. What no two runs have in
common is masked, and so are versions; each mask is named with the number of places that it hid.

Exit status: 0 where nothing differs, 1 where something does. `--only` needs the parts whose sets and runs its own use,
too. `--keep` leaves both results in FOLDER/old and FOLDER/new.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shlex
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from making_pictures import exam_pictures

PACKAGES = ("mmdyn", "perturb", "kprag")
OPTION_LABELS = "ABCD"
BEFORE, SHOWN = 60, 300
"""Characters of a line that are shown before its first difference, and in all."""

MASKS = {
    "times of day": r"()\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?",
    "moments of replies and draws": r'("made": ?|^error design )\d{9,}',
    "seconds": r'("seconds": ?| out · )[\d.e+-]+',
    "lines of progress": r"()^[a-z ]+: \d+(?:/\d+)? \(.*\)\n",
    "versions of packages": r'("(?:mmdyn|python|version)": ?"|\bmmdyn )\d+\.[\w.+]*',
    "versions of pieces of code": r'("version": ?|\b(?:mdk12|strict|exam)@)\d+',
}
"""What is taken out of texts before they are compared, but for the first group. Paths need no mask: both sides work in
the same place, one after the other."""

NOT_COMPARED = ("*.lock", "*.holder", "cache/view/*")
"""Files that tell of processes, and what the viewer has read already."""


class Part(NamedTuple):
    """Commands of one name, each as it is typed after `mmdyn`; {server} is a fake server's address.

    `make` run one after the other; then `read`, which change nothing, side by side.
    """

    name: str
    make: tuple[str, ...]
    read: tuple[str, ...] = ()


def run(name: str, command: str, *reports: str) -> Part:
    """A run in the folder NAME: its records, the reports that every run has, and others."""
    read = (f"report {name} {more}" for more in ("--why", f"--full -o {name}.json", *reports))
    out = f"out={name}" if command.startswith("run ") else f"-o {name}"
    return Part(name, (f"{command} {out}",), (*read, f"runs export {name} --samples -o {name}.jsonl"))


COMMANDS = (
    *("", "eval", "run", "report", "perturb", "score", "grade", "judge", "errors", "compare", "plan", "compose"),
    *("view", "demo", "extract", "runs", "fake-server", "list", "completion"),
    *("data", "data convert", "data audit", "build", "build screen", "build translate", "knowledge", "knowledge index"),
)
LISTED = ("operators", "models", "formats", "scorers", "rubrics", "benchmarks", "steps", "tables", "configs")

SERVER = "openai:m,base_url={server}"
JUDGE = "openai:j,base_url={server}"

PARTS = (
    Part("demo", ("demo -o demo",)),
    Part("help", (), (*(f"{command} --help" for command in COMMANDS), *(f"list {kind}" for kind in LISTED))),
    Part("graded", (), ("grade replies.jsonl", "grade replies.jsonl --policy strict", "extract replies.jsonl")),
    Part(
        "sets",
        ("data convert questions.jsonl -o questions", "data convert pictures.jsonl -o pictures"),
        (
            "data validate questions.jsonl",
            "data show questions --json",
            "data convert questions -o questions.tsv",
            "knowledge search average questions --retriever lexical --json",
        ),
    ),
    Part(
        "perturbed",
        (
            "perturb questions -o words --draws 2 --judge embedded"
            " --ops shuffle,substitute@strong,paraphrase,text.null,substitute+shuffle",
            "perturb pictures -o drawn --ops pad,pad@strong+color,rotate@2,jpeg@3,scale@2,image.null,style",
            "perturb questions -o forms --workers 2"
            " --ops convert,convert:blank,convert:open,convert:choice,convert:claim,paraphrase+convert",
            "perturb questions -o whole --ops shuffle,substitute,paraphrase --factorial",
            "perturb pictures -o doses --ops blur@1,blur@3,blur@5",
        ),
        ("data show words --stages", "data show words --replay -n 3", "data audit drawn -o sheet.html"),
    ),
    Part(
        "built",
        (
            "compose bank.jsonl -o composed --seed 1 --questions 8",
            "build dedup questions -o unique",
            "build screen pictures -o screened",
            "build cap unique -o capped --field subject --most 3",
            f"build caption screened -o captioned -m {SERVER}",
            "data join unique screened -o joined",
            "data sample joined -o sampled -n 8 --by subject",
        ),
        ("data show capped --stages",),
    ),
    run(
        "chosen",
        "eval questions words -m baseline:lexical -m baseline:majority --mode standard,dynamic",
        "",
        "--full",
        "--brief",
        "--full -o chosen.csv",
        "--full -o chosen.md",
        "--full -o chosen.tex",
        "--full -o chosen.html",
        "--flips --json",
        "--pivot model,chain",
        "--pivot subject --json",
        "--paired variant=standard:dynamic --format csv",
        "--gap subject=algebra:physics --json",
        "--trend grade --json",
        "--by subject --format csv",
        "--leaderboard chain --json",
    ),
    run(
        "seen",
        f"eval pictures drawn -m {SERVER} --mode standard,dynamic --style direct,cot",
        "--pivot style,chain --format csv",
    ),
    run("formed", "eval questions forms -m cmd:./solver.sh --mode standard,dynamic -n 12", "--pivot changed,task_type"),
    run(
        "informed",
        f"eval questions -m {SERVER} --retriever lexical"
        " --context none,kprag,kprag:retrieved:two-turn,distractor,kprag:inline",
        "--by retrieval,knowledge_count --json",
        "--paired context=none:kprag --format csv",
    ),
    run(
        "repeated",
        "eval pictures -m solver.py:Solver --epochs 3 --ops pad,color --draws 2 --seed 3"
        " --context none,caption,no-picture",
        "--noise --json",
        "--repeats --k 1,2",
        "--ladder",
    ),
    run(
        "judged",
        f"eval questions words -m solver.py:Solver --mode standard,dynamic --judge {JUDGE} --rubric match,votes=3",
        "--full",
        "--full -o judged.csv",
        "--full -o judged.html",
    ),
    run("subsets", "eval questions whole -m solver.py:Solver --mode standard,dynamic", "--attribute --json"),
    run("dosed", "eval pictures doses -m solver.py:Solver --mode standard,dynamic --shots 2", "--curves --json"),
    run("configured", "run mixed.yaml", "--pivot set --format csv"),
    run("stopped", f"eval questions -m {SERVER} --max-requests 5 --seed 1"),
    Part(
        "again",
        (
            f"eval questions -m {SERVER} --seed 1 -o stopped",
            "score seen --policy strict",
            "score formed --policy bleu",
            f"errors seen --judge {JUDGE} --per 3 --json",
            f"compare chosen --models baseline:lexical,baseline:majority --judge {JUDGE} -o pairs -n 10 --json",
            "eval questions words -m baseline:random --mode standard,dynamic -o random",
            "runs merge chosen random -o merged",
        ),
        (
            f"eval questions words -m {SERVER} --mode standard,dynamic -o planned --dry-run",
            "report seen --full",
            "report chosen judged --full",
            "runs ls .",
            "report merged --pivot model,chain --json",
            "plan questions words -m baseline:lexical",
            "view judged --export page-judged",
            "view words --export page-words",
            "view chosen --export page-chosen",
        ),
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Print what differs, and say by the exit status whether anything does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default="HEAD", help="whose results stand beside the working tree's (HEAD)")
    parser.add_argument("--checkout", type=Path, help="a folder with the packages, in place of a commit")
    parser.add_argument("--only", type=lambda names: names.split(","), help="parts, with commas between")
    parser.add_argument("--keep", type=Path, help="a new folder for the results")
    parser.add_argument("--lines", type=int, default=20, help="different lines to print of a file (20)")
    parser.add_argument("--list", action="store_true", help="print the commands and run none")
    args = parser.parse_args(argv)
    parts = [each for each in PARTS if not args.only or each.name in args.only]
    if unknown := {*(args.only or ())} - {each.name for each in PARTS}:
        raise SystemExit(f"there is no part {', '.join(unknown)}: {', '.join(each.name for each in PARTS)} are")
    if args.keep and args.keep.exists():
        raise SystemExit(f"{args.keep} is there already: name a new folder with --keep")
    if args.list:
        print("\n".join(f"{each.name}: mmdyn {command}" for each in parts for command in each.make + each.read))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = (args.keep or Path(temporary)).resolve()
        checkout = args.checkout or check_out(args.commit, Path(temporary) / "checkout")
        port = free_port()
        make_results(checkout.resolve(), parts, folder / "old", port)
        make_results(ROOT, parts, folder / "new", port)
        return 1 if print_differences(folder / "old", folder / "new", args.lines) else 0


def check_out(commit: str, folder: Path) -> Path:
    """The packages and ready runs as they were at a commit. Raises SystemExit where git knows no such commit."""
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit, *PACKAGES, "configs"], capture_output=True, check=False
    )
    if archive.returncode:
        raise SystemExit(f"git has no commit {commit!r} here: name another with --commit")
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# Making results


def make_results(checkout: Path, parts: Iterable[Part], folder: Path, port: int) -> None:
    """Run the commands of a checkout in a folder `work` beside FOLDER, which then gets that name.

    So paths are the same on both sides. What command number N of a part printed goes to printed/PART-N.txt.
    """
    work = folder.parent / "work"
    write_inputs(work)
    (work / "printed").mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith(("_key", "_proxy"))}
    environment |= {"PYTHONPATH": str(checkout), "MMDYN_CACHE": str(work / "cache"), "COLUMNS": "100"}
    with serving(environment, work, port) as address, ThreadPoolExecutor(os.cpu_count()) as pool:

        def carry_out(command: str, printed: str) -> None:
            words = [sys.executable, "-m", "mmdyn", *shlex.split(command.replace("{server}", address))]
            done = subprocess.run(words, cwd=work, env=environment, capture_output=True, text=True, check=False)
            said = (f"$ mmdyn {command}", done.stdout, "standard error:", done.stderr, f"exit status {done.returncode}")
            (work / "printed" / printed).write_text("\n".join(said).replace(str(checkout), "CHECKOUT"), "utf-8")

        for each in parts:
            began = time.monotonic()
            printed = (f"{each.name}-{number:02}.txt" for number in count(1))
            for command in each.make:
                carry_out(command, next(printed))
            list(pool.map(carry_out, each.read, printed))
            print(f"{folder.name}: {each.name}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    work.rename(folder)


@contextmanager
def serving(environment: dict[str, str], folder: Path, port: int) -> Iterator[str]:
    """The address of a fake server of the checkout, which runs until the end of the block."""
    command = [sys.executable, "-m", "mmdyn", "fake-server", "--port", str(port), "--reply", "hashed"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


# Inputs


def write_inputs(folder: Path) -> None:
    """Two sets, a bank of statements, two models and a config, the same for both sides."""
    folder.mkdir(parents=True)
    write_lines(folder / "questions.jsonl", questions())
    write_lines(folder / "pictures.jsonl", pictured(folder))
    write_lines(folder / "knowledge.jsonl", [{"point": name, "text": text} for name, text in POINTS.items()])
    write_lines(folder / "bank.jsonl", statements())
    write_lines(folder / "replies.jsonl", replies())
    (folder / "solver.py").write_text(SOLVER, "utf-8")
    (folder / "solver.sh").write_text(PROGRAM, "utf-8")
    (folder / "solver.sh").chmod(0o755)
    (folder / "mixed.yaml").write_text(CONFIG, "utf-8")


def write_lines(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    """JSON objects, a line each."""
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def options(*texts: object) -> list[dict[str, str]]:
    """Options with letters."""
    return [{"label": label, "text": str(text)} for label, text in zip(OPTION_LABELS, texts, strict=True)]


def questions() -> Iterator[dict[str, Any]]:
    """Questions of every task type in both languages, some in groups, with points, weights, hints and explanations."""
    for n in range(1, 6):
        fields = {"subject": ("algebra", "physics")[n % 2], "grade": 6 + n}
        speed, hours = 10 * n + 30, n + 1
        yield {
            "id": f"speed-{n}", "task_type": "single_choice", "answer": ["B"], "fields": fields,
            "knowledge_points": ["Speed"],
            "question": f"A train travels {speed * hours} km in {hours} hours. What is its average speed in km/h?",
            "options": options(speed - 10, speed, speed + 5, 2 * speed),
            "explanation": f"{speed * hours} divided by {hours} is {speed}.",
        }  # fmt: skip
        yield {
            "id": f"speed-{n}-zh", "task_type": "single_choice", "language": "zh", "answer": ["C"], "fields": fields,
            "question": f"一列火车{hours}小时行驶{speed * hours}千米，它的平均速度是多少千米每小时？",
            "knowledge_points": ["Speed"], "options": options(speed + 20, speed - 5, speed, speed + 1),
        }  # fmt: skip
        yield {
            "id": f"even-{n}", "task_type": "multi_select", "answer": ["A", "D"], "fields": fields,
            "group": f"numbers-{n}",
            "question": "Which of these numbers are even?", "options": options(2 * n, 2 * n + 1, 2 * n + 3, 4 * n),
            "knowledge_points": ["Even numbers"],
        }  # fmt: skip
        yield {
            "id": f"mean-{n}", "task_type": "fill_in_the_blank", "answer": [[str(n + 2)]], "fields": fields,
            "question": f"The average of {n}, {n + 2} and {n + 4} is ____.", "group": f"numbers-{n}",
            "knowledge_points": ["Average"],
        }  # fmt: skip
        yield {
            "id": f"boil-{n}", "task_type": "true_false", "answer": n % 2 == 0, "fields": fields,
            "question": f"Water with {n} g of salt in it boils at a lower temperature than pure water does.",
        }  # fmt: skip
    yield {
        "id": "why", "task_type": "open_ended", "answer": "Because ice is less dense than water.",
        "question": "Why does ice float on water?", "fields": {"subject": "physics", "grade": 8},
    }  # fmt: skip
    yield {
        "id": "capital-zh", "task_type": "fill_in_the_blank", "language": "zh",
        "answer": [["北京", "北京市"], ["长江"]],
        "question": "中国的首都是____，最长的河流是____。", "fields": {"subject": "geography", "grade": 7},
    }  # fmt: skip


def pictured(folder: Path) -> Iterator[dict[str, Any]]:
    """Questions with a drawn picture each; the pictures are written."""
    (folder / "drawings").mkdir()
    for n, drawing in enumerate(exam_pictures(8)):
        file = Path("drawings") / f"{n}.png"
        Image.fromarray(drawing.pixels).save(folder / file)
        right = drawing.numbers[0] if drawing.numbers else drawing.texts[0][0]
        yield {
            "id": f"picture-{n}", "task_type": "single_choice", "answer": [OPTION_LABELS[n % 4]], "images": [str(file)],
            "question": "Which of these is written in the picture? <image 1>",
            "fields": {"kind": drawing.name.split()[0]},
            "options": options(*(right if place == n % 4 else f"{n}{place}7" for place in range(4))),
            "meta": {"caption": f"A drawing of {len(drawing.texts)} labels."},
        }  # fmt: skip


def statements() -> Iterator[dict[str, Any]]:
    """True and false statements of two disciplines."""
    for n in range(12, 48):
        for by in (2, 3, 5):
            text = f"{n} is divisible by {by}."
            yield {"id": f"{n}-{by}", "text": text, "label": n % by == 0, "discipline": ("maths", "numbers")[n % 2]}


def replies() -> Iterator[dict[str, Any]]:
    """Replies to the questions in the words of several models."""
    for question in questions():
        for reply in REPLIES[question["task_type"]]:
            yield {**question, "response": reply}


REPLIES = {
    "single_choice": (
        "Answer: B",
        "I think it is **C**.",
        "答案是 (B)",
        "B or C",
        "$\\boxed{B}$",
        "The speed is 50 km/h.",
    ),
    "multi_select": ("A, D", "Answer: A and C", "The even ones are A and D.", "All of them."),
    "fill_in_the_blank": ("Answer: 3", "北京；长江", "It is 4.0", "The average is \\frac{9}{3}.", "I do not know."),
    "true_false": ("True", "This is false.", "Answer: no", "It depends."),
    "open_ended": ("Because ice is less dense than water.", "Its density is lower.", ""),
}

POINTS = {
    "Speed": "The average speed is the distance divided by the time that it took.",
    "Even numbers": "An even number leaves no remainder when it is divided by two.",
    "Average": "The average of some numbers is their sum divided by how many there are.",
    "Density": "A body floats in a liquid whose density is greater than its own.",
}

SOLVER = """
import zlib

class Solver:
    label = "solver"

    def ask(self, messages):
        text = "\\n".join(message.text for message in messages)
        draw = zlib.crc32(text.encode())
        if draw % 11 == 0:
            return "I cannot help with that."
        if draw % 13 == 0:
            return ""
        return f"Let me see: {draw % 9} and more.\\nAnswer: {'ABCD'[draw % 4] if 'A.' in text else draw % 50}"
"""
"""A model that answers by a checksum of what it is asked, declines now and then, or says nothing."""

PROGRAM = """#!/bin/sh
letter=$(cksum < question.txt | cut -c1 | tr 1-9 ABCDABCDA)
echo "I went through it step by step. The answer is $letter."
"""

CONFIG = """
sets: [{path: questions}, {path: pictures, limits: {n: 4}}]
models: [baseline:random, 'baseline:lexical']
conditions: {modes: [standard, dynamic], ops: shuffle+substitute, styles: [direct, cot]}
scoring: {policy: strict}
"""

# Comparing results


def print_differences(old: Path, new: Path, shown: int) -> int:
    """Print the files that differ with their lines, and what was masked. Returns how many differ."""
    hidden, different = Counter[str](), 0
    before, after = (sorted(str(file.relative_to(side)) for file in compared_files(side)) for side in (old, new))
    for name in sorted({*before, *after}):
        if name not in before or name not in after:
            different += 1
            print(f"{'-' if name in before else '+'}{name}: only {'before' if name in before else 'now'}")
        elif lines := list(differences(old / name, new / name, hidden)):
            different += 1
            print(f"*{name}: {len(lines)} lines differ", *(f"    {line}" for line in lines[:shown]), sep="\n")
    print(f"\n{different} of {len({*before, *after})} files differ")
    masked = [f"{what} ({places:,} times)" for what, places in hidden.items() if places]
    print("not compared:", ", ".join(masked) or "nothing", "in files whose bytes differ; locks and the viewer's index")
    failed = [file.stem for file in sorted(new.glob("printed/*")) if not file.read_text("utf-8").endswith(" 0")]
    print("ended with another status than 0:", ", ".join(failed) or "nothing")
    return different


def compared_files(folder: Path) -> Iterator[Path]:
    """The files of a result that are compared."""
    for file in folder.rglob("*"):
        if file.is_file() and not any(file.match(pattern) for pattern in NOT_COMPARED):
            yield file


def differences(old: Path, new: Path, hidden: Counter[str]) -> Iterator[str]:
    """Lines of two files that differ, with - and + before them, from a little before the first difference on; one line
    where they are no text."""
    if old.read_bytes() == new.read_bytes():
        return
    before, after = lines_of(old, Counter()), lines_of(new, hidden)
    if before is None or after is None:
        yield f"{old.stat().st_size:,} bytes before, {new.stat().st_size:,} now"
    elif before != after:
        for kind, *ends in difflib.SequenceMatcher(None, before, after).get_opcodes():
            if kind != "equal":
                yield from shown_pairs(before[ends[0] : ends[1]], after[ends[2] : ends[3]])


def shown_pairs(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Lines that stand in each other's place, each from a little before the first difference on."""
    for pair in zip_longest(before, after):
        one, other = (line or "" for line in pair)
        same = next((place for place, both in enumerate(zip(one, other, strict=False)) if both[0] != both[1]), len(one))
        start = max(0, min(same, len(other)) - BEFORE)
        for sign, line in zip("-+", pair, strict=True):
            if line is not None:
                yield f"{sign}{'…' if start else ''}{line[start:][:SHOWN]}"


def lines_of(file: Path, hidden: Counter[str]) -> list[str] | None:
    """The lines of a text, or the records of a store in order, with what is masked; None of what is neither."""
    if file.suffix == ".sqlite":
        with closing(sqlite3.connect(file)) as store:
            rows = store.execute("SELECT kind, key, value FROM records ORDER BY kind, key").fetchall()
        text = "\n".join(f"{kind} {key} {value.decode()}" for kind, key, value in rows)
    else:
        try:
            text = file.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return None
    for what, pattern in MASKS.items():
        text, places = re.subn(pattern, r"\1", text, flags=re.MULTILINE)
        hidden[what] += places
    return text.split("\n")


if __name__ == "__main__":
    sys.exit(main())
