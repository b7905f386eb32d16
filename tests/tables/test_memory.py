"""What records show of memory: models that are known to have memorised, to be brittle, weak, careless or none of it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from making_known import MODELS, NEVER, Scripted, conclusion, make_world, pages, varied
from msgspec.structs import replace
from running import evaluated, typed

from making import blank, choice, true_false, write_set
from mmdyn.data import convert, versions_folder
from mmdyn.run import Execution, evaluate
from mmdyn.sample import Match
from mmdyn.stats import paired_difference
from mmdyn.tables import Memory, Row, explain_memory, memory_parts, read_model_facts, tabulate
from mmdyn.tables.memory import NO_ANSWER, SAME_ANSWER, TWO_ANSWERS, Asked, rates_of, span_of
from mmdyn.tables.memory_page import FEWEST
from mmdyn.work import RunFolder
from perturb import perturb

COUNT, DRAWS = 60, 3
WE_MATH = Path(__file__).resolve().parents[3] / "shared/data/we-math"
ASKED = re.compile(r"Box (\d+) holds (\d+) pens, and (\d+) more")


def published(number: int) -> tuple[int, int]:
    return 10 + number % 7, 3 + number % 5


def chance(*of: object) -> float:
    """A number in [0, 1) that is fixed by what it is for."""
    return int(hashlib.sha256(json.dumps(of).encode()).hexdigest()[:12], 16) / 16**12


REWRITER = '''
import json, re
from collections import Counter

class Adder:
    """Changes how many pens come, another number each time, and adds."""
    label = "adder"
    def __init__(self):
        self.times = Counter()
    def ask(self, messages):
        text = messages[-1].text
        box, there, more = re.search(r"Box (\\d+) holds (\\d+) pens, and (\\d+) more", text).groups()
        if "Change exactly one condition" in text:
            self.times[box] += 1
            new = int(more) + 20 * self.times[box]
            question = f"Box {box} holds {there} pens, and {new} more come. It then holds ____ pens."
            return json.dumps({"question": question, "answer": str(int(there) + new)})
        return json.dumps({"working": "sum", "answer": str(int(there) + int(more))})
'''


OTHER = '''
import json

class Other:
    """Turns statements and choices of two round."""
    def ask(self, messages):
        claim = "says" in messages[-1].text
        answer = "false" if claim else "A"
        if "Change exactly one condition" not in messages[-1].text:
            return json.dumps({"working": "-", "answer": answer})
        return json.dumps({"question": "Eight is prime, says he." if claim else "How many eyes has a cat?", "answer": answer})
'''


class Model:
    """A model that reads the numbers, and answers as its kind does."""

    def __init__(self, kind: str) -> None:
        self.label = self.kind = kind

    def ask(self, messages: Any) -> str:
        number, there, more = map(int, ASKED.search(messages[-1].text).groups())  # type: ignore[union-attr]
        right, known = there + more, sum(published(number))
        luck, changed = chance(self.kind, number, more), right != known
        guess = str(100 + int(1000 * chance("guess", self.kind, number, more)))
        return {
            "memorised": str(known if luck < 0.7 else right),
            "brittle": str(right) if not changed or luck < 0.5 else guess,
            "weak": str(right) if luck < 0.3 else guess,
            "careless": str(known if changed and luck < 0.4 else right),
            "clean": str(right),
        }[self.kind]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = tmp_path_factory.mktemp("memory")
    questions = [
        blank(
            f"q{n}", (((str(sum(published(n)))),),),
            question=f"Box {n} holds {published(n)[0]} pens, and {published(n)[1]} more come. It then holds ____ pens.",
        )
        for n in range(COUNT)
    ]  # fmt: skip
    write_set(folder / "set", questions, "pens")
    (folder / "adder.py").write_text(REWRITER)
    perturb(
        folder / "set", folder / "changed", ops="counterfactual", draws=DRAWS, rewriter=f"{folder}/adder.py:Adder",
        concurrency=1, quiet=True,
    )  # fmt: skip
    models = [Model(kind) for kind in ("memorised", "brittle", "weak", "careless", "clean")]
    return evaluate((folder / "set", folder / "changed"), models, folder / "run", execution=Execution(quiet=True))


def test_models_come_out_as_what_they_are(run: RunFolder) -> None:
    rows: dict[str, dict[str, Row]] = {}
    for row in explain_memory(tabulate([run], memory_parts()), [run]).report.rows("publishedanswers"):
        rows.setdefault(row.factors["model"].rpartition(":")[2], {})[row.quantity] = row
    significant = {kind for kind, found in rows.items() if found["difference"].is_significant}
    assert significant == {"memorised", "careless"}
    for kind, share in (("memorised", 0.7), ("careless", 0.4), ("brittle", 0.0), ("weak", 0.0), ("clean", 0.0)):
        low, high = rows[kind]["published answer"].ci95 or (1, 0)
        assert low - 1e-9 <= share <= high + 1e-9, kind
        assert (rows[kind]["another version's answer"].value or 0) < 0.02
        assert rows[kind]["difference"].n == COUNT
    assert rows["brittle"]["lost"].value == pytest.approx(-0.5, abs=0.1)
    assert rows["weak"]["lost"].value == pytest.approx(0, abs=0.12)
    assert rows["clean"]["lost"].value == 0


def test_the_page_bounds_what_it_cannot_tell_apart(run: RunFolder) -> None:
    result = typed("report", run.folder, "--memory", "--quiet")
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    for line in (
        "python:memorised on pens; python:careless on pens: changed questions (p <0.0001) speak for having seen these"
        " questions, in this set or elsewhere, for inattention to the change, for pictures that still show the published"
        " question, for keys of changed questions that are wrong, for answers that anybody would expect or that draw the"
        " model, for a server that looks questions up or answers from a cache, or for chance.",
        "python:brittle on pens; python:weak on pens; python:clean on pens: cannot tell: no significant sign in changed"
        " questions (p 1.00; 17 points would mostly show); a model may remember without a sign.",
        "None of this is proof of what a model was trained on: it is what models said, or found likely.",
    ):
        assert line in text
    assert (
        "Memory that shows may make up anything from none of this difference to all of it, 78.1 points at most (the"
        " interval's upper end), and so may what else gives such answers, or chance." in text
    )
    assert "No cut-offs are known: give --models FILE with the columns model and cutoff (2024 or 2024-06)." in text
    page = json.loads(typed("report", run.folder, "--memory", "--format", "json", "--quiet").output)
    adjusted = [row["p_adjusted"] for part in page["report"]["parts"] for row in part["rows"] if row["p_adjusted"]]
    assert len(adjusted) == 5


def test_runs_without_such_questions_say_what_would_tell(tmp_path: Path) -> None:
    write_set(tmp_path / "set", [choice(f"q{n}") for n in range(12)])
    run = evaluated(tmp_path / "set", "baseline:majority", tmp_path / "run")
    text = repr(explain_memory(tabulate([run], memory_parts()), [run]))
    assert "Nothing here was tested; each section says why." in text
    assert "--ops counterfactual --draws 3 --rewriter MODEL" in text


YEAR = re.compile(r"Question (\d+) of (\d+)")


class Timed:
    """A model that is right more often up to a year, by a trend over years, and by what makes newer questions hard."""

    def __init__(
        self, label: str, base: float, trend: float = -0.01, gain: float = 0, until: int = 0, step: float = 0
    ) -> None:
        self.label, self._base, self._trend, self._gain, self._until, self._step = label, base, trend, gain, until, step

    def ask(self, messages: Any) -> str:
        number, year = map(int, YEAR.search(messages[-1].text).groups())  # type: ignore[union-attr]
        right = (
            self._base + self._trend * (year - 2020) + self._gain * (year <= self._until) + self._step * (year <= 2022)
        )
        return "B" if chance(self.label, number) < right else "A"


def timed(folder: Path, *models: Timed, cut_offs: str = "a,2022\nb,2019\nc,2024") -> dict[tuple[str, str], Row]:
    """The rows on cut-offs, by model and quantity."""
    fields = [
        {"year": 2016 + n % 10, "discipline": ("maths", "physics")[n % 2], "difficulty": ("easy", "hard")[n % 3 == 0]}
        for n in range(600)
    ]
    questions = [
        choice(f"q{n}", question=f"Question {n} of {one['year']}?", fields=one) for n, one in enumerate(fields)
    ]
    write_set(folder / "set", questions, "timed")
    run = evaluate(folder / "set", list(models), folder / "run", execution=Execution(quiet=True))
    (folder / "models.csv").write_text(f"model,cutoff\n{cut_offs}\n")
    facts = read_model_facts(folder / "models.csv")
    found = explain_memory(tabulate([run], memory_parts(), facts=facts), [run]).report.rows("cutoffs")
    return {(row.factors["model"].rpartition(":")[2], row.quantity): row for row in found}


def test_a_break_between_models_is_found(tmp_path: Path) -> None:
    rows = timed(tmp_path, Timed("a", 0.5, gain=0.25, until=2022), Timed("b", 0.55), Timed("c", 0.6))
    between, alone = rows["all", "break between models"], rows["a", "break"]
    assert between.is_significant and (between.value or 0) > 0.05 and between.n == 600
    assert (alone.value or 0) > 0.1 and alone.p_adjusted is None  # one model's break is described, not tested
    assert rows["a", "placebo breaks"].value == 0
    assert rows["c", "break"].note == "fewer than 10 questions, or fewer than two years, on a side of the cut-off"


@pytest.mark.parametrize("models", [
    [Timed("a", 0.5), Timed("b", 0.55), Timed("c", 0.6)],
    [Timed("a", 0.6, -0.05), Timed("b", 0.6, -0.05), Timed("c", 0.7, -0.05)],
    [Timed("a", 0.6, -0.06), Timed("b", 0.6, 0.0), Timed("c", 0.5, 0.03)],
    [Timed("a", 0.4, step=0.25), Timed("b", 0.4, step=0.25), Timed("c", 0.45, step=0.25)],
    [Timed("a", 0.25, 0.0), Timed("b", 0.3, 0.0), Timed("c", 0.9, -0.02)],
])  # fmt: skip
def test_newer_and_harder_questions_are_no_memory(models: list[Timed], tmp_path: Path) -> None:
    """Trends of each model's own, and a step in difficulty at a cut-off, which one model alone would take for memory."""
    assert not timed(tmp_path, *models)["all", "break between models"].is_significant


