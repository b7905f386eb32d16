"""Lists of samples: in what order questions stand, what filters count, and the small copies of their pictures."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from PIL import Image
from starlette.testclient import TestClient
from tables.making_runs import DYNAMIC, answer, answers, write_run

from making import choice, image_ref, picture, write_set
from mmdyn.keys import digest
from mmdyn.record import Condition, Record
from mmdyn.tables import POOLED
from mmdyn.view import run, samples
from mmdyn.view._page import FACTORS, SORTS, WHICH, Filter
from mmdyn.view.index import SIDE, Catalog
from mmdyn.view.server import open_viewer
from mmdyn.work import SetEntry

SHUFFLE = Condition("dynamic", "shuffle")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Four questions, two models, two chains; unread, refused and failed answers, ones half right, and repeated ones."""
    records = [*answers("1110u"), *answers("0110r", DYNAMIC), *answers("01x11", SHUFFLE)]
    records += [*answers("1.01", model="m2"), *answers("0101", DYNAMIC, model="m2", draw=1)]
    records += [
        answer("s00", 0.5, SHUFFLE, model="m2"),
        answer("s00", 1.0, epoch=1),
        answer("s03", 0.5, DYNAMIC, draw=1),
    ]
    return opened(tmp_path, [with_fields(record) for record in records])


def with_fields(record: Record) -> Record:
    number = int(record.parent[1:])
    fields = {"level": f"level {number % 2 + 9}", "a=b": f"{number}=1"}
    return replace(record, fields=fields)


def opened(folder: Path, records: list[Record], **config: object) -> Catalog:
    write_run(folder / "runs" / "run", records, **config)  # type: ignore[arg-type]
    catalog = Catalog(folder / "runs")
    catalog.index(next(iter(catalog.runs()))).refresh(None)
    return catalog


def names(catalog: Catalog, **asked: str) -> list[str]:
    with catalog.index(next(iter(catalog.runs()))).reading() as db:
        return [row["name"] for row in Filter.of(asked, []).parents(db)]


def test_numbers_in_names_are_counted_up_and_any_order_can_be_turned_round(tmp_path: Path) -> None:
    rows = [answer(name, 1.0) for name in ("q10", "q9", "q1 b", "q1 a10", "q1 a9", "Ω", "9")]
    catalog = opened(tmp_path, rows)
    expected = ["9", "q1 a9", "q1 a10", "q1 b", "q9", "q10", "Ω"]
    assert names(catalog, sort="name") == expected == names(catalog, sort="no such order")
    assert names(catalog, sort="-name") == expected[::-1]
    assert all(sorted(names(catalog, sort=sort)) == sorted(expected) for sort in SORTS)


def test_questions_are_sorted_by_score_and_by_change_under_the_conditions_shown(tmp_path: Path) -> None:
    rows = [*answers("110."), *answers("011", DYNAMIC), answer("s00", 1.0, SHUFFLE), answer("s03", 1.0, SHUFFLE)]
    rows += [*answers("001", model="m2"), *answers("111", DYNAMIC, model="m2")]
    catalog = opened(tmp_path, rows)
    assert names(catalog, sort="score", model="m1") == ["s02", "s00", "s01", "s03"], "s03 has no standard answer"
    assert names(catalog, sort="score", model="m2") == ["s00", "s01", "s02"]
    assert names(catalog, sort="change", model="m1") == ["s00", "s01", "s02", "s03"], "-1 and 0, 0, 1, none"
    assert names(catalog, sort="change", model="m1", chain="shuffle") == ["s00", "s03"]
    assert names(catalog, sort="-change", model="m2") == ["s00", "s01", "s02"]
    assert names(catalog, sort="-score", model="m1") == ["s00", "s01", "s02", "s03"], "none stands last in both"


def test_questions_are_sorted_by_their_key(tmp_path: Path) -> None:
    given = [choice("s00", "C"), choice("s01", "A"), choice("s02", "B")]
    rows = [answer(sample.id, 1.0, sample=sample) for sample in given]
    catalog = opened(tmp_path, rows, samples=given, keep_samples=False)
    assert names(catalog, sort="key") == ["s01", "s02", "s00"]
    page = samples.page(catalog, next(iter(catalog.runs())), Filter())
    assert re.findall(r'<span class="short">(\w)</span></td>', page) == ["C", "A", "B"]


