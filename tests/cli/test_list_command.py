"""mmdyn list operators: severities, short names and presets, without loading what is heavy."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from shell import mmdyn

from mmdyn.cli.list import command
from mmdyn.plugins import FOLDERS, names
from perturb import parse_chains


def listed(*options: str) -> str:
    return mmdyn("list", "operators", *options).stdout


def said(*kind: str) -> dict[str, str]:
    """What the list says of each name."""
    rows = (line.split(maxsplit=1) for line in mmdyn("list", *kind).stdout.splitlines())
    return {name: " ".join(what) for name, *what in rows}


def test_operators_come_by_their_short_names_with_what_they_do_and_take() -> None:
    found = said("operators")
    levels = "@1 @2 @3 @4 @5"
    assert next(iter(found.items())) == ("blur", f"every picture out of focus [{levels}]")
    assert found["convert"] == "the same question in another form [:blank :open :choice :claim]"
    assert found["pad"] == f"a frame around every picture [@mild @strong {levels}]"
    assert found["shuffle"] == "the options in another order [@mild @strong]"
    assert "null" not in found, "a short name that fits two is not shown"
    assert found["image.null"].startswith("every picture one level") and found["text.null"].startswith("one more space")
    assert found["color"] == f"image.invert+image.salt_pepper [@mild @strong {levels}]"
    assert parse_chains(found["mdk12"]) == parse_chains("mdk12"), "it can be typed as it is shown"
    for name in found.keys() - {"color", "mdk12"}:
        assert parse_chains(name)


@pytest.mark.parametrize("kind", [*FOLDERS, "tables", "configs"])
def test_every_name_comes_with_a_line_of_what_it_is(kind: str) -> None:
    found = said(kind)
    assert len(found) > 2 and all(found.values()), found
    full = json.loads(mmdyn("list", kind, "--json").stdout)
    short, shown = ([name.rpartition(".")[2] for name in names] for names in (full, found))
    assert sorted(short) == sorted(shown)


def test_without_a_kind_the_kinds_are_listed() -> None:
    found = said()
    assert found.keys() == {*FOLDERS, "tables", "configs", "vlmeval"}
    assert found["rubrics"] == "what judges of replies are asked"
    for kind in found.keys() - {"vlmeval"}:
        assert said(kind)
    assert json.loads(mmdyn("list", "--json").stdout) == found


def test_json_stays_one_object_of_names() -> None:
    found = json.loads(listed("--json"))
    assert found["image.pad"] == "perturb.image.pad" and found["text.shuffle"] == "perturb.text.shuffle"
    assert found["color"] == "image.invert+image.salt_pepper" and found["mdk12"].startswith("pad,color,")
    assert list(found) == sorted(found)


def test_benchmarks_come_with_what_they_are_and_where_they_are() -> None:
    found = said("benchmarks")
    assert [*found] == [*names("benchmarks")]
    what = "We-Math: visual mathematics, composed problems beside the one-step problems that they are made of"
    assert found["we_math"] == f"{what} (Qiao et al. 2024, arXiv:2407.01284; github.com/We-Math/We-Math; CC BY-NC 4.0)"
    told = r".+ \(.+ 20\d\d.*; .*(github\.com|huggingface\.co)/\S+.*\)"
    assert all(re.fullmatch(told, what) for what in found.values())


def test_listing_imports_nothing_heavy() -> None:
    script = (
        "import sys; from click.testing import CliRunner; from mmdyn.cli.list import command\n"
        "assert CliRunner().invoke(command, ['operators']).exit_code == 0\n"
        "print([name for name in ('torch', 'transformers', 'diffusers', 'cv2', 'rapidocr', 'onnxruntime', "
        "'sentence_transformers', 'PIL', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("columns", [80, 100])
def test_on_a_terminal_lines_break_between_chains_and_addresses_stay_whole(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    for kind in ("operators", "benchmarks"):
        command.main([kind], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= columns or "instruction_following_eval" in line for line in lines)
    assert lines[
        next(place for place, line in enumerate(lines) if line.startswith("mdk12")) + 2 - (columns == 100)
    ].endswith("pad+style+color+paraphrase+substitute+convert")
    assert any("github.com/OPPO-PersonalAI/Acadreason-benchmark" in line for line in lines)
