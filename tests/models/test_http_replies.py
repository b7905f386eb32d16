"""What the backends behind an API make of what comes back."""

from __future__ import annotations

import pytest
from answering import OK, read

from mmdyn.errors import ModelError
from mmdyn.keys import Json
from mmdyn.models import TransientError
from mmdyn.record import Reply, Usage


def openai(
    message: dict[str, Json] | str | None, finish: str | None = "stop", usage: Json = None, **more: Json
) -> Json:
    message = message if isinstance(message, dict) else {"content": message}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish, **more}], "usage": usage}


def anthropic(*content: Json, reason: str | None = "end_turn", usage: Json = None) -> Json:
    blocks: list[Json] = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return {"type": "message", "content": blocks, "stop_reason": reason, "usage": usage}


def gemini(*parts: Json, reason: str = "STOP", usage: Json = None) -> Json:
    texts: list[Json] = [{"text": part} if isinstance(part, str) else part for part in parts]
    return {"candidates": [{"content": {"parts": texts}, "finishReason": reason}], "usageMetadata": usage}


REASONED: Json = {"reasoning_tokens": 6, "audio_tokens": None}
DETAILS: dict[str, Json] = {"prompt_tokens": 10, "completion_tokens": 8, "completion_tokens_details": REASONED, "prompt_tokens_details": {"cached_tokens": 4}}  # fmt: skip
ANTHROPIC: Json = {"input_tokens": 5, "output_tokens": 9, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens_details": {"thinking_tokens": 4}}  # fmt: skip
GEMINI: Json = {"promptTokenCount": 50, "candidatesTokenCount": 7, "thoughtsTokenCount": 30, "cachedContentTokenCount": 40, "totalTokenCount": 87}  # fmt: skip
ODD: Json = {"input_tokens": 5.0, "output_tokens": "9", "output_tokens_details": [4], "cache_read_input_tokens": None}
PIECES: Json = [{"type": "text", "text": "B"}, {"type": "text", "text": "C"}]
REDACTED: Json = {"type": "redacted_thinking"}
THOUGHT: Json = {"type": "thinking", "thinking": "hm", "signature": "x"}
TOKENS: Json = [{"token": "A", "logprob": -0.25, "top_logprobs": []}, {"token": "?", "logprob": None}]


@pytest.mark.parametrize(("backend", "answer", "reply"), [
    ("openai", openai("B"), Reply("B", "stop")),
    ("openai", openai("a" * 3_000_000), Reply("a" * 3_000_000, "stop")),
    ("openai", {"choices": [{"message": {"content": "B"}}]}, Reply("B")),
    ("openai", openai({"content": PIECES}), Reply("BC", "stop")),
    ("openai", openai(""), Reply("", "stop")),
    ("openai", openai(None, "length"), Reply("", "length")),
    ("openai", openai(None, "content_filter"), Reply("", "content_filter")),
    ("openai", openai({"content": None, "refusal": "I cannot."}), Reply("I cannot.", "refusal")),
    ("openai", openai({"content": "A", "reasoning_content": "hm"}), Reply("A", "stop", reasoning="hm")),
    ("openai", openai({"content": "A", "reasoning": "hm"}), Reply("A", "stop", reasoning="hm")),
    ("openai", openai({"content": "A", "reasoning": {"odd": 1}, "reasoning_content": None}), Reply("A", "stop")),
    ("openai", openai({"content": "<think>hm</think>A", "reasoning": "so"}), Reply("A", "stop", reasoning="so\nhm")),
    ("openai", openai({"content": None, "reasoning_content": "hm"}), Reply("", "stop", reasoning="hm")),
    ("openai", openai("<think>\nhm\n</think>\n\nA"), Reply("A", "stop", reasoning="hm")),
    ("openai", openai("\n <think>hm</think>A "), Reply("A ", "stop", reasoning="hm")),
    ("openai", openai("<think></think>A"), Reply("A", "stop")),
    ("openai", openai("<think>B, or"), Reply("", "stop", reasoning="B, or")),
    ("openai", openai("hm</think>\nA"), Reply("A", "stop", reasoning="hm")),
    ("openai", openai("<think>1</think>2</think>3"), Reply("3", "stop", reasoning="12")),
    ("openai", openai("A <think> opens, </think> closes."), Reply("A <think> opens, </think> closes.", "stop")),
    ("openai,think=keep", openai("<think>hm</think>A"), Reply("<think>hm</think>A", "stop")),
    ("openai", openai("A", logprobs={"content": TOKENS}), Reply("A", "stop", logprobs=(-0.25,))),
    ("openai", openai("A", logprobs={}), Reply("A", "stop")),
    ("openai", openai("A", usage=[]), Reply("A", "stop")),
    ("openai", openai("A", usage=DETAILS), Reply("A", "stop", Usage(10, 8, 6, 4))),
    ("openai", openai("A", usage={"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}), Reply("A", "stop", Usage(9, 0, 0, 5))),
    ("openai", openai("A", usage={**DETAILS, "completion_tokens_details": None}), Reply("A", "stop", Usage(10, 8, 0, 4))),
    ("openai", openai("A", usage={**DETAILS, "completion_tokens": 2}), Reply("A", "stop", Usage(10, 8, 6, 4))),
    ("openai", openai("A", usage={**DETAILS, "prompt_tokens": 3}), Reply("A", "stop", Usage(3, 8, 6, 3))),
    ("openai", openai("A", usage={**DETAILS, "completion_tokens": 32.0, "prompt_tokens": 1.5}), Reply("A", "stop", Usage(0, 32, 6))),
    ("openai", openai("A", usage={**DETAILS, "completion_tokens": -8, "prompt_tokens": True}), Reply("A", "stop", Usage(0, 6, 6))),
    ("anthropic", anthropic("A"), Reply("A", "stop")),
    ("anthropic", anthropic("A", "B", reason="stop_sequence"), Reply("AB", "stop")),
    ("anthropic", anthropic("A", reason="max_tokens"), Reply("A", "length")),
    ("anthropic", anthropic("A", reason="model_context_window_exceeded"), Reply("A", "length")),
    ("anthropic", anthropic(), Reply("", "stop")),
    ("anthropic", anthropic(reason="refusal"), Reply("", "refusal")),
    ("anthropic", anthropic("A", reason="pause_turn"), Reply("A", "length")),
    ("anthropic", anthropic("", reason="tool_use"), Reply("", "tool_calls")),
    ("anthropic", anthropic(THOUGHT, REDACTED, "A"), Reply("A", "stop", reasoning="hm")),
    ("anthropic", anthropic("A", usage=ANTHROPIC), Reply("A", "stop", Usage(125, 9, 4, 100))),
    ("anthropic", anthropic("A", usage=ODD), Reply("A", "stop", Usage(5))),
    ("gemini", gemini("A"), Reply("A", "stop")),
    ("gemini", gemini("A", "B", reason="MAX_TOKENS"), Reply("AB", "length")),
    ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}]}, Reply("", "length")),
    ("gemini", gemini({"text": "hm", "thought": True}, "A"), Reply("A", "stop", reasoning="hm")),
    ("gemini", gemini(reason="SAFETY"), Reply("", "refusal: SAFETY")),
    ("gemini", gemini("part", reason="RECITATION"), Reply("part", "refusal: RECITATION")),
    ("gemini", {"promptFeedback": {"blockReason": "SPII"}}, Reply("", "refusal: SPII")),
    ("gemini", gemini("A", usage=GEMINI), Reply("A", "stop", Usage(50, 37, 30, 40))),
    ("gemini", gemini("A", usage={"promptTokenCount": 5, "cachedContentTokenCount": 7.0}), Reply("A", "stop", Usage(5, 0, 0, 5))),
])  # fmt: skip
async def test_what_counts_as_an_answer(backend: str, answer: Json, reply: Reply):
    name, _, options = backend.partition(",")
    assert await read(name, answer, f",{options}" if options else "") == reply


