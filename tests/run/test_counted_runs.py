"""What a dry run counts, situation by situation, and that a run then sends just that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from making_sets import make_set
from running import estimated, evaluated
from serving import serve

from making import choice, open_ended
from mmdyn.data import KnowledgePoint, SampleSet, SetWriter
from mmdyn.errors import Stopped
from mmdyn.run import RunEstimate

PRICES = "gpt-4o: {input: 2.5, output: 10, image: 0.01}\nj: {input: 1, output: 2, currency: EUR}\n"
POINTS = ("Polygons", "Buoyancy", "Tides")


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    """Two questions and more for each of three points, without pictures, and one that names no point."""
    with SetWriter(tmp_path / "set", "small") as writer:
        for number in range(2):
            for point in POINTS:
                question = f"What is known of {point.lower()}? ({number})"
                writer.add(choice(f"{point}-{number}", question=question, knowledge_points=(point,)))
        writer.add(choice("bare", question="Which rock is molten?", hints={"background": "Think of lava."}))
        writer.add(open_ended("open", knowledge_points=("Tides",)))
        for point in POINTS:
            writer.know(KnowledgePoint(point, f"{point} are known for many things."))
    return SampleSet(tmp_path / "set")


def told(found: RunEstimate) -> list[tuple[str, str, int, int, int, str]]:
    """Of each row the model, the mode, the requests, the tokens, and the cost as it is printed."""
    rows = (*found.rows, *found.judges)
    return [
        (row.model, row.mode, row.to_ask, row.prompt_tokens, row.completion_tokens, _cost(row.cost, row.currency))
        for row in rows
    ]


def _cost(cost: float | None, currency: str) -> str:
    return "unknown" if cost is None else f"{cost:.4g} {currency}".strip()


@pytest.mark.parametrize(
    ("settings", "rows"),
    [
        ({"models": ["openai:gpt-4o", "openai:nobody", "baseline:lexical"]}, [
            ("openai:gpt-4o", "standard", 12, 1656, 1024, "0.1944 USD"),
            ("openai:nobody", "standard", 12, 1656, 1024, "unknown"),
            ("baseline:lexical", "standard", 12, 1656, 1024, "0"),
        ]),
        ({"ops": "pad,color", "draws": 2}, [
            ("openai:gpt-4o", "standard", 12, 1656, 1024, "0.1944 USD"),
            ("openai:gpt-4o", "dynamic", 40, 6320, 3968, "0.7755 USD"),
        ]),
        ({"contexts": "none,no-picture"}, [
            ("openai:gpt-4o", "standard", 12, 1656, 1024, "0.1944 USD"),
            ("openai:gpt-4o", "no-picture", 8, 361, 960, "0.0105 USD"),
        ]),
        ({"styles": "cot", "judges": ("openai:j", "openai:k"), "rubric": "match,votes=3"}, [
            ("openai:gpt-4o", "standard", 12, 1764, 5824, "0.2427 USD"),
            ("judge openai:j", "standard", 36, 33498, 2160, "0.03782 EUR"),
            ("judge openai:k", "standard", 36, 33498, 2160, "unknown"),
        ]),
        ({"models": "baseline:lexical", "judges": "openai:j", "rubric": "pictures=true", "judge_mode": "all"}, [
            ("baseline:lexical", "standard", 12, 1656, 1024, "0"),
            ("judge openai:j", "standard", 12, 7520, 720, "0.00896 EUR"),
        ]),
        ({"n": 3, "epochs": 2, "max_cost": 5}, [("openai:gpt-4o", "standard", 6, 802, 160, "0.0836 USD")]),
        ({"models": "completions:m,base_url=http://127.0.0.1:9/v1", "styles": "likelihood"}, [
            ("completions:m", "standard", 6, 722, 0, "unknown"),
        ]),
    ],
)  # fmt: skip
def test_pictures_prices_judges_and_variants_have_their_numbers(
    settings: dict[str, Any], rows: list[Any], tmp_path: Path
) -> None:
    opened = make_set(tmp_path / "mixed")
    (tmp_path / "p.yaml").write_text(PRICES)
    given = {"models": "openai:gpt-4o", "prices": tmp_path / "p.yaml"} | settings
    assert told(estimated(opened, given.pop("models"), tmp_path / "run", **given)) == rows
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "rows", "skipped"),
    [
        ({"contexts": "none,kprag:two-turn,kprag:inline", "styles": "direct,cot"}, [
            ("openai:gpt-4o", "standard", 16, 776, 4224, "0.04418 USD"),
            ("openai:gpt-4o", "kprag:two-turn", 17, 7010, 4992, "0.06745 USD"),
            ("openai:gpt-4o", "kprag:inline", 14, 1767, 6592, "0.07034 USD"),
        ], {"kprag:two-turn": 1, "kprag:inline": 1}),
        ({"shots": "0,2,2:similar,1:base"}, [("openai:gpt-4o", "standard", 32, 2829, 2048, "0.02755 USD")], {}),
        ({"contexts": "kprag:two-turn", "shots": "1"}, [
            ("openai:gpt-4o", "kprag:two-turn", 10, 3911, 1696, "0.02674 USD"),
        ], {"kprag:two-turn": 1}),
        ({"contexts": "kprag:retrieved,distractor", "retriever": "lexical,k=1"}, [
            ("openai:gpt-4o", "kprag:retrieved", 8, 574, 512, "0.006555 USD"),
            ("openai:gpt-4o", "distractor", 7, 505, 496, "0.006222 USD"),
        ], {"distractor": 1}),
    ],
)  # fmt: skip
def test_contexts_and_examples_have_their_numbers(
    settings: dict[str, Any], rows: list[Any], skipped: dict[str, int], source: SampleSet, tmp_path: Path
) -> None:
    (tmp_path / "p.yaml").write_text(PRICES)
    found = estimated(source, "openai:gpt-4o", tmp_path / "run", prices=tmp_path / "p.yaml", **settings)
    assert (told(found), found.skipped) == (rows, skipped)
    assert bool(found.shown) == ("shots" in settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"modes": "standard,kprag", "styles": "direct,cot", "epochs": 2},
        {"shots": "2"},
        {"contexts": "none,kprag:two-turn", "styles": "direct,cot"},
    ],
    ids=["modes", "shots", "two turns"],
)
@pytest.mark.parametrize("cache", ["shared", "own"])
def test_a_run_sends_what_was_counted_and_goes_on_with_what_is_left(
    settings: dict[str, Any], cache: str, source: SampleSet, tmp_path: Path
) -> None:
    with serve() as server:
        model = f"openai:m,base_url={server.url}"

        def to_ask(run: str) -> int:
            before = server.stats.total, {*tmp_path.rglob("*")}
            rows = estimated(source, model, tmp_path / run, cache=cache, **settings).rows
            assert (server.stats.total, {*tmp_path.rglob("*")}) == before
            assert sum(row.planned for row in rows) == planned
            return sum(row.to_ask for row in rows)

        planned = sum(row.planned for row in estimated(source, model, tmp_path / "run", **settings).rows)
        assert to_ask("run") == planned
        with pytest.raises(Stopped):
            evaluated(source, model, tmp_path / "run", cache=cache, max_requests=5, concurrency=1, **settings)
        assert server.stats.total == 5 and to_ask("run") == planned - 5
        assert to_ask("other") == (planned - 5 if cache == "shared" else planned)
        run = evaluated(source, model, tmp_path / "run", cache=cache, **settings)
        assert server.stats.total == planned and to_ask("run") == 0
        replies = [one.reply for one in (*run.records(), *run.expansions())]
        assert len(replies) == planned


def test_a_second_turn_is_counted_with_what_was_written_in_the_first(source: SampleSet, tmp_path: Path) -> None:
    with serve() as server:
        model, turns = f"openai:m,base_url={server.url}", {"contexts": "kprag:two-turn"}
        evaluated(source, model, tmp_path / "run", **turns)
        (row,) = estimated(source, model, tmp_path / "run", styles="cot", **turns).rows
        run = evaluated(source, model, tmp_path / "cot", styles="cot", **turns)
        assert (row.to_ask, row.there) == (7, 3), "the three expansions are there"
        assert row.prompt_tokens == sum(record.reply.estimate for record in run.records()) > 0


def test_a_judge_is_shown_the_pictures_that_were_withheld(tmp_path: Path) -> None:
    opened, judged = make_set(tmp_path / "mixed"), {"judges": "openai:j", "contexts": "no-picture"}
    blind, seeing = (
        estimated(opened, "baseline:lexical", tmp_path / "run", rubric=f"match,pictures={shown}", **judged).judges[0]
        for shown in ("false", "true")
    )
    assert seeing.prompt_tokens >= blind.prompt_tokens + 64 * seeing.planned


def test_the_tokens_are_those_that_a_run_estimates(source: SampleSet, tmp_path: Path) -> None:
    with serve() as server:
        model = f"openai:m,base_url={server.url}"
        (row,) = estimated(source, model, tmp_path / "run", styles="direct,cot").rows
        run = evaluated(source, model, tmp_path / "run", styles="direct,cot")
        assert row.prompt_tokens == sum(record.reply.estimate for record in run.records()) > 0
