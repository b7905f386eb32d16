"""OpenCompass's tables, on records of which the right answer is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from making_boards import SETS, write_boards
from running import typed
from tables.making_counts import counted_run
from tables.making_runs import answer, write_run

from mmdyn.tables import named_table, tabulate
from mmdyn.tables.blocks import Row
from mmdyn.work import RunFolder, SetEntry

Board = dict[tuple[str, str], Row]


def board(run: RunFolder, name: str = "table1") -> Board:
    table, published = named_table(f"opencompass.{name}")
    part = tabulate([run], table, published=published).parts[0]
    return {(row.factors["model"], row.factors["set"]): row for row in part.rows}


def made(folder: Path, sizes: Mapping[str, int], rights: Mapping[str, Mapping[str, int]]) -> RunFolder:
    """A run of models over sets: so many right answers of so many questions."""
    sets = tuple(SetEntry(name, name, f"sets/{name}", name) for name in sizes)
    cells = [
        ({"model": model, "set": name}, right, sizes[name])
        for model, of in rights.items()
        for name, right in of.items()
    ]
    return counted_run(folder / "run", cells, sets=sets)


def percent(row: Row) -> float:
    assert row.value is not None
    return round(100 * row.value, 2)


def test_table_1_has_groups_and_both_means(tmp_path: Path) -> None:
    sizes = {"gpqa_diamond": 20, "mmlu_pro": 80, "hle": 40, "mine": 10}
    rows = board(made(tmp_path, sizes, {"m": {"gpqa_diamond": 18, "mmlu_pro": 40, "hle": 10, "mine": 5}}))
    shown = {name: percent(row) for (_, name), row in rows.items() if name != "rank"}
    assert shown == {
        "gpqa_diamond": 90, "mmlu_pro": 50, "hle": 25, "mine": 50,
        "knowledge": 70, "reasoning": 25, "mean": 53.75, "all": round(100 * 73 / 150, 2),
    }  # fmt: skip
    beside = rows["m", "gpqa_diamond"]
    assert (beside.paper, beside.paper_model) == (0.9154, "Gemini-3-Pro-Preview")
    rows = board(made(tmp_path / "own", sizes, {"openai:glm-4.5": {"hle": 10, "mine": 5}}))
    assert rows["openai:glm-4.5", "hle"].paper == 0.1695, "its own row where the paper has the model"
    assert ("openai:glm-4.5", "knowledge") not in rows, "a group of which no set was asked"


def test_models_that_are_not_told_apart_share_a_rank(tmp_path: Path) -> None:
    rights = {"clear": 190, "near": 100, "tied": 100, "last": 20}
    rows = board(
        made(tmp_path, {"hle": 200}, {model: {"hle": right} for model, right in rights.items()}), "leaderboard"
    )
    assert {model: rows[model, "rank"].ci95 for model in rights} == {
        "clear": (1, 1),
        "near": (2, 3),
        "tied": (2, 3),
        "last": (4, 4),
    }
    alone = board(made(tmp_path / "alone", {"hle": 1}, {"m": {"hle": 1}}), "leaderboard")
    assert alone["m", "rank"].ci95 == (1, 1) and percent(alone["m", "mean"]) == 100, "one model, one question"


def test_a_set_that_failed_is_in_no_mean(tmp_path: Path) -> None:
    sets = tuple(SetEntry(name, name, f"sets/{name}", name) for name in ("hle", "mine"))
    records = [answer("a", 1.0, model="m", set="hle"), answer("b", None, model="m", set="mine", error="500")]
    rows = board(write_run(tmp_path / "run", records, sets=sets), "leaderboard")
    assert percent(rows["m", "mean"]) == 100 and ("m", "mine") not in rows


def test_scripted_models_over_sets_from_the_command_line(tmp_path: Path) -> None:
    folder = write_boards(tmp_path / "boards")
    sets = [folder / f"{name}.jsonl" for name in SETS]
    models = [word for name in ("atlas", "corvo") for word in ("-m", f"scripted:{folder / name}.jsonl")]
    assert typed("eval", *sets, *models, "-o", tmp_path / "run", "-q").exit_code == 0
    rows = board(RunFolder(tmp_path / "run"))
    assert {name for _, name in rows} == {*SETS, "knowledge", "reasoning", "computation", "mean", "all", "rank"}
    assert rows["scripted:atlas.jsonl", "all"].n == sum(SETS.values())
    printed = typed("report", tmp_path / "run", "--table", "opencompass.leaderboard", "--format", "markdown", "-q")
    assert printed.exit_code == 0 and "scripted:atlas.jsonl" in printed.stdout
