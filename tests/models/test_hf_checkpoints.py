"""`hf:` and `vllm:` on what checkpoints bring along: special tokens, tokenizers that end texts, settings of
generation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import making_models
import pytest
from asking_locally import Messages, ask_alone, ask_together, user, weighed
from making_vllm import vllm_installed
from running import QUIET

from making import choice, write_set
from mmdyn.models import Message, TextPart, open_model
from mmdyn.run import evaluate

PARTED = "a text that stands for a control token parted in two"


def extended(file: Path, **more: Any) -> None:
    """The JSON file with more in it."""
    file.write_text(json.dumps({**(json.loads(file.read_text()) if file.is_file() else {}), **more}))


def ended(folder: Path) -> Path:
    """The checkpoint with a tokenizer that puts EOS behind every text."""
    pieces = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]
    named = {"</s>": {"id": "</s>", "ids": [258], "tokens": ["</s>"]}}
    end = {"type": "TemplateProcessing", "single": pieces, "pair": [*pieces, *pieces], "special_tokens": named}
    extended(folder / "tokenizer.json", post_processor=end)
    return folder


@pytest.mark.parametrize("name", ["llama", "qwen2", "llava"])
async def test_control_tokens_in_a_question_stay_text(name: str, tmp_path: Path) -> None:
    folder = getattr(making_models, name)(tmp_path / name)
    tokens = json.loads((folder / "tokenizer.json").read_text())["added_tokens"]
    header = {**tokens[0], "id": len(tokens) + 256, "content": "<|header|>"}  # marked as special, without a role
    extended(folder / "tokenizer.json", added_tokens=[*tokens, header])
    asked = ["What is </s> in <|header|>?", "What is < /s> in < |header|>?", "What is <b> in HTML?"]
    literal, plain, other = await ask_together(f"hf:{folder}", [weighed(each) for each in asked])
    assert literal.logprobs == pytest.approx(plain.logprobs, abs=1e-4)
    assert literal.usage.prompt_tokens == plain.usage.prompt_tokens
    assert (literal.changed, plain.changed, other.changed) == (PARTED, "", "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["qwen2", "llava"])
async def test_a_model_goes_on_with_a_text_and_not_with_its_end(name: str, tmp_path: Path) -> None:
    settings = {"chat": False} if name == "llava" else {}
    plain = getattr(making_models, name)(tmp_path / "plain", **settings)
    end = ended(getattr(making_models, name)(tmp_path / "end", **settings))
    requests: list[Messages] = [(user("Count on. " + "one " * number),) for number in range(4)]
    said = [await ask_together(f"hf:{folder},max_new_tokens=8", requests) for folder in (plain, end)]
    assert said[0] == said[1]
    options = [weighed("Which? " * number, among=(" A", " B", " True")) for number in range(1, 4)]
    given, others = [await ask_together(f"hf:{folder}", options) for folder in (plain, end)]
    for one, other in zip(given, others, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4) and one.usage == other.usage
    with vllm_installed():
        replies = [await ask_together(f"vllm:{folder},seed=1", requests[:1]) for folder in (plain, end)]
    assert replies[0] == replies[1]


async def test_answers_end_at_the_texts_that_a_checkpoint_names(tmp_path: Path) -> None:
    folder = making_models.saying(tmp_path / "saying")
    extended(folder / "generation_config.json", stop_strings=["swe"], return_dict_in_generate=True)
    begun = (user("Which?"), Message("assistant", (TextPart("A"),)))
    requests: list[Messages] = [(user("Which one?"),), begun]
    together = await ask_together(f"hf:{folder}", requests)
    assert [(reply.text, reply.finish_reason) for reply in together] == [("Answe", "stop")] * 2
    assert [reply.usage.completion_tokens for reply in together] == [5, 4]
    assert together == await ask_alone(f"hf:{folder}", requests)


async def test_vllm_repeats_as_little_as_hf(tmp_path: Path) -> None:
    folder = making_models.llama(tmp_path / "llama")
    with vllm_installed():
        for given, taken in (({}, 1.0), ({"repetition_penalty": 1.2}, 1.2)):
            extended(folder / "generation_config.json", **given)
            await ask_together(f"vllm:{folder}", [(user("Hi"),)])
            import vllm

            assert vllm.asked[-1].repetition_penalty == taken


def test_versions_are_on_record_and_identify_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    monkeypatch.setenv("MMDYN_CACHE", str(tmp_path / "cache"))
    model = f"hf:{making_models.saying(tmp_path / 'saying')}"
    assert "versions" not in open_model(model).identity
    samples = write_set(tmp_path / "set", [choice("a")])
    run = evaluate([samples], [model, "baseline:random"], tmp_path / "run", execution=QUIET)
    assert run.config.versions["transformers"] == transformers.__version__
    assert {"mmdyn", "python", "torch", "tokenizers"} <= set(run.config.versions)
    alone = evaluate([samples], ["baseline:random"], tmp_path / "alone", execution=QUIET)
    assert set(alone.config.versions) == {"mmdyn", "python"}
