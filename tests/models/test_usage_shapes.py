"""How providers count tokens: the shapes of their `usage`, and what becomes of each."""

from __future__ import annotations

from typing import Any

import pytest
from asking import asking, user
from serving import OtherServer

from mmdyn.models.budget import Price
from mmdyn.record import Usage

SHAPES: dict[str, tuple[dict[str, Any], Usage]] = {
    "OpenAI": (
        {
            "prompt_tokens": 2006,
            "completion_tokens": 300,
            "total_tokens": 2306,
            "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 192, "audio_tokens": 0, "accepted_prediction_tokens": 0},
        },
        Usage(2006, 300, 192, 1920),
    ),
    "Azure": (
        {
            "completion_tokens": 25,
            "prompt_tokens": 33,
            "total_tokens": 58,
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        Usage(33, 25),
    ),
    "xAI, which counts reasoning apart": (
        {
            "prompt_tokens": 12,
            "completion_tokens": 1,
            "total_tokens": 399,
            "prompt_tokens_details": {"text_tokens": 12, "image_tokens": 0, "cached_tokens": 5},
            "completion_tokens_details": {"reasoning_tokens": 386},
            "num_sources_used": 0,
        },
        Usage(12, 387, 386, 5),
    ),
    "xAI, a long answer after little reasoning": (
        {
            "prompt_tokens": 20,
            "completion_tokens": 300,
            "total_tokens": 380,
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
        Usage(20, 360, 60),
    ),
    "Gemini's OpenAI API, which tells it by the total alone": (
        {"prompt_tokens": 20, "completion_tokens": 151, "total_tokens": 553},
        Usage(20, 533, 382),
    ),
    "a gateway to Gemini with no visible answer": (
        {
            "prompt_tokens": 21,
            "completion_tokens": 0,
            "total_tokens": 81,
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
        Usage(21, 60, 60),
    ),
    "Kimi": (
        {"prompt_tokens": 1336, "completion_tokens": 31, "total_tokens": 1367, "cached_tokens": 1280},
        Usage(1336, 31, 0, 1280),
    ),
    "DeepSeek": (
        {
            "prompt_tokens": 1100,
            "completion_tokens": 500,
            "total_tokens": 1600,
            "prompt_cache_hit_tokens": 1024,
            "prompt_cache_miss_tokens": 76,
            "completion_tokens_details": {"reasoning_tokens": 420},
        },
        Usage(1100, 500, 420, 1024),
    ),
    "DashScope": (
        {
            "prompt_tokens": 900,
            "completion_tokens": 80,
            "total_tokens": 980,
            "prompt_tokens_details": {"cached_tokens": 512, "image_tokens": 700, "text_tokens": 200},
            "completion_tokens_details": {"reasoning_tokens": 50, "text_tokens": 30},
        },
        Usage(900, 80, 50, 512),
    ),
    "OpenRouter": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 90,
            "total_tokens": 190,
            "cost": 0.00014,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 64, "image_tokens": 0},
        },
        Usage(100, 90, 64),
    ),
    "Groq": (
        {"queue_time": 0.03, "prompt_tokens": 18, "prompt_time": 0.01, "completion_tokens": 556, "total_tokens": 574},
        Usage(18, 556),
    ),
    "SGLang": (
        {
            "prompt_tokens": 30,
            "completion_tokens": 200,
            "total_tokens": 230,
            "prompt_tokens_details": None,
            "reasoning_tokens": 150,
        },
        Usage(30, 200, 150),
    ),
    "vLLM": (
        {"prompt_tokens": 30, "total_tokens": 40, "completion_tokens": 10, "prompt_tokens_details": None},
        Usage(30, 10),
    ),
    "a gateway that leaves cached tokens out of the prompt": (
        {
            "prompt_tokens": 30,
            "completion_tokens": 10,
            "total_tokens": 140,
            "prompt_tokens_details": {"cached_tokens": 100},
        },
        Usage(130, 10, 0, 100),
    ),
    "the same, after some reasoning": (
        {
            "prompt_tokens": 30,
            "completion_tokens": 50,
            "total_tokens": 180,
            "prompt_tokens_details": {"cached_tokens": 100},
            "completion_tokens_details": {"reasoning_tokens": 40},
        },
        Usage(30, 50, 40, 30),
    ),
    "floats and nulls": ({"prompt_tokens": 30.0, "completion_tokens": None, "total_tokens": None}, Usage(30)),
    "a total that is too small": ({"prompt_tokens": 30, "completion_tokens": 10, "total_tokens": 3}, Usage(30, 10)),
    "a total alone": ({"total_tokens": 500}, Usage()),
    "nonsense": ({"prompt_tokens": "many", "total_tokens": -5, "completion_tokens_details": []}, Usage()),
}


@pytest.mark.parametrize("provider", SHAPES)
async def test_every_shape_is_read(provider: str) -> None:
    usage, expected = SHAPES[provider]
    async with (
        OtherServer(lambda answer: answer.update(usage=usage)) as server,
        asking(f"openai:m,base_url={server.url}") as asker,
    ):
        assert (await asker.ask(user())).usage == expected


def test_reasoning_that_is_counted_apart_is_paid_for() -> None:
    _, usage = SHAPES["xAI, which counts reasoning apart"]
    assert Price(input=0, output=1_000_000).cost(usage) == 387
