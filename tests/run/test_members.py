"""Scores of published and held-out questions: a checkpoint trained on the published ones is found, and nothing else."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from making_models import llama
from running import evaluated, typed
from serving import serve, wait_until
from shell import MMDYN, mmdyn

from making import blank, choice, image_ref, picture, write_set
from mmdyn.data import SampleSet
from mmdyn.run import Members
from mmdyn.sample import Sample
from mmdyn.tables import (
    MEMBERSHIP_DESIGN,
    MEMBERSHIP_SCORES,
    MembershipDesign,
    MembershipScore,
    Row,
    explain_memory,
    keep_probe_design,
    memory_parts,
    tabulate,
)
from mmdyn.tables.membership import AUC, AUC_WOULD_SHOW, BLIND, BLIND_WOULD_SHOW, MEANS
from mmdyn.work import Reader, RunFolder, Store

WORDS = ["".join(np.random.default_rng(2).choice(list("abdegiklmnoprstuv"), (120, 4))[place]) for place in range(120)]
PART = "split=public"


def questions(published: int = 30, held_out: int = 30, seed: int = 4) -> list[Sample]:
    """Short questions of the same words, in parts that were drawn."""
    draw = np.random.default_rng(seed)
    parts = draw.permutation(["public"] * published + ["held-out"] * held_out)
    return [
        blank(f"q{n:02}", question=f"{' '.join(draw.choice(WORDS, 5))} is ____", fields={"split": str(part)})
        for n, part in enumerate(parts)
    ]


def trained(folder: Path, plain: Path, texts: list[str]) -> Path:
    """A checkpoint that has read some questions again and again, each by itself."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(plain), AutoModelForCausalLM.from_pretrained(plain)
    optimizer, draw = torch.optim.AdamW(model.parameters(), lr=1e-2), np.random.default_rng(0)
    for _ in range(150):
        ids = torch.tensor(tokenizer([*draw.choice(texts, 8)])["input_ids"])
        model(ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def hf(folder: Path) -> str:
    return f"hf:{folder},max_new_tokens=1,dtype=fp32"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A checkpoint of random weights, and the same trained on the published part."""
    folder = tmp_path_factory.mktemp("checkpoints")
    plain, published = llama(folder / "plain", chat=False), [one for one in questions() if public(one)]
    return hf(plain), hf(trained(folder / "seen", plain, [one.question for one in published]))


def public(sample: Sample) -> bool:
    return sample.fields["split"] == "public"


@pytest.fixture
def run(tmp_path: Path, models: tuple[str, str]) -> RunFolder:
    return evaluated(write_set(tmp_path / "set", questions(), "exam"), list(models), tmp_path / "run")


def rows(run: RunFolder) -> dict[tuple[str, str], Row]:
    """By the model's name and the quantity, adjusted over the page."""
    found = explain_memory(tabulate([run], memory_parts()), [run]).report.rows("membership")
    return {(row.factors["model"].rpartition(":")[2], row.quantity): row for row in found}


def said(run: RunFolder, *options: object) -> str:
    result = typed("report", run.folder, "--memory", "-q", *options)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def kept(run: RunFolder) -> list[MembershipScore]:
    with Reader(run.records_folder) as reader:
        return [msgspec.json.decode(value, type=MembershipScore) for _, value in reader.items(MEMBERSHIP_SCORES)]


def test_a_trained_checkpoint_is_found_and_an_untrained_one_is_not(run: RunFolder, models: tuple[str, str]) -> None:
    words = ["probe", "members", run.folder, "-m", models[0], "-m", models[1], "-q", "--published", PART]
    result = typed(*words, "--drawn-at-random")
    telling = f"120 questions asked about: `mmdyn report {run.folder} --memory` tells what they say"
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, telling)
    found = rows(run)
    plain, seen = found["plain", AUC], found["seen", AUC]
    assert seen.is_significant and (seen.value or 0) > 0.95 and (seen.p or 1) < 0.0001
    assert not plain.is_significant and (plain.p or 0) > 0.05
    assert seen.method == "Min-K%++; Mann-Whitney, one-sided" and (seen.n, seen.left_out) == (60, 0)
    assert [found["seen", quantity].n for quantity in MEANS] == [30, 30]
    assert found["seen", AUC_WOULD_SHOW].value == 0.686871
    assert 0.6 < (found["seen", BLIND_WOULD_SHOW].value or 0) < 0.9
    tokens = [one.tokens for one in kept(run)]
    assert len(tokens) == 120 and set(tokens) == {len("aaaa " * 5 + "is ____") - 1}
    text = said(run)
    assert "hf:seen on exam: scores of tokens (p <0.0001) speak for having seen these questions, in this set or" in text
    assert "elsewhere, for a held-out part that was not drawn at random, or for chance." in text
    assert "hf:plain on exam: cannot tell: no significant sign in scores of tokens (p " in text
    assert "; an AUC of 0.69 would mostly show); a model may remember without a sign." in text
    assert "30 published and 30 held-out questions. A classifier that sees the words alone: AUC 0." in text
    assert (
        "Tested alone, an AUC of 0.69 would be found in four of five cases" in text
        and "None of this is proof of what a model was trained on" in text
    )
    told = msgspec.json.decode(typed("report", run.folder, "--memory", "-q", "--format", "json").output)
    (table,) = [part for part in told["report"]["parts"] if part["kind"] == "membership"]
    assert len(table["rows"]) == 12 and {row["unit"] for row in table["rows"]} == {"auc", "score"}
    assert "Membership scores" in typed("report", run.folder, "--memory", "-q", "--format", "html").output

    assert typed(*words).exit_code == 0  # nobody says that it was drawn: the same numbers, and no test
    found = rows(run)
    assert (found["seen", AUC].value, found["seen", AUC].p) == (seen.value, None)
    assert ("seen", AUC_WOULD_SHOW) not in found
    text = said(run)
    assert "This cannot tell: nobody says that the held-out questions were drawn at random" in text
    assert "speak for" not in text and "Nothing here was tested; each section says why." in text


