"""Rows of public benchmarks, damaged at random in ways that are known, and what the loaders make of them.

    python bench/damaged_rows.py [--data DIR] [--rows 400] [--seed 16] [--kinds all|tuned|held_out] [--list]

Each row is read as it is published, which gives its question, options, answer and checklist: the truth. Its options are
then printed anew in a layout that is drawn (lines, columns, one line, semicolons), which has to be read as the truth
again, and damaged by one of the kinds below. A damaged row is `right` where it is read as the truth, `refused`,
`beside` where the same options have the same words and the same is right, but something else stands beside the words
(such as a tag), or `wrong` where it is read as anything else. Contradictions leave no true reading: there any reading
is wrong. The held-out kinds were written when the readers were finished.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from mmdyn import plugins
from mmdyn.data import ImageFolder
from mmdyn.sample import Option, Sample

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = {
    "gaokao_mm": "gaokao-mm", "gaokao_bench": "gaokao-bench", "we_math": "we-math", "scemqa": "scemqa",
    "math_vision": "math-vision", "tal_scq5k": "tal-scq5k", "scienceqa": "scienceqa-prefix",
    "acadreason": "acadreason",
}  # fmt: skip
ANSWER = "Answer (final answer highlighted)"
LAYOUTS = ("\n", "\n\n", "    ", " ")
Row = dict[str, Any]
Options = list[tuple[str, str]]
"""Labels as they are printed, each with its point, and the words after them."""


class Case(NamedTuple):
    """A row with the samples that it truly is."""

    benchmark: str
    row: Row
    truth: tuple[Sample, ...]

    @property
    def options(self) -> Options:
        return [(f"{option.label}.", option.text) for option in self.truth[0].options]


class Damaged(NamedTuple):
    """A damaged row, and what it says where that is not the truth of its case; () where no true reading is left."""

    row: Row
    truth: tuple[Sample, ...] | None = None


Damage = Callable[[random.Random, Case], Damaged | None]
"""None where the kind does not fit the row."""


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public data")
    parser.add_argument("--rows", type=int, default=400, help="how many damaged rows (400)")
    parser.add_argument("--seed", type=int, default=16, help="another seed damages other rows (16)")
    parser.add_argument("--kinds", choices=("all", "tuned", "held_out"), default="all", help="which kinds of damage")
    parser.add_argument("--list", action="store_true", help="print each row that is not read right")
    args = parser.parse_args(argv)
    kinds = (TUNED if args.kinds != "held_out" else {}) | (HELD_OUT if args.kinds != "tuned" else {})
    with tempfile.TemporaryDirectory() as folder:
        counts = count(args.data, Path(folder), kinds, args.rows, args.seed, tell=print if args.list else None)
    print("| kind | rows | right | refused | beside | wrong |\n|---|---|---|---|---|---|")
    for kind in [*kinds, "all"]:
        found = counts[kind] if kind != "all" else sum(counts.values(), Counter())
        total = sum(found.values())
        shares = " | ".join(str(found[verdict]) for verdict in ("right", "refused", "beside", "wrong"))
        print(f"| {kind.replace('_', ' ')} | {total} | {shares} |")


def count(
    data: Path,
    folder: Path,
    kinds: dict[str, Damage],
    rows: int,
    seed: int,
    tell: Callable[[str], object] | None = None,
    every: int = 1,
) -> dict[str, Counter[str]]:
    """How many rows of each kind are right, refused and wrong: as many of each kind, of random benchmarks, out of
    each row of them or `every` so many."""
    cases = {name: list(read_cases(data, name, folder, every)) for name in SETS}
    counts = {kind: Counter[str]() for kind in kinds}
    draw = random.Random(seed)
    for number in range(rows):
        kind = list(kinds)[number % len(kinds)]
        case, damaged = one(draw, cases, kinds[kind])
        read, problem = read_row(data, case.benchmark, damaged.row, folder)
        truth = case.truth if damaged.truth is None else damaged.truth
        verdict = "refused" if problem else judge(read, truth)
        counts[kind][verdict] += 1
        if tell and (verdict in ("beside", "wrong") or (verdict == "refused" and truth)):
            said = problem or json.dumps([told(sample) for sample in read], ensure_ascii=False)[:1500]
            changed = {key: value for key, value in damaged.row.items() if value != case.row.get(key)}
            tell(f"{verdict} {kind} {case.truth[0].id}: {said}\n   {json.dumps(changed, ensure_ascii=False)[:1500]}")
    return counts


def judge(read: Sequence[Sample], truth: Sequence[Sample]) -> str:
    """`right`; `beside` where words are as they should be and something else stands beside them; or `wrong`."""
    if not truth or len(read) != len(truth):
        return "wrong"
    pairs = list(zip(read, truth, strict=True))
    if all(told(a) == told(b) for a, b in pairs):
        return "right"
    same = all((a.id, a.task_type, a.labels, a.answer) == (b.id, b.task_type, b.labels, b.answer) for a, b in pairs)
    words = [(x, y) for a, b in pairs for x, y in zip(_words(a), _words(b), strict=False)]
    return "beside" if same and all(y in x for x, y in words) else "wrong"


def _words(sample: Sample) -> list[str]:
    return [sample.question, *(option.text for option in sample.options), *sample.checklist]


def one(draw: random.Random, cases: dict[str, list[Case]], damage: Damage) -> tuple[Case, Damaged]:
    """A random row of a random benchmark, damaged."""
    while True:
        case = draw.choice(cases[draw.choice(list(cases))])
        damaged = damage(draw, case)
        if damaged and damaged.row != case.row:
            return case, damaged


def read_cases(data: Path, name: str, folder: Path, every: int = 1) -> Iterator[Case]:
    """The rows of a benchmark that are read, and that are read again where their options are printed anew."""
    for file in sorted((data / SETS[name] / "dev").glob("*.jsonl")):
        if file.name not in plugins.load("benchmarks", name).files:
            continue
        for line in file.read_text(encoding="utf-8").splitlines()[:: every if name != "acadreason" else 1]:
            row = json.loads(line)
            truth, problem = read_row(data, name, row, folder)
            if problem:
                continue
            case = Case(name, row, tuple(truth))
            if truth[0].options and len(truth) == 1 and not truth[0].options_in_image:
                again, problem = read_row(data, name, printed(case, case.options), folder)
                if problem or [*map(told, again)] != [*map(told, truth)]:
                    continue
            yield case


def read_row(data: Path, name: str, row: Row, folder: Path) -> tuple[list[Sample], str]:
    """The samples of a row, or the problem with it."""
    loader = plugins.load("benchmarks", name)()
    file = folder / loader.files[0]
    file.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    loader.pictures = tuple(str(data.resolve() / SETS[name] / "dev" / place) for place in loader.pictures)
    found = list(loader.read(file, ImageFolder(folder)))
    return [one.sample for one in found if one.sample], "; ".join(one.problem for one in found if one.problem)


def told(sample: Sample) -> list[Any]:
    """What of a sample has to be true."""
    options = [[option.label, option.text] for option in sample.options]
    return [sample.id, sample.task_type, sample.question, options, sample.answer, list(sample.checklist)]


def printed(case: Case, options: Options, between: str = "\n") -> Row:
    """The row with these options."""
    row, stem = dict(case.row), case.truth[0].question
    words = between.join(f"{label} {text}" for label, text in options)
    if case.benchmark in ("gaokao_mm", "gaokao_bench"):
        row["question"] = f"{stem}\n{words}"
    elif case.benchmark == "scemqa":
        row["Question"] = f"{stem}\n\n{words}"
    elif case.benchmark == "we_math":
        row["option"] = ";".join(f"{label} {text}" for label, text in options)
    elif case.benchmark == "tal_scq5k":
        row["answer_option_list"] = [[{"aoVal": label.rstrip("."), "content": text}] for label, text in options]
    elif [label for label, _ in options] == [label for label, _ in case.options]:
        row["choices" if case.benchmark == "scienceqa" else "options"] = [text for _, text in options]
    else:
        row["choices" if case.benchmark == "scienceqa" else "options"] = [f"{label} {text}" for label, text in options]
    return row


def with_options(least: int = 3) -> Callable[[Callable[[random.Random, Case, Options], Damaged | None]], Damage]:
    """A kind for rows with one question and at least so many options that say something."""

    def wrap(damage: Callable[[random.Random, Case, Options], Damaged | None]) -> Damage:
        def fitting(draw: random.Random, case: Case) -> Damaged | None:
            sample = case.truth[0]
            if len(case.truth) > 1 or len(sample.options) < least or sample.options_in_image:
                return None
            if any(text in ("", label[0]) for label, text in case.options):
                return None
            return damage(draw, case, case.options)

        return fitting

    return wrap


@with_options()
def lower_case(draw: random.Random, case: Case, options: Options) -> Damaged:
    """`c.`: one label or all of them."""
    some = range(len(options)) if draw.random() < 0.3 else [draw.randrange(len(options))]
    lower = [(label.lower() if at in some else label, text) for at, (label, text) in enumerate(options)]
    return Damaged(printed(case, lower, draw.choice(LAYOUTS)))


@with_options()
def tex_labels(draw: random.Random, case: Case, options: Options) -> Damaged:
    r"""`$\mathrm{C}$.`: one label or all of them, in one of four writings."""
    way = draw.choice((r"$\mathrm{%s}$.", r"$%s$.", r"$\mathrm{%s.}$", "**%s.**"))
    some = range(len(options)) if draw.random() < 0.5 else [draw.randrange(len(options))]
    tex = [(way % label[0] if at in some else label, text) for at, (label, text) in enumerate(options)]
    return Damaged(printed(case, tex, draw.choice(LAYOUTS)))


@with_options(4)
def wrong_letter(draw: random.Random, case: Case, options: Options) -> Damaged:
    """A, B, C, F: one letter is another one, which may be the next after the last, or that of another option."""
    at = draw.randrange(1, len(options))
    letters = [letter for letter in "ABCDEFGHO0" if letter != options[at][0][0]]
    options[at] = (draw.choice(letters) + ".", options[at][1])
    return Damaged(printed(case, options, draw.choice(LAYOUTS)))


@with_options()
def inner_separators(draw: random.Random, case: Case, options: Options) -> Damaged:
    """Options between semicolons, one of which holds a label between semicolons: `point ;O.;`. It changes the truth."""
    at = draw.randrange(len(options) - 1)
    added = draw.choice(("point ;O.", "points ;A.;B.", "①;②", "x; y", "see C.; or B."))
    words = [(label, f"{text} {added}" if at == place else text) for place, (label, text) in enumerate(options)]
    row = printed(case, words, draw.choice((";", "; ", "；")))
    options_now = tuple(Option(label[0], text) for label, text in words)
    return Damaged(row, (replace(case.truth[0], options=options_now),))


def null(draw: random.Random, case: Case) -> Damaged | None:
    """null for something that a row may do without."""
    optional = {"answer_analysis", "analysis", "solution", "category", "hint", "lecture", "image", "hints_definition",
                "hints_background", "knowledge_point_routes", "options"}  # fmt: skip
    keys = [key for key in case.row if key in optional and (key != "options" or not case.truth[0].options)]
    keys = [key for key in keys if key != "image" or case.benchmark == "scienceqa"]
    keys = [key for key in keys if key != "category" or case.benchmark == "scemqa"]
    return Damaged(case.row | {draw.choice(keys): None}) if keys and "hint" not in case.row else None


def numbers_again(draw: random.Random, case: Case) -> Damaged | None:
    """Numbers that start again with 1: of a checklist under headings, of questions on one passage."""
    if case.benchmark == "acadreason":
        items, parts = list(case.truth[0].checklist), list[str]()
        if any("\n" in item for item in items):
            return None
        cut = sorted(draw.sample(range(1, len(items)), draw.choice((1, 2))))
        for part, (begin, end) in enumerate(zip([0, *cut], [*cut, len(items)], strict=True)):
            head = draw.choice((f"## Part {part}", f"**Part {part}**", f"**Part {part}:**"))
            parts += [head, *(f"{number}. {item}" for number, item in enumerate(items[begin:end], 1))]
        return Damaged(case.row | {"checklist": draw.choice(("\n", " | ", "\n\n")).join(parts)})
    if case.benchmark != "gaokao_bench" or len(case.truth) < 2:
        return None
    truth, text, cut = list[Sample](), case.row["question"], draw.randrange(1, len(case.truth))
    for at, sample in enumerate(case.truth):
        passage, _, stem = sample.question.rpartition("\n")
        if text.count(stem) != 1 or not re.match(r"\d+\s*[.．、]", stem):
            return None
        again = re.sub(r"\A\d+", str(at + 1 if at < cut else at - cut + 1), stem)
        text = text.replace(stem, again)
        truth.append(replace(sample, question=f"{passage}\n{again}"))
    return Damaged(case.row | {"question": text}, tuple(truth))


def separators(draw: random.Random, case: Case) -> Damaged | None:
    """A checklist in another writing."""
    if case.benchmark != "acadreason" or any("\n" in item for item in case.truth[0].checklist):
        return None
    items = list(case.truth[0].checklist)
    numbered = [f"{number}. {item}" for number, item in enumerate(items, 1)]
    quoted = [json.dumps(item, ensure_ascii=False) for item in draw.choice((items, numbered))]
    return Damaged(case.row | {"checklist": draw.choice((
        ", | ".join(quoted) + ", | ]", "[" + ", ".join(quoted) + "]", "[\n" + ",\n".join(quoted) + ",\n]",
        " | ".join(items), "|".join(numbered), " | | ".join(numbered), "; ".join(numbered), "\\n".join(numbered),
        "\n".join(f"({number}) {item}" for number, item in enumerate(items, 1)),
        "\n".join(f"- [ ] {item}" for item in items), "<br>".join(items), str(items),
    ))})  # fmt: skip


def bare_answer(draw: random.Random, case: Case) -> Damaged | None:
    r"""A free answer without `\answer{}`, in bold, or after a word."""
    if case.benchmark != "scemqa" or case.row["type"] != "Free_Response":
        return None
    way = draw.choice(("%s", "%s", "**%s**", r"\boxed{%s}", "Answer: %s"))
    text = re.sub(r"\\answer\{([^{}]*)\}", lambda found: way % found[1], case.row[ANSWER])
    return Damaged(case.row | {ANSWER: text})


@with_options()
def answer_forms(draw: random.Random, case: Case, options: Options) -> Damaged | None:
    """An answer in another writing: in lower case, in brackets, in TeX, with the option's words."""
    sample = case.truth[0]
    assert isinstance(sample.answer, tuple)
    letters = "".join(str(label) for label in sample.answer)
    words = next(text for label, text in options if label[0] == letters[0])
    ways = [letters.lower(), f"({letters})", rf"$\mathrm{{{letters}}}$", f"{letters}.", f"答案：{letters}",
            ", ".join(letters), " and ".join(letters), f"Answer: {letters}", f"【{letters}】"]  # fmt: skip
    said = draw.choice([*ways, *([f"{letters}. {words}", words] if len(letters) == 1 else [])])
    if case.benchmark in ("gaokao_mm", "gaokao_bench") and isinstance(case.row["answer"], list):
        return Damaged(case.row | {"answer": [said]})
    if case.benchmark in ("we_math", "math_vision"):
        return Damaged(case.row | {"answer": said})
    if case.benchmark == "tal_scq5k":
        return Damaged(case.row | {"answer_value": said})
    if case.benchmark == "scemqa" and words not in said:
        return Damaged(case.row | {ANSWER: f"{said}: {sample.explanation}"})
    return None


