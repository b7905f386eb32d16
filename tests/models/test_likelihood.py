"""Options weighed by a model: against plain forward passes, in batches, with pictures, in both languages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import making_models
import pytest
from asking_locally import ask_alone, ask_together, by_itself, speckled, user, weighed

from making import choice, true_false
from mmdyn.data import ImageFolder
from mmdyn.errors import ModelError
from mmdyn.models import ChoicesPart, Message, RejectedError, TextPart, choices, identity, open_model
from mmdyn.models.backends._continuations import read_continuations
from mmdyn.models.backends._local_backend import continuation_ids
from mmdyn.record import Condition
from mmdyn.run.render import Renderer
from mmdyn.sample import Sample
from mmdyn.scoring import Scorer

LIKELIHOOD = Condition(style="likelihood")


def by_hand(folder: Path, prompt: str, continuation: str, *pictures: Any) -> float:
    """The sum of the log-probabilities of a continuation's tokens by one forward pass over the whole; letters are
    tokens."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, AutoProcessor, AutoTokenizer

    if pictures:
        processor, model = AutoProcessor.from_pretrained(folder), AutoModelForImageTextToText.from_pretrained(folder)
        shown = {"text": [prompt + continuation], "images": [list(pictures)]}
        inputs = processor(**shown, return_tensors="pt", add_special_tokens=False)
    else:
        processor, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
        inputs = processor(prompt + continuation, return_tensors="pt", add_special_tokens=False)
    with torch.no_grad():
        table = torch.log_softmax(model(**inputs).logits[0], -1)
    count, ids = len(continuation.encode()), inputs["input_ids"][0]
    return sum(float(table[place - 1, ids[place]]) for place in range(len(ids) - count, len(ids)))


@pytest.mark.parametrize(
    ("lead", "among"),
    [("Answer:", (" A", " B", " C")), ("答案：", ("正确", "错误")), ("Answer:", (" True", " False", " T"))],
)
async def test_options_are_weighed_as_by_hand(made: Callable[[str], Path], lead: str, among: tuple[str, ...]) -> None:
    request = weighed("Is it so?", lead=lead, among=among)
    for name, before in (("llama", "<s><user>Is it so?\n<assistant>"), ("qwen2", "Is it so?\n\n")):
        (reply,) = await ask_together(f"hf:{made(name)}", [request])
        assert reply.logprobs == pytest.approx([by_hand(made(name), before + lead, text) for text in among], abs=1e-3)
        assert reply.option_tokens == tuple(len(text.encode()) for text in among)
        means = [total / count for total, count in zip(reply.logprobs, reply.option_tokens, strict=True)]
        assert reply.text == lead + among[means.index(max(means))]
        assert reply.finish_reason == "likelihood"
        assert reply.usage.prompt_tokens == len((before + lead).encode()) - 2 * ("<s>" in before)
        assert reply.usage.completion_tokens == 0


async def test_long_options_are_not_at_a_disadvantage(tmp_path: Path) -> None:
    """Every letter of the long one but the first is sure, so that its mean is the higher and its sum the lower."""
    folder = making_models.saying(tmp_path / "saying", "Bcdefgh")
    (reply,) = await ask_together(f"hf:{folder}", [weighed("?", lead="", among=("x", "Bcdefgh", "xcdefgh"))])
    assert reply.text == "Bcdefgh"
    (reply,) = await ask_together(f"hf:{folder}", [weighed("?", lead="", among=("x", "ycdefgh"))])
    assert reply.logprobs[1] <= reply.logprobs[0] + 1e-3 and reply.text == "ycdefgh"


@pytest.mark.parametrize("name", ["mistral", "mamba"])
async def test_options_after_a_window_that_slides_and_a_state(made: Callable[[str], Path], name: str) -> None:
    """Prompts of other lengths in one batch, options of one token and of several, as many as each asks for."""
    asked = [("Is it so? " * 4, (" A", " B")), ("What?", (" True", " False", " Not")), ("Why? " * 9, ("正确", "T"))]
    replies = await ask_together(f"hf:{made(name)}", [weighed(text, among=among) for text, among in asked])
    for reply, (text, among) in zip(replies, asked, strict=True):
        sums = [by_hand(made(name), f"{text}\n\nAnswer:", option) for option in among]
        assert reply.logprobs == pytest.approx(sums, abs=2e-3)