def design_of(folder: Path, samples: Sequence[Sample], *, declared: bool = True) -> MembershipDesign:
    source = write_set(folder / "set", samples, "exam")
    members = Members(published=PART, drawn_at_random=declared)
    members.check([source])
    return members.choose(source, []).design


class Named:
    """Answers, and weighs nothing."""

    label = "m"

    def ask(self, messages: Any) -> str:
        return "none"


def given(folder: Path, design: MembershipDesign, above: float, *, plus: bool = True) -> RunFolder:
    """A run with a model to which published questions are so much likelier."""
    draw = np.random.default_rng(3)
    run = evaluated(SampleSet(folder / "set"), Named(), folder / "run")
    with Store(run.records_folder) as store:
        keep_probe_design(store, MEMBERSHIP_DESIGN, "exam", design, 1)
        for part, shift in ((design.published, above), (design.held_out, 0.0)):
            for text in part:
                score = float(draw.normal(shift))
                one = MembershipScore("python:m", text, 9, -1.0, score, score if plus else None)
                store.put(MEMBERSHIP_SCORES, text, msgspec.json.encode(one))
    return run


def changed(samples: list[Sample], how: str) -> list[Sample]:
    """The held-out part as other questions would be that nobody drew."""
    draw = np.random.default_rng(6)
    asked = {
        "longer": lambda text: f"{text} and {' '.join(draw.choice(WORDS, 4))} too",
        "newer": lambda text: f"in {draw.integers(2024, 2026)} {text}",
        "another author": lambda text: text.replace(" is ____", " equals ____"),
        "sorted": lambda text: " ".join([*draw.choice(WORDS[:30], 5), "is ____"]),
        "shorter numbers": lambda text: f"{text} {draw.integers(10, 99)}",
    }[how]
    extra = {"sorted": lambda text: " ".join([*draw.choice(WORDS[30:], 5), "is ____"])}
    extra |= {"newer": lambda text: f"in {draw.integers(2017, 2023)} {text}"}
    extra |= {"shorter numbers": lambda text: f"{text} {draw.integers(1000, 9999)}"}
    keep = extra.get(how, str)
    return [
        msgspec.structs.replace(one, question=str((keep if public(one) else asked)(one.question))) for one in samples
    ]


@pytest.mark.parametrize("how", ["longer", "newer", "another author", "sorted", "shorter numbers"])
def test_parts_whose_words_differ_cannot_tell(tmp_path: Path, how: str) -> None:
    """Whatever the model says, and whatever is declared."""
    design = design_of(tmp_path, changed(questions(60, 60), how))
    assert design.blind[1] > 0.5
    run = given(tmp_path, design, above=4.0)
    found = rows(run)["m", AUC]
    assert (found.p, found.is_significant) == (None, False) and (found.value or 0) > 0.9
    text = said(run)
    assert "This cannot tell: the words alone tell the published questions from the held-out ones" in text
    assert "speak for" not in text