@with_options(4)
def contradictions(draw: random.Random, case: Case, options: Options) -> Damaged | None:
    """Two texts for one label; an option that is missing in the middle; an answer that names none."""
    if case.benchmark in ("math_vision", "scienceqa"):
        return None
    way, at = draw.choice(("two", "gap", "none")), draw.randrange(1, len(options) - 1)
    if way == "two":
        options[at] = (options[at - 1][0], options[at][1])
    elif way == "gap":
        del options[at]
    else:
        key = {"scemqa": ANSWER, "tal_scq5k": "answer_value"}.get(case.benchmark, "answer")
        said = draw.choice(("H", "Z", "?", "Both", "A or B", "none of these"))
        return Damaged(case.row | {key: [said] if isinstance(case.row[key], list) else said}, ())
    return Damaged(printed(case, options, draw.choice(LAYOUTS)), ())


TUNED: dict[str, Damage] = {
    "lower_case": lower_case, "tex_labels": tex_labels, "wrong_letter": wrong_letter,
    "inner_separators": inner_separators, "null": null, "numbers_again": numbers_again, "separators": separators,
    "bare_answer": bare_answer, "answer_forms": answer_forms, "contradictions": contradictions,
}  # fmt: skip


@with_options()
def look_alikes(draw: random.Random, case: Case, options: Options) -> Damaged:
    """Labels in Cyrillic or Greek letters that look alike, or with characters that nobody sees around them."""
    cyrillic, greek = str.maketrans("ABCEH", "АВСЕН"), str.maketrans("ABEZH", "ΑΒΕΖΗ")
    ways: list[Callable[[str], str]] = [
        lambda label: label.translate(cyrillic), lambda label: label.translate(greek),
        lambda label: f"\u200b{label}", lambda label: f"{label[0]}\u200b{label[1:]}",
        lambda label: f"\ufeff{label}", lambda label: f"{label}\xa0",
    ]  # fmt: skip
    way, some = draw.choice(ways), draw.choice((range(len(options)), [draw.randrange(len(options))]))
    odd = [(way(label) if at in some else label, text) for at, (label, text) in enumerate(options)]
    return Damaged(printed(case, odd, draw.choice(LAYOUTS)))


