"""Orders of questions, weighed by models: a checkpoint that was trained on the file is found, one that was not is not."""

from __future__ import annotations

import shutil
import subprocess
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
from mmdyn.run import Order, probe
from mmdyn.sample import Sample
from mmdyn.tables import ORDER_DESIGN, Row, explain_memory, keep_probe_design, memory_parts, read_model_facts, tabulate
from mmdyn.tables.question_order import BEATEN, BEYOND_OLDER, WOULD_SHOW, OrderDesign, OrderWeight, order_kind
from mmdyn.work import Reader, RunFolder, Store

COUNT, LETTERS = 30, list("abdegiklmnoprstuv")


def questions() -> list[Sample]:
    """Short questions, in an order that was drawn."""
    draw = np.random.default_rng(4)
    words = ["".join(draw.choice(LETTERS, 5)) for _ in range(COUNT)]
    return [blank(f"q{n:02}", question=f"{word} is ____") for n, word in enumerate(words)]


def trained(folder: Path, plain: Path, texts: list[str]) -> Path:
    """A checkpoint that has read stretches of a file, again and again."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(plain), AutoModelForCausalLM.from_pretrained(plain)
    optimizer, draw, long = torch.optim.AdamW(model.parameters(), lr=1e-2), np.random.default_rng(0), 6
    for _ in range(150):
        starts = draw.integers(0, len(texts) - long, 8)
        rows = [tokenizer("\n\n".join(texts[start : start + long]))["input_ids"] for start in starts]
        ids = torch.tensor(rows)
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
    """A checkpoint of random weights, and the same trained on the file."""
    folder = tmp_path_factory.mktemp("checkpoints")
    plain = llama(folder / "plain", chat=False)
    return hf(plain), hf(trained(folder / "seen", plain, [one.question for one in questions()]))


@pytest.fixture
def run(tmp_path: Path, models: tuple[str, str]) -> RunFolder:
    return evaluated(write_set(tmp_path / "set", questions(), "exam"), list(models), tmp_path / "run")


def rows(run: RunFolder, **more: Any) -> dict[tuple[str, str], Row]:
    """By the model's name and the quantity, adjusted over the page."""
    page = explain_memory(tabulate([run], memory_parts(), **more), [run])
    found = page.report.rows("questionorder")
    return {(row.factors["model"].rpartition(":")[2], row.quantity): row for row in found}


def said(run: RunFolder, *options: object) -> str:
    result = typed("report", run.folder, "--memory", "-q", *options)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_a_trained_checkpoint_is_found_and_an_untrained_one_is_not(run: RunFolder, models: tuple[str, str]) -> None:
    words = ["probe", "order", run.folder, "-m", models[0], "-m", models[1], "-q"]
    result = typed(*words, "--is-random", "exam")
    assert (result.exit_code, result.output.splitlines()[-1]) == (
        0,
        f"120 orders asked about: `mmdyn report {run.folder} --memory` tells what they say",
    )
    found = rows(run)
    plain, seen = found["plain", BEATEN], found["seen", BEATEN]
    assert (plain.n, seen.n, seen.left_out) == (3, 3, 0)
    assert seen.is_significant and (seen.value or 0) > 0.9 and (seen.p or 1) < 0.01
    assert not plain.is_significant and (plain.p or 0) > 0.05
    assert found["seen", WOULD_SHOW].value == found["plain", WOULD_SHOW].value == pytest.approx(0.98, abs=0.03)
    text = said(run)
    assert (
        "hf:seen on exam: orders of the questions (p 0.0088) speak for having seen these questions in this order, for an"
        " order that is not random, or for chance." in text
    )
    assert "hf:plain on exam: cannot tell: no significant sign in orders of the questions (p " in text
    assert "None of this is proof of what a model was trained on" in text

    assert typed(*words).exit_code == 0  # the maker declares nothing: the same numbers, and no test
    found = rows(run)
    assert (found["seen", BEATEN].value, found["seen", BEATEN].p) == (seen.value, None)
    text = said(run)
    assert "This cannot tell: exam orders often follow topic and difficulty" in text and "speak for" not in text
    assert "Nothing here was tested; each section says why." in text


@pytest.mark.slow
def test_what_was_weighed_is_not_weighed_again_after_a_kill(run: RunFolder, models: tuple[str, str]) -> None:
    words = ["probe", "order", str(run.folder), "-m", models[0], "-q", "--cache", "none"]
    process = subprocess.Popen([*MMDYN, *words], stdout=subprocess.DEVNULL)
    wait_until(lambda: kept(run) > 0, process)
    process.kill()
    process.wait()
    left = 60 - kept(run)
    assert 0 < left < 60
    done = mmdyn(*words, "--max-requests", str(left))
    assert done.returncode == 0 and done.stdout.startswith("60 orders asked about") and kept(run) == 60


