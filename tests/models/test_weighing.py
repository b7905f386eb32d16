"""`completions:` weighs options over servers of several kinds as `hf:` does with the same checkpoint."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from asking_locally import Messages, ask_together, by_itself, user, weighed
from running import evaluated
from weighing import KINDS, Weights, weighing, with_tokenizer

from making import choice, picture, true_false, write_set
from mmdyn.errors import ModelError
from mmdyn.models import ImagePart, Message, RejectedError, TextPart, TransientError, open_model
from mmdyn.record import Reply

ASKED = [
    weighed("Is it so?"),
    weighed("是这样吗？", lead="答案：", among=("正确", "错误")),
    weighed("What?", among=(" True", " False", " T")),
    (user("Which?"), Message("assistant", (TextPart("Answer: A"),)), *weighed("And now?")),
]


async def asked(url: str, requests: list[Messages], options: str = "") -> list[Reply]:
    return await ask_together(f"completions:m,base_url={url}{options}", requests)


@pytest.mark.parametrize("kind", KINDS)
async def test_every_server_tells_what_hf_finds(begun: Path, kind: str) -> None:
    expected = await ask_together(f"hf:{begun}", ASKED)
    async with weighing(begun, kind) as (url, server):
        replies = await asked(url, ASKED)
    for mine, theirs in zip(replies, expected, strict=True):
        assert mine.logprobs == pytest.approx(theirs.logprobs, abs=1e-3)
        assert (mine.text, mine.option_tokens, mine.finish_reason) == (theirs.text, theirs.option_tokens, "likelihood")
    assert all("temperature" not in body for _, body in server.asked)
    assert replies[0].usage.prompt_tokens >= 3 * expected[0].usage.prompt_tokens, "every request's tokens are counted"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "llama-cpp-python"])
async def test_without_a_token_at_the_beginning(made: Callable[[str], Path], kind: str) -> None:
    expected = await ask_together(f"hf:{made('qwen2')}", ASKED)
    async with weighing(made("qwen2"), kind) as (url, _):
        replies = await asked(url, ASKED)
    assert [mine.logprobs for mine in replies] == [pytest.approx(one.logprobs, abs=1e-3) for one in expected]


async def test_log_probabilities_that_are_one_place_off_are_not_believed(made: Callable[[str], Path]) -> None:
    """llama-cpp-python's are, where the tokenizer adds no BOS."""
    async with weighing(made("qwen2"), "llama-cpp-python") as (url, _):
        with pytest.raises(ModelError, match="gives none for the prompt, or not for all of it"):
            await asked(url, ASKED)


async def test_an_option_that_grows_together_with_the_text(begun: Path, tmp_path: Path) -> None:
    """`:A` is one token: its log-probability less that of the `:` that it takes the place of."""
    shutil.copytree(begun, folder := tmp_path / "merging")
    whole = json.loads((folder / "tokenizer.json").read_text())["model"]
    vocab = {**whole["vocab"], ":A": whole["vocab"]["~"]}
    with_tokenizer(
        folder, model={**whole, "vocab": {k: v for k, v in vocab.items() if k != "~"}, "merges": [[":", "A"]]}
    )
    weights = Weights(folder)
    before, grown, plain = (weights.ids(f"?\n\nAnswer:{text}") for text in ("", "A", "B"))
    assert len(grown) == len(before) and len(plain) == len(before) + 1
    expected = (weights.scores(grown)[-1] - weights.scores(before)[-1], weights.scores(plain)[-1])  # type: ignore[operator]
    for kind in ("vllm", "llama.cpp", "tgi"):
        async with weighing(folder, kind) as (url, _):
            (reply,) = await asked(url, [weighed("?", among=("A", "B"))])
        assert reply.logprobs == pytest.approx(expected, abs=1e-3) and reply.option_tokens == (1, 1)


SILENT = [
    ("openai", True, "Setting 'echo' and 'logprobs' at the same time is not supported"),
    ("deaf", True, "echo with logprobs gives none for the prompt"),
    ("llama-cpp-python", False, "logits_all=False"),
    ("tgi", False, "start TGI with --enable-prefill-logprobs"),
]


