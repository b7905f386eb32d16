"""What lies beside a question, from the command's settings to the records: over turns, faults, resumed runs and
ranks."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running import contents, estimated, evaluated
from serving import script, serve
from shell import MMDYN
from tables.making_runs import score

from making import choice
from mmdyn.data import KnowledgePoint, SampleSet, SetWriter
from mmdyn.errors import Stopped, UserError
from mmdyn.record import ContextInfo
from mmdyn.run import KnowledgeConfig, RetrieverConfig, export
from mmdyn.run.runs import summarise_run
from mmdyn.tables import report
from mmdyn.work import Reader, RunFolder
from perturb import perturb

POINTS = {
    "Polygons": "A polygon with three sides is a triangle.",
    "Buoyancy": "Ice floats since it is less dense than water.",
    "Photosynthesis": "Plants make sugar out of light, water and air.",
    "Tides": "The Moon pulls the sea, which rises twice a day.",
    "Volcanoes": "Molten rock that reaches the surface is called lava.",
}
QUESTIONS = {"Polygons": "How many sides has a triangle?", "Buoyancy": "Why does ice float on water?", "Tides": "How often does the sea rise in a day?"}  # fmt: skip
LEXICAL = KnowledgeConfig(retriever="lexical,k=1")
MODEL = "baseline:lexical"
RETRIEVED = {"modes": "standard", "contexts": "kprag:retrieved"}
TWO_TURNS: dict[str, Any] = {"modes": "standard", "contexts": "kprag:two-turn", "quiet": True, "cache": "none"}


@pytest.fixture
def source(tmp_path: Path) -> SampleSet:
    """Two questions for each of three points, and one that names none."""
    with SetWriter(tmp_path / "set", "small") as writer:
        for number in range(2):
            for point, question in QUESTIONS.items():
                writer.add(choice(f"{point}-{number}", question=f"{question} ({number})", knowledge_points=(point,)))
        writer.add(choice("bare", question="Which rock is molten?", hints={"background": "Think of lava."}))
        for point, text in POINTS.items():
            writer.know(KnowledgePoint(point, text))
    return SampleSet(tmp_path / "set")


def besides(run: RunFolder) -> dict[str, ContextInfo | None]:
    return {f"{record.condition.mode} {record.sample}": record.beside for record in run.records()}


def test_two_turns_show_what_was_written_and_expand_equal_points_once(source: SampleSet, tmp_path: Path) -> None:
    notes = {"match": "Set out each of these knowledge points", "reply": "Notes: ZEBRA."}
    replies = script(tmp_path, notes, {"match": "ZEBRA", "reply": "Answer: B"}, "Answer: A")
    with serve(reply=str(replies)) as server:
        run = evaluated(source, f"openai:m,base_url={server.url}", tmp_path / "run", **TWO_TURNS)
        assert server.stats.total == 3 + 6, "an expansion for each of three points, an answer to each of six questions"
        evaluated(source, f"openai:m,base_url={server.url}", tmp_path / "run", **TWO_TURNS)
        assert server.stats.total == 9
    assert [record.reply.text for record in run.records()] == ["Answer: B"] * 6, "each question came with the notes"
    assert {record.score and record.score.value for record in run.records()} == {1.0}
    assert [expansion.reply.text for expansion in run.expansions()] == ["Notes: ZEBRA."] * 3
    (spent,) = report(run).runs[0].spending
    (seen,) = summarise_run(run.folder).spending
    tokens = sum(one.reply.usage.prompt_tokens for one in (*run.records(), *run.expansions()))
    assert spent.replies == seen.replies == 9 and spent.prompt_tokens == seen.prompt_tokens == tokens > 0
    assert summarise_run(run.folder).answered == 6 and run.config.skipped == {"kprag:two-turn": 1}
    export(run, tmp_path / "run.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert {(row["expansion"], row["context"]) for row in rows} == {("Notes: ZEBRA.", "kprag:two-turn")}
    assert {json.loads(row["beside"])["points"][0] for row in rows} == set(QUESTIONS)


def test_in_two_turns_what_the_model_wrote_itself_may_hold_the_answer(source: SampleSet, tmp_path: Path) -> None:
    replies = script(tmp_path, {"match": "Set out each", "reply": "There are three of them."}, "Answer: B")
    run = evaluated(source, f"scripted:{replies}", tmp_path / "run", **TWO_TURNS)
    assert [record.beside.leaks for record in run.records() if record.beside] == [True] * 6
    given = evaluated(source, f"scripted:{replies}", tmp_path / "inline", modes="kprag")
    held = {record.sample for record in given.records() if record.beside and record.beside.leaks}
    assert held == {"Polygons-0", "Polygons-1"}, "three sides"


def test_an_expansion_that_was_paid_for_is_not_asked_for_again(source: SampleSet, tmp_path: Path) -> None:
    with serve() as server:
        model = f"openai:m,base_url={server.url}"
        for done in range(1, 9):
            with pytest.raises(Stopped, match="--max-requests 1"):
                evaluated(source, model, tmp_path / "run", max_requests=1, concurrency=1, **TWO_TURNS)
            assert server.stats.total == done
        run = evaluated(source, model, tmp_path / "run", max_requests=1, concurrency=1, **TWO_TURNS)
        assert server.stats.total == 9 and len([*run.records()]) == 6


def test_an_expansion_that_fails_is_a_failure_of_the_question(source: SampleSet, tmp_path: Path) -> None:
    bad = {"match": "triangle", "error": "transient"}
    with serve(reply=str(script(tmp_path, bad, "Notes. Answer: B"))) as server:
        model, port = f"openai:m,base_url={server.url},max_tries=1", int(server.url.rpartition(":")[2].split("/")[0])
        run = evaluated(source, model, tmp_path / "run", **TWO_TURNS)
    failed = {record.sample: record.reply.error for record in run.records() if record.reply.error}
    assert {*failed} == {"Polygons-0", "Polygons-1"} and all(failed.values())
    assert (report(run).failed, score(report(run)).n, summarise_run(run.folder).failed) == (2, 4, 2)
    with serve(port=port, reply=str(script(tmp_path, "Notes. Answer: B"))) as server:
        evaluated(source, model, tmp_path / "run", **TWO_TURNS)
        assert server.stats.total == 3
    assert (report(run).failed, score(report(run)).n, summarise_run(run.folder).failed) == (0, 6, 0)


def test_where_a_model_writes_nothing_the_question_goes_on(source: SampleSet, tmp_path: Path) -> None:
    nothing = {"match": "Set out each", "reply": " "}
    replies = script(tmp_path, nothing, {"match": "below:\n\nQuestion:", "reply": "Answer: B"})
    run = evaluated(source, f"scripted:{replies}", tmp_path / "run", **TWO_TURNS)
    assert [record.reply.text for record in run.records()] == ["Answer: B"] * 6
    assert [expansion.reply.text for expansion in run.expansions()] == [" "] * 3


def test_points_are_looked_up_and_what_was_found_is_recorded(source: SampleSet, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"contexts": "kprag,kprag:retrieved,kprag:mixed,distractor"}
    settings |= {"modes": "standard", "quiet": True}
    run = evaluated(source, MODEL, tmp_path / "run", knowledge=LEXICAL, **settings)
    found = besides(run)
    assert found["kprag Tides-0"] == ContextInfo(("Tides",), own=1, hits=1)
    assert found["kprag:retrieved Tides-0"] == ContextInfo(("Tides",), own=1, hits=1)
    assert found["kprag:retrieved bare"] == ContextInfo(("Volcanoes",), own=0, hits=0)
    assert found["kprag:mixed Buoyancy-1"] == ContextInfo(("Buoyancy",), own=1, hits=1)
    others = [found[f"distractor {point}-{number}"] for point in QUESTIONS for number in (0, 1)]
    assert all(one and len(one.points) == 1 and one.hits == 0 and one.own == 1 for one in others)
    assert run.config.skipped == {"kprag": 1, "kprag:mixed": 1, "distractor": 1}
    assert [*run.config.knowledge] == ["bases", "finders", "layout", "texts"]
    again = evaluated(source, MODEL, tmp_path / "run", knowledge=LEXICAL, **settings)
    assert besides(again) == found
    with pytest.raises(UserError, match="holds a run with other knowledge: choose another -o"):
        evaluated(source, MODEL, tmp_path / "run", knowledge=KnowledgeConfig(retriever="lexical"), **settings)


def test_a_base_of_ones_own_is_searched_and_lends_its_texts(source: SampleSet, tmp_path: Path) -> None:
    base = tmp_path / "base.jsonl"
    base.write_text('{"id": "g", "text": "Geometry of triangles", "description": "A triangle has sides."}\n')
    library = msgspec.structs.replace(LEXICAL, base=str(base))
    run = evaluated(source, MODEL, tmp_path / "run", knowledge=library, **RETRIEVED)
    assert besides(run)["kprag:retrieved Polygons-0"] == ContextInfo(("Geometry of triangles",), own=1, hits=0)
    missing = KnowledgeConfig(base=str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="no such file or folder"):
        evaluated(source, MODEL, tmp_path / "other", modes="kprag", knowledge=missing)


def test_hints_are_asked_where_a_sample_has_them(source: SampleSet, tmp_path: Path) -> None:
    both = ["hint:background", "hint:all"]
    run = evaluated(source, MODEL, tmp_path / "run", modes="standard", contexts=both)
    assert besides(run) == {f"{name} bare": ContextInfo(("background",)) for name in both}
    for contexts, why in (
        (["none", "hint:backgroud"], "no sample has a hint 'backgroud' (did you mean 'background'?): background are"),
        (["hint:x"], "no sample has a hint 'x': background are"),
    ):
        with pytest.raises(UserError) as caught:
            evaluated(source, MODEL, tmp_path / "none", modes="standard", contexts=contexts)
        assert str(caught.value) == why


def test_a_dry_run_counts_an_expansion_once_and_what_is_there_already(source: SampleSet, tmp_path: Path) -> None:
    with serve() as server:
        model = f"openai:m,base_url={server.url}"
        settings = {name: value for name, value in TWO_TURNS.items() if name != "quiet"}
        (before,) = estimated(source, model, tmp_path / "run", **settings).rows
        assert (before.planned, before.there, before.to_ask) == (9, 0, 9) and server.stats.total == 0
        with pytest.raises(Stopped):
            evaluated(source, model, tmp_path / "run", max_requests=2, concurrency=1, **TWO_TURNS)
        (after,) = estimated(source, model, tmp_path / "run", **settings).rows
        assert (after.planned, after.there, after.to_ask) == (9, 2, 7)
        cached = {**TWO_TURNS, "cache": "shared"}
        evaluated(source, model, tmp_path / "first", **cached)
        (known,) = estimated(source, model, tmp_path / "second", **{**settings, "cache": "shared"}).rows
        assert (known.planned, known.cached, known.to_ask) == (9, 9, 0)


@pytest.mark.slow
def test_two_ranks_make_the_records_of_one_process(source: SampleSet, tmp_path: Path) -> None:
    contexts = "none,kprag:two-turn,kprag:retrieved:two-turn,distractor:two-turn"
    alone = evaluated(source, MODEL, tmp_path / "alone", modes="standard", contexts=contexts, knowledge=LEXICAL)
    words = f"--mode standard --context {contexts} --retriever lexical,k=1 -m baseline:lexical -o {tmp_path / 'run'}"
    command = [*MMDYN, "eval", str(source.folder), *words.split()]
    places = [{**os.environ, "RANK": rank, "WORLD_SIZE": "2"} for rank in "01"]
    ranks = [subprocess.Popen(command, env=place, stderr=subprocess.PIPE) for place in places]
    said = [rank.communicate(timeout=240)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], said
    assert contents(tmp_path / "run") == contents(alone) and len(contents(alone)) == 7 + 6 + 7 + 6


def test_a_template_of_ones_own_shows_what_was_written_first(source: SampleSet, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Notes:\n\n{knowledge}\n\n{question}\n\n{options}\n\n{instruction}\n")
    notes = {"match": "Set out each", "reply": "OTTER"}
    replies = script(tmp_path, notes, {"match": "Notes:\n\nOTTER\n\n", "reply": "Answer: B"})
    run = evaluated(source, f"scripted:{replies}", tmp_path / "run", prompt=tmp_path / "p.txt", **TWO_TURNS)
    assert [record.reply.text for record in run.records()] == ["Answer: B"] * 6
    (tmp_path / "q.txt").write_text("{question}\n\n{options}\n")
    with pytest.raises(UserError, match=r"does not contain \{knowledge\}, which hint:all needs"):
        evaluated(source, MODEL, tmp_path / "x", prompt=tmp_path / "q.txt", modes="standard", contexts="hint:all")


def test_texts_that_changed_in_the_set_are_other_knowledge(source: SampleSet, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"modes": "kprag", "quiet": True}
    evaluated(source, MODEL, tmp_path / "run", **settings)
    file = source.folder / "knowledge.jsonl"
    file.write_text(file.read_text().replace("three sides", "three corners"))
    with pytest.raises(UserError, match="holds a run with other knowledge"):
        evaluated(SampleSet(source.folder), MODEL, tmp_path / "run", **settings)


def test_what_a_run_does_not_use_may_differ(source: SampleSet, tmp_path: Path) -> None:
    for number in (3, 5):
        library = KnowledgeConfig(retriever=RetrieverConfig(k=number))
        evaluated(source, MODEL, tmp_path / "run", modes="kprag", knowledge=library)
    for seed, other in ((1, False), (2, True)):
        asked: dict[str, Any] = {"contexts": "distractor", "modes": "standard", "seed": seed, "quiet": True}
        if other:
            with pytest.raises(UserError, match="holds a run with other knowledge"):
                evaluated(source, MODEL, tmp_path / "drawn", **asked)
        else:
            evaluated(source, MODEL, tmp_path / "drawn", **asked)


def test_points_are_looked_up_for_what_is_asked_alone(source: SampleSet, tmp_path: Path) -> None:
    """A model that puts points in order is paid for, so it is not asked in vain."""
    dynamic = perturb(source, tmp_path / "dynamic", ops="shuffle", quiet=True)
    orders = script(tmp_path, '{"order": [2, 1]}')
    with serve(reply=str(orders)) as server:
        library = msgspec.structs.replace(LEXICAL, rerank=f"openai:rr,base_url={server.url},timeout=50")
        settings: dict[str, Any] = {"modes": "standard", "contexts": "kprag:retrieved", "quiet": True, "n": 3}
        both = [source, dynamic]
        noted = estimated(both, MODEL, tmp_path / "run", **RETRIEVED, knowledge=library)
        assert server.stats.total == 0 and "was not asked" in noted.notes[0]
        evaluated(both, MODEL, tmp_path / "run", knowledge=library, **settings)
        assert server.stats.total == 3
        same = msgspec.structs.replace(LEXICAL, rerank=f"openai:rr,base_url={server.url},timeout=70")
        evaluated(both, MODEL, tmp_path / "run", knowledge=same, **settings)
        assert server.stats.total == 3
        other = msgspec.structs.replace(same, retriever="lexical,k=2")
        with pytest.raises(UserError, match="holds a run with other knowledge"):
            evaluated(both, MODEL, tmp_path / "run", knowledge=other, **settings)
        with pytest.raises(UserError, match="do not count what --rerank MODEL is asked"):
            evaluated(both, MODEL, tmp_path / "x", max_requests=9, knowledge=same, **settings)
        assert server.stats.total == 3


@pytest.mark.parametrize(("cache", "asked"), [(None, 6), ("own", 6), ("none", 6), ("shared", 3)])
def test_a_reranker_of_ones_own_answers_out_of_the_cache_that_is_asked_for(
    source: SampleSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: str | None, asked: int
) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    with serve(reply=str(script(tmp_path, '{"order": [2, 1]}'))) as server:
        library = msgspec.structs.replace(LEXICAL, rerank=f"openai:rr,base_url={server.url}")
        settings: dict[str, Any] = {"modes": "standard", "contexts": "kprag:retrieved", "n": 3, "cache": cache}
        for out in ("one", "two"):
            evaluated(source, MODEL, tmp_path / out, knowledge=library, quiet=True, **settings)
        assert server.stats.total == asked
    assert (tmp_path / "one" / "replies").is_dir() == (cache in (None, "own"))


def test_what_was_looked_up_stays_when_looking_up_is_broken_off(source: SampleSet, tmp_path: Path) -> None:
    orders = script(tmp_path, {"match": "molten", "error": "transient"}, '{"order": [2, 1]}')
    library = msgspec.structs.replace(LEXICAL, rerank=f"scripted:{orders},max_tries=1")
    with pytest.raises(UserError, match="replies are kept"):
        evaluated(source, MODEL, tmp_path / "run", **RETRIEVED, knowledge=library)
    with Reader(tmp_path / "run" / "records") as reader:
        assert len([*reader.items("found")]) == 6


@pytest.mark.parametrize(
    ("given", "context", "why"),
    [
        ({"base": "x"}, "none", "add --context kprag, or leave it out"),
        ({"retriever": "lexical"}, "kprag", "--retriever says how points are looked up, and none are"),
        ({"rerank": "openai:x"}, "distractor", "--rerank says how points are looked up"),
        ({"retriever": "query=ocr"}, "kprag", "--retriever says how points are looked up"),
        ({"retriever": "k=0"}, "kprag:mixed", "0 points cannot be looked up"),
        ({"retriever": "lexicl"}, "kprag:mixed", "there is no retriever 'lexicl' (did you mean 'lexical'?)"),
        ({"retriever": "k=many"}, "kprag:mixed", "the option k of --retriever: expected `int`, got `str`"),
        ({"layout": "token=8"}, "kprag", "--layout has no option 'token' (did you mean 'tokens'?); it takes tokens, "),
        ({"layout": "order=reverse"}, "kprag", "invalid enum value 'reverse' (did you mean 'reversed'?): use given, "),
        ({"layout": "tokens=0"}, "kprag", "knowledge has no room in 0 tokens"),
        ({"base": "x,join=true,join=true"}, "kprag", "--base is given the option 'join' twice: keep one of them"),
    ],
)
def test_settings_of_no_use(source: SampleSet, tmp_path: Path, given: dict[str, Any], context: str, why: str) -> None:
    with pytest.raises(UserError) as caught:
        knowledge = KnowledgeConfig(**given)
        evaluated(source, MODEL, tmp_path / "run", modes="standard", contexts=context, knowledge=knowledge)
    assert why in str(caught.value)


def test_a_template_of_ones_own_says_itself_whether_to_elaborate(source: SampleSet, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("{knowledge}\n\n{question}\n\n{options}\n\n{instruction}\n")
    asked: dict[str, Any] = {"modes": "standard", "prompt": tmp_path / "p.txt", "quiet": True}
    ways = ["kprag:inline", "kprag:two-turn"]
    with pytest.raises(UserError, match="ask a context with :inline or without it, not both"):
        evaluated(source, MODEL, tmp_path / "run", contexts=[*ways, "kprag"], **asked)
    run = evaluated(source, MODEL, tmp_path / "run", contexts=ways, **asked)
    assert len([*run.records()]) == 12
    assert run.config.instructions == {f"{way} custom": "" for way in ways}, "it tells the same in every context"


def test_a_run_says_in_words_where_its_knowledge_comes_from(source: SampleSet, tmp_path: Path) -> None:
    orders = script(tmp_path, "no order")
    retriever = RetrieverConfig("lexical", k=1)
    library = KnowledgeConfig(retriever=retriever, rerank=f"scripted:{orders},max_tries=2")
    run = evaluated(source, MODEL, tmp_path / "run", **RETRIEVED, knowledge=library)
    assert run.config.library == {"retriever": "lexical", "rerank": f"scripted:{orders}"}
    assert besides(run)["kprag:retrieved Tides-0"] == ContextInfo(("Tides",), own=1, hits=1), "no order could be used"