def kept(run: RunFolder) -> int:
    with Reader(run.records_folder) as reader:
        designs = [msgspec.json.decode(value) for _, value in reader.items("order design")]
        return sum(1 for one in {design["id"] for design in designs} for _ in reader.items(order_kind(one)))


def test_a_limit_stops_and_the_same_call_goes_on(run: RunFolder, models: tuple[str, str]) -> None:
    words = ["probe", "order", run.folder, "-m", models[0], "-q", "--cache", "none", "--orders", "5"]
    assert mmdyn(*words, "--max-requests", "7").returncode == 3
    assert kept(run) == 7 and rows(run)["plain", BEATEN].n == 1
    assert "2 more lack an order: ask again" in said(run)
    assert typed(*words, "--max-requests", "11").exit_code == 0 and kept(run) == 18
    assert typed(*words, "--shards", "1", "--orders", "3", "--max-requests", "1").exit_code == 0 and kept(run) == 18
    assert "he last of 2 ways in which it was asked: what came before is not shown, and p not adjusted for it" in said(
        run
    )
    assert rows(run)["plain", BEATEN].n == 1


def test_blocks_that_do_not_fit_are_told_and_left_out(tmp_path: Path) -> None:
    """Every order of the last block is too long for the context: it tells nothing, the others do."""
    long = [blank(f"long{n}", question=f"{'so ' * 40} ____ {n}") for n in range(10)]
    model = hf(llama(tmp_path / "short", chat=True, max_position_embeddings=512))
    run = evaluated(write_set(tmp_path / "set", [*questions(), *long], "exam"), model, tmp_path / "run")
    result = typed("probe", "order", run.folder, "-m", model, "-q", "--is-random", "exam", "--orders", "4")
    assert result.exit_code == 1 and result.output.count("failed: block 3 of exam, hf:short, order ") == 5
    assert "beyond the 512 that the model takes" in result.output and "15 orders asked about" in result.output
    assert (rows(run)["short", BEATEN].n, rows(run)["short", BEATEN].left_out) == (3, 1)


class Named:
    """Answers, and weighs nothing."""

    def __init__(self, label: str) -> None:
        self.label = label

    def ask(self, messages: Any) -> str:
        return "none"


def given(folder: Path, values: dict[str, list[list[float]]], samples: list[Sample], *, declared: bool) -> RunFolder:
    """A run whose models weighed so: by the model the log-probabilities of each block, the published order's first."""
    run = evaluated(write_set(folder / "set", samples, "exam"), [*map(Named, values)], folder / "run")
    blocks, orders = len(next(iter(values.values()))), len(next(iter(values.values()))[0]) - 1
    with Store(run.records_folder) as store:
        keep_probe_design(
            store, ORDER_DESIGN, "exam", OrderDesign("exam", "d", tuple(range(blocks)), orders, declared, 0), 1
        )
        for model, own in values.items():
            for block, weights in enumerate(own):
                for order, weight in enumerate(weights):
                    one = OrderWeight(f"python:{model}", block, order, weight)
                    store.put(order_kind("d"), f"{model} {block} {order}", msgspec.json.encode(one))
    return run


@pytest.mark.parametrize(("cut_offs", "older"), [
    ("old,2019\nnew,2024", True),
    ("old,2019-12\nnew,2024", True),
    ("old,2020\nnew,2024", False),  # the set's first year
    ("new,2024", False),
    ("old,before\nnew,2024", False),
])  # fmt: skip
def test_models_that_are_older_than_the_set_stand_beside(tmp_path: Path, cut_offs: str, older: bool) -> None:
    samples = [choice(f"q{n}", question=f"Question {n}?", fields={"year": 2020 + n % 3}) for n in range(120)]
    new = [[-1.0, -2.0, -2.0, -3.0 + (n % 4 == 0) * 5] for n in range(12)]
    old = [[-1.0, -2.0, 0.0, 0.0 - (n % 3 == 0) * 5] for n in range(12)]
    run = given(tmp_path, {"new": new, "old": old}, samples, declared=False)
    (tmp_path / "models.csv").write_text(f"model,cutoff\n{cut_offs}\n")
    found = rows(run, facts=read_model_facts(tmp_path / "models.csv"))
    assert found["new", BEATEN].value == pytest.approx(11 / 12, abs=1e-5)
    assert found["old", BEATEN].value == pytest.approx(4 / 9, abs=1e-5)
    assert {model for model, quantity in found if quantity == BEYOND_OLDER} == ({"new"} if older else set())
    if older:
        beyond = found["new", BEYOND_OLDER]
        assert (beyond.n, beyond.p_adjusted) == (12, None)  # described, not tested
        assert beyond.value == pytest.approx(11 / 12 - 4 / 9, abs=1e-5)
        text = said(run, "--models", tmp_path / "models.csv")
        assert (
            "a model that makes more use of the questions before one shows the same" in text and "speak for" not in text
        )


