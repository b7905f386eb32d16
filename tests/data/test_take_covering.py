"""Few samples that cover every point, and a field in balance."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from making import choice, picture, write_set
from mmdyn.data import SampleSet, take_covering
from mmdyn.data.take import Covered
from mmdyn.errors import UserError
from mmdyn.sample import Sample

PNG = picture()


def sample(id: str, points: str, difficulty: str = "easy", **more: object) -> Sample:
    fields = {"difficulty": difficulty} if difficulty else {}
    return choice(id, knowledge_points=tuple(points.split()), fields=fields, **more)


def names(made: SampleSet) -> list[str]:
    return [one.id for one in made]


def test_the_samples_that_add_the_most_come_first(tmp_path: Path) -> None:
    samples = [
        sample("a", "1 2 3 4"),
        sample("b", "4 5"),
        sample("c", "1 2"),
        sample("d", "5 6"),
        sample("e", ""),
        sample("f", "3 6"),
    ]
    done = take_covering(write_set(tmp_path / "set", samples), tmp_path / "out")
    assert names(done.made) == ["a", "d"]
    assert (done.points, done.needed, done.before, done.after) == (6, 2, {"": 6}, {"": 2})
    assert done.made.manifest.made == {
        "command": "mmdyn data sample",
        "cover": "knowledge_points",
        "balance": None,
        "n": None,
        "seed": 0,
        "source": {"name": "small", "digest": SampleSet(tmp_path / "set").manifest.digest},
    }


def test_a_sample_whose_points_others_cover_is_dropped_again(tmp_path: Path) -> None:
    """The greedy choice takes the four points first, and the two that follow cover all of them."""
    samples = [sample("big", "2 3 4 5"), sample("left", "1 2 3"), sample("right", "4 5 6")]
    done = take_covering(write_set(tmp_path / "set", samples), tmp_path / "out")
    assert names(done.made) == ["left", "right"] and done.needed == 2


def test_names_in_another_spelling_are_one_point(tmp_path: Path) -> None:
    samples = [
        choice("a", knowledge_points=("Area of Circles", "area of circles", "圆")),
        choice("b", knowledge_points=("ＡＲＥＡ of circles.",)),
    ]
    done = take_covering(write_set(tmp_path / "set", samples), tmp_path / "out")
    assert (names(done.made), done.points) == (["a"], 2)


def many() -> list[Sample]:
    """90 samples of 30 points, of which ten have a hard sample; easy ones are the most."""
    kinds = ["easy"] * 5 + ["medium"] * 3 + ["hard"]
    return [sample(f"q{number}", f"p{number % 30}", kinds[number % 9]) for number in range(90)]


@pytest.mark.parametrize("seed", range(5))
def test_difficulties_are_balanced_as_far_as_the_points_allow(tmp_path: Path, seed: int) -> None:
    done = take_covering(write_set(tmp_path / "set", many()), tmp_path / "out", balance="difficulty", seed=seed)
    assert done.before == {"easy": 50, "hard": 10, "medium": 30}
    assert (done.points, done.needed, len(done.made)) == (30, 30, 30)
    assert done.after["hard"] >= 9 and max(done.after.values()) - min(done.after.values()) <= 2
    assert {point for one in done.made for point in one.knowledge_points} == {f"p{number}" for number in range(30)}
    assert Counter(one.fields["difficulty"] for one in done.made) == done.after


def test_a_sample_is_exchanged_for_one_of_a_smaller_group(tmp_path: Path) -> None:
    """By gain alone the two easy samples of two points each are the cover; one of them has a hard twin of fewer
    points."""
    samples = [sample("a", "1 2"), sample("b", "2 3"), sample("c", "3", "hard"), sample("d", "1")]
    done = take_covering(write_set(tmp_path / "set", samples), tmp_path / "out", balance="difficulty")
    assert names(done.made) == ["a", "c"] and done.after == {"easy": 1, "hard": 1}


def test_filling_up_takes_of_the_smallest_group(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", many())
    done = take_covering(source, tmp_path / "out", balance="difficulty", n=45)
    assert (len(done.made), done.needed) == (45, 30)
    assert done.after["hard"] == 10 and sorted(done.after.values()) == [10, 17, 18]
    assert set(names(take_covering(source, tmp_path / "few", balance="difficulty").made)) <= set(names(done.made))
    only = take_covering(source, tmp_path / "only", None, "difficulty", 12)
    assert (only.after, only.points, only.needed) == ({"easy": 4, "hard": 4, "medium": 4}, 0, 0)
    assert len(take_covering(source, tmp_path / "all", n=1000).made) == 90


def test_a_field_can_be_covered_and_a_missing_value_is_a_group(tmp_path: Path) -> None:
    samples = [sample("a", "1", "easy"), sample("b", "2", "hard"), sample("c", "3", "easy"), sample("d", "4", "")]
    source = write_set(tmp_path / "set", samples)
    done = take_covering(source, tmp_path / "out", "difficulty")
    assert {one.fields.get("difficulty") for one in done.made} == {"easy", "hard"} and len(done.made) == 2
    assert take_covering(source, tmp_path / "four", balance="difficulty").after == {"": 1, "easy": 2, "hard": 1}


def test_the_seed_decides_not_the_order(tmp_path: Path) -> None:
    def run(samples: list[Sample], place: str, seed: int) -> Covered:
        return take_covering(
            write_set(tmp_path / f"{place}-set", samples), tmp_path / place, balance="difficulty", seed=seed
        )

    one, turned, other = run(many(), "one", 3), run(many()[::-1], "turned", 3), run(many(), "other", 4)
    assert names(one.made) == names(turned.made)[::-1] and one.made.manifest.digest == turned.made.manifest.digest
    assert names(other.made) != names(one.made)


def test_mistakes_are_explained(tmp_path: Path) -> None:
    source, out = write_set(tmp_path / "set", many()), tmp_path / "out"
    with pytest.raises(
        UserError, match="to cover all knowledge_points takes 30 samples and --limit is 12: raise it, or leave"
    ):
        take_covering(source, out, n=12)
    with pytest.raises(UserError, match=r"has the field 'dificulty' \(did you mean 'difficulty'\?\): the fields are "):
        take_covering(source, out, balance="dificulty")
    with pytest.raises(UserError, match="has the field 'topic': the fields are difficulty, language, task_type"):
        take_covering(source, out, "topic")
    with pytest.raises(UserError, match="--limit is 0: take at least one sample"):
        take_covering(source, out, n=0)
    with pytest.raises(UserError, match="--limit is None: take at least one sample"):
        take_covering(source, out, None, "difficulty")
    plain = write_set(tmp_path / "plain", [choice("a")])
    with pytest.raises(UserError, match="has knowledge_points: give a set whose samples do, or leave --cover out"):
        take_covering(plain, out)
    assert not out.exists()