@pytest.mark.parametrize(("kind", "told", "says"), SILENT)
async def test_a_server_that_tells_none_is_refused_in_a_sentence(begun: Path, kind: str, told: bool, says: str) -> None:
    async with weighing(begun, kind, told=told) as (url, _):
        model = open_model(f"completions:m,base_url={url}")
        with pytest.raises(ModelError) as error:
            await model.ask(ASKED[0])
        await model.close()
    assert str(error.value).startswith(f"'m' at {url} tells no log-probabilities of a text")
    assert says in str(error.value) and "\n" not in str(error.value)
    assert str(error.value).endswith("with --enable-prefill-logprobs" if kind == "tgi" else "or an hf: model")


async def test_what_one_text_is_refused_for_is_no_failure_of_the_way(begun: Path) -> None:
    async with weighing(begun, "vllm") as (url, server):
        model = open_model(f"completions:m,base_url={url}")
        with pytest.raises(RejectedError, match="makes nothing of the option ''"):
            await model.ask(weighed("?", among=(" A", "")))
        assert (await model.ask(ASKED[0])).logprobs
        server.kind = "deaf"
        with pytest.raises(TransientError, match="an answer without log-probabilities"):
            await model.ask(ASKED[0])
        await model.close()


async def test_pictures_are_refused_before_anything_is_sent(begun: Path, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture())
    part = ImagePart(tmp_path / "a.png", "")
    async with weighing(begun, "vllm") as (url, server):
        with pytest.raises(RejectedError, match="a model that completes texts reads none"):
            await asked(url, [weighed(part, "?")])
    assert not server.asked


@pytest.mark.parametrize("kind", ["vllm", "llama.cpp", "tgi"])
async def test_a_run_by_likelihood_and_in_the_base_form_is_the_one_of_hf(
    begun: Path, tmp_path: Path, kind: str
) -> None:
    questions = [choice(f"q{n}", question=f"How many {n}?") for n in range(4)]
    source = write_set(tmp_path / "set", [*questions, true_false("t", question="Seven is prime.")])
    for name, settings in {"likelihood": {"styles": "likelihood"}, "base": {"shots": "2:base"}}.items():
        options = ",temperature=none" if kind == "tgi" else ""
        async with weighing(begun, kind) as (url, _):
            model = f"completions:m,base_url={url},max_tokens=8{options}"
            over = await asyncio.to_thread(evaluated, source, model, tmp_path / f"over-{name}", **settings)
        local = await asyncio.to_thread(evaluated, source, f"hf:{begun},max_new_tokens=8", tmp_path / name, **settings)
        found, expected = ({record.sample: record.reply for record in run.records()} for run in (over, local))
        assert len(found) == 5
        for sample, reply in found.items():
            assert reply.text == expected[sample].text
            assert reply.logprobs == pytest.approx(expected[sample].logprobs, abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
async def test_every_server_tells_the_tokens_of_a_text_by_itself(begun: Path, kind: str) -> None:
    """All but the first, before which only some servers put a token; of the vocabulary they tell nothing."""
    texts = ["Seven is prime.", "七是质数。"]
    expected = await ask_together(f"hf:{begun}", [by_itself(text) for text in texts])
    async with weighing(begun, kind) as (url, _):
        replies = await asked(url, [by_itself(text) for text in texts])
    for mine, theirs in zip(replies, expected, strict=True):
        assert mine.logprobs == pytest.approx(theirs.logprobs[-len(mine.logprobs) :], abs=1e-3)
        assert len(theirs.logprobs) - len(mine.logprobs) == (kind == "llama-cpp-python")
        assert (mine.vocabulary, mine.finish_reason) == ((), "tokens") and mine.usage.prompt_tokens > 0


@pytest.mark.parametrize(("kind", "told", "says"), SILENT)
async def test_a_server_that_tells_no_tokens_is_refused(begun: Path, kind: str, told: bool, says: str) -> None:
    async with weighing(begun, kind, told=told) as (url, _):
        model = open_model(f"completions:m,base_url={url}")
        with pytest.raises(ModelError, match="tells no log-probabilities of a text") as error:
            await model.ask(by_itself("Seven is prime."))
        await model.close()
    assert says in str(error.value) and "\n" not in str(error.value)