def test_ties_never_help(tmp_path: Path) -> None:
    """A model to which all orders are the same is not found, whatever was declared."""
    run = given(tmp_path, {"flat": [[-1.0] * 20] * 30}, questions(), declared=True)
    flat = rows(run)["flat", BEATEN]
    assert (flat.value, flat.p, flat.is_significant) == (0.0, 1.0, False)


def test_one_block_is_too_few(tmp_path: Path) -> None:
    run = given(tmp_path, {"one": [[-1.0, *[-2.0] * 19]]}, questions(), declared=True)
    found = rows(run)["one", BEATEN]
    assert (found.value, found.p, found.is_significant) == (1.0, 0.05, False)
    assert "Too few blocks to test." in said(run)


def test_servers_without_log_probabilities_are_told(tmp_path: Path) -> None:
    data = write_set(tmp_path / "set", questions(), "exam")
    with serve() as server:
        base, chat = (f"{kind}:m,base_url={server.url}" for kind in ("completions", "openai"))
        run = evaluated(data, [chat], tmp_path / "run")
        done = mmdyn("probe", "order", run.folder, "-m", chat, "-q")
        says = "openai:m tells no log-probabilities of texts: ask an hf:, vllm: or completions: model"
        assert (done.returncode, done.stderr) == (2, f"mmdyn: {says}\n")
        run = evaluated(data, [f"openai:m,base_url={server.url},label=x", chat], tmp_path / "other")
        done = mmdyn("probe", "order", run.folder, "-m", base, "-q")
        assert done.returncode == 2 and "has no model completions:m" in done.stderr
    assert "No order of questions was weighed." in said(run)
    assert "mmdyn probe order" not in said(run)  # neither of its models could


def test_mistakes_end_in_one_sentence(run: RunFolder, models: tuple[str, str], tmp_path: Path) -> None:
    few = evaluated(write_set(tmp_path / "few", questions()[:9], "few"), models[0], tmp_path / "few-run")
    cases = {
        "has no set 'exams' (did you mean 'exam'?): its standard sets are exam": ["--is-random", "exams"],
        "hf:plain is set up otherwise in": ["-m", f"{models[0]},max_pixels=7"],
        "0 is not in the range x>=1": ["--orders", "0"],
        "there is no model 'nobody'": ["-m", "nobody:x"],
    }
    for problem, words in cases.items():
        model = [] if "-m" in words else ["-m", models[0]]
        done = mmdyn("probe", "order", run.folder, *model, *words, "-q")
        assert done.returncode == 2 and problem in done.stderr and "Traceback" not in done.stderr
    done = mmdyn("probe", "order", few.folder, "-m", models[0], "-q")
    assert (done.returncode, done.stderr) == (
        2,
        "mmdyn: few has 9 questions in words: orders are weighed of 10 or more\n",
    )
    assert mmdyn("probe", "order", tmp_path / "nowhere", "-m", models[0]).returncode == 2
    shutil.rmtree(tmp_path / "set")
    write_set(tmp_path / "set", questions()[:29], "exam")
    done = mmdyn("probe", "order", run.folder, "-m", models[0], "-q")
    assert done.returncode == 2 and "the set was changed since the run asked it" in done.stderr


def test_questions_that_need_their_pictures_are_counted_and_the_order_is_that_of_the_file(
    tmp_path: Path, models: tuple[str, str]
) -> None:
    shown = [blank(f"p{n}", question="<image 1>", images=(image_ref(picture()),)) for n in range(3)]
    data = write_set(tmp_path / "set", [*shown, *questions()], "exam", images=[picture()])
    run = evaluated(data, models[0], tmp_path / "run")
    probe(run, [models[0]], Order(orders=2), quiet=True)
    first = rows(run)["plain", BEATEN]
    assert "3 questions whose pictures are a part of them are left out" in first.note
    file = tmp_path / "set" / "samples.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[::-1]))  # the same digest, another order
    probe(run, [models[0]], Order(orders=2), quiet=True)
    second = rows(run)["plain", BEATEN]
    assert kept(run) == 18 and "the last of 2 ways" in second.note