@pytest.mark.parametrize(("cut_offs", "quantity", "note"), [
    ("a,2022\nb,2022", "break between models", "the models have one cut-off, or no question lies between their cut-offs"),
    ("a,2030\nb,2031", "break between models", "the models have one cut-off, or no question lies between their cut-offs"),
    ("a,2022", "break", "alone it cannot be told from other questions at that time"),
])  # fmt: skip
def test_what_cannot_be_told_says_why(cut_offs: str, quantity: str, note: str, tmp_path: Path) -> None:
    rows = timed(tmp_path, Timed("a", 0.5), Timed("b", 0.5), cut_offs=cut_offs)
    assert {row.note for (_, name), row in rows.items() if name == quantity} == {note}


@pytest.mark.parametrize(("text", "span"), [
    ("2023", (2023.0, 2024.0)),
    ("2023-06", (2023 + 5 / 12, 2023.5)),
    (" 2023-12-31 ", (2023 + 11 / 12, 2024.0)),
    ("last year", None),
    ("", None),
])  # fmt: skip
def test_years_and_months_are_read(text: str, span: tuple[float, float] | None) -> None:
    assert span_of(text) == (pytest.approx(span) if span else None)


def test_claims_and_choices_of_two_tell_nothing(tmp_path: Path) -> None:
    rewriter = tmp_path / "other.py"
    rewriter.write_text(OTHER)
    questions = [true_false(f"t{n}", question=f"Seven is prime, says {n}.") for n in range(12)]
    write_set(tmp_path / "set", [*questions, *(choice(f"c{n}", texts=("two", "three")) for n in range(12))])
    perturb(tmp_path / "set", tmp_path / "changed", ops="counterfactual", rewriter=f"{rewriter}:Other", quiet=True)
    run = evaluated((tmp_path / "set", tmp_path / "changed"), "baseline:majority", tmp_path / "run")
    part = tabulate([run], memory_parts()).parts[0]
    assert (part.rows, part.notes) == ([], [f"24 {TWO_ANSWERS}"])


