"""Two models side by side: a question is counted once a condition, whichever way round and in whichever runs."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from tables.making_runs import DYNAMIC, answers, write_run

from mmdyn.record import Record
from mmdyn.view import compare
from mmdyn.view.index import Catalog
from mmdyn.work import ModelEntry


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


def opened(folder: Path, **runs: list[Record]) -> Catalog:
    for name, records in runs.items():
        models = tuple(ModelEntry(label, {"at": name}) for label in dict.fromkeys(one.model for one in records))
        write_run(folder / name, records, models=models)
    catalog = Catalog(folder)
    for name in catalog.runs():
        catalog.index(name).refresh(None)
    return catalog


def names(catalog: Catalog) -> dict[str, str]:
    """What addresses call a model in a run, by how readers call it."""
    found = re.findall(r'<option value="([^"]+)">([^<]+)</option>', compare.page(catalog, "", "", "", "", 1))
    return {said: name for name, said in found}


def cells(text: str) -> list[list[str]]:
    """The rows of the table of who is right."""
    table = re.findall(r'aria-label="Who is right">.*?<tbody>(.*?)</tbody>', text, re.DOTALL)[0]
    return [
        [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    ]


TWO = [
    *answers("1100"), *answers("1000", DYNAMIC), *answers("1010", model="m2"), *answers("1111", DYNAMIC, model="m2"),
]  # fmt: skip


def test_a_question_is_counted_once_under_each_condition(tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", one=TWO)
    a, b = (names(catalog)[f"{model} in one"] for model in ("m1", "m2"))
    text = compare.page(catalog, a, b, "", "", 1)
    assert "Both were asked <b>4</b> questions, under 2 conditions. A is m1 in one, B is m2 in one." in text
    rows = {row[0]: row[1:6] for row in cells(text)}
    assert rows["standard"] == ["4", "1", "1", "1", "1"]
    assert [row for name, row in rows.items() if name not in ("standard", "dynamic all")] == [["4", "1", "0", "3", "0"]]


def test_a_number_leads_to_as_many_questions(tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", one=TWO)
    a, b = (names(catalog)[f"{model} in one"] for model in ("m1", "m2"))
    whole = compare.page(catalog, a, b, "", "", 1)
    for condition, *numbers in cells(whole)[:2]:
        for which, number in zip(("both", "a", "b", "neither"), numbers[1:], strict=False):
            text = compare.page(catalog, a, b, which, f"exam/{condition}", 1)
            assert f"<b>{number}</b> question" in text
            assert len(re.findall(r'<th scope="row">', text)) == int(number)
    links = [unescape(link) for link in re.findall(r'href="(\?[^"]+under[^"]+)"', whole)]
    assert len(links) == sum(number != "0" for row in cells(whole)[:2] for number in row[1:6])


def test_either_way_round_gives_the_same_difference(tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", one=TWO, two=answers("0110"))
    known = names(catalog)
    for one, other in (("m1 in one", "m2 in one"), ("m1 in one", "m1 in two")):
        (there,), (back,) = (
            re.findall(r"<td>standard</td>.*?<td class=\"num\" title=[^>]+>(\S+) ", text, re.DOTALL)
            for text in (
                compare.page(catalog, known[one], known[other], "", "", 1),
                compare.page(catalog, known[other], known[one], "", "", 1),
            )
        )
        assert int(there) == -int(back), (one, other)


def test_only_pairs_with_a_question_in_common_are_offered(tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", one=answers("11"), two=answers("1"), deep=answers("10", model="m9"))
    text = compare.page(catalog, "", "", "", "", 1)
    assert text.count(" beside ") == 3
    chosen = compare.page(catalog, names(catalog)["m9 in deep"], "", "", "", 1)
    assert chosen.count(" beside ") == 2
    same = names(catalog)["m1 in one"]
    assert "beside" in compare.page(catalog, same, same, "", "", 1), "nothing is compared with itself"


def test_a_run_that_cannot_be_read_costs_itself_alone(tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", one=TWO, broken=answers("1"))
    (tmp_path / "runs" / "broken" / "run.json").write_text("{")
    assert list(names(catalog)) == ["m1 in one", "m2 in one"]


def test_what_two_runs_differ_in_is_told(tmp_path: Path) -> None:
    catalog = opened(tmp_path / "runs", one=answers("11"), two=answers("10"))
    a, b = (names(catalog)[f"m1 in {run}"] for run in ("one", "two"))
    text = compare.page(catalog, a, b, "", "", 1)
    differing = re.findall(r'<tr><td>([^<]+)</td><td class="value">([^<]+)</td><td class="value">([^<]+)</td>', text)
    assert [tuple(map(unescape, row)) for row in differing] == [("model.at", '"one"', '"two"')]
    assert "What differs between the two" not in compare.page(opened(tmp_path / "same", one=TWO), "", "", "", "", 1)
