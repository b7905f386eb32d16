"""`mmdyn data show --stats`: every number counted a second time, with and without a tokenizer."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from shell import MMDYN, mmdyn

from making import choice, true_false, write_set
from mmdyn.sample import Option, Sample

DISCIPLINES = ("law", "law", "art", "law", "")
TOKENIZER = """
class Words:
    def encode_ordinary(self, text):
        return text.split()

def get_encoding(name):
    assert name == "cl100k_base"
    return Words()
"""
OFFLINE = "def get_encoding(name):\n    raise ConnectionError('no network')\n"


def sample(place: int) -> Sample:
    """A composed question of as many options and statements as its place says; every other one is Chinese."""
    options = tuple(Option(label, f"i, {place}") for label in "ABCDEFGH"[: place + 2])
    fields: dict[str, Any] = {"statements": place + 8, "combination": 2 + place % 3, "subfield": f"s{place % 2}"}
    about = {"discipline": DISCIPLINES[place]} if DISCIPLINES[place] else {}
    language = "zh" if place % 2 else "en"
    return Sample(
        f"q{place}", "Which one " * (place + 1), "single_choice", ("A",), language, options, fields=fields | about
    )


SAMPLES = [sample(place) for place in range(5)]


def expected(samples: list[Sample], unit: str) -> dict[str, Any]:
    """The numbers of table 2, one by one."""
    found: dict[str, Any] = {"samples": len(samples)}
    for language in ("en", "zh"):
        if count := [one for one in samples if one.language == language]:
            found[language] = len(count)
    found["subfields"] = len({one.fields["subfield"] for one in samples})
    asked = ["\n".join([one.question, *(f"{o.label}. {o.text}" for o in one.options)]) for one in samples]
    lengths = [len(text.split()) if unit == "tokens" else len(text) for text in asked]
    numbers = {unit: lengths, "options": [len(one.options) for one in samples]}
    numbers |= {name: [int(one.fields[name]) for one in samples] for name in ("statements", "combination")}
    for name, values in numbers.items():
        found |= {f"{name} max": max(values), f"{name} min": min(values), f"{name} mean": pytest.approx(mean(values))}
    return found


def test_questions_by_discipline(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", SAMPLES).folder
    done = mmdyn("data", "show", folder, "--stats", "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row.pop("discipline") for row in rows] == ["law", "(not given)", "art", "all"]
    groups = [[one for one in SAMPLES if one.fields.get("discipline") == name] for name in ("law", None, "art")]
    assert rows == [expected(group, "characters") for group in (*groups, SAMPLES)]
    assert "no tokens are counted: pip install 'mmdyn[tokens]'" in done.stderr
    text = mmdyn("data", "show", folder, "--stats")
    lines = [line.split() for line in text.stdout.splitlines()]
    assert len(lines) == 5 and len({len(line) for line in text.stdout.splitlines()}) == 1, (
        "columns stand below each other"
    )
    assert lines[-1][:4] == ["all", "5", "3", "2"] and lines[-1][-3:] == ["4", "2", f"{mean([2, 3, 4, 2, 3]):.2f}"]


@pytest.mark.parametrize(("module", "unit"), [(TOKENIZER, "tokens"), (OFFLINE, "characters")])
def test_tokens_where_there_is_a_tokenizer_that_can_be_loaded(tmp_path: Path, module: str, unit: str) -> None:
    folder = write_set(tmp_path / "set", SAMPLES).folder
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tiktoken.py").write_text(module)
    path = os.pathsep.join([str(tmp_path / "own"), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = [*MMDYN, "data", "show", str(folder), "--stats", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows[-1] == expected(SAMPLES, unit) | {"discipline": "all"}, done.stderr
    assert ("no tokens are counted" in done.stderr) is (unit == "characters")


def test_statements_and_a_set_without_any_of_that(tmp_path: Path) -> None:
    """Table 1: correct and incorrect ones, fields and subfields, of a bank."""
    claims = [
        true_false(f"t{n}", answer=n < 4, fields={"discipline": "law", "field": f"f{n % 2}", "subfield": f"s{n}"})
        for n in range(6)
    ]
    rows = told(tmp_path / "bank", claims)
    counts = {"samples": 6, "en": 6, "true": 4, "false": 2, "fields": 2, "subfields": 6}
    assert all({name: row[name] for name in counts} == counts for row in rows) and "options max" not in rows[0]
    (one, every) = told(tmp_path / "plain", [choice("c")])
    assert (one.pop("discipline"), every.pop("discipline")) == ("(not given)", "all") and one == every
    assert {"true", "fields", "statements max"}.isdisjoint(every) and every["options mean"] == 4
    named = [choice("a", fields={"discipline": "all", "statements": "many"}), choice("b", fields={"discipline": 7})]
    rows = told(tmp_path / "odd", named)
    assert [(row["discipline"], row["samples"]) for row in rows] == [("7", 1), ("all", 1), ("all", 2)]
    assert "statements max" not in rows[-1], "what is no number is not counted"


def told(folder: Path, samples: list[Sample]) -> list[dict[str, Any]]:
    done = mmdyn("data", "show", write_set(folder, samples).folder, "--stats", "--json")
    return [json.loads(line) for line in done.stdout.splitlines()]
