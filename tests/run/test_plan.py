"""Which samples are asked under which conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from running import QUIET

from making import blank, choice, write_set
from mmdyn.data import Origin, SampleSet, SetWriter
from mmdyn.errors import InputError, UserError
from mmdyn.record import Condition
from mmdyn.run import ConditionSpec, KnowledgeConfig
from mmdyn.run.context_providers import ContextProviders
from mmdyn.run.evaluate import vary
from mmdyn.run.executors._executor import Job
from mmdyn.run.plan import Ask, Skip, check_sets, count, plan
from mmdyn.run.sets import open_sets
from mmdyn.sample import Sample, Variant, Verdict
from mmdyn.work import Store


def variant(sample: Sample, chain: str, draw: int = 0) -> Sample:
    """A variant as an operator would make it, with the words changed."""
    trail = Variant(sample.id, chain, draw, 1, (), Verdict("unjudged"))
    changed: Any = {"id": f"{sample.id}~{chain}~{draw}", "question": f"{sample.question} ({draw})"}
    return msgspec.structs.replace(sample, variant=trail, **changed)


def pair(folder: Path) -> tuple[SampleSet, SampleSet]:
    """A set of three samples, and a dynamic set of two of them with two draws each."""
    samples = [choice("a", knowledge_points=("sides",)), blank("b"), choice("c", knowledge_points=("sides",))]
    parent = write_set(folder / "set", samples)
    origin = Origin(parent.name, parent.manifest.digest)
    with SetWriter(folder / "dynamic", "small-dynamic", parent=origin) as writer:
        for sample in (samples[0], samples[2]):
            for draw in (0, 1):
                writer.add(variant(sample, "pad", draw))
    return parent, SampleSet(folder / "dynamic")


def asked(sets: tuple[SampleSet, ...], *modes: str, epochs: int = 1, limit: int | None = None) -> list[tuple[str, str]]:
    asks = planned(sets, ConditionSpec(modes, styles=["direct"]).conditions(), epochs, limit)
    return [(ask.sample.id, ask.condition.mode) for ask in asks if isinstance(ask, Ask)]


def planned(
    sets: tuple[SampleSet, ...], conditions: tuple[Condition, ...], epochs: int = 1, limit: int | None = None
) -> list[Ask | Skip]:
    with Store(sets[0].folder.parent / "records") as store:
        providers = ContextProviders(sets, conditions, KnowledgeConfig(), store)
        limits = {opened.root: limit for opened in sets}
        return list(plan(sets, [conditions] * len(sets), epochs, limits, providers.by_set))


def test_standard_and_dynamic_go_to_their_sets(tmp_path: Path) -> None:
    sets = pair(tmp_path)
    assert asked(sets, "standard") == [("a", "standard"), ("b", "standard"), ("c", "standard")]
    assert asked(sets, "dynamic") == [(f"{parent}~pad~{draw}", "dynamic") for parent in "ac" for draw in (0, 1)]


def test_what_has_no_options_to_weigh_is_skipped_and_counted(tmp_path: Path) -> None:
    conditions = ConditionSpec(["standard"], styles=["direct", "likelihood"]).conditions()
    asks = list(plan(pair(tmp_path), [conditions] * 2, 1, {}))
    found = [(ask.sample.id, ask.condition.style) for ask in asks if isinstance(ask, Ask)]
    both = [(id, style) for id in "abc" for style in ("direct", "likelihood")]
    assert found == [one for one in both if one != ("b", "likelihood")]
    assert count(asks) == (5, {"likelihood": 1})


def test_the_limit_counts_parents_and_keeps_their_variants(tmp_path: Path) -> None:
    sets = pair(tmp_path)
    assert [sample for sample, _ in asked(sets, "standard", "dynamic", limit=2)] == ["a", "b", "a~pad~0", "a~pad~1"]
    assert [sample for sample, _ in asked(sets[1:], "dynamic", limit=1)] == ["a~pad~0", "a~pad~1"]


def test_epochs_and_styles_multiply(tmp_path: Path) -> None:
    conditions = ConditionSpec(["standard"], styles=["direct", "cot"]).conditions()
    asks = [ask for ask in plan(pair(tmp_path), [conditions] * 2, 2, {}) if isinstance(ask, Ask)]
    assert [(ask.condition.style, ask.epoch) for ask in asks[:4]] == [("direct", 0), ("direct", 1), ("cot", 0), ("cot", 1)]  # fmt: skip
    assert len(asks) == 12


def test_sets_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    parent, dynamic = pair(tmp_path)
    both = ConditionSpec(["standard", "dynamic"], styles=["direct"]).conditions()
    check_sets([parent, dynamic], both)
    with pytest.raises(UserError, match="name it too, or ask --mode dynamic"):
        check_sets([dynamic], both)
    with pytest.raises(UserError, match="needs variants"):
        check_sets([parent], both)
    other = write_set(tmp_path / "other", [choice("z")])
    with pytest.raises(UserError, match="another version of small"):
        check_sets([other, dynamic], both)


def test_sets_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    parent, _ = pair(tmp_path)
    with pytest.raises(UserError, match="are the same set: give it once"):
        open_sets([parent.folder, SampleSet(parent.folder)], tmp_path)
    other = write_set(tmp_path / "other", [choice("z")])
    with pytest.raises(UserError, match="are both called small: `mmdyn data convert --name` gives one of them"):
        open_sets([parent, other], tmp_path)
    for folder, answer in (("x", "true"), ("y", "false")):
        (tmp_path / folder).mkdir()
        line = f'{{"id":"q","question":"2+2=4","task_type":"true_false","answer":{answer}}}\n'
        (tmp_path / folder / "mine.jsonl").write_text(line)
    with pytest.raises(UserError, match="are both called mine"):
        open_sets([tmp_path / "x" / "mine.jsonl", tmp_path / "y" / "mine.jsonl"], tmp_path)


def test_a_hostile_name_of_a_set_stays_in_the_run(tmp_path: Path) -> None:
    opened = write_set(tmp_path / "set", [choice()], "../../evil")
    job = Job(tmp_path / "run", (), ConditionSpec(ops="shuffle"), execution=QUIET)
    assert vary(job, opened, job.out).folder == tmp_path / "run" / "sets" / ".._.._evil-dynamic"


def test_variants_whose_parent_set_is_not_named_are_refused(tmp_path: Path) -> None:
    opened = write_set(tmp_path / "mixed", [choice("a"), variant(choice("a"), "pad")])
    with pytest.raises(InputError, match="a~pad~0 is a variant, and the set names no parent set: give the folder"):
        asked((opened,), "standard")


def test_a_sample_is_skipped_once_however_many_styles_there_are(tmp_path: Path) -> None:
    conditions = ConditionSpec(["standard", "kprag"], styles=["direct", "cot"]).conditions()
    assert count(planned(pair(tmp_path), conditions, 2)) == (2 * 2 * (3 + 2), {"kprag": 1})
