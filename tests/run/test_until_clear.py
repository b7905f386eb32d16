"""A run that ends when it is clear: its order, its looks, how it goes on, and what its report says."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from running import evaluated
from shell import MMDYN, mmdyn

from making import choice, write_set
from mmdyn.data import SampleSet
from mmdyn.errors import Stopped, UserError
from mmdyn.run.samples import FirstGroups, samples
from mmdyn.tables import report
from mmdyn.work import RunFolder
from perturb import perturb

MODEL = '''
import hashlib, re, time

class Falls:
    """Knows {standard} of the questions as they are, and {dynamic} of those with other options at B."""
    async def ask(self, messages):
        text = "".join(getattr(part, "text", "") for message in messages for part in message.parts)
        time.sleep({seconds})
        options = dict(re.findall(r"^\\(?([A-D])[.)]\\s*(\\w+)", text, re.M))
        right = next(label for label, word in options.items() if word == "three")
        luck = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8
        knows = luck < ({standard} if right == "B" else {dynamic})
        return "Answer: " + (right if knows else "A" if right != "A" else "C")
'''


@pytest.fixture
def sets(tmp_path: Path) -> list[SampleSet]:
    """200 questions, of which every other two share a group, and two variants of each."""

    def made(n: int) -> Any:
        group = f"g{n // 4}" if n % 4 < 2 else None
        return choice(f"q{n}", question=f"Question {n}: how many sides has a triangle?", group=group)

    source = write_set(tmp_path / "set", map(made, range(200)))
    return [source, perturb(source, tmp_path / "dynamic", ops="text.shuffle", draws=2, quiet=True)]


def falls(folder: Path, standard: float = 0.9, dynamic: float = 0.2, seconds: float = 0.0) -> str:
    file = folder / "falls.py"
    file.write_text(MODEL.format(standard=standard, dynamic=dynamic, seconds=seconds), encoding="utf-8")
    return f"{file}:Falls"


def looks(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "looks.jsonl").read_text("utf-8").splitlines()]


def test_the_order_is_keyed_keeps_groups_whole_and_grows(sets: list[SampleSet]) -> None:
    def first(n: int, seed: int = 0) -> set[str]:
        return {sample.parent for _, sample in samples(sets, FirstGroups(n, seed))}

    assert first(3) < first(5) < first(40)
    assert sorted(first(3)) == ["q134", "q172", "q173", "q55"]
    assert first(5) == first(5) != first(5, seed=1)
    whole = first(60)
    assert all((f"q{4 * n}" in whole) == (f"q{4 * n + 1}" in whole) for n in range(50))
    asked = [sample.parent for _, sample in samples(sets, FirstGroups(60, 0))]
    assert all(asked.count(parent) == 3 for parent in whole)  # itself and two variants
    assert first(1000) == {f"q{n}" for n in range(200)}


def test_a_run_ends_when_it_is_clear_and_is_complete(sets: list[SampleSet], tmp_path: Path) -> None:
    run = evaluated(sets, falls(tmp_path), tmp_path / "run", until_clear=3.0)
    seen = looks(run.folder)
    assert [(look["groups"], look["most"], look["clear"]) for look in seen] == [(40, 150, True)]
    low, high = seen[-1]["seen"][0]["ci95"]
    assert low < high < 0
    rule = run.config.until_clear
    assert rule is not None and (rule.points, rule.seed, rule.groups, rule.largest) == (3.0, 0, 150, {"small": 2.0})
    assert run.config.limit == 40
    found = report(run)
    assert found.complete and found.runs[0].asked == found.runs[0].planned == run.config.planned < 600
    contrast = next(one for one in found.contrasts if one.factor == "variant")
    assert contrast.method == "confidence sequence (betting)"
    assert (contrast.n, contrast.delta, list(contrast.ci95 or ())) == (seen[0]["seen"][0]["n"], seen[0]["seen"][0]["delta"], [low, high])  # fmt: skip
    assert {row.method.partition(";")[0] for row in found.conditions} == {"confidence sequence (betting)"}
    before = (run.folder / "looks.jsonl").read_bytes(), found.to_json()
    again = evaluated(sets, falls(tmp_path), tmp_path / "run", until_clear=3.0)
    assert ((again.folder / "looks.jsonl").read_bytes(), report(again).to_json()) == before


def test_where_nothing_changes_all_is_asked_and_looked_at_ever_larger_sizes(
    sets: list[SampleSet], tmp_path: Path
) -> None:
    run = evaluated(sets, falls(tmp_path, 0.5, 0.5), tmp_path / "run", until_clear=1.0)
    seen = looks(run.folder)
    assert [look["groups"] for look in seen] == [40, 52, 68, 89, 116, 150]
    assert not any(look["clear"] for look in seen)
    assert run.config.planned == 600 and report(run).complete


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_in_the_same_order_to_the_same_report(
    sets: list[SampleSet], tmp_path: Path
) -> None:
    folders = [str(one.folder) for one in sets]
    slow, words = falls(tmp_path, 0.5, 0.45, seconds=0.004), ("--until-clear", "1", "-q", "--no-cache")
    whole = evaluated(sets, slow, tmp_path / "whole", until_clear=1.0, use_cache=False)
    command = [*MMDYN, "eval", *folders, "-m", slow, "-o", "killed", *words]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, env=os.environ | {"COLUMNS": "200"})
    until = time.monotonic() + 60
    while not (tmp_path / "killed" / "looks.jsonl").exists() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)
    running.kill()
    running.wait()
    before = looks(tmp_path / "killed")
    assert 0 < len(before) < 6
    done = mmdyn("eval", *folders, "-m", slow, "-o", "killed", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    after = looks(tmp_path / "killed")
    assert after[: len(before)] == before and after == looks(whole.folder)
    told, expected = (json.loads(report(RunFolder(tmp_path / name)).to_json()) for name in ("killed", "whole"))
    assert told["contrasts"] == expected["contrasts"] and told["conditions"] == expected["conditions"]


def test_a_limit_on_requests_stops_it_and_the_same_command_goes_on(sets: list[SampleSet], tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        evaluated(sets, falls(tmp_path), tmp_path / "run", until_clear=3.0, max_requests=50, use_cache=False)
    assert not (tmp_path / "run" / "looks.jsonl").exists()
    evaluated(sets, falls(tmp_path), tmp_path / "run", until_clear=3.0, use_cache=False)
    assert [look["groups"] for look in looks(tmp_path / "run")] == [40]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "run holds a run with other until_clear: choose another -o, or ask the same as before (its intervals rest on how it was begun)"),
        (("--until-clear", "2"), "run holds a run with other until_clear: choose another -o, or ask the same as before (its intervals rest on how it was begun)"),
        (("--until-clear", "3", "-n", "9"), "--until-clear decides how many questions are asked: leave --limit out"),
        (("--until-clear", "100"), "--until-clear is 100: give points above 0 and below 100"),
        (("--until-clear", "3", "--executor", "slurm,jobs=2"), "--until-clear has one process ask and look: leave --executor and the launcher out"),
        (("--until-clear", "3", "--mode", "dynamic"), "--until-clear looks at dynamic against standard: ask both, of a set and its variants"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(
    sets: list[SampleSet], tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    model = falls(tmp_path)
    evaluated(sets, model, tmp_path / "run", until_clear=3.0)
    done = mmdyn("eval", *(one.folder for one in sets), "-m", model, "-o", "run", *words, folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"mmdyn: {told}\n")


def test_a_launched_rank_is_refused(sets: list[SampleSet], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "0")
    with pytest.raises(UserError, match="one process ask and look"):
        evaluated(sets, falls(tmp_path), tmp_path / "run", until_clear=3.0)


def test_tables_of_such_a_run_have_no_other_intervals(sets: list[SampleSet], tmp_path: Path) -> None:
    evaluated(sets, falls(tmp_path), tmp_path / "run", until_clear=3.0)
    done = mmdyn("report", "run", "--pivot", "variant", "--json", folder=tmp_path)
    part = json.loads(done.stdout)["parts"][0]
    assert {row["ci95"] for row in part["rows"]} == {None}
    assert part["notes"] == [
        "a run ended when its differences were clear: intervals, tests and marks that do not allow for that are left"
        " out; `mmdyn report` without a table has those that do"
    ]
    refused = mmdyn("report", "run", "--auc", folder=tmp_path)
    told = "mmdyn: a run that ended when it was clear has no such intervals: leave --correct and --auc out\n"
    assert (refused.returncode, refused.stderr.splitlines(keepends=True)[-1]) == (2, told)