def lost_label(draw: random.Random, case: Case) -> Damaged | None:
    """One option, or one item of a checklist, without its label or number."""
    if case.benchmark == "acadreason":
        items = list(case.truth[0].checklist)
        lost = draw.randrange(len(items))
        numbered = [item if at == lost else f"{at + 1}. {item}" for at, item in enumerate(items)]
        return Damaged(case.row | {"checklist": draw.choice(("\n", " | ", "\n\n")).join(numbered)})
    lose = with_options()(lambda draw, case, options: Damaged(_without_label(draw, case, options)))
    return None if case.benchmark in ("math_vision", "scienceqa") else lose(draw, case)


def _without_label(draw: random.Random, case: Case, options: Options) -> Row:
    lost = draw.randrange(len(options))
    return printed(case, [("" if at == lost else label, text) for at, (label, text) in enumerate(options)],
                   draw.choice(LAYOUTS))  # fmt: skip


@with_options()
def page_footers(draw: random.Random, case: Case, options: Options) -> Damaged | None:
    """A line of the page, a source, or the answer after the last option."""
    if case.benchmark not in ("gaokao_mm", "gaokao_bench", "scemqa"):
        return None
    row = printed(case, options, draw.choice(LAYOUTS))
    footer = draw.choice(("— 12 —", "Page 3 of 8", "试卷第3页，共8页", "Source: released examination.", "【答案】B",
                          "Answer: C", "(2019 全国卷)", "3", "* * *"))  # fmt: skip
    key = "Question" if case.benchmark == "scemqa" else "question"
    return Damaged(row | {key: row[key] + draw.choice(("\n", "\n\n")) + footer})


