"""What the terminal shows, wide and narrow."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from tables.making_runs import CHEAP, DYNAMIC, STRONG, answer, answers, changes, score, write_run

from mmdyn.record import Condition, Record, Score
from mmdyn.table import Flips
from mmdyn.tables import FORMATS, brief_lines, clean, full_text, print_grid, report, short_text, tabulate, why
from mmdyn.tables.blocks import Row, TablePart
from mmdyn.tables.grid import grid_of
from mmdyn.tables.scores import CHANCE_MEANS
from mmdyn.work import RunFolder

KPRAG = Condition(context="kprag")
LONG = "+".join(["pad", "color", "salt_pepper@strong", "shuffle", "preface", "rotate", "convert"])


def shown(text: str) -> list[str]:
    """The lines without superfluous blanks."""
    return [re.sub("─+", "RULE", " ".join(line.split())) for line in text.splitlines()]


def short(*runs: RunFolder, by: tuple[str, ...] = ()) -> list[str]:
    return shown(short_text(report(*runs, by=by)))


def full(*runs: RunFolder) -> list[str]:
    return shown(full_text(report(*runs)))


def test_the_short_form_has_ten_lines_scores_and_changes(tmp_path: Path) -> None:
    records = [*answers("1111111100"), *answers("110001ur0x", DYNAMIC), *answers("1111111111", KPRAG)]
    run = write_run(tmp_path / "run", records)
    lines = short(run)
    assert lines[:5] == [
        "run: 30 of 30 answers, 1 failed",
        "m1 on exam: standard 80 [49, 94]; dynamic pad 33 [12, 65]",
        "dynamic - standard -56 [-81, -9] points, 9 pairs, adjusted p 0.0312; unread: 0.0 % of the",
        "answers before, 22.2 % after; where both were read -43 [-75, +8] (7 pairs)",
        "distrust: 1 answer failed: left out of every number",
    ]
    after = lines[lines.index("Scores (m1, exam)") :]
    assert after[:7] == [
        "Scores (m1, exam)", "",
        "condition score not read n unparsed refused failed", "RULE",
        "standard 80 [49, 94] - 10 0 0 0",
        "standard, kprag 100 [72, 100] - 10 0 0 0",
        "dynamic pad 33 [12, 65] 22.2 9 1 1 1",
    ]  # fmt: skip
    after = lines[lines.index("Changes from standard to dynamic (m1, exam)") :]
    assert after[2:5] == [
        "chain change a b a unread b unread n p (Holm) failed left out", "RULE",
        "pad -56 [-81, -9] 89 33 0.0 22.2 9 0.0312 1 1",
    ]  # fmt: skip
    assert "methods: Wilson; Tango; mid-p McNemar" in lines
    assert lines[-1] == "--full has the rest: 1 other contrast, Judges of meaning."
    assert "none → kprag" not in " ".join(lines) and "none → kprag" in " ".join(full(run))


def test_the_policy_and_the_judges_are_named(tmp_path: Path) -> None:
    rules = write_run(tmp_path / "rules", answers("10"), scorer="strict@5")
    assert "rules: scored by the policy strict@5, without a judge." in full(rules)
    settings = {"scorer": "mdk12@3+unsure(aaaa,bbbb)", "judges": (CHEAP, STRONG), "judge_mode": "unsure"}
    judged = write_run(tmp_path / "judged", answers("10"), **settings)
    said = (
        "judged: scored by the policy mdk12@3, and by the judge cheap (aaaa) and then strong (bbbb) (on what rules do"
        " not settle)."
    )
    assert said in " ".join(full(judged))
    (state,) = report(judged).runs
    assert (state.judges, state.judge_mode) == (("cheap (aaaa)", "strong (bbbb)"), "unsure")


def test_a_run_that_is_not_finished_says_how_far_it_is(tmp_path: Path) -> None:
    half = write_run(tmp_path / "half", [*answers("11"), *answers("x", model="m2")], planned=5, skipped={"kprag": 3})
    assert "distrust: half is not finished or not scored: 3 of 5 asked" in short(half)
    assert {
        "half is not finished: 3 of 5 asked so far.",
        "half: 3 samples could not be asked in mode kprag.",
        "half: 1 never answered (failed), left out of every score and contrast.",
    } <= {*full(half)}
    failed = answers("x", model="m2")
    refused = [replace(record, reply=replace(record.reply, final=True)) for record in failed]
    both = write_run(tmp_path / "both", [*answers("11x"), *refused])
    assert "both: 2 never answered (failed), 1 of them refused by the server, left out of every score and" in " ".join(
        full(both)
    )
    assert "2 answers failed, 1 of them refused by the server: left out" in " ".join(short(both))
    begun = full(write_run(tmp_path / "begun", [answer("p", 1.0, scored=False)], planned=2))
    assert "begun: 1 answer is not scored yet; `mmdyn score` scores all." in begun
    assert "m1, exam, standard: no answer has score" in begun


def test_answers_that_wait_for_a_judge_give_what_the_score_may_become(tmp_path: Path) -> None:
    standard = answers("1" * 10 + "0" * 10)
    for place in (3, 4):
        standard[place] = replace(standard[place], score=Score("ok", 1.0, "A", needs_judge=True, chance=0.0))
    lines = short(write_run(tmp_path / "run", [*standard, *answers("1" * 5 + "0" * 15, DYNAMIC)]))
    assert lines[1] == "m1 on exam: standard 50 [22, 70] (40 to 50 once judged); dynamic pad 25 [11, 47]"
    holds = "intervals and p hold for every verdict"
    assert sum(holds in line for line in lines) == 3 and "at least" not in " ".join(lines)
    assert "standard 50 [22, 70] 20 2" in lines and "pad -25 [-47, +12] 50 25 20 0.29 2" in lines


def test_chinese_names_keep_the_columns_in_line(tmp_path: Path) -> None:
    records = answers("10", fields={"subject": "物理"})
    records += answers("01", Condition("dynamic", "填充"), model="模型:二")
    text = short_text(report(write_run(tmp_path / "run", records), by=["subject"]))
    grids = [block.splitlines() for block in text.split("\n\n") if "───" in block]
    assert len(grids) == 2 and "物理" in text
    for head, rule, *lines in grids:
        assert {cell_len(line) for line in (head, *lines)} == {cell_len(rule)}


def test_what_all_lines_have_in_common_is_said_above(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, [*answers("10"), *answers("11", set="other")]) for name in ("before", "after")]
    lines = short(*runs)
    assert lines[lines.index("Scores (m1)") + 2 :][:3] == [
        "run set condition score",
        "RULE",
        "before exam standard 50 [9, 91]",
    ]
    assert "in all rows: n 2" in lines


def long_run(folder: Path) -> RunFolder:
    """Chains and models whose names are longer than a terminal is wide."""
    records = list[Record]()
    for model in (f"openai:{'org/' * 9}model", "m2"):
        records += answers("1111100000" * 3, model=model, fields={"topic": "of questions " * 9})
        for chain in (LONG, f"{LONG}+{LONG}", "x" * 150):
            records += answers("1100000000" * 3, Condition("dynamic", chain), model=model)
    return write_run(folder / "a-run-with-a-rather-long-name-of-its-own", records)


@pytest.mark.parametrize("by", [(), ("topic",)])
def test_the_short_form_fits_100_columns_whatever_things_are_called(by: tuple[str, ...], tmp_path: Path) -> None:
    found = report(long_run(tmp_path), by=by)
    lines = short_text(found).splitlines()
    assert max(map(cell_len, lines)) <= 100
    numbers = [line for line in lines if re.search(r"   [+-]?\d+ \[[-+\d]+, [-+\d]+\]", line)]
    assert len(numbers) >= 2 * (4 + 1 + 3 + 1), "no number is broken"
    text = "".join(line.strip() for line in lines)
    assert LONG in text, "a chain is broken behind a plus, and nothing is lost"


def test_the_whole_report_and_flips_fit_100_columns(tmp_path: Path) -> None:
    run = long_run(tmp_path)
    for text in (full_text(report(run)), FORMATS["text"](tabulate([run], [Flips()]))):
        assert max(map(cell_len, text.splitlines())) <= 100


def test_nothing_that_a_model_or_a_file_brought_reaches_the_terminal_raw(tmp_path: Path) -> None:
    hostile = "\x1b[2J[red]evil[/red]\u202e\r"
    records = answers("10", model=hostile, fields={hostile: hostile})
    records += answers("01", DYNAMIC, model=hostile, extracted=hostile)
    run = write_run(tmp_path / "run", records)
    found = report(run, by=[hostile])
    pages = [short_text(found), full_text(found), "\n".join(brief_lines(found)), repr(found), repr(why(run))]
    for text in (*pages, FORMATS["text"](tabulate([run], [Flips()]))):
        assert "[red]evil[/red]" in text and not set(text) & {"\x1b", "\u202e", "\r"}
    assert clean("a\tb").plain == "a\N{REPLACEMENT CHARACTER}b"


def test_digits_are_those_that_an_interval_deserves(tmp_path: Path) -> None:
    found = report(write_run(tmp_path / "run", [*answers("10" * 500), *answers("10" * 499 + "00", DYNAMIC)]))
    assert (score(found, variant="standard").value, changes(found)[0].value) == (0.5, -0.001)
    lines = shown(short_text(found))
    assert "standard 50.0 [46.9, 53.1] 1,000" in lines
    assert "pad -0.1 [-0.6, +0.3] 50.0 49.9 1,000 0.50" in lines


def test_plain_cells_are_a_table_too(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"model": "模型", "set": "exam", "asks": f"{n:,}", "cost": "x" * 60} for n in (5, 12_000)]
    print_grid("What would be asked", rows, ["nothing was asked"], labels=2)
    title, _, heads, line, first, second, *rest = capsys.readouterr().out.splitlines()
    assert (title, heads.split(), set(line.strip())) == ("What would be asked", ["model", "set", "asks", "cost"], {"─"})
    assert first.split()[:3] == ["模型", "exam", "5"] and second.split()[2] == "12,000"
    assert cell_len(first) == cell_len(second) and rest == ["", "nothing was asked", ""]


def test_contrasts_say_which_scores_their_sides_are(tmp_path: Path) -> None:
    records = [*answers("1111111100"), *answers("1100uu1100", DYNAMIC)]
    raw = " ".join(short(write_run(tmp_path / "raw", records)))
    assert "are scores not corrected for chance of the n questions that both have" in raw
    unread = " ".join(short(write_run(tmp_path / "unread", [*records, *answers("1uuuuuuuu1", DYNAMIC, epoch=1)])))
    assert ("needs a judge: answers, unread ones among them, those of both sides together" in unread) == (
        "needs a" in unread
    )


def test_corrected_scores_say_that_the_first_ones_are_not(tmp_path: Path) -> None:
    part = TablePart("contrasts", "Contrasts", "quantity", [], [])
    factors = {"model": "m", "set": "s", "factor": "variant", "a": "standard", "b": "dynamic", "variant": "dynamic"}
    factors |= {"chain": "pad", "context": "none", "style": "direct"}
    row = Row(factors=factors, quantity="difference", unit="points", value=-0.2, n=5, scale="corrected", needs_judge=2)
    notes = grid_of(replace(part, rows=[row])).notes
    assert notes[1:3] == [
        "both sides, and their change, are scores corrected for chance of the n questions that both have",
        "needs a judge: answers, unread ones among them, those of both sides together",
    ]
    both = [row, replace(row, quantity="raw difference")]
    assert grid_of(replace(part, rows=both)).notes[2] == "raw: the change of the scores as they were given"
    assert grid_of(replace(part, rows=[replace(row, scale="raw")])).notes[1].startswith("both sides, and their change")
    assert CHANCE_MEANS.startswith("The score is of all its questions, as it was given; chance is what guessing earns.")


@pytest.mark.parametrize(
    "beside",
    [
        Condition(context="no-picture"),
        Condition(context="caption"),
        Condition(context="kprag"),
        Condition(style="cot"),
        Condition(shots="3"),
    ],
)
def test_the_headline_is_of_what_is_asked_as_usual(tmp_path: Path, beside: Condition) -> None:
    """So that both of its scores, and the change below them, are of one condition."""
    other = replace(DYNAMIC, context=beside.context, style=beside.style, shots=beside.shots)
    records = [*answers("1111111110", beside), *answers("1111111111", other), *answers("1111111100")]
    lines = short(write_run(tmp_path / "run", [*records, *answers("1111000000", DYNAMIC)]))
    assert lines[1] == "m1 on exam: standard 80 [49, 94]; dynamic pad 40 [17, 69]"


def test_where_nothing_is_as_usual_the_headline_is_of_one_condition(tmp_path: Path) -> None:
    records = list[Record]()
    for context, standard, dynamic in (("caption", "1110000000", "1100000000"), ("kprag", "1" * 10, "1" * 8 + "00")):
        records += answers(standard, Condition(context=context))
        records += answers(dynamic, replace(DYNAMIC, context=context))
    lines = short(write_run(tmp_path / "run", records))
    assert lines[1].startswith("m1 on exam: standard, caption 30 [11, 60]; dynamic pad, caption 20 [")


def test_what_is_over_all_chains_is_said(tmp_path: Path) -> None:
    """A part of a factorial, or a chain of few questions, is a row of its own and counts for none of it."""
    shuffle = Condition("dynamic", "shuffle")
    records = [*answers("1" * 20), *answers("10" * 10, DYNAMIC), *answers("1100", shuffle)]
    one = short(write_run(tmp_path / "one", records))
    assert one.count("all: one chain counts; chains that lack an operator of the set, change nothing, or have few") == 2
    two = short(write_run(tmp_path / "two", [*records[:40], *answers("1100" * 5, shuffle)]))
    assert two.count("all: mean over 2 chains") == 2 and not any(line.startswith("all: one") for line in two)


@pytest.mark.parametrize(("shares", "said"), [((0.4, 0.6), False), ((1.026, -0.026), True), ((0.0, 1.0), False)])
def test_shares_of_a_drop_beyond_the_whole_are_explained(shares: tuple[float, float], said: bool) -> None:
    rows = [
        Row(factors={"operator": name}, quantity="share of the drop", unit="share", value=value, n=20)
        for name, value in zip(("pad", "shuffle"), shares, strict=True)
    ]
    notes = grid_of(TablePart("attribution", "Attribution", "quantity", rows, [])).notes
    assert any(note.startswith("share of the drop: they add up to 100") for note in notes) == said
