"""A share of a plan: read out of order, equal asks, all of them once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from running import many_samples

from making import choice
from mmdyn.data import SAMPLES_FILE, LocatedSet, SampleSet
from mmdyn.errors import InputError
from mmdyn.keys import canonical
from mmdyn.models import open_model
from mmdyn.run import ConditionSpec, KnowledgeConfig, Limits
from mmdyn.run.context_providers import ContextProviders
from mmdyn.run.executors._executor import Engine, Job
from mmdyn.run.plan import Ask, Partition, cost
from mmdyn.run.share import RankShare
from mmdyn.work import Store
from perturb import perturb


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    source = many_samples(tmp_path / "set", 25)
    sets = [source, perturb(source, tmp_path / "dynamic", ops="pad,shuffle", draws=2, quiet=True)]
    conditions = ConditionSpec(["standard", "dynamic", "kprag"], styles=["direct", "cot"]).conditions()
    job = Job(tmp_path, (), ConditionSpec(epochs=3), limits=Limits(n=20), conditions=conditions)
    with Store(tmp_path / "records") as store:
        providers = ContextProviders(sets, job.conditions, KnowledgeConfig(), store)
        models = [open_model("baseline:lexical"), open_model("baseline:majority")]
        return Engine(job, sets, models, store, providers=providers.by_set)


def key(ask: Ask) -> bytes:
    return canonical(ask)


@pytest.mark.parametrize("partition", ["size", "cost", "count,asks=7", "cell"])
def test_shares_together_are_the_plan(engine: Engine, partition: str) -> None:
    planned = Counter(key(ask) for ask in engine.plan() if isinstance(ask, Ask))
    shares = [RankShare(engine, Partition.parse(partition), number, 3, "seed") for number in range(3)]
    for model in (0, 1):
        assert sum((Counter(map(key, share.of(model))) for share in shares), Counter()) == planned
    assert [len(share) for share in shares] == [sum(1 for model in (0, 1) for _ in share.of(model)) for share in shares]
    assert planned.total() > 300 and set(planned.values()) == {1}


def test_a_share_begins_with_what_costs_most(engine: Engine) -> None:
    costs = [cost(ask) for ask in RankShare(engine, Partition(), 0, 2).of(0)]
    assert costs == sorted(costs, reverse=True)


def test_a_cell_is_asked_by_one_share_and_a_models_cells_lie_together(engine: Engine) -> None:
    shares = [RankShare(engine, Partition("cell"), number, 2) for number in range(2)]
    cells = [[sorted({ask.place for ask in share.of(model)}) for model in (0, 1)] for share in shares]
    assert cells == [[[0, 1], []], [[], [0, 1]]]


def by_hand(folder: Path) -> SampleSet:
    lines = [msgspec.json.encode(choice(f"s{n}", question="中文 " * (n + 1))) for n in range(3)]
    (folder / SAMPLES_FILE).write_bytes(b"\r\n".join([lines[0], b"", b"  ", *lines[1:]]))
    return SampleSet(folder)


def test_a_set_that_was_written_by_hand_is_read_where_a_sample_lies(tmp_path: Path) -> None:
    located = LocatedSet(by_hand(tmp_path))
    places = {sample.id: located.at for sample in located}
    assert [located.read(places[id]).id for id in ("s2", "s0", "s1")] == ["s2", "s0", "s1"]
    assert [sample.id for sample in located] == ["s0", "s1", "s2"]


def test_a_file_that_was_changed_meanwhile_is_noticed(tmp_path: Path) -> None:
    located = LocatedSet(by_hand(tmp_path))
    with pytest.raises(InputError, match=r"samples.jsonl: changed while it was read \(.*\): run again"):
        located.read(5)
