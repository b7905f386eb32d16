"""`vllm:` against a stand-in package with the interface that vLLM documents; the engine itself needs a GPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from asking_locally import ask_together, by_itself, speckled, user, weighed
from making_vllm import vllm_installed

from mmdyn.errors import ModelError, UserError
from mmdyn.models import RejectedError, open_model
from mmdyn.models.checkpoint import visible_cards


@pytest.fixture
def installed() -> Iterator[None]:
    with vllm_installed():
        yield


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed")
def test_where_it_is_not_installed_the_command_is_named() -> None:
    with pytest.raises(UserError) as error:
        open_model("vllm:owner/model")
    assert str(error.value) == "vllm is needed for this and is not installed: pip install vllm"


async def test_prompts_are_those_of_hf(installed: None, made: Callable[[str], Path], tmp_path: Path) -> None:
    requests = [(user("Hello"),), (user("Hello", speckled(tmp_path, 1)),)]
    replies = await ask_together(f"vllm:{made('llava')},seed=3", requests)
    assert [reply.text.rpartition(" ")[0] for reply in replies] == ["Answer: 24 []", "Answer: 25 [(40, 30)]"]
    assert [reply.reasoning for reply in replies] == ["hm", "hm"]
    assert replies[0].usage.prompt_tokens == 24 and replies[0].usage.completion_tokens == 2
    again = await ask_together(f"vllm:{made('llava')},seed=3,max_new_tokens=4", requests)
    assert [reply.text for reply in again] == [reply.text for reply in replies]
    assert again[0].finish_reason == "length" and replies[0].finish_reason == "stop"


async def test_options_reach_the_engine(installed: None, made: Callable[[str], Path]) -> None:
    await ask_together(f"vllm:{made('llama')},max_model_len=500,gpu_memory_utilization=0.5,dtype=bf16", [(user("Hi"),)])
    import vllm

    own = {"trust_remote_code": False, "tensor_parallel_size": 1}
    given = {"dtype": "bfloat16", "gpu_memory_utilization": 0.5, "max_model_len": 500}
    assert vllm.made[-1].settings == own | given
    await ask_together(f"vllm:{made('llava')},max_images=3", [(user("Hi"),)])
    assert vllm.made[-1].settings["limit_mm_per_prompt"] == {"image": 3}


async def test_each_rank_s_engine_sees_gpus_of_its_own(
    installed: None, made: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"CUDA_VISIBLE_DEVICES": "4,5,6,7", "LOCAL_RANK": "2", "LOCAL_WORLD_SIZE": "4"}.items():
        monkeypatch.setenv(name, value)
    visible_cards.cache_clear()
    for _ in range(2):  # a second model starts from what was there at first
        await ask_together(f"vllm:{made('llama')}", [(user("Hi"),)])
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "6"
    visible_cards.cache_clear()


async def test_options_are_weighed(installed: None, made: Callable[[str], Path]) -> None:
    from transformers import AutoTokenizer

    (reply,) = await ask_together(f"vllm:{made('llama')}", [weighed("?", among=(" B", " A", " True"))])
    tokenizer = AutoTokenizer.from_pretrained(made("llama"))
    sums = [-sum(tokenizer(text)["input_ids"]) / 100 for text in (" B", " A", " True")]
    assert reply.logprobs == pytest.approx(sums) and reply.option_tokens == (2, 2, 5)
    means = [total / count for total, count in zip(sums, (2, 2, 5), strict=True)]
    assert reply.text == "Answer:" + (" B", " A", " True")[means.index(max(means))]
    assert reply.usage.prompt_tokens == len("S<user>?\n<assistant>Answer:")


async def test_tokens_of_texts_by_themselves(installed: None, made: Callable[[str], Path]) -> None:
    from transformers import AutoTokenizer

    (reply, other) = await ask_together(f"vllm:{made('llama')}", [by_itself("Is it so?"), by_itself("是的")])
    ids = AutoTokenizer.from_pretrained(made("llama"))("Is it so?")["input_ids"]
    assert reply.logprobs == pytest.approx([-token / 100 for token in ids[1:]]) and len(other.logprobs) == 5
    assert (reply.vocabulary, reply.usage.prompt_tokens) == ((), len(ids))
    with pytest.raises(RejectedError, match="no token behind another"):
        await ask_together(f"vllm:{made('llama')}", [by_itself("x")])


async def test_one_that_is_too_long_fails_alone(installed: None, made: Callable[[str], Path]) -> None:
    model = open_model(f"vllm:{made('llama')}")
    assert model.limits.concurrency == 512
    with pytest.raises(RejectedError, match="longer than the maximum model length"):
        await model.ask((user("x" * 600),))
    assert (await model.ask((user("x"),))).text
    await model.close()


async def test_an_engine_that_cannot_start_says_why(installed: None, made: Callable[[str], Path]) -> None:
    model = open_model(f"vllm:{made('llama')},tensor_parallel_size=2")
    with pytest.raises(ModelError) as error:
        await model.ask((user("?"),))
    assert str(error.value) == (
        f"vLLM cannot start {made('llama')} (World size (2) is larger than the number of available GPUs (0)): "
        "mend the options, or ask it as hf:"
    )
    await model.close()
