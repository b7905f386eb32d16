"""Questions composed of several banks: near copies are one origin wherever they stand, and ids are not mixed up."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from composing import composed, secret_in, spec_of
from shell import mmdyn

from mmdyn.build import build
from mmdyn.data import SampleSet, join
from mmdyn.errors import InputError, UserError
from mmdyn.keys import digest

WORDS = 12


def text(k: int, ending: str = "") -> str:
    return " ".join([*(digest([k, place], size=3) for place in range(WORDS)), ending]).strip()


def bank(file: Path, prefix: str, numbers: range, ending: str = "", **more: Any) -> Path:
    """A true statement for each number, with its falsification."""
    lines = list[dict[str, Any]]()
    for k in numbers:
        lines.append({"id": f"{prefix}{k}", "text": text(k, ending), "label": True, **more})
        lines.append({"id": f"{prefix}{k}-false", "text": f"It is not so that {text(k + 10_000)}", "label": False, "pair": f"{prefix}{k}", **more})  # fmt: skip
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_a_near_copy_in_another_bank_is_the_same_origin(tmp_path: Path) -> None:
    a, b = bank(tmp_path / "a.jsonl", "a", range(60)), bank(tmp_path / "b.jsonl", "b", range(60), "indeed")
    made = composed([a, b], tmp_path / "out", spec_of(questions=5, max_uses=1))
    used = Counter(int(one.split("-")[0][1:]) for sample in made for one in sample.meta["statements"])
    assert max(used.values()) == 1 and {one[0] for sample in made for one in sample.meta["statements"]} == {"a", "b"}
    with pytest.raises(UserError, match=r"the bank bears about [67] questions"):
        composed([a, b], tmp_path / "many", spec_of(questions=12, max_uses=1))
    turned = composed([b, a], tmp_path / "turned", spec_of(questions=5, max_uses=1), name="out")
    assert [*turned] == [*made], "the order of the banks decides nothing"


def test_short_statements_that_are_equal_are_one_origin(tmp_path: Path) -> None:
    for name in "ab":
        lines = [{"id": f"{name}{k}", "text": f"Metal {k} rusts.", "label": k % 2 == 0} for k in range(60)]
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = composed([tmp_path / "a", tmp_path / "b"], tmp_path / "out", spec_of(questions=5, max_uses=1))
    used = Counter(one[1:] for sample in made for one in sample.meta["statements"])
    assert max(used.values()) == 1


def test_a_falsification_in_another_bank_is_the_same_origin(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in bank(tmp_path / "all", "a", range(60)).read_text().splitlines()]
    for name, label in (("a", True), ("b", False)):
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in lines if one["label"] == label))
    made = composed([tmp_path / "a", tmp_path / "b"], tmp_path / "out", spec_of(questions=5, max_uses=1))
    assert [*made] == [*composed(tmp_path / "all", tmp_path / "whole", spec_of(questions=5, max_uses=1), name="out")]


def test_ids_of_two_statements_are_refused_and_joining_mends_that(tmp_path: Path) -> None:
    a, b = bank(tmp_path / "a.jsonl", "s", range(40)), bank(tmp_path / "b.jsonl", "s", range(40, 80))
    rows = [json.loads(line) for line in b.read_text().splitlines()]
    for row in rows:
        row["id"] = row["id"].replace(row["id"].split("-")[0], f"s{int(row['id'].split('-')[0][1:]) - 40}")
        row |= {"pair": row["id"].split("-")[0]} if "pair" in row else {}
    b.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = mmdyn("compose", a, b, "-o", tmp_path / "out", "-q")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert f"b.jsonl: 's0' is another statement's id in {a}: make one set of both by `mmdyn data join`" in done.stderr
    sets = [build("bank", file, tmp_path / file.stem, quiet=True) for file in (a, b)]
    both = join(sets, tmp_path / "both")
    assert [both[f"{name}/s0-false"].meta["pair"] for name in "ab"] == ["a/s0", "b/s0"]
    made = composed(both.folder, tmp_path / "made", spec_of(questions=7, max_uses=1))
    used = Counter(one.removesuffix("-false") for sample in made for one in sample.meta["statements"])
    assert max(used.values()) == 1, "a statement and its falsification are one"


def test_a_pair_that_another_set_has_as_an_id_is_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "f", "text": "Iron floats.", "label": false, "pair": "t"}\n')
    (tmp_path / "b.jsonl").write_text('{"id": "t", "text": "Gold shines.", "label": true}\n')
    both = join(
        [build("bank", tmp_path / f"{name}.jsonl", tmp_path / name, quiet=True) for name in "ab"], tmp_path / "c"
    )
    assert [(one.id, one.meta.get("pair")) for one in both] == [("f", "a/t"), ("b/t", None)]


def test_a_statement_in_two_banks_counts_once(tmp_path: Path) -> None:
    a, b = bank(tmp_path / "a.jsonl", "s", range(60)), bank(tmp_path / "b.jsonl", "s", range(30, 90))
    whole = bank(tmp_path / "c.jsonl", "s", range(90))
    spec = spec_of(questions=8, max_uses=1)
    assert [*composed([a, b], tmp_path / "out", spec)] == [*composed(whole, tmp_path / "w", spec, name="out")]
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"empty\.jsonl"):
        composed([a, tmp_path / "empty.jsonl"], tmp_path / "no", spec)


def test_a_sweep_takes_several_banks(tmp_path: Path) -> None:
    a, b = bank(tmp_path / "a.jsonl", "a", range(60)), bank(tmp_path / "b.jsonl", "b", range(60, 120))
    words = ("--questions", 4, "--sweep", "seed=0-1", "-q", "--secret", secret_in(tmp_path))
    done = mmdyn("compose", a, b, "-o", tmp_path / "sets", *words)
    assert done.returncode == 0, done.stderr
    made = SampleSet(tmp_path / "sets" / "seed-1").manifest.made
    assert (made["source"]["name"], [one["name"] for one in made["beside"]]) == ("a.jsonl", ["b.jsonl"])
