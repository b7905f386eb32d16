"""mmdyn list operators: severities, short names and presets, without loading what is heavy."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from shell import mmdyn

from mmdyn.plugins import names
from perturb import parse_chains


def listed(*options: str) -> str:
    return mmdyn("list", "operators", *options).stdout


def test_operators_come_with_their_severities_and_forms_and_what_short_names_and_presets_stand_for() -> None:
    lines = listed().splitlines()
    assert "text.convert  :blank :open :choice :claim" in lines
    for name in ("image.style", "text.paraphrase", "text.shuffle"):
        assert f"{name}  @mild @strong" in lines
    levels = "@1 @2 @3 @4 @5"
    assert f"image.pad  @mild @strong {levels}" in lines and f"text.substitute  @mild @strong {levels}" in lines
    assert lines[0] == f"image.blur  {levels}"
    assert lines[-2] == f"color  = image.invert+image.salt_pepper  @mild @strong {levels}"
    name, _, chains = lines[-1].partition("  = ")
    assert name == "mdk12" and chains.startswith("pad,color,style,substitute,paraphrase,convert,pad+style+color,")
    assert parse_chains(chains) == parse_chains("mdk12"), "it can be typed as it is shown"


def test_json_stays_one_object_of_names() -> None:
    found = json.loads(listed("--json"))
    assert found["image.pad"] == "perturb.image.pad" and found["text.shuffle"] == "perturb.text.shuffle"
    assert found["color"] == "image.invert+image.salt_pepper" and found["mdk12"].startswith("pad,color,")
    assert list(found) == sorted(found)


def test_benchmarks_come_with_what_they_are_and_where_they_are() -> None:
    lines = mmdyn("list", "benchmarks").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*names("benchmarks")]
    said = "we_math  We-Math: visual mathematics, composed problems beside the one-step problems that they are made of"
    assert f"{said} (Qiao et al. 2024, arXiv:2407.01284; github.com/We-Math/We-Math; CC BY-NC 4.0)" in lines
    assert all(re.fullmatch(r"\w+  .+ \(.+ 20\d\d.*; .*(github\.com|huggingface\.co)/\S+.*\)", line) for line in lines)


def test_listing_imports_nothing_heavy() -> None:
    script = (
        "import sys; from click.testing import CliRunner; from mmdyn.cli.list import command\n"
        "assert CliRunner().invoke(command, ['operators']).exit_code == 0\n"
        "print([name for name in ('torch', 'transformers', 'diffusers', 'cv2', 'rapidocr', 'onnxruntime', "
        "'sentence_transformers', 'PIL', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
