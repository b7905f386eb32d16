"""What guessing could use: positions of right options, uneven keys, options that are never right, true claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from making_runs import STANDARD, answer, rows, write_run
from tables.making_runs import printed

from making import choice, true_false
from mmdyn import RunFolder, report, why
from mmdyn.record import Condition, Record
from mmdyn.sample import Sample
from mmdyn.table import AnswerKeys, Contrasts, Position
from mmdyn.tables import Report, brief_lines, doubts, tabulate

SHUFFLE, CONVERT = Condition("dynamic", "shuffle"), Condition("dynamic", "convert")
TEXTS = ("two", "three", "four", "five")
BIASED = "m1 on exam is right in 100 % of shuffled questions whose right option is A and in 30 % of the others"


def asked(keys: str, right: str, condition: Condition = STANDARD, model: str = "m1") -> list[tuple[Record, Sample]]:
    """An answer to each question, whose right option is given, 1 where it is right."""
    found = list[tuple[Record, Sample]]()
    for place, (key, mark) in enumerate(zip(keys, right, strict=True)):
        id = f"s{place:03}"
        sample = choice(id if condition == STANDARD else f"{id}~{condition.chain}", key, [f"{t} {id}" for t in TEXTS])
        found.append((answer(id, float(mark), condition, model=model, sample=sample, chance=0.25), sample))
    return found


def run_of(folder: Path, found: Sequence[tuple[Record, Sample]]) -> RunFolder:
    records, samples = zip(*found, strict=True)
    return write_run(folder, records, samples=samples, keep_samples=False)


def biased(keys: str) -> str:
    """Right where A is right, and in three of ten other questions."""
    return "".join("1" if key == "A" else str(int(place // 4 % 10 < 3)) for place, key in enumerate(keys))


EVEN, MOVED = "ABCD" * 30, "BCDACDABDABC" * 10
UNEVEN = "A" * 64 + "BCD" * 32


@pytest.fixture
def shuffled(tmp_path: Path) -> RunFolder:
    """A biased model and a fair one: 120 questions, whose right options all move."""
    fair = "1101001101" * 12
    found = [*asked(EVEN, biased(EVEN)), *asked(MOVED, biased(MOVED), SHUFFLE)]
    found += [*asked(EVEN, fair, model="m2"), *asked(MOVED, fair, SHUFFLE, "m2")]
    return run_of(tmp_path / "run", found)


def positions(found: Report, quantity: str, **factors: str) -> dict[str, tuple[float | None, int]]:
    return {row.factors["position"]: (row.value, row.n) for row in rows(found, "position", quantity, **factors)}


def test_scores_by_position_are_those_of_the_questions(shuffled: RunFolder) -> None:
    found = tabulate([shuffled], [Position()])
    moved = positions(found, "score", model="m1", questions="shuffle")
    assert moved == {"A": (1.0, 30), "B": (0.3, 30), "C": (0.3, 30), "D": (0.3, 30), "all": (0.475, 120)}
    others = positions(found, "elsewhere", model="m1", questions="shuffle")
    assert others == {"A": (0.3, 90), **dict.fromkeys("BCD", (0.533333, 90))}
    assert [*positions(found, "score", model="m2", questions="standard")] == [*"ABCD", "all"]
    assert {row.factors["questions"] for row in found.parts[0].rows} == {"standard", "shuffle"}
    assert "m1 shuffle B 30 [17, 48] 53 [43, 63] 30 -" in printed(found), "n counts the questions of the score"


def test_one_test_a_model_of_moved_options_and_holm_over_models(shuffled: RunFolder) -> None:
    tested = [row for row in tabulate([shuffled], [Position()]).parts[0].rows if row.p is not None]
    assert [(row.factors["model"], row.factors["questions"]) for row in tested] == [
        ("m1", "shuffle"),
        ("m2", "shuffle"),
    ]
    first, second = tested
    assert first.p is not None and first.p < 1e-6 and first.p_adjusted == pytest.approx(2 * first.p, rel=1e-4)
    assert second.p_adjusted is not None and second.p_adjusted > 0.05


def test_every_page_says_it_once(shuffled: RunFolder) -> None:
    page = why(shuffled)
    told = {section.title: [line.text for line in section.lines] for section in page.sections}
    assert told["Where"][0] == f"{BIASED} (adjusted p <0.0001)."
    assert sum(BIASED in line for line in told["How sure"]) == 1
    [noted] = [row for row in rows(page.report, "contrasts", "difference", factor="variant") if row.note]
    assert (noted.factors["model"], noted.factors["chain"], noted.note) == ("m1", "shuffle", BIASED)
    assert [line for line in doubts(page.report) if "right option is" in line] == [f"standard to dynamic: {BIASED}"]
    assert any(BIASED in line for line in brief_lines(page.report))


def test_contrasts_alone_note_nothing_and_other_chains_neither(shuffled: RunFolder, tmp_path: Path) -> None:
    assert not any(row.note for row in tabulate([shuffled], [Contrasts()]).parts[0].rows)
    found = [*asked(EVEN, biased(EVEN)), *asked(MOVED, biased(MOVED), SHUFFLE)]
    found += asked(EVEN, biased(EVEN), Condition("dynamic", "pad"))
    both = report(run_of(tmp_path / "both", found))
    notes = {row.factors["chain"]: row.note for row in rows(both, "contrasts", "difference")}
    assert notes == {"pad": "", "shuffle": BIASED, "all": ""}
    assert [line for line in doubts(both) if "right option is" in line] == [BIASED]
    assert {row.factors["questions"] for row in rows(both, "position", "score")} == {"standard", "shuffle"}


def test_standard_questions_are_tested_where_nothing_was_moved(tmp_path: Path) -> None:
    [whole] = [
        row for row in report(run_of(tmp_path / "run", asked(EVEN, biased(EVEN)))).parts if row.kind == "position"
    ]
    assert [(row.factors["questions"], row.p is not None) for row in whole.rows][-1] == ("standard", True)


def test_questions_of_fewer_options_are_no_bias(tmp_path: Path) -> None:
    """Claims between two options are right more often, and their right option is A or B."""
    found = asked("ABCD" * 16, ("1111" + "0000" * 3) * 4)
    for place in range(64):
        sample = choice(f"t{place}", "AB"[place % 2], ("yes", "no"))
        found.append((answer(f"t{place}", float(place // 2 % 8 > 0), sample=sample, chance=0.5), sample))
    [total] = [
        row for row in rows(tabulate([run_of(tmp_path / "run", found)], [Position()]), "position", "score") if row.p
    ]
    assert total.p == 1.0


def test_an_option_that_speaks_of_all_others_has_no_position(tmp_path: Path) -> None:
    found = asked("ABC" * 10, "1" * 30)
    for place in range(30):
        sample = choice(f"n{place}", "D", ("one", "two", "three", "None of the above"))
        found.append((answer(f"n{place}", 0.0, sample=sample, chance=0.25), sample))
    scores = positions(tabulate([run_of(tmp_path / "run", found)], [Position()]), "score")
    assert [*scores] == ["A", "B", "C", "all"]


def test_an_uneven_key_is_told(tmp_path: Path) -> None:
    found = report(run_of(tmp_path / "run", asked(UNEVEN, "1" * 160)))
    keys = {row.factors["key"]: row.value for row in rows(found, "answerkeys", "share")}
    assert keys == {"A": 0.4, "B": 0.2, "C": 0.2, "D": 0.2, "all": 1.0}
    assert "exam: 40 % of the right options are A, where an even key has 25 %" in [*doubts(found)]
    even = report(run_of(tmp_path / "even", asked(EVEN, "1" * 120)))
    assert not [line for line in doubts(even) if "key" in line]


def test_an_option_that_is_never_right_is_told(tmp_path: Path) -> None:
    found = list[tuple[Record, Sample]]()
    for place in range(48):
        last = "No correct  answer" if place < 40 else "nine"
        sample = choice(f"s{place}", "ABC"[place % 3], (*(f"{text} {place}" for text in TEXTS[:3]), last))
        found.append((answer(f"s{place}", 1.0, sample=sample, chance=0.25), sample))
    told = report(run_of(tmp_path / "run", found))
    [row] = rows(told, "answerkeys", "guesser without it")
    assert (row.factors["key"], row.value) == ("No correct answer", round(40 / 9 / 48, 6))
    line = (
        'exam: the option "No correct answer" stands in 40 questions and is never right, where 10 right answers were'
        " expected: a guesser who never picks it earns 9.3 points corrected for chance"
    )
    assert line in [*doubts(told)]


@pytest.mark.parametrize(("many", "right"), [(19, 0), (40, 1)])
def test_few_questions_or_one_right_answer_tell_nothing(many: int, right: int, tmp_path: Path) -> None:
    found = list[tuple[Record, Sample]]()
    for place in range(48):
        last = "none" if place < many else f"nine {place}"
        key = "D" if place < right else "ABC"[place % 3]
        sample = choice(f"s{place}", key, (*(f"{text} {place}" for text in TEXTS[:3]), last))
        found.append((answer(f"s{place}", 1.0, sample=sample, chance=0.25), sample))
    assert not rows(report(run_of(tmp_path / "run", found)), "answerkeys", "guesser without it")


def test_the_share_of_true_claims_is_told(tmp_path: Path) -> None:
    found = asked(EVEN, "1" * 120)
    for place in range(80):
        sample = true_false(f"s{place:03}~convert", place % 5 != 0)
        more = {"task_type": "true_false", "sample": sample, "chance": 0.5}
        found.append((answer(f"s{place:03}", 1.0, CONVERT, **more), sample))
    told = report(run_of(tmp_path / "run", found))
    shares = {row.factors["key"]: row.value for row in rows(told, "answerkeys", "share", questions="convert")}
    assert shares == {"false": 0.2, "true": 0.8, "all": 1.0}
    assert "exam, convert: 80 % of the claims are true, where an even key has 50 %" in [*doubts(told)]


def test_samples_that_are_not_stored_are_passed_over(tmp_path: Path) -> None:
    records = [record for record, _ in asked(EVEN, biased(EVEN))]
    found = tabulate([write_run(tmp_path / "run", records, keep_samples=False)], [Position(), AnswerKeys()])
    assert [part.rows for part in found.parts] == [[], []]


def test_a_baseline_has_no_test(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", asked(EVEN, biased(EVEN), model="baseline:random"))
    assert not [row for row in tabulate([run], [Position()]).parts[0].rows if row.p is not None]


def test_two_options_that_change_places_are_compared(tmp_path: Path) -> None:
    found = list[tuple[Record, Sample]]()
    for place in range(60):
        for condition, key in ((STANDARD, "AB"[place % 2]), (SHUFFLE, "BA"[place % 2])):
            sample = choice(f"s{place}{condition.chain}", key, (f"yes {place}", f"no {place}"))
            found.append((answer(f"s{place}", float(key == "A"), condition, sample=sample, chance=0.5), sample))
    told = "m1 on exam is right in 100 % of shuffled questions whose right option is A and in 0 % of the others"
    assert f"standard to dynamic: {told}" in [*doubts(report(run_of(tmp_path / "run", found)))]
