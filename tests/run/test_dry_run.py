"""What would be asked: counted without a key, a request or a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import estimated, evaluated
from serving import serve

from making import blank, choice, image_ref, open_ended, picture, write_set
from mmdyn.errors import UserError
from mmdyn.run.dry_run import VERDICT_TOKENS, picture_tokens
from mmdyn.text import estimate_tokens


def make_set(folder: Path) -> Path:
    data = picture()
    known = {"knowledge_points": ("Polygons",)}
    samples = [choice(f"q{n}", question=f"Question {n}?", images=(image_ref(data),), **known) for n in range(6)]
    write_set(folder / "set", [*samples, blank(), open_ended()], images=[data])
    return folder / "set"


def files(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_texts_of_either_language_and_pictures_have_their_rule() -> None:
    assert estimate_tokens("A triangle has three sides.") == 27 / 4
    assert estimate_tokens("三角形有三条边") == 7 * 3 / 4
    assert [picture_tokens(*size) for size in ((28, 28), (280, 280), (4000, 4000))] == [64, 100, 1600]


def test_nothing_is_written_and_no_key_is_needed(tmp_path: Path) -> None:
    opened = make_set(tmp_path)
    (tmp_path / "p.yaml").write_text("gpt-4o: {input: 10, output: 10}\n")
    before = files(tmp_path)
    models = ["openai:gpt-4o", "baseline:lexical"]
    asked = {"modes": ["standard", "kprag"], "styles": "cot"}
    found = estimated(opened, models, tmp_path / "run", **asked, prices=tmp_path / "p.yaml")
    assert files(tmp_path) == before
    rows = [(model, mode, count) for model in models for mode, count in (("standard", 8), ("kprag", 6))]
    assert [(row.model, row.mode, row.to_ask) for row in found.rows] == rows
    assert found.skipped == {"kprag": 2}
    priced, unpriced = found.rows[0], found.rows[2]
    assert priced.cost == pytest.approx((priced.prompt_tokens + priced.completion_tokens) / 1e5)
    assert priced.prompt_tokens > 6 * 64 and priced.currency == "USD"
    assert unpriced.cost == 0 and unpriced.prompt_tokens == priced.prompt_tokens
    (note,) = found.notes
    assert note.startswith("openai:gpt-4o: what is answered already was not looked for (openai:gpt-4o needs a key")


def test_what_is_in_the_run_or_in_the_cache_is_not_asked_again(tmp_path: Path) -> None:
    opened = make_set(tmp_path)
    with serve() as server:
        model = f"openai:fake,base_url={server.url}"
        evaluated(opened, model, tmp_path / "run", n=3, cache="shared")
        asked = server.stats.total

        def counts(out: str, **settings: str) -> tuple[int, int, int]:
            (row,) = estimated(opened, model, tmp_path / out, **settings).rows
            return row.there, row.cached, row.to_ask

        assert counts("run") == (3, 0, 5)
        assert counts("other", cache="shared") == (0, 3, 5) and counts("other") == (0, 0, 8)
        assert counts("other", cache="none") == (0, 0, 8)
        assert server.stats.total == asked


def test_a_file_is_counted_without_an_import(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text('{"id":"q","question":"2+2=4","task_type":"true_false","answer":true}\n')
    before = files(tmp_path)
    (row,) = estimated(tmp_path / "mine.jsonl", "baseline:majority", tmp_path / "run", epochs=3).rows
    assert row.planned == 3 and files(tmp_path) == before


def test_variants_are_counted_where_they_are_made(tmp_path: Path) -> None:
    opened = make_set(tmp_path)
    with pytest.raises(UserError, match="the variants of small are not made yet: a dry run asks no model for them"):
        estimated(opened, "baseline:majority", tmp_path / "run", ops="pad", rewriter="openai:x")
    before = files(tmp_path)
    rows = estimated(opened, "baseline:majority", tmp_path / "run", ops="pad", n=2).rows
    assert [(row.mode, row.to_ask) for row in rows] == [("standard", 2), ("dynamic", 2)] and files(tmp_path) == before
    judged = estimated(opened, "baseline:majority", tmp_path / "run", ops="pad", n=2, variant_judge="openai:x")
    assert judged.notes == ["variants that are not made yet were counted before their judge throws any out"]
    assert judged.rows == rows
    evaluated(opened, "baseline:majority", tmp_path / "run", ops="pad", n=2)
    rows = estimated(opened, "baseline:majority", tmp_path / "run", ops="pad", n=2).rows
    assert [(row.mode, row.there, row.to_ask) for row in rows] == [("standard", 2, 0), ("dynamic", 2, 0)]


@pytest.mark.parametrize(("rubric", "verdicts"), [("match", 1), ("quality", 5)])
def test_judges_have_rows_of_their_own_with_tokens_and_cost(tmp_path: Path, rubric: str, verdicts: int) -> None:
    opened = make_set(tmp_path)
    (tmp_path / "p.yaml").write_text("j: {input: 10, output: 20}\n")
    settings = {"n": 6, "prices": tmp_path / "p.yaml", "styles": "cot"}
    models = ("baseline:random", "baseline:majority")
    found = estimated(opened, models, tmp_path / "run", judges="openai:j", rubric=f"{rubric},votes=3", **settings)
    (row,) = found.judges
    assert (row.model, row.set, row.mode, row.planned, row.to_ask) == ("judge openai:j", "small", "standard", 36, 36)
    assert row.completion_tokens == 36 * VERDICT_TOKENS * (1 + verdicts)
    assert row.prompt_tokens > 36 * 416, "the reply is in the prompt"
    assert row.cost == pytest.approx((row.prompt_tokens + 2 * row.completion_tokens) / 1e5)
    assert [one.planned for one in found.rows] == [6, 6] and not any(one.cost for one in found.rows)
    seeing = f"{rubric},votes=3,pictures=true"
    more = estimated(opened, models, tmp_path / "run", judges="openai:j", rubric=seeing, **settings)
    assert more.judges[0].prompt_tokens >= row.prompt_tokens + 36 * 60


def test_a_mistake_is_told_as_by_a_run(tmp_path: Path) -> None:
    opened = make_set(tmp_path)
    with pytest.raises(UserError, match="there is no mode 'standart'"):
        estimated(opened, "baseline:majority", tmp_path / "run", modes="standart")
    with pytest.raises(UserError, match="there is no model 'openay'"):
        estimated(opened, "openay:x", tmp_path / "run")
    with pytest.raises(UserError, match="two models are called openai:m: tell them apart with label="):
        estimated(opened, ["openai:m,temperature=1", "baseline:lexical", "openai:m"], tmp_path / "run")
    for wrong, problem in (
        ({"executor": "ray,local,replicas=0"}, "replicas is 0"),
        ({"partition": "coast"}, "there is no partition 'coast'"),
        ({"max_cost": 1}, "--max-cost needs the price of openai:m"),
        ({"policy": "strikt"}, "there is no scorer 'strikt'"),
        ({"policy": "rouge_l"}, "compares texts, and q0 is a single_choice: score it by a policy"),
        ({"judges": "openai:j", "rubric": "mach"}, "there is no rubric 'mach'"),
        ({"judges": "openai:j", "rubric": "votes=2"}, "2 votes can tie"),
        ({"judges": "openai:j", "rubric": "checklist"}, "openai:j cannot judge q0: the sample has no checklist"),
        ({"judges": ("baseline:lexical", "baseline:lexical")}, "two judges are called baseline:lexical"),
    ):
        with pytest.raises(UserError, match=problem):
            estimated(opened, "openai:m,base_url=http://h/v1", tmp_path / "run", **wrong)
