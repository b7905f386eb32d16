"""AUC: what is a case of weighed statements and choices."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from tables.making_runs import answer, lines_of, write_run

from making import choice, true_false
from mmdyn.cli.report import command
from mmdyn.errors import InputError
from mmdyn.record import Condition, Record, Reply
from mmdyn.sample import Sample
from mmdyn.table import Auc
from mmdyn.tables import Row, tabulate
from mmdyn.work import RunFolder

WEIGHED = Condition(style="likelihood")


def weighed(sample: Sample, *shares: float, tokens: int = 1, **more: Any) -> Record:
    """A record whose options have these probabilities."""
    record = answer(sample.id, 1.0, WEIGHED, task_type=sample.task_type, sample=sample, **more)
    sums = tuple(tokens * math.log(share) for share in shares)
    reply = Reply("x", "likelihood", logprobs=sums, option_tokens=(tokens,) * len(shares))
    return msgspec.structs.replace(record, reply=reply)


def found_in(run: RunFolder) -> list[dict[str, Row]]:
    return lines_of(tabulate([run], [Auc()]), "auc")


def counts_of(row: dict[str, Row]) -> tuple[str, int, float | None, float | None]:
    return row["auc"].factors["task_type"], row["auc"].n, row["cases"].value, row["positive"].value


def run_of(folder: Path, asked: list[tuple[Sample, tuple[float, ...]]]) -> RunFolder:
    records = [weighed(sample, *shares) for sample, shares in asked]
    return write_run(folder, records, samples=[sample for sample, _ in asked])


def test_a_statement_is_a_case(tmp_path: Path) -> None:
    given = ("a", True, 0.9), ("b", False, 0.8), ("c", True, 0.6), ("d", False, 0.3)
    asked = [(true_false(name, truth), (share, 1 - share)) for name, truth, share in given]
    (row,) = found_in(run_of(tmp_path / "run", asked))
    found = row["auc"]
    assert (*counts_of(row), found.value) == ("true_false", 4, 4, 2, 0.75)
    assert found.factors["style"] == "likelihood" and found.method == "Wilson at effective n (Obuchowski)"


def test_probabilities_are_normalised_and_by_token(tmp_path: Path) -> None:
    a, b = true_false("a"), true_false("b", answer=False)
    # P(true) is 2/3 for both, at other sums and lengths.
    run = write_run(tmp_path / "run", [weighed(a, 0.2, 0.1, tokens=3), weighed(b, 0.5, 0.25)], samples=[a, b])
    assert found_in(run)[0]["auc"].value == pytest.approx(0.5)


def test_an_option_of_a_choice_is_a_case(tmp_path: Path) -> None:
    asked = [(choice("a", "B"), (0.1, 0.6, 0.2, 0.1)), (choice("b", "D"), (0.7, 0.1, 0.05, 0.15))]
    (row,) = found_in(run_of(tmp_path / "run", asked))
    assert counts_of(row) == ("single_choice", 2, 8, 2)
    # 0.6 is above five of the six wrong ones, 0.15 above four.
    assert row["auc"].value == pytest.approx(9 / 12)


def test_task_types_and_conditions_have_rows_of_their_own(tmp_path: Path) -> None:
    a, b, c = true_false("a"), true_false("b", answer=False), choice("c")
    records = [weighed(a, 0.9, 0.1), weighed(b, 0.2, 0.8), weighed(c, 0.1, 0.7, 0.1, 0.1)]
    records += [weighed(a, 0.3, 0.7, model="m2")]
    rows = found_in(write_run(tmp_path / "run", records, samples=[a, b, c]))
    found = [(row["auc"].factors["model"], row["auc"].factors["task_type"], row["auc"].value) for row in rows]
    assert found == [("m1", "single_choice", 1.0), ("m1", "true_false", 1.0), ("m2", "true_false", None)]
    assert rows[2]["auc"].ci95 is None and rows[2]["auc"].note == "all cases are positive, or none is"
    assert counts_of(rows[2]) == ("true_false", 1, 1, 1)


def test_a_lost_sample_is_told(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [weighed(true_false("a"), 0.9, 0.1)], keep_samples=False)
    with pytest.raises(InputError, match="the sample a is not in the store: run the same `mmdyn eval` once more"):
        found_in(run)


def test_as_it_is_typed(tmp_path: Path) -> None:
    asked = [(true_false("a"), (0.9, 0.1)), (true_false("b", answer=False), (0.8, 0.2))]
    run = run_of(tmp_path / "run", asked)
    output = CliRunner().invoke(command, [str(run.folder), "--auc", "-q"]).output
    assert any("standard, likelihood  true_false  100 [" in line for line in output.splitlines())
    read = json.loads(CliRunner().invoke(command, [str(run.folder), "--auc", "--json", "-q"]).stdout)
    (rows,) = (part["rows"] for part in read["parts"] if part["kind"] == "auc")
    assert [(row["quantity"], row["value"]) for row in rows] == [("auc", 1.0), ("cases", 2), ("positive", 1)]
    written = write_run(tmp_path / "written", [answer("s0", 1.0)])
    output = CliRunner().invoke(command, [str(written.folder), "--auc", "-q"]).output
    assert "no options were weighed: ask with `mmdyn eval --style likelihood`\n" in output
