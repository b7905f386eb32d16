"""Where replies come from: the cache, the server, and which model is behind it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from running import estimated, evaluated
from serving import OtherServer, serve

from making import choice, image_ref, picture, write_set
from mmdyn.errors import UserError
from mmdyn.models import cache_folder
from mmdyn.run import Execution, ScoringConfig, compare, evaluate, merge_runs, score
from mmdyn.tables import brief_lines, report, state_lines
from mmdyn.testing import write_script
from mmdyn.work import RunFolder
from perturb import perturb

ROOT_A, ROOT_B = {"root": "/models/a", "max_model_len": 4096}, {"root": "/models/b", "max_model_len": 4096}


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    write_set(tmp_path / "set", [choice(f"q{n}", question=f"Question {n}?") for n in range(6)])
    return tmp_path / "set"


def answers(letter: str) -> Any:
    def change(answer: dict[str, Any]) -> None:
        answer["choices"][0]["message"]["content"] = f"Answer: {letter}"

    return change


def texts(run: RunFolder) -> set[str]:
    return {record.reply.text for record in run.records()}


def said(run: RunFolder) -> str:
    found = report(run)
    lines = [line for state in found.runs for line in state_lines(state)]
    return "\n".join([*lines, *brief_lines(found)])


def test_another_checkpoint_under_the_same_name_never_gets_the_answers_of_the_one_before(
    asked: Path, tmp_path: Path
) -> None:
    with OtherServer(answers("A")) as server:
        model = f"openai:m,base_url={server.url}"
        first = evaluated(asked, model, tmp_path / "first")
        server.change = answers("B")
        second = evaluated(asked, model, tmp_path / "second")
        assert (texts(first), texts(second)) == ({"Answer: A"}, {"Answer: B"}) and server.stats.total == 12
        assert not cache_folder().exists() and (tmp_path / "first/replies").is_dir()
        evaluated(asked, model, tmp_path / "second")
        assert server.stats.total == 12, "going on rests on the records"


def test_shared_replies_are_told_with_their_day_everywhere(asked: Path, tmp_path: Path) -> None:
    with OtherServer(answers("A")) as server:
        model = f"openai:m,base_url={server.url}"
        evaluated(asked, model, tmp_path / "first", cache="shared", n=4)
        second = evaluated(asked, model, tmp_path / "second", cache="shared")
        assert server.stats.total == 6
    records = [*second.records()]
    assert sum(record.reply.cached for record in records) == 4 and all(record.reply.made for record in records)
    (use,) = [state.cache for state in report(second).runs]
    told = f"4 of 6 replies from the cache, made on {use.first}"
    assert str(use) == told and use == second.config.cache
    assert msgspec.json.decode((second.folder / "run.json").read_bytes())["cache"]["cached"] == 4
    assert said(second).count(told) == 2, "in the report and in the brief"
    assert "from the cache" not in said(RunFolder(tmp_path / "first"))


@pytest.mark.parametrize(
    ("cache", "requests"), [(None, 12), ("own", 12), ("none", 12), ("shared", 6)], ids=["default", *"ons"]
)
def test_where_replies_are_kept(asked: Path, tmp_path: Path, cache: str | None, requests: int) -> None:
    with serve() as server:
        model = f"openai:m,base_url={server.url}"
        for run in ("one", "two"):
            evaluated(asked, model, tmp_path / run, cache=cache)
        assert server.stats.total == requests
    assert (tmp_path / "one/replies").is_dir() == (cache in (None, "own"))
    assert cache_folder().is_dir() == (cache == "shared")


def test_a_cache_that_there_is_not_is_named(asked: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no cache 'share' .did you mean 'shared'.*: use shared, own, none"):
        evaluated(asked, "baseline:lexical", tmp_path / "run", cache="share")


def test_a_run_whose_server_lists_another_model_stops_and_goes_on_when_told_so(asked: Path, tmp_path: Path) -> None:
    with OtherServer(answers("A"), ROOT_A) as server:
        model, run = f"openai:m,base_url={server.url}", tmp_path / "run"
        first = evaluated(asked, model, run, n=3)
        assert first.config.served == {"openai:m": (ROOT_A,)}, "what is new in every list is not kept"
        evaluated(asked, model, run, n=4)
        server.change, server.entry = answers("B"), ROOT_B
        with pytest.raises(UserError, match=r"another model under this name .*/models/b.*/models/a.*--changed-model"):
            evaluated(asked, model, run)
        assert server.stats.total == 4 and texts(RunFolder(run)) == {"Answer: A"}
        gone_on = evaluated(asked, model, run, changed_model=True)
        assert gone_on.config.served == {"openai:m": (ROOT_A, ROOT_B)} and server.stats.total == 6
        assert "several models under the name: max_model_len=4096, root=/models/a; then max_model_len" in said(gone_on)
        evaluated(asked, model, run)
        server.entry = None
        evaluated(asked, model, run)
        assert RunFolder(run).config.served == {"openai:m": (ROOT_A, ROOT_B)}, "a list that is gone says nothing"


@pytest.mark.parametrize("by", ["eval", "score"])
def test_a_judge_whose_server_lists_another_model_stops_the_run_too(asked: Path, tmp_path: Path, by: str) -> None:
    with OtherServer(answers("CORRECT"), ROOT_A) as server:
        judge = f"openai:m,base_url={server.url}"
        scoring = ScoringConfig(judges=judge, judge_mode="all")

        def judged(*, changed_model: bool = False) -> RunFolder:
            execution = Execution(changed_model=changed_model, quiet=True)
            if by == "eval":
                return evaluate(asked, "baseline:lexical", tmp_path / "run", scoring=scoring, execution=execution)
            score(tmp_path / "run", scoring, execution=execution)
            return RunFolder(tmp_path / "run")

        evaluated(asked, "baseline:lexical", tmp_path / "run")
        assert judged().config.served == {"judge openai:m": (ROOT_A,)}
        server.entry = ROOT_B
        with pytest.raises(UserError, match=r"the server of judge openai:m has another model .*b.*a.*--changed-model"):
            judged()
        gone_on = judged(changed_model=True)
        assert gone_on.config.served == {"judge openai:m": (ROOT_A, ROOT_B)}
        assert "judge openai:m: its server had several models under the name" in said(gone_on)


def test_another_listed_model_is_another_key_of_the_shared_cache(asked: Path, tmp_path: Path) -> None:
    with OtherServer(answers("A"), ROOT_A) as server:
        model = f"openai:m,base_url={server.url}"
        evaluated(asked, model, tmp_path / "a", cache="shared")
        server.change, server.entry = answers("B"), ROOT_B
        (row,) = estimated(asked, model, tmp_path / "dry", cache="shared").rows
        assert (row.cached, row.to_ask) == (0, 6)
        assert texts(evaluated(asked, model, tmp_path / "b", cache="shared")) == {"Answer: B"}
        server.entry = ROOT_A
        (row,) = estimated(asked, model, tmp_path / "dry", cache="shared").rows
        assert (row.cached, row.to_ask) == (6, 0)
        assert texts(evaluated(asked, model, tmp_path / "c", cache="shared")) == {"Answer: A"}
        assert server.stats.total == 12


def test_a_merged_run_has_what_all_servers_listed_and_counts_all_cached_replies(asked: Path, tmp_path: Path) -> None:
    with OtherServer(answers("A"), ROOT_A) as server:
        model = f"openai:m,base_url={server.url}"
        for out in ("seed", "one"):
            evaluated(asked, model, tmp_path / out, cache="shared")
        server.entry = ROOT_B
        evaluated(asked, model, tmp_path / "two", styles="cot")
    merged, _ = merge_runs([tmp_path / "one", tmp_path / "two"], tmp_path / "both")
    assert merged.config.served == {"openai:m": (ROOT_A, ROOT_B)}
    assert (merged.config.cache.cached, merged.config.cache.replies) == (6, 12)


def test_a_judge_on_a_server_of_ones_own_keeps_its_replies_in_the_run(asked: Path, tmp_path: Path) -> None:
    with serve() as server:
        judge = f"openai:m,base_url={server.url}"
        for run in ("one", "two"):
            evaluated(asked, "baseline:lexical", tmp_path / run, judges=judge, judge_mode="all")
        assert server.stats.total == 12 and not cache_folder().exists()


def test_a_set_that_is_made_keeps_its_rewriters_replies_while_it_is_made(asked: Path, tmp_path: Path) -> None:
    reply = write_script(tmp_path / "replies.jsonl", '{"question": "Which one?"}')
    with serve(reply=reply) as server:
        rewriter = f"openai:r,base_url={server.url}"
        for out in ("one", "two"):
            before = server.stats.total
            perturb(asked, tmp_path / out, ops="paraphrase", rewriter=rewriter, quiet=True)
            assert server.stats.total - before >= 6
            assert not (tmp_path / out / ".work").exists() and not cache_folder().exists()


def test_a_comparison_keeps_its_judges_replies(asked: Path, tmp_path: Path) -> None:
    runs = [evaluated(asked, f"baseline:{name}", tmp_path / name).folder for name in ("majority", "random")]
    with serve() as server:
        judge = f"openai:m,base_url={server.url}"
        for out in ("one", "two"):
            before = server.stats.total
            compare(runs, tmp_path / out, judge, quiet=True)
            assert server.stats.total > before and (tmp_path / out / "replies").is_dir()
        assert not cache_folder().exists()


def test_models_and_fingerprints_that_change_are_told_and_are_no_key(asked: Path, tmp_path: Path) -> None:
    names = iter(["m-0806", "m-0806", "m-1120", "m-0806", "m-0806", "m-0806"])

    def change(answer: dict[str, Any]) -> None:
        answer["model"] = next(names)
        answer["system_fingerprint"] = f"fp_{answer['model'][-4:]}"

    with OtherServer(change) as server:
        run = evaluated(asked, f"openai:m,base_url={server.url}", tmp_path / "run", concurrency=1)
    told = said(run)
    assert "openai:m: replies are of several models: m-0806 (5), m-1120 (1)" in told
    assert "openai:m: system fingerprints fp_0806 (5), fp_1120 (1)" in told
    assert {record.reply.answered_by for record in run.records()} == {"m-0806", "m-1120"}


@pytest.mark.parametrize(
    "odd",
    [{"model": 3, "system_fingerprint": None}, {"model": None, "system_fingerprint": ["x"]}, {"model": "m" * 9999}],
)
def test_odd_names_cost_no_answer(asked: Path, tmp_path: Path, odd: dict[str, Any]) -> None:
    with OtherServer(lambda answer: answer.update(odd)) as server:
        run = evaluated(asked, f"openai:m,base_url={server.url}", tmp_path / "run")
    assert all(len(record.reply.answered_by) <= 200 and not record.reply.error for record in run.records())


CUT = "prompts seem cut to 2,048 tokens"
UNREAD = "pictures seem not to have been read"
PARSER = "the server's reasoning parser kept the answer: all 6 replies are empty"


def cut(answer: dict[str, Any]) -> None:
    answer["usage"]["prompt_tokens"] = min(answer["usage"]["prompt_tokens"], 2048)


def unread(answer: dict[str, Any]) -> None:
    answer["usage"]["prompt_tokens"] %= 500  # what the fake server counts a picture as


def kept(answer: dict[str, Any]) -> None:
    said = answer["choices"][0]["message"]
    said["reasoning_content"], said["content"] = said["content"], None


def long_points(folder: Path) -> Path:
    """Questions with knowledge points, longer from one to the next."""
    texts = [
        {"point": f"P{n}", "text": f"Point {n}. " + "It holds for every triangle. " * (80 * n)} for n in range(1, 7)
    ]
    questions = [choice(f"q{n}", question=f"Question {n}?", knowledge_points=(f"P{n}",)) for n in range(1, 7)]
    write_set(folder / "points", questions)
    (folder / "points/knowledge.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in texts))
    return folder / "points"


def seen(folder: Path) -> Path:
    """Questions with a picture, and as many without."""
    data = picture()
    with_picture = [choice(f"p{n}", question=f"Picture {n}?", images=(image_ref(data),)) for n in range(6)]
    write_set(
        folder / "seen", [*with_picture, *(choice(f"q{n}", question=f"Question {n}?") for n in range(6))], images=[data]
    )
    return folder / "seen"


@pytest.mark.parametrize(
    ("made", "change", "settings", "told"),
    [
        (long_points, cut, {"modes": ["standard", "kprag"]}, CUT),
        (long_points, cut, {"modes": ["kprag"]}, CUT),
        (long_points, lambda answer: None, {"modes": ["standard", "kprag"]}, ""),
        (seen, unread, {}, UNREAD),
        (seen, lambda answer: None, {}, ""),
    ],
)
def test_what_a_server_did_with_prompts_is_told_at_once_and_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], made: Any, change: Any, settings: dict[str, Any], told: str
) -> None:
    with OtherServer(change) as server:
        run = evaluated(made(tmp_path), f"openai:m,base_url={server.url}", tmp_path / "run", quiet=False, **settings)
    first_seen, logged = capsys.readouterr().err, (run.folder / "log.txt").read_text()
    for text in (first_seen, logged, said(run)):
        assert (told or "seem") in text if told else "seem" not in text
    assert first_seen.count("seem") == bool(told), "told once"


def test_a_parser_that_keeps_every_answer_is_told(asked: Path, tmp_path: Path) -> None:
    with OtherServer(kept) as server:
        run = evaluated(asked, f"openai:m,base_url={server.url}", tmp_path / "run")
        assert PARSER in said(run) and PARSER in (run.folder / "log.txt").read_text()
        left = iter([lambda answer: None, *[kept] * 5])
        server.change = lambda answer: next(left)(answer)
        assert "parser" not in said(evaluated(asked, f"openai:m,base_url={server.url}", tmp_path / "other"))