class Lettered:
    """A model that answers questions of four options by letter, as its kind does: by the letter that was published, with
    care, by one letter, or by luck."""

    def __init__(self, kind: str) -> None:
        self.label = self.kind = kind

    def ask(self, messages: Any) -> str:
        text = messages[-1].text
        number = int(re.search(r"What is (\d+) \+", text)[1])  # type: ignore[index]
        shown = dict(re.findall(r"^([A-D])\. (\d+)$", text, re.M))
        right = next(letter for letter, value in shown.items() if int(value) == number + 1)
        luck = "ABCD"[int(4 * chance(self.kind, text))]
        known = luck if chance(self.kind, number) < 0.3 else "ABCD"[number % 4]
        return {"learned": known, "careful": right, "favours": "B", "guesses": luck}[self.kind]


def test_each_condition_stands_for_itself(tmp_path: Path) -> None:
    """A second context with no sign of memory hides nothing of the first; none of it is power where all is there."""
    write_set(tmp_path / "set", [choice(f"q{n}") for n in range(12)])
    run = evaluated(tmp_path / "set", "baseline:majority", tmp_path / "run")
    rows, front = list[Row](), {"model": "m", "set": "s", "variant": "counterfactual", "style": "direct"}
    for context, base, difference in (("none", 0.1, (0.4, 0.3, 0.5, 1e-6)), ("kprag", 0.97, (0.0, -0.05, 0.05, 0.9))):
        value, low, high, p = difference
        factors = {**front, "context": context}
        share = Row(factors=factors, quantity="", unit="share", value=base, n=60)
        rows += [replace(share, quantity="published answer"), replace(share, quantity="another version's answer")]
        beyond = replace(share, quantity="difference", unit="points", value=value, ci95=(low, high), p=p)
        rows.append(beyond)
    found = tabulate([run], memory_parts())
    part = next(part for part in found.parts if part.kind == "publishedanswers")
    text = " ".join(repr(explain_memory(found.of_parts([replace(part, rows=rows, notes=[])]), [run])).split())
    assert (
        "m on s: not every kind of evidence shows a sign: changed questions (p <0.0001) speak for having seen" in text
    )
    full = "the other side has nearly all already, so that no difference could show"
    assert f"; no significant sign in changed questions, kprag (p 0.90; {full})." in text
    assert "over the 2 tests of this page; intervals, and what would mostly show, are those of a test alone." in text
    assert "m on s: 10" in text and "m on s, kprag: 97" in text