@pytest.mark.parametrize(
    "asked",
    [
        {}, {"model": "m1"}, {"model": "m2", "chain": "shuffle"}, {"variant": "standard"}, {"which": ("wrong",)},
        {"which": ("lost", "even")}, {"field": "level=level 9", "which": ("right",)}, {"over": POOLED, "which": ("lost",)},
        {"over": POOLED, "model": "m1"}, {"text": "S00", "model": "m2"}, {"text": "100%"}, {"model": "nobody"},
        {"model": "m1", "set_name": "exam", "context": "none", "style": "direct", "which": ("failed", "right")},
    ],
)  # fmt: skip
def test_a_filter_leaves_as_many_answers_as_it_says(catalog: Catalog, asked: dict[str, object]) -> None:
    base = Filter(**asked)  # type: ignore[arg-type]
    with catalog.index(next(iter(catalog.runs()))).reading() as db:

        def left(found: Filter) -> int:
            return sum(row["n"] for row in found.parents(db))

        counts = base.counts(db)
        for name in FACTORS:
            given = [row[0] for row in db.execute(f"SELECT DISTINCT {name} FROM conditions")]
            told = {value: left(replace(base, **{name: value})) for value in given if value not in ("", POOLED)}
            shown = {value: n for value, n in counts[name].items() if value not in ("", POOLED)}
            assert {value: n for value, n in told.items() if n} == shown
        told = {name: left(replace(base, which=(*base.which, name))) for name in WHICH}
        assert {name: n for name, n in told.items() if n} == counts["which"]
        levels = {one: left(replace(base, field=f"level={one}")) for one in ("level 9", "level 10")}
        assert {one: n for one, n in levels.items() if n} == base.field_counts(db).get("level", {})


def test_filters_show_no_zeros_but_what_is_checked(catalog: Catalog) -> None:
    name = next(iter(catalog.runs()))
    page = samples.page(catalog, name, Filter(model="m2"))
    assert "refused" not in re.findall(r'name="which" value="(\w+)"', page) and ">Not read<" not in page
    page = samples.page(catalog, name, Filter(model="m2", which=("refused",)))
    assert 'value="refused" checked>refused <span class="muted">0</span>' in page and "No answer fits." in page
    levels = re.findall(r'<option value="level=[^"]*">([^<]*)<', samples.page(catalog, name, Filter()))
    assert [level.partition(" (")[0] for level in levels] == ["level 9", "level 10"]
    assert names(catalog, field="a=b=3=1") == ["s03"], "a name may hold an equals sign"
    assert 'value="a=b=3=1"' in samples.page(catalog, name, Filter())


def test_the_page_says_what_score_and_change_are(catalog: Catalog) -> None:
    page = samples.page(catalog, next(iter(catalog.runs())), Filter())
    assert "Score: what the standard question earned, in percent. Change: by its variants, in points." in page


def test_a_thumbnail_is_small_and_a_picture_that_cannot_be_read_costs_itself_alone(tmp_path: Path) -> None:
    large, broken = picture(1600, 1200), picture(900, 700)
    given = [
        choice(f"s0{n}", images=(image_ref(data),)) for n, data in enumerate((large, broken, picture(90, 9), b"gone"))
    ]
    exam = write_set(tmp_path / "runs" / "exam", given, images=[large, broken, picture(90, 9)])
    (exam.folder / image_ref(broken)).write_bytes(broken[: len(broken) // 2])
    entry = SetEntry("exam", "exam", "../exam", exam.manifest.digest)
    catalog = opened(
        tmp_path, [answer(one.id, 1.0, sample=one) for one in given], samples=given, keep_samples=False, sets=(entry,)
    )
    page = samples.page(catalog, next(iter(catalog.runs())), Filter(sort="name"))
    found = re.findall(r'<img loading="lazy" src="(/picture/[^"]+)" alt="The picture of (\w+)">', page)
    assert [name for _, name in found] == ["s00", "s01", "s02"]
    client = TestClient(open_viewer(catalog, "token", 80), base_url="http://localhost")
    assert client.get("/?token=token").is_success
    got = [client.get(address) for address, _ in found]
    assert [one.status_code for one in got] == [200, 404, 200] and got[0].headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(got[0].content)).size == (SIDE, SIDE * 3 // 4)
    assert Image.open(io.BytesIO(got[2].content)).size == (90, 9), "what is small stays as it is"
    assert client.get(f"/picture/small-{digest('x', 16)}").status_code == 404


def test_fields_are_rows_in_their_order_and_one_value_is_no_column(tmp_path: Path) -> None:
    def leveled(record: Record) -> Record:
        number = int(record.parent[1:])
        fields = {"level": f"level {12 - number % 12}", "difficulty": ("hard", "Easy", "medium")[number % 3]}
        return replace(record, fields=fields)

    rows = [*answers("1" * 24), *answers("10" * 12, DYNAMIC), *answers("1" * 24, SHUFFLE)]
    catalog = opened(tmp_path, [leveled(record) for record in rows])
    page = run.page(catalog, next(iter(catalog.runs())))
    for table in ("Changes", "Flips", "Scores"):
        heads = page.partition(f'aria-label="{table}"')[2].partition("</thead>")[0]
        assert "Adjusted p" in heads or "n</th>" in heads
        assert not {"Model", "Set", "Chance"} & set(re.findall(r">([^<]+)</th>", heads))
    assert "answers. Model: m1. Set: exam." in page

    def field(name: str) -> list[str]:
        return re.findall(
            r'<th scope="row">([^<]+)<', page.partition(f"<summary>{name}<")[2].partition("</details>")[0]
        )

    assert field("Level") == [f"level {n}" for n in range(1, 13)] and field("Difficulty") == ["Easy", "medium", "hard"]
    assert "diamond" in page and page.count('<tr class="whole">') == 1
    (chains,) = re.findall(r'aria-label="m1 on exam: change by chain.*?</table>', page, re.DOTALL)
    assert chains.count('<span class="unseen">, significant</span>') == chains.count('class="num strong"') > 0
