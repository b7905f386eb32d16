"""Who has a published composed set, mmdyn's source, and some known answers, earns no more than a guesser."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from benchmarks.real_sets import source
from composing import composed, secret_in, spec_of
from shell import mmdyn

from mmdyn.build.blind import Linked, joint_earnings
from mmdyn.build.step import Draws
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.keys import digest

LETTERS = "ABCDEFGH"
NO_DIGITS = str.maketrans("0123456789", "ghijklmnop")


def bank(folder: Path, pairs: int, *, likeness: str = "") -> Path:
    """True statements, each with its falsification; the falsifications name no pair where they are to look alike."""
    lines = list[dict[str, Any]]()
    for k in range(pairs):
        words = [digest([k, place], size=3).translate(NO_DIGITS) for place in range(12)]
        text = " ".join(words)
        lines.append({"id": f"t{k}", "text": text, "label": True})
        pair = {} if likeness else {"pair": f"t{k}"}
        lines.append({"id": f"f{k}", "text": " ".join([*words[:-1], "not"]), "label": False, **pair})
    (folder / "bank.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "bank.jsonl"


def solvers(made: SampleSet) -> dict[str, float]:
    told: Any = made.manifest.made["summary"]
    return dict(told["blind_solvers"])


@pytest.mark.parametrize("likeness", ["", "alike"])
def test_one_use_of_an_origin_tells_nothing(tmp_path: Path, likeness: str) -> None:
    made = composed(bank(tmp_path, 3400, likeness=likeness), tmp_path / "out", spec_of(questions=300, max_uses=1))
    told: Any = made.manifest.made["summary"]
    assert len(made) == 300 and told["uses_of_an_origin"] == {"most": 1, "mean": 1.0}
    found = solvers(made)
    linked = {name: value for name, value in found.items() if name.startswith("linked")}
    assert len(linked) == 3 and set(linked.values()) == {found["chance"]}
    texts = Counter(text[:70] for one in made for text in one.question.split("\n\n", 1)[1].split("\n"))
    assert max(texts.values()) == 1


@pytest.mark.slow
def test_more_uses_are_told_with_what_they_give_away(tmp_path: Path) -> None:
    file = bank(tmp_path, 1200)
    found = [solvers(composed(file, tmp_path / str(n), spec_of(questions=n, max_uses=9))) for n in (150, 400)]
    by_origin = [one["linked by origin"] for one in found]
    assert 0.3 < by_origin[0] < by_origin[1] and by_origin[1] > 0.95
    assert by_origin[1] > found[1]["linked by statement"]


def test_real_statements_tell_nothing(tmp_path: Path) -> None:
    lines = (source("statements") / "dev" / "creak.jsonl").read_text().splitlines()
    rows = [
        {"id": one["ex_id"], "text": one["sentence"], "label": one["label"] == "true"} for one in map(json.loads, lines)
    ]
    (tmp_path / "bank.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = solvers(composed(tmp_path / "bank.jsonl", tmp_path / "out", spec_of(questions=120, max_uses=1)))
    assert (
        max(value for name, value in found.items() if "chance" not in name) <= found["chance and three standard errors"]
    )


def test_ids_option_counts_and_known_answers_tell_no_position(tmp_path: Path) -> None:
    made = [*composed(bank(tmp_path, 3400), tmp_path / "out", spec_of(questions=300, max_uses=1, seed=7))]
    assert len({one.id for one in made}) == 300 and not any(part == "7" for one in made for part in one.id.split("-"))
    counts = Counter[str]()
    left = dict[int, list[int]]()
    for number, one in enumerate(made):
        size, right = len(one.options), LETTERS.index(one.answer[0])
        # The key of a set whose draws are keyed by what is published: the seed, the count of options, the round.
        guess = Draws("positions", 7, size, number // size).shuffled(range(size)).pop()
        counts["by the seed"] += guess == right
        # What is left of a round of places, of which all others are known.
        known = left.setdefault(size, [])
        if len(known) == size - 1:
            counts["rounds"] += 1
            counts["by known answers"] += next((place for place in range(size) if place not in known), -1) == right
        known.append(right)
        if len(known) == size:
            left[size] = []
    chance, error = 0.18, 3 * (0.18 * 0.82 / 300) ** 0.5
    assert counts["by the seed"] / 300 < chance + error
    assert counts["by known answers"] / counts["rounds"] < 0.18 + 3 * (0.18 * 0.82 / counts["rounds"]) ** 0.5


def test_another_secret_is_another_set_and_the_same_one_the_same(tmp_path: Path) -> None:
    file, words = bank(tmp_path, 300), ("--questions", 20, "--seed", 3, "-q")
    for name in ("a", "b"):
        assert mmdyn("compose", file, "-o", tmp_path / name, *words).returncode == 0
    kept = (tmp_path / "a.secret").read_text()
    assert len(kept) == 64 and (tmp_path / "a.secret").stat().st_mode & 0o077 == 0
    assert not [*(tmp_path / "a").rglob("*secret*")] and kept not in (tmp_path / "a" / "set.json").read_text()
    a, b = SampleSet(tmp_path / "a"), SampleSet(tmp_path / "b")
    assert {one.id for one in a}.isdisjoint(one.id for one in b)
    assert [one.meta["statements"] for one in a] != [one.meta["statements"] for one in b]
    again = mmdyn("compose", file, "-o", tmp_path / "c", *words, "--secret", tmp_path / "a.secret", "--name", "a")
    assert again.returncode == 0 and SampleSet(tmp_path / "c").manifest.digest == a.manifest.digest
    (tmp_path / "short").write_text("1234")
    done = mmdyn("compose", file, "-o", tmp_path / "d", *words, "--secret", tmp_path / "short")
    assert done.returncode == 2 and "short: holds 4 bytes: a secret has 32 or more, drawn at random" in done.stderr
    assert not (tmp_path / "d").exists()


def test_sets_of_one_secret_have_no_key_in_common(tmp_path: Path) -> None:
    """A retired set, whose key is known, its successor, the sets of a sweep, and one of another bank."""
    file, spec = bank(tmp_path, 1200), spec_of(questions=40, max_uses=1, options="6", statements="8")
    old = composed(file, tmp_path / "old", spec)
    sets = [composed(file, tmp_path / "new", spec, avoid=[old.folder])]
    sets.append(composed(file, tmp_path / "more", spec_of(questions=41, max_uses=1, options="6", statements="8")))
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    (tmp_path / "other.jsonl").write_text(
        "".join(json.dumps(row | {"text": f"{row['text']} so"}) + "\n" for row in rows)
    )
    sets.append(composed(tmp_path / "other.jsonl", tmp_path / "other", spec))
    for made in sets:
        same = sum(one.answer == other.answer for one, other in zip(old, made, strict=False))
        assert same <= 40 / 6 + 3 * (40 * 5 / 36) ** 0.5
        assert {one.id for one in old}.isdisjoint(one.id for one in made)


def test_single_statements_count_as_uses(tmp_path: Path) -> None:
    file = bank(tmp_path, 100)
    made = composed(file, tmp_path / "out", spec_of(questions=90, form="statement", max_uses=1))
    assert len({one.meta["origins"][0] for one in made}) == 90
    with pytest.raises(UserError, match="the bank has 100 statements that stand once at most"):
        composed(file, tmp_path / "all", spec_of(questions=120, form="statement", max_uses=1))
    assert len(composed(file, tmp_path / "two", spec_of(questions=120, form="statement", max_uses=2))) == 120


def test_questions_are_published_beside_no_answers(tmp_path: Path) -> None:
    file = bank(tmp_path, 300)
    made = composed(file, tmp_path / "out", spec_of(questions=9, max_uses=1), publish=tmp_path / "public")
    for folder, problem in ((tmp_path / "public", "holds a questions.jsonl already"), (made.folder, "holds a set")):
        with pytest.raises(UserError, match=problem):
            composed(file, tmp_path / "again", spec_of(questions=9, seed=1, max_uses=1), publish=folder)
    assert not (tmp_path / "again").exists()


def test_a_sweep_that_the_bank_does_not_bear_writes_nothing(tmp_path: Path) -> None:
    file = bank(tmp_path, 300)
    words = ("--questions", 12, "--sweep", "options=4-10", "--publish", tmp_path / "public")
    done = mmdyn("compose", file, "-o", tmp_path / "sets", *words)
    assert done.returncode == 2 and "the bank bears about" in done.stderr
    assert not (tmp_path / "sets").exists() and not (tmp_path / "public").exists()


def test_what_is_published_has_no_answer(tmp_path: Path) -> None:
    file = bank(tmp_path, 300)
    made = composed(file, tmp_path / "out", spec_of(questions=20, seed=5, max_uses=1), publish=tmp_path / "public")
    [name] = (tmp_path / "public").iterdir()
    rows = [json.loads(line) for line in name.read_text().splitlines()]
    assert name.name == "questions.jsonl" and [row["id"] for row in rows] == [one.id for one in made]
    assert {key for row in rows for key in row} == {"id", "question", "task_type", "language", "options"}
    assert [[option["text"] for option in row["options"]] for row in rows] == [
        [o.text for o in s.options] for s in made
    ]


def test_a_bank_that_bears_fewer_says_so_and_subjects_may_have_fewer(tmp_path: Path) -> None:
    file = bank(tmp_path, 60)
    with pytest.raises(
        UserError, match=r"the bank bears about 6 questions in which no statement or near copy stands more"
    ):
        composed(file, tmp_path / "out", spec_of(questions=40, max_uses=1))
    lines = [json.loads(line) | {"discipline": "law"} for line in file.read_text().splitlines()]
    few = [one | {"id": f"x{one['id']}", "text": f"x {one['text']}", "pair": f"x{one.get('pair', '')}"[: 9 * (not one["label"])], "discipline": "art"} for one in lines[:40]]  # fmt: skip
    file.write_text("".join(json.dumps(one) + "\n" for one in [*lines, *few]))
    made = composed(file, tmp_path / "fewer", spec_of(questions=12, max_uses=1, skip_small=True, statements="8"))
    assert 4 <= len(made) < 12


def test_beside_a_set_to_avoid_subjects_have_as_many_as_there_are(tmp_path: Path) -> None:
    file = bank(tmp_path, 120)
    old = composed(file, tmp_path / "old", spec_of(questions=4, max_uses=1, seed=1))
    given = {"questions": 90, "max_shared": 0, "skip_small": True, "max_uses": 1}
    with pytest.raises(UserError, match=r"the bank bears about 9 questions in which no statement .*those of --avoid"):
        composed(file, tmp_path / "all", spec_of(**given | {"skip_small": False}), avoid=[old.folder])
    most = composed(file, tmp_path / "most", spec_of(questions=60))
    with pytest.raises(UserError, match="no further question that shares at most 0 statements"):
        composed(file, tmp_path / "often", spec_of(questions=60, max_shared=0), avoid=[most.folder])
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    twice = [one | {"id": f"x{one['id']}", "text": f"x {one['text']}", "discipline": "art"} for one in lines[::2]]
    file.write_text("".join(json.dumps(one) + "\n" for one in [*lines, *twice, *[one | {"id": f"y{one['id']}", "text": f"y {one['text']}", "label": False} for one in twice]]))  # fmt: skip
    made = composed(file, tmp_path / "fewer", spec_of(**given), avoid=[old.folder])
    used = {origin for one in old for origin in one.meta["origins"]}
    assert 5 <= len(made) < 90 and not used & {origin for one in made for origin in one.meta["origins"]}


def test_sets_of_a_sweep_and_sets_to_avoid_are_one_collection(tmp_path: Path) -> None:
    file, secret = bank(tmp_path, 300), secret_in(tmp_path)
    words = ("--questions", 10, "-q", "--secret", secret)
    done = mmdyn("compose", file, "-o", tmp_path / "sets", "--sweep", "seed=0-1", *words)
    assert done.returncode == 0, done.stderr
    used = [
        origin
        for one in ("seed-0", "seed-1")
        for sample in SampleSet(tmp_path / "sets" / one)
        for origin in sample.meta["origins"]
    ]
    assert max(Counter(used).values()) == 1
    apart = mmdyn(
        "compose", file, "-o", tmp_path / "more", "--seed", 2, "--avoid", tmp_path / "sets" / "seed-0", *words
    )
    assert apart.returncode == 0
    both = [*SampleSet(tmp_path / "more"), *SampleSet(tmp_path / "sets" / "seed-0")]
    assert max(Counter(origin for one in both for origin in one.meta["origins"]).values()) == 1
    many = mmdyn("compose", file, "-o", tmp_path / "many", "--sweep", "seed=0-4", *words)
    assert many.returncode == 2 and "allow more by --max-uses" in many.stderr


def test_the_joint_solver_finds_what_follows() -> None:
    """Two questions share two statements: the one option of the first tells which one of the second is right."""
    first = Linked([0, 1, 2], [True] * 3, [0b011, 0b011], True, 0)
    second = Linked([0, 1, 3], [True] * 3, [0b011, 0b100], True, 0)
    assert joint_earnings([second]) == 0.5
    assert joint_earnings([first, second]) == (0.5 + 1) / 2
    opposite = Linked([0, 1, 3], [False, False, True], [0b011, 0b100], True, 1)
    assert joint_earnings([first, opposite]) == (0.5 + 1) / 2
    assert joint_earnings([]) == 0.0