def test_letters_that_were_learned_are_told_from_favourites_and_luck(tmp_path: Path) -> None:
    questions = list[Any]()
    for number in range(40):
        texts = [str(number + 10 + place) for place in range(4)]
        texts[number % 4] = str(number + 1)
        questions.append(choice(f"q{number}", "ABCD"[number % 4], texts, question=f"What is {number} + 1?"))
    write_set(tmp_path / "set", questions, "sums")
    perturb(tmp_path / "set", tmp_path / "moved", ops="shuffle", draws=2, quiet=True)
    models = [Lettered(kind) for kind in ("learned", "careful", "favours", "guesses")]
    run = evaluate((tmp_path / "set", tmp_path / "moved"), models, tmp_path / "run", execution=Execution(quiet=True))
    page = explain_memory(tabulate([run], memory_parts()), [run])
    rows: dict[str, dict[str, Row]] = {}
    for row in page.report.rows("publishedletters"):
        rows.setdefault(row.factors["model"].rpartition(":")[2], {})[row.quantity] = row
    assert {kind for kind, found in rows.items() if found["difference"].is_significant} == {"learned"}
    assert rows["learned"]["published letter"].value == pytest.approx(0.77, abs=0.1)
    assert rows["careful"]["published letter"].value == rows["careful"]["same letters elsewhere"].value == 0
    assert 30 <= rows["learned"]["difference"].n <= 40
    assert "where the right option was moved" in repr(page)
    said = "python:learned on sums: moved options (p <0.0001) speak for having seen these questions, in this set or"
    assert said in repr(page)


