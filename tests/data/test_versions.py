"""Rows that are versions of a question: which is published, which are variants, and what cannot be told apart."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from running import typed
from shell import mmdyn

from making import picture
from mmdyn.data import SampleSet, convert, validate, versions_folder
from mmdyn.errors import UserError
from mmdyn.sample import Told

DYNAMATH = Path(__file__).resolve().parents[3] / "shared" / "data" / "dynamath" / "dev" / "questions.jsonl"
HEADER = ("seed", "trial", "question", "answer")
ROWS: list[tuple[Any, ...]] = [
    ("a", 1, "Three and four?", "7"),
    ("b", 1, "A half of three?", "1.5"),
    ("a", 2, "Three and five?", "8"),
    ("c", 1, "Which gas do plants take up?", "carbon dioxide"),
    ("b", 2, "Which of two is even? (A) 3 (B) 4", "B"),
    ("a", 3, "Three and five?", "8"),
    ("b", 3, "Is three odd?", "true"),
]
"""Interleaved, without ids: a question with one version, one that stands twice, and one of three forms."""


def table(folder: Path, rows: list[tuple[Any, ...]] | None = None, header: tuple[str, ...] = HEADER) -> Path:
    file = folder / "rows.csv"
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([header, *(rows or ROWS)])
    return file


def versions(file: Path, out: Path, published: str = "", **more: Any) -> tuple[SampleSet, SampleSet]:
    made = convert(file, out, columns={"version_of": "seed"}, published=published, **more)
    return made, SampleSet(versions_folder(out))


def told(made: SampleSet) -> list[tuple[Any, ...]]:
    return [(one.id, one.parent, one.variant.draw if one.variant else None, one.told.right) for one in made]


def test_the_first_version_is_the_question_and_the_others_are_its_variants(tmp_path: Path) -> None:
    made, others = versions(table(tmp_path), tmp_path / "set")
    assert told(made) == [
        ("rows-1", "rows-1", None, (("7",),)),
        ("rows-2", "rows-2", None, (("1.5",),)),
        ("rows-4", "rows-4", None, (("carbon dioxide",),)),
    ]
    assert told(others) == [
        ("rows-3", "rows-1", 0, (("8",),)),
        ("rows-6", "rows-1", 1, (("8",),)),
        ("rows-5", "rows-2", 0, (("4",),)),
        ("rows-7", "rows-2", 1, (("1.5",),)),
    ]
    assert {one.variant_kind for one in others} == others.manifest.variant_kinds == {"counterfactual"}
    assert [one.variant and one.variant.hidden for one in others][2] == Told((("1.5",),))
    assert [one.task_type for one in others][2:] == ["single_choice", "true_false"]
    assert others.manifest.parent and others.manifest.parent.digest == made.manifest.digest
    assert [one.group for one in others] == ["a", "a", "b", "b"] and others.name == "set-versions"
    assert not [row for folder in (made, others) for row in validate(folder.folder) if row.problem]


def test_a_value_says_which_was_published(tmp_path: Path) -> None:
    rows = [row for row in ROWS if row[0] != "c"]
    made, others = versions(table(tmp_path, rows), tmp_path / "set", "trial=3")
    assert [one.id for one in made] == ["rows-5", "rows-6"]
    assert [(one.id, one.parent) for one in others] == [
        ("rows-1", "rows-5"),
        ("rows-3", "rows-5"),
        ("rows-2", "rows-6"),
        ("rows-4", "rows-6"),
    ]


def test_ten_versions_in_any_order_with_ids_of_their_own(tmp_path: Path) -> None:
    rows: list[tuple[Any, ...]] = [(f"v{n}", "s" if n % 2 else " t", n, f"{n} and one?", n + 1) for n in range(20)]
    file = table(tmp_path, rows[::-1], ("id", *HEADER))
    made, others = versions(file, tmp_path / "set")
    assert [(one.id, one.meta["version_of"]) for one in made] == [("v19", "s"), ("v18", "t")]
    assert [one.id for one in others] == [f"v{n}" for n in (*range(17, 0, -2), *range(16, -1, -2))]
    assert [one.variant.draw for one in others if one.variant] == [*range(9)] * 2


def test_one_name_may_be_a_number_or_a_text(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    lines = [{"seed": seed, "question": f"{n} and one?", "answer": n + 1} for n, seed in enumerate((7, "7", 7.0, "07"))]
    file.write_text("\n".join(map(json.dumps, lines)))
    made, others = versions(file, tmp_path / "set")
    assert [one.meta["version_of"] for one in made] == ["7", "07"] and len(others) == 2


def test_each_set_has_its_own_pictures(tmp_path: Path) -> None:
    for name in "xyz":
        (tmp_path / f"{name}.png").write_bytes(picture(text=name))
    rows = [("a", n, "What does it show?", n, f"{name}.png") for n, name in enumerate("xyz")]
    made, others = versions(table(tmp_path, rows, (*HEADER, "image")), tmp_path / "set")
    for folder, count in ((made, 1), (others, 2)):
        shown = {one for sample in folder for one in sample.all_images}
        assert {str(one.relative_to(folder.folder)) for one in folder.folder.rglob("*.png")} == shown
        assert len(shown) == count and folder.manifest.pictures.normal


@pytest.mark.parametrize(
    ("rows", "published", "said"),
    [
        (ROWS, "trial=2", "none of 1 versions of 'c' have trial=2: exactly one of a question's versions was published"),
        (ROWS, "times=2", "none of 3 versions of 'a' have times=2: exactly one of a question's versions was published"),
        (ROWS, "1", "none of 3 versions of 'a' have 1: exactly one of a question's versions was published"),
        (
            [*ROWS, ("a", 1, "Three and six?", "9")],
            "trial=1",
            "2 of 4 versions of 'a' have trial=1: exactly one of a question's versions was published",
        ),
        (ROWS[:2], "", "no question has two versions: map version_of to the column that its versions share"),
        (
            [*ROWS, ("", 1, "Three and six?", "9")],
            "",
            "it does not say of which question it is a version: fill the column of version_of",
        ),
        ([*ROWS, ("a", 4, "", "9")], "", "the question is empty: give it words or a picture"),
    ],
)
def test_what_is_not_clear_is_said_and_nothing_is_written(
    rows: list[tuple[Any, ...]], published: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as refused:
        versions(table(tmp_path, rows), tmp_path / "set", published)
    assert said in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--published", "trial=1"), "--published is for versions: say which column names their question, --map"),
        (("--map", "version_of=seed", "--skip-bad"), "may leave out the version that was published: name it by"),
        (("--map", "version-of=seed"), "there is no 'version-of' to map (did you mean 'version_of'?)"),
        (("--map", "version_of=sed"), "there is no column 'sed' (did you mean 'seed'?)"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = mmdyn("data", "convert", table(tmp_path), "-o", tmp_path / "set", "-q", *words)
    assert done.returncode == 2 and said in done.stderr and not (tmp_path / "set").exists()


def test_only_a_folder_holds_versions_and_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot hold versions, only a set folder can: leave the ending .tsv out"):
        versions(table(tmp_path), tmp_path / "set.tsv")
    (tmp_path / "set-versions").mkdir()
    (tmp_path / "set-versions" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"set-versions holds other files \(notes.txt, …\): choose a new folder"):
        versions(table(tmp_path), tmp_path / "set")
    assert not (tmp_path / "set").exists()


def test_bad_versions_are_left_out_where_the_published_one_is_named(tmp_path: Path) -> None:
    file = table(tmp_path, [*ROWS, ("a", 4, "", "9")])
    made, others = versions(file, tmp_path / "set", "trial=1", skip_bad=True)
    assert (len(made), len(others), made.manifest.counts["rejected"]) == (3, 4, 1)
    assert '"line":9,"problem":"the question is empty' in (made.folder / "rejected.jsonl").read_text()
    assert not [row for row in validate(made.folder) if row.problem]
    with pytest.raises(UserError, match="none of 2 versions of 'a' have trial=2"):
        versions(table(tmp_path, [*ROWS[:2], ("a", 2, "", "8"), *ROWS[5:]]), tmp_path / "b", "trial=2", skip_bad=True)


def test_the_command_says_what_it_took_and_makes_again_what_is_gone(tmp_path: Path) -> None:
    words = ("data", "convert", table(tmp_path), "-o", "set", "-q", "--map", "version_of=seed")
    said = (
        "set-versions: 4 other versions of 2 of them; taken as published: the first in the file"
        " (--published NAME=VALUE takes others)\n"
    )
    assert mmdyn(*words, folder=tmp_path).stdout == "set: 3 samples\n" + said
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json*")}
    again = "set is there already, made of the same source: 3 samples\n" + said
    assert mmdyn(*words, folder=tmp_path).stdout == again
    for gone in ("set/samples.jsonl", "set-versions/samples.jsonl"):
        for path in (tmp_path / gone).parent.iterdir():
            path.unlink()
        assert mmdyn(*words, folder=tmp_path).stdout == "set: 3 samples\n" + said
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.json*")} == before
    done = mmdyn(*words[:3], "-o", "named", "-q", "--map", "version_of=seed", "--published", "trial=1", folder=tmp_path)
    assert done.stdout.endswith("taken as published: trial=1\n")


def test_versions_are_shown_but_not_replayed(tmp_path: Path) -> None:
    _, others = versions(table(tmp_path), tmp_path / "set")
    shown = typed("data", "show", others.folder, "rows-2").output
    assert "variant of rows-2: version, draw 1, seed 0; unjudged" in shown
    refused = mmdyn("data", "show", others.folder, "rows-5", "--replay")
    assert refused.returncode == 2
    assert "rows-5 was read from a file, not made: there is nothing to replay" in refused.stderr


@pytest.mark.skipif(not DYNAMATH.is_file(), reason="DynaMath is not beside this checkout")
def test_dynamath_is_read_as_it_is(tmp_path: Path) -> None:
    made = convert(DYNAMATH, tmp_path / "set", columns={"version_of": "seed_id"}, published="trial=1")
    others = SampleSet(versions_folder(tmp_path / "set"))
    assert (len(made), len(others), len({one.parent for one in others})) == (40, 80, 40)
    assert {one.fields["trial"] for one in made} == {1} and {one.fields["trial"] for one in others} == {2, 3}
    assert sum(one.variant.hidden != one.told for one in others if one.variant) == 60