@with_options()
def torn_options(draw: random.Random, case: Case, options: Options) -> Damaged | None:
    """An option whose words go on in the next line, which may be indented."""
    if case.benchmark not in ("gaokao_mm", "gaokao_bench", "scemqa", "we_math"):
        return None
    long = [at for at, (_, text) in enumerate(options) if text.count(" ") > 2 and "$" not in text]
    if not long:
        return None
    at = draw.choice(long)
    words = options[at][1].split(" ")
    cut = draw.randrange(1, len(words))
    options[at] = (options[at][0], " ".join(words[:cut]) + draw.choice(("\n", "\n    ")) + " ".join(words[cut:]))
    return Damaged(printed(case, options, "\n"))


@with_options()
def markup(draw: random.Random, case: Case, options: Options) -> Damaged:
    """Tags and entities of a web page around options or labels."""
    ways: list[Callable[[str, str], tuple[str, str]]] = [
        lambda label, text: (f"<p>{label}", f"{text}</p>"), lambda label, text: (f"<b>{label}</b>", text),
        lambda label, text: (f"<li>{label}", f"{text}</li>"), lambda label, text: (f"{label}&nbsp;", text),
        lambda label, text: (f"<br>{label}", text),
    ]  # fmt: skip
    way = draw.choice(ways)
    return Damaged(printed(case, [way(label, text) for label, text in options], draw.choice(("\n", " "))))


HELD_OUT: dict[str, Damage] = {
    "look_alikes": look_alikes, "lost_label": lost_label, "page_footers": page_footers, "torn_options": torn_options,
    "markup": markup,
}  # fmt: skip

if __name__ == "__main__":
    main(sys.argv[1:])