def test_parts_that_are_alike_are_tested_by_either_score(tmp_path: Path) -> None:
    for plus in (True, False):
        folder = tmp_path / str(plus)
        design = design_of(folder, questions(60, 60))
        assert design.blind[1] <= 0.5 <= design.blind[2]
        found = rows(given(folder, design, above=1.0, plus=plus))["m", AUC]
        assert found.is_significant and found.method.startswith("Min-K%++;" if plus else "Min-K%;")


def test_near_duplicates_in_one_part_do_not_leak(tmp_path: Path) -> None:
    """Each question stands four times, with other numbers: its copies would tell which part it is in."""
    samples = [
        msgspec.structs.replace(one, id=f"{one.id}-{copy}", question=f"{one.question} of {copy} {copy * 11}")
        for one in questions(20, 20)
        for copy in range(4)
    ]
    design = design_of(tmp_path, samples)
    assert len(set(design.groups)) == 40 and design.blind[1] <= 0.5 <= design.blind[2]


def test_few_questions_say_how_little_the_words_alone_would_have_shown(tmp_path: Path) -> None:
    run = given(tmp_path, design_of(tmp_path, questions(10, 10)), above=3.0)
    found = rows(run)
    assert found["m", BLIND].n == 20 and (found["m", BLIND_WOULD_SHOW].value or 1.1) > 0.85
    text = said(run)
    assert "these are too few questions for it" in text or "in four of five cases" in text


def test_a_part_with_too_few_scores_is_not_tested(tmp_path: Path) -> None:
    design = design_of(tmp_path, questions(12, 12))
    run = given(tmp_path, design, above=3.0)
    with Store(run.records_folder) as store:
        missing = msgspec.structs.replace(design, published=("gone",) * 3 + design.published[3:])
        keep_probe_design(store, MEMBERSHIP_DESIGN, "exam", missing, 2)
    found = rows(run)["m", AUC]
    assert (found.p, found.n, found.left_out) == (None, 21, 3)
    assert "This cannot tell: a part has fewer than 10 questions with a score" in said(run)
    with Store(run.records_folder) as store:
        none = msgspec.structs.replace(design, published=("gone",) * 12)
        keep_probe_design(store, MEMBERSHIP_DESIGN, "exam", none, 3)
    assert rows(run)["m", AUC].value is None and "speak for" not in said(run)


def test_what_was_weighed_is_not_weighed_again_and_another_field_is_another_try(
    run: RunFolder, models: tuple[str, str]
) -> None:
    words = ["probe", "members", run.folder, "-m", models[0], "-q", "--cache", "none", "--published"]
    assert mmdyn(*words, PART, "--max-requests", "7").returncode == 3
    assert len(kept(run)) == 7 and rows(run)["plain", AUC].left_out == 53
    assert "(53 more have no score: ask again)" in said(run)
    assert typed(*words, PART, "--max-requests", "53", "--drawn-at-random").exit_code == 0 and len(kept(run)) == 60
    assert typed(*words, PART, "--max-requests", "1").exit_code == 0  # and of another declaration nothing is asked
    assert "not adjusted" not in said(run)
    assert typed(*words, "split=held-out", "--max-requests", "1").exit_code == 0 and len(kept(run)) == 60
    assert (
        "he last of 2 fields and values that were tried: what came before is not shown, and p not adjusted for it"
        in said(run)
    )


@pytest.mark.slow
def test_a_kill_loses_nothing(run: RunFolder, models: tuple[str, str]) -> None:
    words = ["probe", "members", str(run.folder), "-m", models[0], "-q", "--cache", "none", "--published", PART]
    process = subprocess.Popen([*MMDYN, *words], stdout=subprocess.DEVNULL)
    wait_until(lambda: len(kept(run)) > 0, process)
    process.kill()
    process.wait()
    left = 60 - len(kept(run))
    done = mmdyn(*words, "--max-requests", str(max(left, 1)))
    assert done.returncode == 0 and done.stdout.startswith("60 questions asked about") and len(kept(run)) == 60


def test_what_cannot_be_weighed_is_counted(tmp_path: Path) -> None:
    """Too long for the context, of one token, and of pictures."""
    shown = [blank(f"p{n}", question="<image 1>", images=(image_ref(picture()),)) for n in range(3)]
    odd = [blank("long", question="so " * 300 + "____"), blank("short", question="x", fields={"split": "public"})]
    data = write_set(tmp_path / "set", [*questions(), *odd, *shown], "exam", images=[picture()])
    model = hf(llama(tmp_path / "short", chat=False, max_position_embeddings=512))
    run = evaluated(data, model, tmp_path / "run")
    result = typed("probe", "members", run.folder, "-m", model, "-q", "--published", PART, "--drawn-at-random")
    assert result.exit_code == 1 and "60 questions asked about" in result.output
    assert "failed: long of exam, hf:short, membership: the prompt has 1 tokens, which with" in result.output
    assert "failed: short of exam, hf:short, membership: the text has no token behind another" in result.output
    found = rows(run)["short", AUC]
    assert (found.n, found.left_out) == (60, 2)
    assert "3 questions whose pictures are a part of them are left out" in found.note