OVERLOADED: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.mark.parametrize(("backend", "answer", "says"), [
    ("openai", openai("", None), "an empty or unfinished answer (finish reason none)"),
    ("openai", openai("half an ans", "abort"), "an empty or unfinished answer (finish reason abort)"),
    ("openai", {"choices": [{}]}, "an empty or unfinished answer"),
    ("openai", {"choices": None}, "an answer without choices"),
    ("openai", {"choices": 3}, "an answer that is no "),
    ("openai", b"[" * 100_000, "an answer that is no "),
    ("openai", {"error": {"message": "overloaded"}}, "HTTP 200: overloaded"),
    ("openai", {"error": {"message": "slow", "code": 429}}, "HTTP 200: slow (429)"),
    ("anthropic", anthropic(reason=None), "an empty or unfinished answer (finish reason none)"),
    ("anthropic", OVERLOADED, "HTTP 200: Overloaded (error overloaded_error)"),
    ("gemini", gemini(reason="OTHER"), "an empty or unfinished answer (finish reason OTHER)"),
    ("gemini", gemini("", reason=""), "an empty or unfinished answer (finish reason none)"),
    ("gemini", {}, "an answer without candidates"),
    ("gemini", {"error": {"code": 503, "message": "overloaded"}}, "HTTP 200: overloaded (503)"),
    *((backend, body, "an answer that is no ") for backend in OK for body in (b"", b"{", b"[]", b"\xff")),
])  # fmt: skip
async def test_what_is_no_answer_is_asked_for_again(backend: str, answer: Json, says: str):
    with pytest.raises(TransientError) as caught:
        await read(backend, answer)
    assert says in str(caught.value) and caught.value.slow_down is ("429" in says or answer is OVERLOADED)


async def test_an_error_in_a_completions_place_counts_by_its_code():
    with pytest.raises(ModelError, match=r"HTTP 200: no such model \(404\)"):
        await read("openai", {"error": {"message": "no such model", "code": 404}})
