"""The audit sheet: self-contained, stratified, and safe whatever the samples hold."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from making_sets import make_set, marks_of_sheet as marks
from serving import scripted

from making import choice, picture, write_set
from mmdyn.cli import commands
from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.keys import canonical
from mmdyn.sheets import audit
from perturb import labelled_cases, perturb


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory) -> SampleSet:
    folder = tmp_path_factory.mktemp("sheet")
    return perturb(make_set(folder / "source"), folder / "out", ops="pad,shuffle,convert", draws=2, seed=1, quiet=True)


def test_a_sheet_shows_variants_of_every_chain_with_their_pictures(dynamic: SampleSet, tmp_path: Path) -> None:
    assert audit(dynamic, tmp_path / "sheet.html", None, 9) == 9
    page = (tmp_path / "sheet.html").read_text("utf-8")
    lines = marks(page)
    chains = [line["id"].split("~")[1] for line in lines]
    assert {chain: chains.count(chain) for chain in chains} == {"pad": 3, "shuffle": 3, "convert": 3}
    assert [len(sides) for sides in cards(page)["sides"]] == [2] * 9
    assert 3 <= len(cards(page)["pictures"]) == page.count("data:image/"), "each picture is there once"
    assert all(line["set"] == str(dynamic.folder.resolve()) for line in lines)
    assert not re.search(r'(?:src|href)="(?!data:)', page), "nothing is fetched"


def cards(page: str) -> dict[str, Any]:
    """What the page makes its cards of."""
    found = re.search(r'<script type="application/json" id="shown">(.*?)</script>', page, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def test_the_choice_depends_on_the_seed_alone(dynamic: SampleSet, tmp_path: Path) -> None:
    pages = []
    for seed in (0, 0, 1):
        audit(dynamic, tmp_path / "sheet.html", None, 12, seed)
        pages.append((tmp_path / "sheet.html").read_bytes())
    assert pages[0] == pages[1] != pages[2]


def test_marks_are_kept_under_what_is_on_the_sheet_wherever_the_set_lies(dynamic: SampleSet, tmp_path: Path) -> None:
    def key(found: SampleSet, seed: int, count: int = 12) -> str:
        audit(found, tmp_path / "sheet.html", None, count, seed)
        keys = re.findall(r'data-key="([0-9a-f]{32})"', (tmp_path / "sheet.html").read_text("utf-8"))
        assert len(keys) == 1
        return str(keys[0])

    moved = SampleSet(shutil.copytree(dynamic.folder.parent, tmp_path / "moved") / dynamic.folder.name)
    assert key(dynamic, 0) == key(dynamic, 0) == key(moved, 0)
    assert len({key(dynamic, 0), key(dynamic, 1), key(dynamic, 0, 11)}) == 3


def test_the_policy_lets_the_pages_own_script_run_and_nothing_else(dynamic: SampleSet, tmp_path: Path) -> None:
    audit(dynamic, tmp_path / "sheet.html", None, 4)
    page = (tmp_path / "sheet.html").read_text("utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{hashed}'"
    )
    assert "innerHTML" not in script and not re.search(r"\son\w+=", page)


def test_every_attempt_at_a_draw_has_a_card_of_its_own(tmp_path: Path) -> None:
    dynamic = judged_set(tmp_path)
    assert audit(dynamic, tmp_path / "sheet.html", None, 50) == 6
    page = (tmp_path / "sheet.html").read_text("utf-8")
    lines = marks(page)
    assert sorted((line["id"], line["attempt"]) for line in lines) == [
        (f"q{n}~shuffle~0", attempt) for n in (1, 2) for attempt in range(3)
    ]
    assert len({line["digest"] for line in lines}) > 2 and page.count("draw 0, attempt 2, seed 1") == 2
    assert audit(dynamic, tmp_path / "sheet.html", None, 2) == 2, "more than twice as many as are wanted"


def test_a_label_counts_for_the_attempt_that_was_marked(tmp_path: Path) -> None:
    dynamic = judged_set(tmp_path)
    audit(dynamic, tmp_path / "sheet.html", None, 50)
    lines = marks((tmp_path / "sheet.html").read_text("utf-8"))
    rows = [{**line, "label": line["attempt"] == 1} for line in lines if line["id"] == "q1~shuffle~0"]
    found = list(labelled_cases([json.dumps(row).encode() for row in rows], "labels.jsonl"))
    trails = [case.after.variant for _, case in found]
    assert [(keep, trail.attempt) for (keep, _), trail in zip(found, trails, strict=True) if trail] == [
        (False, 0), (True, 1), (False, 2),
    ]  # fmt: skip


def judged_set(folder: Path) -> SampleSet:
    """Two samples, each drawn three times and rejected three times."""
    judge = scripted(folder, '{"same": false, "confidence": 0.9, "reason": "no"}')
    source = write_set(folder / "source", [choice("q1"), choice("q2", question="What is 2 + 1?")])
    return perturb(source, folder / "out", ops="shuffle", seed=1, judge=judge, redraws=2, quiet=True)


def test_what_a_picture_is_its_bytes_say(tmp_path: Path) -> None:
    """Sets that were written by hand have pictures of any name."""
    folder = tmp_path / "source"
    (folder / "pics").mkdir(parents=True)
    (folder / "pics" / "FIG.JPEG").write_bytes(picture(format="JPEG"))
    (folder / "pics" / "other.xyz").write_bytes(picture())
    sample = choice("q1", images=("pics/FIG.JPEG", "pics/other.xyz"))
    (folder / "samples.jsonl").write_bytes(canonical(sample) + b"\n")
    source = SampleSet(folder)
    dynamic = perturb(source, tmp_path / "out", ops="shuffle", seed=1, quiet=True)
    audit(dynamic, tmp_path / "sheet.html", source.folder, 5)
    page = (tmp_path / "sheet.html").read_text("utf-8")
    assert page.count("data:image/jpeg;base64,") == page.count("data:image/png;base64,") == 1
    (line,) = marks(page)
    ((_, case),) = labelled_cases([json.dumps({**line, "label": True}).encode()], "labels.jsonl")
    assert case.looks == (), "they were carried over under other names, and nobody judged them"
    (shown,) = dynamic
    dynamic.images.path(shown.all_images[1]).write_text("no picture", "utf-8")
    with pytest.raises(UserError, match=r"\.png cannot be shown: not a picture that can be read"):
        audit(dynamic, tmp_path / "sheet.html", source.folder, 5)


def test_nothing_in_a_sample_becomes_markup(tmp_path: Path) -> None:
    hostile = "</pre><script>alert(1)</script> {title} {data} <image 1"
    sample = choice("</script><b>", question=hostile, texts=("<i>", "b", "c", "d"))
    source = write_set(tmp_path / "source", [sample], "<b>{cards}")
    dynamic = perturb(source, tmp_path / "out", ops="shuffle", seed=1, quiet=True)
    audit(dynamic, tmp_path / "sheet.html", None, 5)
    page = (tmp_path / "sheet.html").read_text("utf-8")
    assert "<script>alert" not in page and "<b>{cards}" not in page and "<i>" not in page
    assert page.count("{title}") == 2 and page.count("</script>") == 3
    assert marks(page)[0]["id"] == "</script><b>~shuffle~0"


def test_the_command_writes_it_and_says_what_is_wrong(dynamic: SampleSet, tmp_path: Path) -> None:
    run = CliRunner().invoke(
        commands, ["data", "audit", str(dynamic.folder), "-o", str(tmp_path / "s.html"), "-n", "4"]
    )
    assert run.exit_code == 0 and "4 samples; open it in a browser" in run.output
    with pytest.raises(UserError, match=r"none/s\.html cannot be written \(No such file or directory\)"):
        audit(dynamic, tmp_path / "none" / "s.html", None, 4)