def test_servers_tell_min_k(tmp_path: Path, models: tuple[str, str]) -> None:
    """The same log-probabilities as the checkpoint's, without what the vocabulary is like."""
    from models.weighing import weighing

    data, folder = write_set(tmp_path / "set", questions(12, 12), "exam"), Path(models[0][3:].partition(",")[0])

    async def going() -> RunFolder:
        async with weighing(folder, "vllm") as (url, _):
            server = f"completions:m,base_url={url},max_tokens=1"
            run = await asyncio.to_thread(evaluated, data, [server, models[0]], tmp_path / "run")
            words = ["probe", "members", run.folder, "-m", server, "-m", models[0], "-q", "--published", PART]
            result = await asyncio.to_thread(typed, *words)
            assert result.exit_code == 0, result.output
            return run

    run = asyncio.run(going())
    found = {(one.model, one.text): one for one in kept(run)}
    for (model, text), one in found.items():
        if model == "completions:m":
            local = found["hf:plain", text]
            assert (one.min_k, one.mean) == pytest.approx((local.min_k, local.mean), abs=1e-3)
            assert one.min_k_plus is None and local.min_k_plus is not None and one.tokens == local.tokens
    assert rows(run)["m", AUC].method == "Min-K%" and rows(run)["plain", AUC].method == "Min-K%++"


def test_servers_without_log_probabilities_are_told(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", questions(), "exam")
    with serve() as server:
        chat, base = (f"{kind}:m,base_url={server.url}" for kind in ("openai", "completions"))
        run = evaluated(data, [chat], tmp_path / "run")
        done = mmdyn("probe", "members", run.folder, "-m", chat, "-q", "--published", PART)
        says = "openai:m tells no log-probabilities of texts: ask an hf:, vllm: or completions: model"
        assert (done.returncode, done.stderr) == (2, f"mmdyn: {says}\n")
        run = evaluated(data, [base], tmp_path / "other")
        done = mmdyn("probe", "members", run.folder, "-m", base, "-q", "--published", PART)
        assert done.returncode == 2 and "tells no log-probabilities of a text" in done.stderr
        assert done.stderr.count("\n") == 1
    text = said(run).replace(" \\ ", " ")
    assert "No question was scored by its tokens." in text
    assert f"$ mmdyn probe members {run.folder} -m completions:m" in text and "--published FIELD=VALUE" in text


@pytest.mark.parametrize(("published", "problem"), [
    ("split", "published is 'split', not FIELD=VALUE: write split=public"),
    ("=public", "published is '=public', not FIELD=VALUE: write split=public"),
    ("split=", "published is 'split=', not FIELD=VALUE: write split=public"),
    ("splits=public", "no question of exam has the field 'splits' (did you mean 'split'?): the fields are split"),
    ("split=Public", "no question of exam has split=Public (did you mean 'public'?): the values are few, held-out, public"),
    ("split=few", "exam has 9 published questions in words: parts are compared that have 10 or more each"),
])  # fmt: skip
def test_mistakes_end_in_one_sentence(tmp_path: Path, published: str, problem: str) -> None:
    few = [msgspec.structs.replace(one, id=f"few-{one.id}", fields={"split": "few"}) for one in questions(9, 0, seed=5)]
    run = evaluated(write_set(tmp_path / "set", [*questions(), *few], "exam"), Named(), tmp_path / "run")
    result = mmdyn("probe", "members", run.folder, "-m", "python:m", "-q", "--published", published)
    assert (result.returncode, result.stderr) == (2, f"mmdyn: {problem}\n")


def test_a_set_without_fields_or_without_others(tmp_path: Path) -> None:
    bare = [choice(f"q{n}", question=f"Question {n}?") for n in range(20)]
    with pytest.raises(Exception, match="has the field 'split': they have no fields"):
        design_of(tmp_path / "bare", bare)
    with pytest.raises(Exception, match="exam has 0 held-out questions in words"):
        design_of(tmp_path / "all", questions(20, 0))
    with pytest.raises(Exception, match="exam has 0 held-out questions in words"):
        design_of(tmp_path / "one", [msgspec.structs.replace(one, fields={"split": "public"}) for one in bare])