def test_models_that_are_known_may_be_named_with_the_page(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "models.csv").write_text("model,cutoff\nclean,2024\n")
    result = typed("report", run.folder, "--memory", "--models", tmp_path / "models.csv", "--quiet")
    assert (result.exit_code, "python:clean on pens: the questions have no field year." in result.output) == (0, True)
    refused = typed("report", run.folder, "--models", tmp_path / "models.csv")
    assert refused.exit_code == 2 and "or --memory: give one, or leave --models out" in " ".join(refused.stderr.split())


def asked(*versions: tuple[str, str, str], match: Match = Match()) -> list[Asked]:  # noqa: B008 - immutable
    """Answers to versions of a question: what was read, the published answer, the right one."""
    return [Asked(str(n), read, (old,), (right,), (), match) for n, (read, old, right) in enumerate(versions)]


@pytest.mark.parametrize(
    ("answers", "published", "other"),
    [
        (asked(("3", "3", "5"), ("7", "3", "7")), 0.5, 0.0),
        (asked(("7", "3", "5"), ("7", "3", "7")), 0.0, 0.5),
        (asked(("3.0", "3", "5"), ("x = 5", "3", "7")), 0.5, 0.5),
        (asked(("3", "3", "5"), ("5", "3", "5")), 0.5, None),  # both have one answer
        (asked(("3", "3", "5"), ("5", "3", "5"), ("5", "3", "9")), 1 / 3, 0.5),
        (asked(("3", "3", "5")), 1.0, None),
        (asked(("", "3", "5"), ("", "3", "7")), 0.0, 0.0),
        (asked(("red", "red", "blue"), ("blue", "red", "green")), 0.5, 0.5),
        (asked(("16:40", "16:40", "17:06"), ("17:06", "16:40", "17:06")), 0.5, None),
        (asked(("32.7", "32.66", "32.71"), ("40", "32.66", "40")), 0.0, 0.0),  # right by its rounding
        (asked(("3.3", "3.31", "3.2"), ("9", "3.31", "9"), match=Match(tolerance=0.05)), 0.0, 0.0),
        (asked(("3.3", "3.31", "2"), ("9", "3.31", "9"), match=Match(tolerance=0.05)), 0.5, 0.0),
        (asked(("8.0004", "3", "8"), ("8", "3", "8.0004")), 0.0, None),  # nearer than a solver rounds
    ],
)
def test_how_often_an_answer_is_the_published_one_and_how_often_another(
    answers: list[Asked], published: float, other: float | None
) -> None:
    found = rates_of([answers])[0]
    told = (float("nan"), float("nan")) if other is None else (published, other)
    assert found == pytest.approx(told, nan_ok=True)


class Reader:
    """A model that reads the two numbers of a version, and answers as its kind does."""

    def __init__(self, kind: str) -> None:
        self.label = self.kind = kind

    def ask(self, messages: Any) -> str:
        text = messages[-1].text
        box, more = map(int, re.search(r"Box (\d+) and (\d+) more", text).groups())  # type: ignore[union-attr]
        luck, right = chance(self.kind, box, more), box + more
        among = box + (3, 30, 60)[int(3 * chance("among", box, more))]
        known = box + 3
        return str(
            {
                "remembers": known,
                "solves": right,
                "errs": right if luck < 0.3 else among,
                "overlooks": known if luck < 0.5 else right,
            }[self.kind]
        )


