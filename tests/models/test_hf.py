"""`hf:` on tiny checkpoints of real architectures: batches, pictures, draws, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import making_models
import pytest
import torch
from asking_locally import Messages, ask_alone, ask_together, speckled, stored, user, weighed
from PIL import Image

from mmdyn.errors import InputError, ModelError, UserError
from mmdyn.keys import canonical, sha256
from mmdyn.models import Asker, ImagePart, Message, RejectedError, Spec, TextPart, open_model
from mmdyn.models.backends._local_backend import LocalEngine
from mmdyn.models.backends.hf import HuggingFace, _Draws
from mmdyn.record import Reply

TEXT, VISION = ("llama", "qwen2"), ("llava", "idefics3", "gemma3")
SHORT = "max_new_tokens=8"


def texts(count: int) -> list[Messages]:
    """Requests of lengths that fall into one batch, and some that do not."""
    return [(user("Count on. " + "one two " * (number % 4) + str(number)),) for number in range(count)]


def shown(folder: Path) -> list[Messages]:
    """Requests with one picture or two, of several sizes, among texts or before them."""
    a, b, c = speckled(folder, 1), speckled(folder, 2), speckled(folder, 3, 90, 30)
    return [
        (user(a, "What is it?"),),
        (user(b, "What is it?"),),
        (user("Look: ", c, " what is it?"),),
        (user(a, b, "Which?"),),
        (user(b, a, "Which?"),),
        (user(a, "Which? ", b, " This?"),),
    ]


@pytest.mark.parametrize("name", [*TEXT, *VISION])
async def test_a_batch_answers_as_one_at_a_time_does(name: str, made: Callable[[str], Path], tmp_path: Path) -> None:
    model, requests = f"hf:{made(name)},{SHORT}", [*(shown(tmp_path) if name in VISION else ()), *texts(9)]
    together = await ask_together(model, requests)
    assert together == await ask_alone(model, requests)
    assert len({reply.text for reply in together}) > 4
    assert {reply.finish_reason for reply in together} <= {"stop", "length"}


@pytest.mark.parametrize("name", VISION)
async def test_another_picture_gives_another_answer_and_so_does_another_order(
    name: str, made: Callable[[str], Path], tmp_path: Path
) -> None:
    a, b = speckled(tmp_path, 1), speckled(tmp_path, 2)
    asked = [(a, "?"), (b, "?"), (a, b, "?"), (b, a, "?"), (a, "?", b), (a, "?")]
    replies = await ask_together(f"hf:{made(name)}", [weighed(*parts) for parts in asked])
    numbers = [reply.logprobs for reply in replies]
    assert numbers[5] == pytest.approx(numbers[0], abs=1e-4)
    for number, one in enumerate(numbers[:5]):
        for other in numbers[number + 1 : 5]:
            assert one != pytest.approx(other, abs=1e-3)


async def test_texts_are_answered_as_generate_answers_them(made: Callable[[str], Path]) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = made("llama")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    for messages, reply in zip(texts(3), await ask_together(f"hf:{folder},{SHORT}", texts(3)), strict=True):
        ids = tokenizer(f"<s><user>{messages[0].text}\n<assistant>", return_tensors="pt", add_special_tokens=False)
        whole = model.generate(**ids, max_new_tokens=8, do_sample=False)[0, ids["input_ids"].shape[1] :]
        assert reply.text == tokenizer.decode(whole, skip_special_tokens=True).strip()
        assert reply.usage.prompt_tokens == ids["input_ids"].shape[1]
        assert reply.usage.completion_tokens == len(whole)


async def test_an_answer_ends_where_the_model_ends_it_or_at_the_limit(tmp_path: Path) -> None:
    folder = making_models.saying(tmp_path / "saying")
    (whole,) = await ask_together(f"hf:{folder}", texts(1))
    assert (whole.text, whole.finish_reason, whole.usage.completion_tokens) == ("Answer: B", "stop", 10)
    (cut,) = await ask_together(f"hf:{folder},max_new_tokens=7", texts(1))
    assert (cut.text, cut.finish_reason, cut.usage.completion_tokens) == ("Answer:", "length", 7)


async def test_an_answer_that_is_begun_is_gone_on_with(tmp_path: Path) -> None:
    folder = making_models.saying(tmp_path / "saying")
    begun = (user("Which?"), Message("assistant", (TextPart("Ans"),)))
    assert [reply.text for reply in await ask_together(f"hf:{folder}", [begun])] == ["Answer: B"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama", "qwen2"])
async def test_draws_hang_on_the_request_and_the_seed_alone(name: str, made: Callable[[str], Path]) -> None:
    model = f"hf:{made(name)},{SHORT},temperature=1.5,top_p=0.9"
    first = await ask_together(f"{model},seed=1", texts(6))
    alone = await ask_alone(f"{model},seed=1", texts(6)[::-1])
    assert first == alone[::-1]
    other = await ask_together(f"{model},seed=2", texts(6))
    assert all(one.text != two.text for one, two in zip(first, other, strict=True))
    free = [await ask_together(model, texts(1)) for _ in range(3)]
    assert len({reply.text for (reply,) in free}) == 3


def test_whether_it_varies_is_said(made: Callable[[str], Path]) -> None:
    model = f"hf:{made('llama')}"
    said = [open_model(model + options).varies for options in ("", ",temperature=1", ",temperature=1,seed=3")]
    assert said == [False, True, False] and open_model(model, varied=True).varies


def test_what_identifies_a_model(made: Callable[[str], Path], tmp_path: Path) -> None:
    folder = shutil.copytree(made("llama"), tmp_path / "moved")
    one, moved = open_model(f"hf:{made('llama')}"), open_model(f"hf:{folder},device=cpu,batch=3")
    assert (one.label, moved.label) == ("hf:llama", "hf:moved")
    assert canonical(one.identity) == canonical(moved.identity)
    assert str(made("llama").parent) not in canonical(one.identity).decode()
    assert one.identity["template"] == "chat" and one.identity["dtype"] == "float32"
    assert one.identity["kind"] == "text" and open_model(f"hf:{made('llava')}").identity["kind"] == "image-text-to-text"
    assert open_model(f"hf:{made('qwen2')}").identity["template"] == "plain"
    options = ("seed=1", "dtype=bf16", "system=Be brief", "max_pixels=9")
    others = [open_model(f"hf:{folder},{option}") for option in options]
    (folder / "tokenizer_config.json").write_text((folder / "tokenizer_config.json").read_text() + " ")
    others.append(open_model(f"hf:{folder}"))
    assert all(canonical(other.identity) != canonical(one.identity) for other in others)
    assert open_model(f"hf:{folder},label=mine,batch=5").label == "mine"
    assert open_model(f"hf:{folder},batch=5").limits.concurrency == 40


class Small(HuggingFace):
    """Runs out of memory with more than two prompts at a time, or with one that says so."""

    sizes: list[int]

    def _load(self) -> tuple[LocalEngine, Any]:
        engine, processor = super()._load()
        self.sizes, small = [], self

        class Limited:
            encode = engine.encode

            def write(self, prompts: Sequence[Any], encoded: Any) -> list[Reply | ValueError]:
                small.sizes.append(len(prompts))
                if len(prompts) > 2 or "huge" in prompts[0].text:
                    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")
                return engine.write(prompts, encoded)

            weigh = write

        return Limited(), processor


async def test_a_batch_that_does_not_fit_is_halved(made: Callable[[str], Path]) -> None:
    requests = [(user(f"Count on from {number}"),) for number in range(8)]
    model = Small(Spec.parse(f"hf:{made('llama')},{SHORT}"))
    assert await asyncio.gather(*map(model.ask, requests)) == await ask_alone(f"hf:{made('llama')},{SHORT}", requests)
    assert model.sizes == [8, 4, 2, 2, 2, 2]
    with pytest.raises(RejectedError, match="did not fit into the memory, even alone"):
        await model.ask((user("huge"),))
    await model.close()


async def test_one_that_cannot_be_answered_leaves_the_others_alone(made: Callable[[str], Path]) -> None:
    long = (user("x" * 2000),)
    model = open_model(f"hf:{made('llama')},max_new_tokens=100")
    said = await asyncio.gather(*map(model.ask, [*texts(2), long]), return_exceptions=True)
    assert [type(each) for each in said] == [Reply, Reply, RejectedError]
    beyond = "the prompt has 2019 tokens, which with 100 more is beyond the 2048 that the model takes"
    assert str(said[2]) == f"{beyond}: lower max_new_tokens or max_pixels"
    beside = await asyncio.gather(*map(model.ask, [long, (user("y" * 1900),)]), return_exceptions=True)
    assert [type(each) for each in beside] == [RejectedError, Reply]
    await model.close()


async def test_a_model_of_text_says_that_it_reads_no_pictures(made: Callable[[str], Path], tmp_path: Path) -> None:
    asker = Asker(open_model(f"hf:{made('llama')},{SHORT}"))
    reply = await asker.ask((user(speckled(tmp_path, 1), "?"),))
    assert reply.error == "the model reads no pictures: ask it questions without, or name a vision-language model"
    await asker.close()


async def test_text_that_stands_for_a_picture_is_parted(made: Callable[[str], Path], tmp_path: Path) -> None:
    a = speckled(tmp_path, 1)
    for name, token in (("llava", "<image>"), ("gemma3", "<start_of_image>")):
        asked = [weighed(a, f"{token}?"), weighed(a, f"< {token[1:]}?")]
        literal, plain = await ask_together(f"hf:{made(name)}", asked)
        assert literal.logprobs == pytest.approx(plain.logprobs, abs=1e-4)
        assert literal.changed == "a text that stands for a picture parted in two" and not plain.changed


async def test_pictures_without_a_chat_template(tmp_path: Path) -> None:
    folder = making_models.llava(tmp_path / "bare", chat=False)
    a, b = speckled(tmp_path, 1), speckled(tmp_path, 2)
    one, two = await ask_together(f"hf:{folder}", [weighed(a, "?"), weighed(b, "?")])
    assert one.logprobs != pytest.approx(two.logprobs, abs=1e-3)
    assert one.usage.prompt_tokens == 4 + len("?\n\nAnswer:")


async def test_system_messages_and_turns(made: Callable[[str], Path]) -> None:
    folder = made("llama")
    spoken = (Message("system", (TextPart("Be brief."),)), user("Hello"))
    turns = (user("One?"), Message("assistant", (TextPart("Two."),)), user("Three?"))
    given, own, several = await ask_together(f"hf:{folder},{SHORT},system=Be brief.", [spoken, spoken[1:], turns])
    assert given == own
    assert own.usage.prompt_tokens == len("S<system>Be brief.\n<user>Hello\n<assistant>")
    whole = "S<system>Be brief.\n<user>One?\n<assistant>Two.\n<user>Three?\n<assistant>"
    assert several.usage.prompt_tokens == len(whole)


async def test_pictures_are_decoded_as_the_eye_sees_them(made: Callable[[str], Path], tmp_path: Path) -> None:
    model = f"hf:{made('llava')}"
    wide = Image.new("RGB", (60, 30), "white")
    wide.paste("black", (0, 0, 20, 30))
    exif = Image.Exif()
    exif[0x0112] = 6  # stands on its side: turned by 90 degrees it is upright
    lying = wide.transpose(Image.Transpose.ROTATE_90)
    clear = Image.new("RGBA", (60, 30), (0, 0, 0, 0))
    clear.paste((0, 0, 0, 255), (0, 0, 20, 30))
    deep = Image.new("I;16", (60, 30), 65535)
    deep.paste(0, (0, 0, 20, 30))
    others = [stored(tmp_path, image, f"{number}.png") for number, image in enumerate((wide, clear, deep))]
    pictures = [*others, stored(tmp_path, lying, "lying.png", exif=exif)]
    replies = await ask_together(model, [weighed(picture, "?") for picture in pictures])
    for reply in replies[1:]:
        assert reply.logprobs == pytest.approx(replies[0].logprobs, abs=1e-4)


async def test_large_pictures_are_scaled_and_that_is_said(made: Callable[[str], Path], tmp_path: Path) -> None:
    large, small = speckled(tmp_path, 1, 80, 60), speckled(tmp_path, 2, 20, 10)
    (reply,) = await ask_together(f"hf:{made('llava')},{SHORT},max_pixels=1200", [(user(small, large, "?"),)])
    assert reply.changed == "picture 2 scaled from 80x60 to 40x30"


async def test_a_picture_that_cannot_be_read_is_named(made: Callable[[str], Path], tmp_path: Path) -> None:
    model, good = open_model(f"hf:{made('llava')}"), speckled(tmp_path, 1)
    cut = good.path.read_bytes()[:100]
    (tmp_path / "broken.png").write_bytes(cut)
    for part, says in (
        (ImagePart(tmp_path / "gone.png", ""), "cannot be read (No such file or directory): put the picture back"),
        (ImagePart(good.path, "0" * 64), "the picture was changed while it was in use: run the same command again"),
        (
            ImagePart(tmp_path / "broken.png", sha256(cut)),
            "the picture is broken or cut off (image file is truncated): replace the file",
        ),
    ):
        with pytest.raises(InputError) as error:
            await model.ask((user(part, "?"),))
        assert str(error.value).startswith(f"{part.path}: {says}")
    await model.close()


def changed(folder: Path, **config: Any) -> Path:
    """The checkpoint with another config."""
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **config}))
    return folder


@pytest.mark.parametrize(("config", "says"), [
    ({"model_type": "vit"}, "holds a vit, which is no model that writes text: name another one"),
    ({"is_encoder_decoder": True}, "holds an encoder-decoder (llama): name a model that goes on with a text"),
    ({"model_type": "mine", "auto_map": {"AutoModelForCausalLM": "mine.Mine"}}, "holds a model of its own kind (mine) and the Python code for it, which would run with all your rights: read the code, then give trust_remote_code=true"),
])  # fmt: skip
def test_checkpoints_that_cannot_be_asked(
    config: dict[str, Any], says: str, made: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = changed(shutil.copytree(made("llama"), tmp_path / "other"), **config)
    with pytest.raises(ModelError) as error:
        open_model(f"hf:{folder}")
    assert str(error.value) == f"{folder} {says}"


@pytest.mark.parametrize(("text", "says"), [
    ("hf:/no/such", "there is no folder /no/such: name a checkpoint's folder, or a repository as owner/name"),
    ("hf:{llama},devise=cpu", "hf has no option 'devise' (did you mean 'device'?); it takes dtype"),
    ("hf:{llama},batch=0", "the option batch of hf:"),
    ("hf:{llama},device=cuda:7", "the device 'cuda:7' cannot be used ("),
    ("hf:{empty}", "is no checkpoint in the form of transformers: it has no config.json"),
])  # fmt: skip
def test_models_that_cannot_be_opened(text: str, says: str, made: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        open_model(text.format(llama=made("llama"), empty=tmp_path))
    assert says in str(error.value) and "\n" not in str(error.value)


async def refusal(model: str) -> str:
    opened = open_model(model)
    with pytest.raises(ModelError) as error:
        await opened.ask((user("?"),))
    with pytest.raises(ModelError):
        await opened.ask((user("?"),))
    await opened.close()
    return str(error.value)


async def test_weights_that_are_missing_broken_or_not_all_there(made: Callable[[str], Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(made("llama"), tmp_path / "llama")
    weights = folder / "model.safetensors"
    some = load_file(weights)
    save_file({name: each for name, each in some.items() if "mlp" not in name}, weights, {"format": "pt"})
    lacks = "6 of the model's weights, such as model.layers.0.mlp.down_proj.weight: fetch the checkpoint again"
    assert await refusal(f"hf:{folder}") == f"{folder} lacks {lacks}"
    weights.write_bytes(b"broken")
    said = await refusal(f"hf:{folder}")
    assert said.startswith(f"{folder} cannot be loaded (")
    assert said.endswith("): fetch the checkpoint again, or mend the options")
    weights.unlink()
    assert "no file named model.safetensors" in await refusal(f"hf:{folder}")


@pytest.mark.skipif(find_spec("torchvision") is not None, reason="torchvision is installed")
async def test_a_processor_that_needs_torchvision_says_so(made: Callable[[str], Path], tmp_path: Path) -> None:
    folder = changed(shutil.copytree(made("llama"), tmp_path / "other"), model_type="qwen2_vl")
    for name in ("preprocessor_config", "video_preprocessor_config"):
        kind = {"image_processor_type": "Qwen2VLImageProcessor", "video_processor_type": "Qwen2VLVideoProcessor"}
        (folder / f"{name}.json").write_text(json.dumps({**kind, "processor_class": "Qwen2VLProcessor"}))
    needs = f"{folder} needs torchvision, which is not installed: pip install torchvision"
    assert await refusal(f"hf:{folder}") == needs


async def test_closing_ends_what_is_being_written_and_what_waits(made: Callable[[str], Path], tmp_path: Path) -> None:
    folder = shutil.copytree(made("llama"), tmp_path / "endless")
    (folder / "generation_config.json").write_text('{"min_new_tokens": 2000, "eos_token_id": 258, "do_sample": true}')
    model = open_model(f"hf:{folder},max_new_tokens=2000,batch=1")
    asks = [asyncio.ensure_future(model.ask((user(f"{number}"),))) for number in range(3)]
    asks[1].cancel()
    await asyncio.sleep(0.3)
    await asyncio.wait_for(model.close(), 240)
    said = await asyncio.gather(*asks, return_exceptions=True)
    assert [type(each) for each in said] == [ModelError, asyncio.CancelledError, ModelError]
    with pytest.raises(ModelError, match="was closed"):
        await model.ask((user("?"),))


@pytest.mark.slow
@pytest.mark.parametrize("top_p", [0.4, 0.6, 0.9, 1.0])
def test_tokens_come_as_often_as_they_are_likely_among_the_likeliest(top_p: float) -> None:
    shares = {0: 0.05, 1: 0.5, 2: 0.15, 3: 0.3}
    scores = torch.log(torch.tensor([list(shares.values())]) ** 2)  # which the temperature takes back
    draw = _Draws([("a", 1)], 2.0, top_p)
    drawn = Counter(int(draw(None, scores).argmax()) for _ in range(4000))
    kept = {0.4: {1}, 0.6: {1, 3}, 0.9: {1, 2, 3}, 1.0: {0, 1, 2, 3}}[top_p]
    expected = {token: 4000 * shares[token] / sum(shares[each] for each in kept) for token in kept}
    assert drawn == pytest.approx(expected, abs=120)


def test_one_token_is_left_and_it_is_never_an_impossible_one() -> None:
    scores = torch.full((2, 6), -torch.inf)
    scores[:, 4] = 0.0
    left = _Draws([("a", 1), ("a", 2)], 1.0, 1.0)(None, scores)
    assert left.isfinite().sum(-1).tolist() == [1, 1] and left.argmax(-1).tolist() == [4, 4]
