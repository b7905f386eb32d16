"""Stratified samples: the right shares, the same ones for a seed, variants with their parents."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from making import choice, image_ref, open_ended, picture, write_set
from mmdyn.data import SampleSet, choose_quota, take_stratified
from mmdyn.errors import UserError
from mmdyn.sample import Sample, Variant, Verdict

PNG = picture()


def many(order: int = 1) -> list[Sample]:
    """60 of physics, 30 of biology, 10 of maths; half of each are hard."""
    names = ["physics"] * 60 + ["biology"] * 30 + ["maths"] * 10
    samples = [
        open_ended(f"q{number}", fields={"discipline": name, "difficulty": "hard" if number % 2 else "easy"})
        for number, name in enumerate(names)
    ]
    return samples[::order]


def counted(source: SampleSet, *fields: str) -> Counter[object]:
    return Counter(tuple(sample.fields[name] for name in fields) for sample in source)


def test_shares_follow_the_sizes_by_largest_remainders(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", many())
    assert counted(take_stratified(source, tmp_path / "10", 10, ["discipline"]), "discipline") == {
        ("physics",): 6,
        ("biology",): 3,
        ("maths",): 1,
    }
    seven = counted(take_stratified(source, tmp_path / "7", 7, ["discipline"]), "discipline")
    assert seven == {("physics",): 4, ("biology",): 2, ("maths",): 1}
    both = counted(
        take_stratified(source, tmp_path / "20", 20, ["discipline", "difficulty"]), "discipline", "difficulty"
    )
    assert both == {
        ("physics", "easy"): 6, ("physics", "hard"): 6, ("biology", "easy"): 3, ("biology", "hard"): 3,
        ("maths", "easy"): 1, ("maths", "hard"): 1,
    }  # fmt: skip
    assert len(take_stratified(source, tmp_path / "all", 1000, ["task_type"])) == 100


def test_the_seed_decides_not_the_order(tmp_path: Path) -> None:
    source, turned = write_set(tmp_path / "set", many()), write_set(tmp_path / "turned", many(-1))
    one, two = (
        take_stratified(given, tmp_path / f"{given.name}-{given.folder.name}", 12, ["discipline"], 3)
        for given in (source, turned)
    )
    ids = [sample.id for sample in one]
    assert ids == [sample.id for sample in two][::-1]
    assert one.manifest.digest == two.manifest.digest
    assert ids == sorted(ids, key=lambda id: int(id[1:]))
    other = [sample.id for sample in take_stratified(source, tmp_path / "other", 12, ["discipline"], 4)]
    assert other != ids
    more = {sample.id for sample in take_stratified(source, tmp_path / "more", 24, ["discipline"], 3)}
    assert more > set(ids)


def test_every_sample_is_as_likely(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", many()[:10])
    hits = Counter(
        sample.id for seed in range(200) for sample in take_stratified(source, tmp_path / str(seed), 3, (), seed)
    )
    assert sum(hits.values()) == 600
    assert all(35 <= count <= 87 for count in hits.values())  # 60 expected; four standard deviations to either side


def test_variants_and_pictures_travel_with_their_parent(tmp_path: Path) -> None:
    def variant(parent: int, draw: int) -> Sample:
        trail = Variant(f"q{parent}", "pad", draw, 1, (), Verdict("kept"))
        return choice(f"q{parent}~pad~{draw}", images=(image_ref(PNG),), variant=trail)

    source = write_set(
        tmp_path / "set", [variant(parent, draw) for draw in (0, 1) for parent in range(5)], images=[PNG]
    )
    made = take_stratified(source, tmp_path / "out", 2)
    assert Counter(sample.parent for sample in made).most_common() == [(sample.parent, 2) for sample in list(made)[:2]]
    assert made.images.read(image_ref(PNG)) == PNG


def test_taken_again_it_is_there_and_other_settings_are_refused(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", many())
    made = take_stratified(source, tmp_path / "out", 5, seed=2, name="five")
    before = (tmp_path / "out" / "samples.jsonl").stat().st_mtime_ns
    assert made.name == "five"
    assert take_stratified(source, tmp_path / "out", 5, seed=2, name="five").manifest == made.manifest
    assert (tmp_path / "out" / "samples.jsonl").stat().st_mtime_ns == before
    with pytest.raises(UserError, match=r"already holds another set \(five\)"):
        take_stratified(source, tmp_path / "out", 6, seed=2)


def test_mistakes_are_explained(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", many())
    with pytest.raises(UserError, match=r"has the field 'disciplin' \(did you mean 'discipline'\?\): the fields are "):
        take_stratified(source, tmp_path / "out", 5, ["disciplin"])
    with pytest.raises(UserError, match="--limit is 0: take at least one sample"):
        take_stratified(source, tmp_path / "out", 0)
    assert not (tmp_path / "out").exists()


def test_a_quota_chooses_so_many_of_each_value(tmp_path: Path) -> None:
    source = write_set(tmp_path / "set", many())
    easy = {f"q{number}" for number in range(0, 100, 2)}
    chosen = choose_quota(source, "difficulty=easy:7, hard : 12", seed=3)
    assert (len(chosen & easy), len(chosen - easy)) == (7, 12)
    assert chosen == choose_quota(write_set(tmp_path / "turned", many(-1)), "difficulty=easy:7,hard:12", seed=3)
    assert chosen < choose_quota(source, "difficulty=easy:9,hard:12", seed=3), "a larger quota keeps what a smaller has"
    assert chosen != choose_quota(source, "difficulty=easy:7,hard:12", seed=4)
    assert choose_quota(source, "difficulty=easy:400") == easy, "all where there are fewer, and none of other values"
    assert choose_quota(source, "difficulty=easy:7", limit=10) <= {f"q{number}" for number in range(10)}


def test_a_quota_that_finds_fewer_tells_what_it_found(tmp_path: Path) -> None:
    source, told = write_set(tmp_path / "set", many()), list[str]()
    choose_quota(source, "difficulty=easy:50,hard:3", tell=told.append)
    assert told == []
    choose_quota(source, "difficulty=easy:500,hard:3,Hard:2", tell=told.append)
    assert told == ["--take finds fewer samples than it names: easy 50 of 500, Hard 0 of 2; difficulty is easy, hard"]


def test_a_field_with_an_equals_sign_in_its_name_is_quoted(tmp_path: Path) -> None:
    samples = [open_ended(f"q{number}", fields={"a=b": "x=1" if number else "y"}) for number in range(3)]
    assert choose_quota(write_set(tmp_path / "set", samples), '"a=b"=x=1:5') == {"q1", "q2"}
    with pytest.raises(UserError, match=r"has the field 'a'.*the fields are a=b, language, task_type"):
        choose_quota(SampleSet(tmp_path / "set"), "a=b=y:1")


@pytest.mark.parametrize(
    ("quota", "problem"),
    [
        ("difficulty", r"take 'difficulty' is not FIELD=VALUE:N,…: write difficulty=easy:100,hard:100"),
        ("difficulty=easy:7,hard", "is not FIELD=VALUE:N"),
        ("difficulty=easy:-7", "is not FIELD=VALUE:N"),
        ("dificulty=easy:7", "has the field 'dificulty' .did you mean 'difficulty'"),
        ("difficulty=Easy:7", "chooses no sample of .*: name values that difficulty has"),
    ],
)
def test_quotas_that_are_none(tmp_path: Path, quota: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        choose_quota(write_set(tmp_path / "set", many()), quota)
