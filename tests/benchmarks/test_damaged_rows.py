"""A seeded part of bench/damaged_rows.py: what is damaged is read right or refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from benches import load_bench
from real_sets import DATA


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[str]]:
    if not DATA.is_dir():
        pytest.skip(f"the data sets lie not at {DATA}")
    bench = load_bench("damaged_rows")
    found: dict[str, Counter[str]] = bench.count(DATA, tmp_path_factory.mktemp("rows"), bench.TUNED, 100, 7, every=6)
    return found


def test_no_damaged_row_is_read_wrong(counts: dict[str, Counter[str]]) -> None:
    assert sum(counts.values(), Counter())["wrong"] + sum(counts.values(), Counter())["beside"] == 0
    assert all(sum(found.values()) == 10 for found in counts.values()) and len(counts) == 10


def test_most_are_read_and_no_contradiction_is(counts: dict[str, Counter[str]]) -> None:
    assert counts["contradictions"] == {"refused": 10}
    for kind in ("lower_case", "tex_labels", "inner_separators", "null", "numbers_again", "separators", "answer_forms"):
        assert counts[kind]["right"] >= 9, kind
    assert counts["bare_answer"]["right"] >= 7


def test_judging(tmp_path: Path) -> None:
    """The bench itself tells a wrong reading from a right one."""
    from msgspec.structs import replace

    from making import choice

    bench, truth = load_bench("damaged_rows"), choice("a")
    first, *others = truth.options
    beside = replace(truth, options=(replace(first, text=f"<b>{first.text}"), *others))
    swapped = replace(truth, options=(replace(first, text="else"), *others))
    verdicts = [bench.judge([read], [truth]) for read in (truth, beside, swapped)]
    assert [*verdicts, bench.judge([truth], []), bench.judge([], [truth])] == [
        "right",
        "beside",
        "wrong",
        "wrong",
        "wrong",
    ]