def test_versions_that_a_file_had_tell_of_memory(tmp_path: Path) -> None:
    lines = list[dict[str, Any]]()
    for trial, more in enumerate((3, 30, 60)):
        for box in range(40 + (trial == 0)):  # the last has one version
            own = 3 if box < 4 and trial == 1 else 30 if box in (4, 5) and trial else more
            line = {"seed": f"s{box}", "trial": trial, "question": f"Box {box} and {own} more: how many?"}
            line |= {"answer": [box + own] if box != 6 else own == 3}
            line |= {"options": ["none", str(box + own)], "answer": "B"} if box == 7 else {}
            lines.append(line)
    (tmp_path / "pens.jsonl").write_text("\n".join(map(json.dumps, lines[::-1])))
    convert(tmp_path / "pens.jsonl", tmp_path / "pens", columns={"version_of": "seed"}, published="trial=0")
    models = [Reader(kind) for kind in ("remembers", "solves", "errs", "overlooks")]
    sets = tmp_path / "pens", versions_folder(tmp_path / "pens")
    run = evaluate(sets, models, tmp_path / "run", execution=Execution(quiet=True))
    page = explain_memory(tabulate([run], memory_parts()), [run])
    part = page.report.parts[0]
    assert part.notes == [f"4 {SAME_ANSWER}", f"4 {TWO_ANSWERS}"]
    rows: dict[str, dict[str, Row]] = {}
    for row in part.rows:
        rows.setdefault(row.factors["model"].rpartition(":")[2], {})[row.quantity] = row
    assert {(found["difference"].n, found["difference"].left_out) for found in rows.values()} == {(32, 6)}
    assert {kind for kind, found in rows.items() if found["difference"].is_significant} == {"remembers", "overlooks"}
    shares = {
        kind: (found["published answer"].value, found["another version's answer"].value) for kind, found in rows.items()
    }
    assert shares["remembers"] == (1, 0) and shares["solves"] == (0, 0)
    assert shares["errs"] == pytest.approx((0.25, 0.25), abs=0.1) and shares["overlooks"] == pytest.approx(
        (0.5, 0), abs=0.1
    )
    text = " ".join(repr(page).split())
    errs = "python:errs on pens: cannot tell: no significant sign in changed questions"
    assert f"{errs} (p 1.00; 30 points would mostly show); a model may remember without a sign." in text
    assert "6 more questions have no two changed versions with different answers." in text
    assert "4 changed questions are left out: their answer is the published one, or within 0.1 % of it." in text
    assert "comes more often" not in text
    convert(tmp_path / "pens.jsonl", tmp_path / "other", columns={"version_of": "seed"})
    sets = tmp_path / "other", versions_folder(tmp_path / "other")
    wrong = evaluate(sets, [Reader("remembers")], tmp_path / "wrong", execution=Execution(quiet=True))
    text = " ".join(repr(explain_memory(tabulate([wrong], memory_parts()), [wrong])).split())
    assert "Another version's answer comes more often: something else may draw the model to it." in text
    assert "python:remembers on other: cannot tell" in text
    changed = typed("report", run.folder, "--by", "changed", "--quiet")
    assert changed.exit_code == 0 and "not measured" not in changed.output


def test_versions_without_one_answer_in_words_are_left_out(tmp_path: Path) -> None:
    lines = [
        {
            "seed": n,
            "question": f"Which of {n} are prime? Take {more}.",
            "options": ["2", "4", "3", "9"],
            "answer": right,
        }
        for more, right in (("two", "AC"), ("one", "A"))
        for n in range(3)
    ]
    (tmp_path / "primes.jsonl").write_text("\n".join(map(json.dumps, lines)))
    convert(tmp_path / "primes.jsonl", tmp_path / "set", columns={"version_of": "seed"})
    run = evaluated((tmp_path / "set", versions_folder(tmp_path / "set")), "baseline:majority", tmp_path / "run")
    part = tabulate([run], memory_parts()).parts[0]
    assert (part.rows, part.notes) == ([], [f"3 {NO_ANSWER}"])


KEY = "AAAAABBCCD"
"""The letters that are right in the published questions: an uneven key."""


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Memory]:
    """The page of each model whose memory is known, on questions with an uneven key and an option that nobody picks."""
    folder, questions = tmp_path_factory.mktemp("known"), list[Any]()
    for number in range(120):
        texts = [str(number + 10 + 3 * place) for place in range(4)]
        texts["ABCD".index(KEY[number % 10])] = str(number + 1)
        asked = f"Which number comes after {number}?"
        questions.append(choice(f"q{number}", KEY[number % 10], [*texts, NEVER], question=asked))
    world = varied(write_set(folder / "set", questions, "numbers"), folder)
    models = [Scripted(name, 0, rule, world.finder) for name, rule in MODELS.items()]
    return dict(zip(MODELS, pages(world, folder / "run", models), strict=True))


