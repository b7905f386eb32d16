"""Small runs of three papers' designs, for the tables in docs/papers: Encyclo-K, AcadReason and R-Bench.

    python -P bench/paper_runs.py --data DATA -o FOLDER        (DATA: a folder with acadreason)

Nothing here knows anything. The questions of Encyclo-K and R-Bench are made up (sums, in the layout of the releases);
AcadReason's are its own. Every model is a script behind the fake server, which knows a stated share of the questions,
drawn by their names; the judge is a script, too, which gives every answer the verdict that was drawn for it. In FOLDER
lie then sets/, runs/ and models.csv, and the commands of docs/papers print the tables.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from mmdyn.build import ComposeSpec, build, compose
from mmdyn.data import SampleSet, convert
from mmdyn.keys import stream
from mmdyn.run import ConditionSpec, ScoringConfig, evaluate
from mmdyn.run.verdicts import pair_questions
from mmdyn.sample import Sample
from mmdyn.scoring.pairwise import question_sheet
from mmdyn.scoring.rubrics.checklist import Checklist
from mmdyn.testing import FakeServer, write_script

QUESTIONS = {
    "Science": 62, "Engineering": 44, "Literature": 41, "Medicine": 37, "History": 34, "Law": 9, "Economics": 6,
    "Agriculture": 6, "Education": 5, "Management": 4, "Philosophy": 3,
}  # fmt: skip
"""A twentieth of Encyclo-K's (table 2)."""

KNOWN = {"made-8b": 0.20, "made-8b-thinking": 0.28, "made-32b": 0.28, "made-32b-thinking": 0.45}
"""The share of the choices that each model knows; it guesses at the others."""

COURSES = {
    "Mathematics": ("Topology", "Number Theory"),
    "Physics": ("Optics", "Quantum Mechanics"),
    "Biology": ("Genetics",),
}
CONTEXTS = {"none": 0.3, "hint:background": 0.35, "hint:definition": 0.4, "hint:methodology": 0.55, "hint:all": 0.65}
"""The share of the items of AcadReason's checklists that the better one of two models meets."""


def share(*name: object) -> float:
    """A number in [0, 1) that hangs on a name alone."""
    return float(stream("paper runs", *map(str, name)).random())


