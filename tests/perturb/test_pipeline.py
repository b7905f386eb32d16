"""A set in, a dynamic set out: complete, self-contained, the same whoever makes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from making_sets import PICTURES, REFS, make_set, samples, tree

from making import blank, choice, image_ref, picture, pixels, true_false, write_set
from mmdyn.data import KnowledgePoint, SampleSet, SetWriter
from mmdyn.errors import UserError
from mmdyn.sample import Verdict
from perturb import parse_chains, perturb, summarize
from perturb.rewrite.embedded_rewriter import EmbeddedRewriter

OPS = "pad,color,pad+color,shuffle,convert,pad+shuffle+convert"


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    return make_set(tmp_path / "source")


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    folder = tmp_path_factory.mktemp("dynamic")
    return perturb(make_set(folder / "source"), folder / "out", ops=OPS, draws=2, seed=1, quiet=True)


def test_every_parent_chain_and_draw_has_an_outcome_in_this_order(dynamic: SampleSet) -> None:
    wanted = [f"{s.id}~{chain}~{draw}" for s in samples() for chain in OPS.split(",") for draw in (0, 1)]
    made = [sample.id for sample in dynamic]
    dropped = [dropped.id for dropped in dynamic.dropped()]
    assert sorted(made + dropped) == sorted(wanted)
    assert made == [id for id in wanted if id in set(made)]
    assert dropped == [id for id in wanted if id in set(dropped)]
    counts = {"samples": len(made), "unjudged": len(made), "not_applicable": len(dropped) - 2, "unchanged": 2}
    assert dynamic.manifest.counts == counts, "a blank has one way to become an open question"
    assert len(made) > 80


def test_a_variant_has_its_trail(dynamic: SampleSet) -> None:
    parents = {sample.id: sample for sample in samples()}
    for sample in dynamic:
        trail = sample.variant
        assert trail is not None
        assert sample.id == f"{trail.parent}~{trail.chain}~{trail.draw}"
        assert (trail.seed, trail.verdict) == (1, Verdict("unjudged"))
        assert trail.attempt == 0 or trail.draw > 0, "only a draw that equals an earlier one is drawn again unjudged"
        assert tuple(step.operator for step in trail.steps) == parse_chains(trail.chain)[0].operators
        parent = parents[trail.parent]
        assert (sample.group, sample.language, sample.points) == (parent.group, parent.language, parent.points)


def test_the_manifest_says_how_it_was_made(dynamic: SampleSet) -> None:
    manifest = dynamic.manifest
    assert manifest.name == "mixed-dynamic" and dynamic.root == "mixed"
    assert manifest.made == {
        "command": "perturb", "ops": OPS, "draws": 2, "seed": 1, "limit": None, "version": manifest.made["version"],
        "rewriter": EmbeddedRewriter().identity,
    }  # fmt: skip
    source = SampleSet(dynamic.folder.parent / "source")
    assert manifest.parent is not None
    assert (manifest.parent.name, manifest.parent.digest) == ("mixed", source.manifest.digest)


def test_the_set_is_self_contained_and_nothing_is_left_over(dynamic: SampleSet) -> None:
    refs = {ref for sample in dynamic for ref in sample.all_images}
    files = {path.relative_to(dynamic.folder).as_posix() for path in dynamic.folder.rglob("*") if path.is_file()}
    assert files == refs | {"set.json", "samples.jsonl", "dropped.jsonl"}
    for ref in refs:
        data = (dynamic.folder / ref).read_bytes()
        assert ref == image_ref(data, ref.rpartition(".")[2])
        assert pixels(data).size


@pytest.mark.parametrize("workers", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_any_number_of_workers_makes_the_same_bytes(dynamic: SampleSet, tmp_path: Path, workers: int) -> None:
    again = perturb(make_set(tmp_path / "s"), tmp_path / "out", ops=OPS, draws=2, seed=1, workers=workers, quiet=True)
    assert tree(again.folder) == tree(dynamic.folder)


def test_the_order_of_the_parents_changes_no_variant(dynamic: SampleSet, tmp_path: Path) -> None:
    source = make_set(tmp_path / "source", backwards=True)
    again = perturb(source, tmp_path / "out", ops=OPS, draws=2, seed=1, workers=2, quiet=True)
    assert again.manifest.digest == dynamic.manifest.digest
    assert [sample.id for sample in again] != [sample.id for sample in dynamic]
    assert {sample.id: sample for sample in again} == {sample.id: sample for sample in dynamic}


def test_other_chains_and_more_draws_change_no_variant(dynamic: SampleSet, source: SampleSet, tmp_path: Path) -> None:
    more = perturb(source, tmp_path / "out", ops="invert,pad+color,pad", draws=3, seed=1, quiet=True)
    before = {sample.id: sample for sample in dynamic}
    common = [sample for sample in more if sample.id in before]
    assert len(common) > 20
    assert all(before[sample.id] == sample for sample in common)


def test_names_that_mean_the_same_draw_the_same(source: SampleSet, tmp_path: Path) -> None:
    short = perturb(source, tmp_path / "a", ops="pad+color", quiet=True)
    full = perturb(source, tmp_path / "b", ops="image.pad+invert+salt-pepper", quiet=True)
    assert [s.images for s in short] == [s.images for s in full]
    assert next(iter(full)).id == "en-choice~image.pad+invert+salt-pepper~0"


def test_nothing_random_makes_one_variant(source: SampleSet, tmp_path: Path) -> None:
    out = perturb(source, tmp_path / "out", ops="invert,invert+pad", draws=3, quiet=True)
    chains = [sample.variant.chain for sample in out if sample.variant and sample.variant.parent == "en-choice"]
    assert chains == ["invert", "invert+pad", "invert+pad", "invert+pad"]


def test_words_alone_carry_the_pictures_over(source: SampleSet, tmp_path: Path) -> None:
    out = perturb(source, tmp_path / "out", ops="shuffle", quiet=True)
    (sample,) = (sample for sample in out if sample.id == "en-multi~shuffle~0")
    assert sample.images == (REFS[1], REFS[3])
    assert [out.images.read(ref) for ref in sample.images] == [PICTURES[1], PICTURES[3]]
    (pictured,) = (sample for sample in out if sample.id == "en-pictured~shuffle~0")
    assert sorted(option.image or "" for option in pictured.options) == sorted(REFS[:3])
    (gold,) = (option for option in pictured.options if option.label in pictured.answer)  # type: ignore[operator]
    assert gold.image == REFS[2]


def test_knowledge_comes_along(tmp_path: Path) -> None:
    point = KnowledgePoint("triangles", "A triangle has three sides.", ("maths",))
    with SetWriter(tmp_path / "source", "known") as writer:
        writer.add(choice())
        writer.know(point)
    out = perturb(SampleSet(tmp_path / "source"), tmp_path / "out", ops="shuffle", quiet=True)
    assert list(out.knowledge()) == [point]


def test_a_chain_that_changes_nothing_is_unchanged_not_a_variant(source: SampleSet, tmp_path: Path) -> None:
    out = perturb(source, tmp_path / "out", ops="invert+invert", quiet=True)
    assert len(out) == 0
    assert out.manifest.counts == {"samples": 0, "unchanged": 10, "not_applicable": 2}
    assert {dropped.reason for dropped in out.dropped()} == {
        "the variant equals its parent",
        "the sample has no picture",
    }
    assert not (out.folder / "images").exists()


def test_a_picture_that_cannot_be_decoded_fails_and_the_original_does_not_stand_in(tmp_path: Path) -> None:
    good, cut = picture(), picture(text="cut")[:-70]
    source = write_set(tmp_path / "s", [choice("good", images=(image_ref(good),)), choice("bad", images=("cut.png",))])
    source.images.put(good)
    (source.folder / "cut.png").write_bytes(cut)
    out = perturb(source, tmp_path / "out", ops="pad,shuffle", workers=2, quiet=True)
    assert [sample.id for sample in out] == ["good~pad~0", "good~shuffle~0"]
    first, second = out.dropped()
    assert (first.id, first.status, first.operator) == ("bad~pad~0", "failed", "image.pad")
    assert first.reason.startswith("a picture cannot be decoded (cut.png: the picture is broken or cut off")
    assert (second.id, second.status, second.operator) == ("bad~shuffle~0", "failed", "")
    assert second.reason.startswith("a picture cannot be carried over (cut.png: the picture is broken or cut off")
    assert out.manifest.counts["failed"] == 2
    assert first.steps and first.steps[0].operator == "image.pad", "what was drawn is there"


def test_a_missing_picture_fails(tmp_path: Path) -> None:
    source = write_set(tmp_path / "s", [choice(images=("images/gone.png",))])
    out = perturb(source, tmp_path / "out", ops="pad,shuffle", quiet=True)
    assert [dropped.status for dropped in out.dropped()] == ["failed", "failed"]
    assert all("images/gone.png" in dropped.reason and "is missing" in dropped.reason for dropped in out.dropped())


def test_a_set_written_by_hand(tmp_path: Path) -> None:
    folder = tmp_path / "by hand"
    folder.mkdir()
    (folder / "triangle.png").write_bytes(picture(format="JPEG"))
    line = {"id": "1", "question": "How many?", "task_type": "true_false", "answer": True, "images": ["triangle.png"]}
    (folder / "samples.jsonl").write_text(json.dumps(line))
    out = perturb(SampleSet(folder), tmp_path / "out", ops="convert,invert", quiet=True)
    carried, inverted = out
    assert carried.images == (image_ref(picture(format="JPEG"), "jpg"),)
    assert inverted.images[0].endswith(".jpg")
    assert out.name == "by hand-dynamic"


def test_image_chains_leave_samples_without_pictures(tmp_path: Path) -> None:
    out = perturb(
        write_set(tmp_path / "s", [true_false()]), tmp_path / "out", ops="color,pad+convert,convert", quiet=True
    )
    assert [sample.id for sample in out] == ["t1~convert~0"]
    assert [(dropped.status, dropped.operator, dropped.reason) for dropped in out.dropped()] == [
        ("not_applicable", "image.invert", "the sample has no picture"),
        ("not_applicable", "image.pad", "the sample has no picture"),
    ]


def test_limit_and_name(source: SampleSet, tmp_path: Path) -> None:
    out = perturb(source, tmp_path / "out", ops="invert", limit=2, name="small", quiet=True)
    assert [sample.parent for sample in out] == ["en-choice", "en-multi"]
    assert out.name == "small" and out.root == "mixed"


@pytest.mark.parametrize(("settings", "problem"), [
    ({"draws": 0}, "draws is 0: give 1 or more"),
    ({"workers": 0}, "workers is 0: give 1 or more"),
    ({"limit": 0}, "limit is 0: give 1 or more"),
    ({"seed": -1}, "seed is -1: give a number from 0 to 2^63 - 1"),
    ({"seed": 1 << 63}, "give a number from 0 to"),
])  # fmt: skip
def test_settings_that_make_no_sense(source: SampleSet, tmp_path: Path, settings: dict[str, int], problem: str) -> None:
    with pytest.raises(UserError, match=problem.replace("^", r"\^")):
        perturb(source, tmp_path / "out", ops="pad", quiet=True, **settings)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_variants_are_no_parents(source: SampleSet, tmp_path: Path) -> None:
    out = perturb(source, tmp_path / "out", ops="invert", quiet=True)
    with pytest.raises(UserError, match="is a dynamic set already: give the set that it was made of"):
        perturb(out, tmp_path / "again", ops="pad", quiet=True)
    mixed = write_set(tmp_path / "mixed", [choice(), next(iter(out))])
    with pytest.raises(UserError, match=r"holds a variant .en-choice~invert~0.: give a set of standard samples"):
        perturb(mixed, tmp_path / "third", ops="shuffle", quiet=True)


def test_the_summary_counts_by_chain(dynamic: SampleSet) -> None:
    chains = summarize(dynamic)
    assert list(chains) == OPS.split(",")
    assert chains["pad"].made == 20 and chains["pad"].outcomes["not_applicable"] == 4
    assert chains["pad"].reasons == {"not_applicable": {"the sample has no picture": 4}}
    assert chains["shuffle"].reasons == {"not_applicable": {"there are no options to shuffle": 12}}


def test_gold_answers_change_no_picture_and_no_order(tmp_path: Path) -> None:
    """Permuting the gold answers changes what is right, and nothing that a model sees of shuffled or padded
    questions."""
    sets = []
    for answer in "ABCD":
        made = [msgspec.structs.replace(choice(f"s{n}", images=(REFS[0],)), answer=(answer,)) for n in range(10)]
        source = write_set(tmp_path / answer, made, images=PICTURES)
        out = perturb(source, tmp_path / f"{answer}-out", ops="pad+color,shuffle", draws=2, quiet=True)
        sets.append([(sample.id, sample.question, sample.options, sample.images) for sample in out])
    assert all(shown == sets[0] for shown in sets)


def test_what_is_drawn_depends_on_the_severity_and_on_each_part_of_a_variants_identity(tmp_path: Path) -> None:
    """Invariant 1 of the design: seed, parent id, chain, step, severity, draw (and attempt, in test_judged.py)."""
    source = write_set(tmp_path / "s", [choice(f"s{n}", images=(REFS[0],)) for n in range(2)], images=PICTURES)
    chains = "pad,pad@mild,pad@strong,pad+pad,pad+shuffle"
    drawn = set[tuple[float, ...]]()
    for seed in (1, 2):
        dynamic = perturb(source, tmp_path / f"out{seed}", ops=chains, draws=2, seed=seed, quiet=True)
        bounds = {"": (0.1, 0.2), "mild": (0.05, 0.1), "strong": (0.2, 0.35)}
        for sample in dynamic:
            assert sample.variant is not None
            low, high = bounds[sample.variant.chain.partition("@")[2]]
            for step in sample.variant.steps:
                if step.operator == "image.pad":
                    sides = [cast("float", step.params[side]) for side in ("left", "right", "top")]
                    drawn.add(tuple(round((side - low) / (high - low), 3) for side in sides))
    assert len(drawn) == 2 * 2 * 2 * 6, "no two of them draw alike"


def test_wrong_answers_come_from_questions_on_the_same_knowledge_point(tmp_path: Path) -> None:
    about: dict[str, Any] = {"knowledge_points": ("capitals",), "question": "The capital of this country is ____."}
    cities = ("Paris", "Berlin", "Vienna", "Madrid", "Lisbon", "Warsaw")
    made = [blank(f"b{n}", answer=((city,),), **about) for n, city in enumerate(cities)]
    ops = "convert:choice"
    dynamic = perturb(write_set(tmp_path / "s", made), tmp_path / "out", ops=ops, draws=8, seed=1, quiet=True)
    assert dynamic.manifest.forms == {ops: {"single_choice": len(dynamic)}}
    choices = [sample for sample in dynamic if sample.task_type == "single_choice"]
    assert len(choices) >= 6
    for sample in choices:
        assert {option.text for option in sample.options} <= set(cities)
        assert sample.variant is not None
        params = sample.variant.steps[0].params
        assert params["by"] == "pool" and isinstance(params["pool"], str)


def test_a_quota_makes_variants_of_so_many_parents(tmp_path: Path) -> None:
    levels = ("easy", "hard") * 6
    source = write_set(
        tmp_path / "set", [choice(f"q{n:02}", fields={"difficulty": level}) for n, level in enumerate(levels)]
    )
    take = "difficulty=easy:2,hard:3"
    made = perturb(source, tmp_path / "made", ops="shuffle,convert", seed=5, take=take, quiet=True)
    parents = {sample.parent for sample in made}
    assert [sum(int(parent[1:]) % 2 == hard for parent in parents) for hard in (0, 1)] == [2, 3]
    assert made.manifest.made["take"] == take and made.manifest.parent and made.manifest.parent.name == source.name
    assert "take" not in perturb(source, tmp_path / "all", ops="shuffle", quiet=True).manifest.made
    with pytest.raises(UserError, match=r'was made with other settings \(take "difficulty=easy:2,hard:3", now none'):
        perturb(source, tmp_path / "made", ops="shuffle,convert", seed=5, quiet=True)