REMEMBERS = ("letters by heart, 30 %", "letters by heart, 60 %", "half by heart and brittle")
IN_WORDS = ("words by heart, 30 %", "words by heart, 60 %", "inattentive")
WEAK_SIGNS = ("letters by heart, 10 %", "words by heart, 10 %")


def test_verdicts_of_models_whose_memory_is_known(known: dict[str, Memory]) -> None:
    """What a page says in short is true of each; memory and inattention are never told apart by changed questions."""
    both = (
        "speak for having seen these questions, in this set or elsewhere, for inattention to the change, for pictures"
    )
    for name, page in known.items():
        said = conclusion(page)
        if name in REMEMBERS:
            assert both in said and re.match(
                r"changed questions \(p .* or for chance; moved options \(p [^;]*$", said
            ), name
        elif name in IN_WORDS:
            assert both in said and not re.search(r"moved options \(p [^)]*\) speak for", said), name
        elif name not in WEAK_SIGNS:
            assert said.startswith("cannot tell: "), name
    told = conclusion(known["drawn to one wrong option"])
    assert told.startswith("cannot tell: no significant sign in moved options (p ")
    assert "changed questions (p <0.0001) significantly below 0: an assumption does not hold, or it is chance" in told
    assert "Tested alone" not in repr(known["drawn to one wrong option"]).partition("Published letters")[0]
    careful, clean = (conclusion(known[name]) for name in ("knows 60 %, reads with care", "none of it"))
    assert all(said.endswith("; a model may remember without a sign.") for said in (careful, clean))
    assert conclusion(known["words by heart, 60 %"]).startswith(
        "not every kind of evidence shows a sign: changed questions (p "
    )


def test_no_page_says_more_than_the_answers_bear(known: dict[str, Memory]) -> None:
    for name, page in known.items():
        text, by_changes = (
            repr(page),
            re.search(r"changed questions \(p [^)]*\) speak for", conclusion(page)) is not None,
        )
        assert text.count("None of this is proof of what a model was trained on") == 1
        assert ("Memory that shows may make up anything from none" in text) == by_changes, name
        assert not re.search(r"\b(cheat|contaminat|leak|prove[sd]?\b)", text)
    assert (
        "This difference between the two shares is below 0: an assumption does not hold, or it is chance; memory may be"
        in repr(known["drawn to one wrong option"])
    )


@pytest.mark.slow
@pytest.mark.skipif(not WE_MATH.is_dir(), reason="the public data are not beside the checkout")
def test_verdicts_on_a_public_set(tmp_path: Path) -> None:
    """Its key is uneven (A is right in 37 %), and its last option says that none is correct."""
    world = make_world(WE_MATH, tmp_path)
    models = [Scripted(name, 0, rule, world.finder) for name, rule in MODELS.items()]
    said = {name: conclusion(page) for name, page in zip(MODELS, pages(world, tmp_path / "run", models), strict=True)}
    assert {name for name, text in said.items() if "inattention to the change" in text} >= {*REMEMBERS, *IN_WORDS}
    remembers = {*REMEMBERS, *IN_WORDS, *WEAK_SIGNS}
    alarms = [name for name, text in said.items() if name not in remembers and not text.startswith("cannot tell: ")]
    assert len(alarms) <= 1  # of ten pages, each at a level of 2.5 %


@pytest.mark.parametrize("bound", [1.0, 2.0])
@pytest.mark.parametrize("n", [20, 40, 60, 200])
def test_what_would_mostly_show_is_enough_for_every_test(bound: float, n: int) -> None:
    """FEWEST questions that are remembered, and no other that differs, are significant by McNemar and by shares."""
    differences = np.where(np.arange(n) < FEWEST, 1.0 if bound == 1 else 0.9, 0.0)
    found = paired_difference(differences, np.ones(n), np.arange(n), bound)
    assert found.p is not None and found.p < 0.05