def write_rows(file: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """A JSONL file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return file


def say(sample: Sample, name: str, known: float) -> str:
    """A model's reply to a choice or a statement: right where it knows it, else a guess; longer where it thinks. Of a
    fifth of the questions that have two languages, what it knows and guesses hangs on the language."""
    wrong = [label for label in sample.labels if label not in sample.answer] if sample.labels else []
    own = sample.group or sample.id
    own += sample.language if share("language", name, own) < 0.2 else ""
    knows = share("knows", name, own) < known
    if isinstance(sample.answer, bool):
        right = sample.answer if knows else share("guess", name, sample.id) < 0.5
        said = "True" if right else "False"
    elif sample.match.each:
        known_ones = {label for label in sample.labels if share("knows", name, own, label) < known}
        guessed = {label for label in sample.labels if share("guess", name, own, label) < 0.5}
        picked = known_ones & {*map(str, sample.answer)} | guessed - known_ones
        said = "".join(sorted(picked)) or "A"
    else:
        labels = [*sample.answer, *wrong]
        said = str(labels[0] if knows else labels[int(share("guess", name, own) * len(labels))])
    lead = "答案：" if sample.language == "zh" else "Answer: "
    return "Let me see. " * (400 if "thinking" in name else 20) + "\n" + lead + said


def shown(sample: Sample) -> str:
    """What tells a question from all others: where statements are judged together, these alone."""
    options = "\n".join(f"{option.label}. {option.text}" for option in sample.options)
    return options if sample.match.each else sample.question


def ask(folder: Path, sets: list[Path], known: Mapping[str, float], *, style: str = "direct") -> None:
    """One run in which every model answers by a script of its own."""
    samples = [sample for each in sets for sample in SampleSet(each)]
    with ExitStack() as servers:
        models = list[str]()
        for name, part in known.items():
            lines = [{"match": shown(one), "reply": say(one, name, part)} for one in samples]
            script = write_script(folder.parent / f"{folder.name}-{name}.jsonl", *lines)
            url = servers.enter_context(FakeServer(reply=script)).url
            models.append(f"openai:{name},base_url={url}")
        evaluate(sets, models, folder, conditions=ConditionSpec(styles=style))


def encyclo_k(folder: Path) -> None:
    """Questions of 8 to 10 statements in 11 disciplines, five smaller sets of other seeds, and single statements."""

    def statement(name: str, true: bool) -> str:
        a, b = (10 + int(80 * share(name, side)) for side in "ab")
        return f"The sum of {a} and {b}, as {name} has it, is {a + b if true else a + b + 1}."

    numerals = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")

    def combination(name: str, option: int, count: int) -> str:
        chosen = {int(count * share(name, option, one)) for one in range(4)}
        return ", ".join(numerals[one] for one in sorted(chosen))

    def rows(seed: int, part: float) -> Iterable[dict[str, object]]:
        for discipline, n in QUESTIONS.items():
            for place in range(max(2, round(part * n))):
                name = f"{discipline} {seed}.{place}"
                count, options = 8 + int(3 * share(name, "count")), 4 + int(5 * share(name, "options"))
                stated = [statement(f"{name}.{one}", share(name, one) < 0.5) for one in range(count)]
                given = list(dict.fromkeys(combination(name, option, count) for option in range(40)))[:options]
                lines = [f"{numeral}. {text}" for numeral, text in zip(numerals, stated, strict=False)]
                yield {
                    "question": "\n".join(["Which combination is right?", *lines]),
                    "options": given,
                    "answer_letter": "ABCDEFGH"[int(len(given) * share(name, "right"))],
                    "discipline": discipline,
                    "field": f"{discipline} {place % 2 + 1}",
                    "subfield": f"{discipline} {place % 3 + 1}",
                }

    sets = folder / "sets"
    for name, seed, part in (("encyclo-k", 0, 1.0), *((f"encyclo-k-seed-{seed}", seed, 0.4) for seed in range(1, 6))):
        convert(write_rows(sets / f"{name}.jsonl", rows(seed, part)), sets / name, benchmark="encyclo_k", name=name)
    stated = [
        {"id": f"{name}-{true}", "text": statement(name, true), "label": true, "discipline": discipline}
        | ({} if true else {"pair": f"{name}-True"})
        for discipline, n in QUESTIONS.items()
        for name in (f"{discipline} statement {place}" for place in range(10 * n))
        for true in (True, False)
    ]
    bank, secret = write_rows(sets / "bank.jsonl", stated), sets / "secret"
    secret.write_text("made up, so that the sets are the same everywhere")
    compose(bank, sets / "multi", ComposeSpec(questions=250, skip_small=True), secret=secret)
    compose(bank, sets / "statement", ComposeSpec(questions=200, form="statement"), secret=secret)
    build("bank", bank, sets / "bank", quiet=True)
    build("judgments", sets / "multi", sets / "judgments", quiet=True)
    ask(folder / "runs" / "encyclo_k", [sets / "encyclo-k"], KNOWN)
    ask(folder / "runs" / "encyclo_k_seeds", [sets / f"encyclo-k-seed-{seed}" for seed in range(1, 6)], KNOWN)
    ask(
        folder / "runs" / "encyclo_k_settings",
        [sets / name for name in ("multi", "judgments", "statement")],
        {"made-32b": 0.28},
    )


def r_bench(folder: Path) -> None:
    """60 questions in both languages of part T, 20 of part M in both; and 40 easy ones of another set."""
    words = {"en": "What is {} times {} in {}?", "zh": "在{2}中，{0}乘以{1}等于多少？"}

    def rows(part: str, language: str, n: int) -> Iterable[dict[str, object]]:
        for index in range(n):
            department = list(COURSES)[index % 3]
            subject = COURSES[department][index // 3 % len(COURSES[department])]
            options = [str(index * 7 + 10 * option) for option in range(5)]
            last = "All other answers are incorrect" if language == "en" else "其他答案都不对"
            picture = {"image": "picture.png"} if part == "m" else {}
            yield {
                "index": index, "question": words[language].format(index, 7, f"{subject} {part}"),
                **dict(zip("ABCDEF", [*options, last], strict=True)), "answer": "ABCDEF"[int(6 * share(part, index))],
                "department": department, "subject": subject, **picture,
            }  # fmt: skip

    source, sets = folder / "sets" / "R-Bench", folder / "sets"
    for part, n in (("t", 60), ("m", 20)):
        for language in words:
            write_rows(source / f"rbench-{part}_{language}.jsonl", rows(part, language, n))
    from PIL import Image

    Image.new("RGB", (60, 40), "white").save(source / "picture.png")
    convert(source, sets / "r-bench", benchmark="r_bench", name="r_bench")
    for name, file in (("R-Bench-T", "rbench-t_en.jsonl"), ("R-Bench-M", "rbench-m_en.jsonl")):
        convert(source / file, sets / name, benchmark="r_bench", name=name)
    options = [{"label": "A", "text": "one"}, {"label": "B", "text": "another"}]
    shared = {"task_type": "single_choice", "answer": ["A"], "options": options}
    easy = [{"id": f"e{n}", "question": f"Who wrote book {n}?", **shared} for n in range(40)]
    convert(write_rows(sets / "easy.jsonl", easy), sets / "Easy", name="Easy")
    for style, bonus in (("direct", 0.0), ("cot", 0.08)):
        known = {name: KNOWN[name] + 0.2 + bonus for name in ("made-8b", "made-32b")}
        ask(folder / "runs" / f"r_bench_{style}", [sets / "r-bench"], known, style=style)
    ask(
        folder / "runs" / "r_bench_times",
        [sets / "Easy", sets / "R-Bench-T", sets / "R-Bench-M"],
        {"made-32b-thinking": 0.5},
    )
    a, b = SampleSet(sets / "R-Bench-T"), SampleSet(sets / "Easy")
    pairs, _ = pair_questions((a, b), 30)
    lines = list[dict[str, str]]()
    for one, other in (order for first, second in pairs for order in ((first, second), (second, first))):
        sheet, hard = question_sheet(one, other), one.fields.get("modality") is not None
        fair = 1 if hard else 2
        better = (
            0 if share("tie", one.id, other.id) < 0.1 else fair if share("fair", one.id, other.id) < 0.9 else 3 - fair
        )
        lines.append({"match": sheet.code, "reply": json.dumps({"code": sheet.code, "why": "drawn", "better": better})})
    write_script(folder / "compare-judge.jsonl", *lines)


def acadreason(folder: Path, data: Path) -> None:
    """Its own 15 tasks with every kind of hints; the judge's verdicts are drawn."""
    convert(data, folder / "sets" / "acadreason", benchmark="acadreason", name="acadreason")
    samples = list(SampleSet(folder / "sets" / "acadreason"))
    verdicts, rubric = list[dict[str, str]](), Checklist()
    replies = dict[tuple[str, str], list[dict[str, str]]]()
    for model, less in (("made-small", 0.15), ("made-large", 0.0)):
        for context, met in CONTEXTS.items():
            for sample in samples:
                reply = f"A made-up answer of {model} to {sample.id}, with {context} beside the question."
                items = [share(model, sample.id, item) < met - less for item in range(len(sample.checklist))]
                code = rubric.sheet(sample, reply, pictures=False).code
                told = [[number, "drawn", item] for number, item in enumerate(items, 1)]
                verdict = {"code": code, "golden": ["drawn", sum(items) >= 0.5 * len(items)], "items": told}
                verdicts.append({"match": code, "reply": json.dumps(verdict)})
                replies.setdefault((model, context), []).append({"match": sample.question, "reply": reply})
    with FakeServer(reply=write_script(folder / "judge.jsonl", *verdicts)) as judge:
        scoring = ScoringConfig(judges=f"openai:judge,base_url={judge.url}", judge_mode="all")
        for context in CONTEXTS:
            run = folder / "runs" / f"acadreason_{context.removeprefix('hint:')}"
            with ExitStack() as servers:
                models = list[str]()
                for model in ("made-small", "made-large"):
                    script = write_script(folder / f"{run.name}-{model}.jsonl", *replies[model, context])
                    models.append(f"openai:{model},base_url={servers.enter_context(FakeServer(reply=script)).url}")
                evaluate(
                    folder / "sets" / "acadreason",
                    models,
                    run,
                    conditions=ConditionSpec(contexts=context),
                    scoring=scoring,
                )


def main() -> None:
    """Make everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--out", type=Path, required=True)
    given = parser.parse_args()
    (given.out / "runs").mkdir(parents=True, exist_ok=True)
    facts = [
        f"{name},{name.split('-')[1].removesuffix('b')},{'reasoning' if 'thinking' in name else 'chat'}"
        for name in KNOWN
    ]
    (given.out / "models.csv").write_text("model,size,kind\n" + "\n".join(facts) + "\n", "utf-8")
    encyclo_k(given.out)
    r_bench(given.out)
    acadreason(given.out, given.data / "acadreason")


if __name__ == "__main__":
    main()
