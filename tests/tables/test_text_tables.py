"""What the terminal shows, wide and narrow."""

from __future__ import annotations

import io
from pathlib import Path

from rich.cells import cell_len
from tables.making_runs import CHEAP, DYNAMIC, STRONG, answer, answers, printed, write_run

from mmdyn.record import Condition
from mmdyn.tables import Summary, clean, print_flips, print_summary, summarise


def shown(summary: Summary) -> str:
    out = io.StringIO()
    print_summary(summary, out)
    return out.getvalue()


def test_a_score_is_shown_with_its_interval_n_failures_and_method(tmp_path: Path) -> None:
    lines = printed(summarise([write_run(tmp_path / "run", [*answers("1111111100"), *answers("110001ur0x", DYNAMIC)])]))
    assert "condition score n unparsed refused failed method" in lines
    assert "standard 80.0 [49.0, 94.3] 10 0 0 0 1" in lines
    assert "dynamic pad 33.3 [12.1, 64.6] 9 1 1 1 1" in lines
    assert "method 1: Wilson" in lines
    assert "standard → dynamic (chain pad) -55.6 [-81.1, -9.0] 0.0312 0.0312 9 1 1 1" in lines
    assert "method 1: Tango; mid-p McNemar" in lines
    assert "run: 1 never answered (failed), left out of every score and contrast." in lines
    assert "unscored" not in " ".join(lines)


def test_the_policy_and_the_judges_are_named(tmp_path: Path) -> None:
    rules = printed(summarise([write_run(tmp_path / "rules", answers("10"), scorer="strict@5")]))
    assert "rules: scored by the policy strict@5, without a judge." in rules
    settings = {"scorer": "mdk12@3+unsure(aaaa,bbbb)", "judges": (CHEAP, STRONG), "judge_mode": "unsure"}
    summary = summarise([write_run(tmp_path / "judged", answers("10"), **settings)])
    said = "judged: scored by the policy mdk12@3, and by the judge cheap (aaaa) and then strong (bbbb) (on what rules do not settle)."
    assert said in printed(summary)
    assert (summary.runs[0].judges, summary.runs[0].judge_mode) == (("cheap (aaaa)", "strong (bbbb)"), "unsure")


def test_a_run_that_is_not_finished_says_how_far_it_is(tmp_path: Path) -> None:
    half = shown(summarise([write_run(tmp_path / "half", answers("11"), planned=5, skipped={"kprag": 3})]))
    assert "half is not finished: 2 of 5 asked so far." in half
    assert "half: 3 samples could not be asked in mode kprag." in half
    begun = shown(summarise([write_run(tmp_path / "begun", [answer("p", 1.0, scored=False)], planned=2)]))
    assert "begun is not finished: 1 of 2 asked so far." in begun
    assert "begun: 1 answers are not scored yet; `mmdyn score` scores them." in begun
    assert "no parent has an answer that is scored" in begun


def test_what_is_significant_is_said_in_a_sentence(tmp_path: Path) -> None:
    text = shown(summarise([write_run(tmp_path / "run", [*answers("1" * 12), *answers("0" * 8 + "1" * 4, DYNAMIC)])]))
    said = "m1 on exam: dynamic is 66.7 points lower than standard (chain pad; 95 % interval -86.2 to -26.3, adjusted p"
    assert f"{said} 0.0039, 12 pairs)." in " ".join(text.split())
    same = shown(summarise([write_run(tmp_path / "same", [*answers("11"), *answers("11", DYNAMIC)])]))
    assert "points" not in same.split("method")[-1]


def test_chinese_names_keep_the_columns_in_line(tmp_path: Path) -> None:
    records = answers("10", fields={"subject": "物理"})
    records += answers("01", Condition("dynamic", "填充"), model="模型:二")
    text = shown(summarise([write_run(tmp_path / "run", records)], by=["subject"]))
    for grid in text.split("\n\n"):
        widths = {cell_len(line) for line in grid.splitlines() if line.startswith(" ")}
        assert len(widths) <= 1, grid
    assert "物理" in text


def test_several_models_runs_and_sets_are_grouped(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, [*answers("10"), *answers("11", set="other")]) for name in ("before", "after")]
    text = shown(summarise(runs))
    assert "before, exam" in text and "after, other" in text and "(m1)" in text


def test_nothing_that_a_model_or_a_file_brought_reaches_the_terminal_raw(tmp_path: Path) -> None:
    hostile = "\x1b[2J[red]evil[/red]\u202e\r"
    records = answers("10", model=hostile, fields={hostile: hostile})
    records += answers("01", DYNAMIC, model=hostile, extracted=hostile)
    run = write_run(tmp_path / "run", records)
    summary = summarise([run], by=[hostile], flips=True)
    print_flips(summary.flips or [], [run], out := io.StringIO())
    text = shown(summary) + out.getvalue()
    assert "[red]evil[/red]" in text and not set(text) & {"\x1b", "\u202e", "\r"}
    assert clean("a\tb").plain == "a\N{REPLACEMENT CHARACTER}b"