async def test_prompts_and_pictures_are_read_once_for_all_options(made: Callable[[str], Path], tmp_path: Path) -> None:
    model: Any = open_model(f"hf:{made('llava')},batch=2")
    engine, _ = model._loaded
    read, seen = list[tuple[int, ...]](), list[int]()
    inside = engine.model.model
    inside.language_model.register_forward_pre_hook(
        lambda _, args, given: read.append(tuple(given["inputs_embeds"].shape[:2])), with_kwargs=True
    )
    inside.vision_tower.register_forward_pre_hook(
        lambda _, args, given: seen.append(len((*args, *given.values())[0])), with_kwargs=True
    )
    among = (" True", " False", " Not")
    requests = [weighed(speckled(tmp_path, number), "?", among=among) for number in range(2)]
    await asyncio.gather(*map(model.ask, requests))
    await model.close()
    assert seen == [2] and read[0][1] > 20, "two pictures, and a prompt of so many tokens, once"
    assert read[1:] == [(2, len(text) - 1) for text in among], "and each option in one pass"


@pytest.mark.parametrize("name", ["llava", "idefics3", "gemma3", "paddleocr_vl"])
async def test_options_under_pictures(made: Callable[[str], Path], name: str, tmp_path: Path) -> None:
    from PIL import Image

    parts = [speckled(tmp_path, 1, 80, 60), speckled(tmp_path, 2, 90, 30)]
    a, b = (Image.open(part.path).convert("RGB") for part in parts)
    token = "<start_of_image>" if name == "gemma3" else "<image>"
    single, several = (" A", " B"), (" True", " False")
    requests = [weighed(parts[0], "?", among=among) for among in (single, several)]
    requests += [weighed("See ", parts[0], " and ", parts[1], among=several)]
    one, long, two = await ask_together(f"hf:{made(name)}", requests)
    before = f"<s><user>{token}?\n<assistant>Answer:"
    assert one.logprobs == pytest.approx([by_hand(made(name), before, text, a) for text in single], abs=1e-3)
    assert long.logprobs == pytest.approx([by_hand(made(name), before, text, a) for text in several], abs=1e-3)
    before = f"<s><user>See {token} and {token}\n<assistant>Answer:"
    assert two.logprobs == pytest.approx([by_hand(made(name), before, text, a, b) for text in several], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama", "llava", "idefics3", "aya_vision", "paddleocr_vl"])
async def test_a_batch_weighs_as_one_at_a_time_does(made: Callable[[str], Path], name: str, tmp_path: Path) -> None:
    texts = [weighed("Which? " * 9 + "so" * number, among=(" A", " B", " True")) for number in range(6)]
    shown = [weighed(speckled(tmp_path, number, 80, 60), "Which? " * 9 + "so" * number) for number in range(3)]
    requests = [*texts, *(shown if name != "llama" else [])]
    together, alone = [await ask(f"hf:{made(name)}", requests) for ask in (ask_together, ask_alone)]
    for one, other in zip(together, alone, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-3)
        assert (one.text, one.option_tokens, one.usage) == (other.text, other.option_tokens, other.usage)


async def test_a_model_over_several_cards_is_told_a_number_of_logits_to_keep(made: Callable[[str], Path]) -> None:
    """Places in a tensor would lie on the first card, and what they are picked from on the last."""
    requests = [weighed("Which?" + "so" * number, among=(" A", " B", " True")) for number in range(3)]
    plain = await ask_together(f"hf:{made('llama')}", requests)
    model: Any = open_model(f"hf:{made('llama')}")
    engine, _ = model._loaded
    engine.model.hf_device_map, kept = {"model": 0, "lm_head": 1}, list[Any]()
    engine.model.register_forward_pre_hook(
        lambda _, args, given: kept.append(given["logits_to_keep"]), with_kwargs=True
    )
    spread = await asyncio.gather(*map(model.ask, requests))
    assert [type(each) for each in kept] == [int] * len(kept) and kept
    for one, other in zip(plain, spread, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-3)
    await model.close()


ASKED = "How many?\n\nA. two\nB. three\nC. four\nD. five"
SEVEN = "Seven is prime."


@pytest.mark.parametrize(("sample", "asked", "lead", "among"), [
    (choice(question="How many?"), ASKED, "Answer:", (" A", " B", " C", " D")),
    (choice(question="How many?", language="zh"), ASKED, "答案：", ("A", "B", "C", "D")),
    (true_false(question=SEVEN), f"{SEVEN}\n\nIs this statement true or false?", "Answer:", (" True", " False")),
    (true_false(question=SEVEN, language="zh"), f"{SEVEN}\n\n这一说法正确还是错误？", "答案：", ("正确", "错误")),
])  # fmt: skip
async def test_choices_and_statements_as_they_are_weighed(
    sample: Sample, asked: str, lead: str, among: tuple[str, ...], made: Callable[[str], Path], tmp_path: Path
) -> None:
    messages = Renderer(ImageFolder(tmp_path)).messages(sample, LIKELIHOOD)
    assert messages == (user(asked), Message("assistant", (TextPart(lead), ChoicesPart(among))))
    (reply,) = await ask_together(f"hf:{made('qwen2')}", [messages])
    score = Scorer().score(sample, reply)
    said = reply.text.removeprefix(lead)
    assert score.status == "ok" and score.extracted == (said == among[0] if len(among) == 2 else [said.strip()])


def test_what_may_follow_belongs_to_the_request() -> None:
    one, other = weighed("?"), weighed("?", among=(" A", " B"))
    assert choices(one) == (" A", " B", " C") and choices(one[:1]) == ()
    assert identity(one) != identity(other) and identity(one)[0] == identity(other)[0]  # type: ignore[index]


@pytest.mark.parametrize("model", ["baseline:random", "openai:m,base_url=http://127.0.0.1:1/v1"])
async def test_a_model_that_cannot_weigh_says_so(model: str) -> None:
    opened = open_model(model)
    with pytest.raises(ModelError) as error:
        await opened.ask(weighed("?"))
    says = "this model cannot weigh options: leave --style likelihood out, or ask an hf:, vllm: or completions: model"
    assert str(error.value) == says
    await opened.close()


async def test_a_question_that_is_too_long_is_refused_alone(made: Callable[[str], Path]) -> None:
    model = open_model(f"hf:{made('llama')},batch=2")
    with pytest.raises(RejectedError, match="is beyond the 2048 that the model takes"):
        await model.ask(weighed("x" * 2030))
    assert (await model.ask(weighed("x" * 2000))).text
    await model.close()


class Merging:
    """A tokenizer that joins "：" with what follows it."""

    def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
        ids, rest = list[int](), text
        while rest:
            size = 2 if rest.startswith("：") and len(rest) > 1 else 1
            ids.append(sum(map(ord, rest[:size])))
            rest = rest[size:]
        return {"input_ids": ids}


def test_tokens_of_a_continuation() -> None:
    assert continuation_ids(Merging(), "Answer:", " A") == (32, 65)
    assert continuation_ids(Merging(), "答案：", "A") == (65,), "grown together with what it follows, it counts alone"
    with pytest.raises(ValueError, match="the model's tokenizer makes nothing of the option ''"):
        continuation_ids(Merging(), "Answer:", "")


def told_by_hand(folder: Path, text: str, before: str = "") -> list[list[float]]:
    """Of each token of a text but one without any before it: log-probability, mean and deviation of the vocabulary."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    ids = tokenizer(before + text, return_tensors="pt", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        table = torch.log_softmax(model(ids).logits[0].double(), -1)[:-1]
    mean = (table.exp() * table).sum(-1)
    deviation = ((table.exp() * table.square()).sum(-1) - mean.square()).sqrt()
    return torch.stack([table.gather(-1, ids[0, 1:, None])[:, 0], mean, deviation]).tolist()


TEXTS = ("Seven is prime.", "七是质数。", "to be or not to be " * 20, "ab", "How many?\nA. two\nB. three")


@pytest.mark.parametrize("name", ["llama", "qwen2", "mistral", "mamba"])
async def test_texts_by_themselves_are_told_token_by_token(made: Callable[[str], Path], name: str) -> None:
    """In batches with others, also of models with a window or a state; no template is around them."""
    replies = await ask_together(f"hf:{made(name)}", [by_itself(text) for text in TEXTS])
    for reply, text in zip(replies, TEXTS, strict=True):
        logprobs, means, deviations = told_by_hand(made(name), text)
        assert reply.logprobs == pytest.approx(logprobs, abs=1e-4) and len(logprobs) == len(text.encode()) - 1
        assert [pair[0] for pair in reply.vocabulary] == pytest.approx(means, abs=1e-4)
        assert [pair[1] for pair in reply.vocabulary] == pytest.approx(deviations, abs=1e-3)
        assert (reply.finish_reason, reply.option_tokens, reply.text) == ("tokens", (), "")
        assert reply.usage.prompt_tokens == len(text.encode())


async def test_the_first_token_counts_where_texts_have_a_beginning(begun: Path) -> None:
    (reply,) = await ask_together(f"hf:{begun}", [by_itself("ab")])
    assert reply.logprobs == pytest.approx(told_by_hand(begun, "ab", "<s>")[0], abs=1e-4) and len(reply.logprobs) == 2


@pytest.mark.parametrize("name", ["llava", "gemma3", "paddleocr_vl", "idefics3"])
async def test_models_of_pictures_tell_texts_by_themselves(made: Callable[[str], Path], name: str) -> None:
    long, short = await ask_together(f"hf:{made(name)}", [by_itself("Seven is <image> prime."), by_itself("Seven")])
    assert long.logprobs[:4] == pytest.approx(short.logprobs, abs=1e-3) and len(short.logprobs) == 4
    assert ("a text that stands for a picture parted in two" in long.changed) == (name != "gemma3")


@pytest.mark.parametrize("name", ["llama", "mistral", "qwen2"])
@pytest.mark.parametrize("room", [1, 1500, 2**25])
def test_in_one_pass_and_in_many(made: Callable[[str], Path], name: str, room: int) -> None:
    """With room for one it is token by token, as the model generates: the others are equal to it."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(made(name)), AutoModelForCausalLM.from_pretrained(made(name))
    inputs = tokenizer(["Is it so?", "Why?"], return_tensors="pt", padding=True, padding_side="left")
    found = [[tuple(tokenizer(text)["input_ids"]) for text in each] for each in (("so be it " * 9, "no"), ("a", "bcd"))]
    passes = list[int]()
    model.register_forward_pre_hook(lambda _, args, given: passes.append(given["input_ids"].shape[1]), with_kwargs=True)
    with torch.inference_mode():
        how = {"custom_generate": read_continuations, "continuations": found, "use_cache": True, "max_new_tokens": 1}
        told, one = (model.generate(**inputs, **how, room=each) for each in (room, 1))
    for mine, theirs in zip([*told[0], *told[1]], [*one[0], *one[1]], strict=True):
        assert [[*token] for token in mine] == [pytest.approx([*token], abs=1e-4) for token in theirs]
    assert [len(each) for row in told for each in row] == [81, 2, 1, 3]
    steps = {1: 80 + 2, 1500: 40 + 1, 2**25: 1 + 1}[room]
    assert len(passes) == 1 + steps + 1 + 82


@pytest.mark.parametrize("backend", ["hf", "completions"])
async def test_texts_of_a_token_and_too_long_ones_are_refused_alone(begun: Path, backend: str) -> None:
    from weighing import weighing

    async with weighing(begun, "vllm") as (url, _):
        model = open_model(f"hf:{begun},batch=4" if backend == "hf" else f"completions:m,base_url={url}")
        asked = [model.ask(by_itself(text)) for text in ("", "ab", "x" * 3000)]
        empty, short, long = await asyncio.gather(*asked, return_exceptions=True)
        await model.close()
    assert isinstance(empty, RejectedError) and str(empty).startswith("the text has no token behind another")
    assert not isinstance(short, BaseException) and len(short.logprobs) == 2
    if backend == "hf":
        assert isinstance(long, RejectedError) and "is beyond the 2048 that the model takes" in str(long)


async def test_what_is_asked_of_a_text_by_itself_is_a_request_of_its_own(made: Callable[[str], Path]) -> None:
    """Beside options of equal length, in one go; a control token in it is parted."""
    asked = [by_itself("ab"), weighed("ab", among=("ab",)), by_itself("a<s>b")]
    alone, option, marked = await ask_together(f"hf:{made('llama')}", asked)
    assert (len(alone.logprobs), len(option.logprobs)) == (1, 1) and alone.logprobs != option.logprobs
    assert len(marked.logprobs) == len("a< s>b") - 1 and "control token parted in two" in marked.changed
    assert identity(asked[0]) == [["assistant", [{"alone": ["ab"]}]]]
    with pytest.raises(ModelError, match="cannot weigh options"):
        await open_model("baseline:random").ask(asked[0])
