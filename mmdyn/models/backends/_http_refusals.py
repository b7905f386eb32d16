"""What the refusals of model servers mean, by the words and codes in which the servers say it.

The words are those of OpenAI, Azure, Anthropic, Gemini, OpenRouter, Groq, DeepSeek, DashScope, vLLM, SGLang, llama.cpp
and Ollama. Every pattern is linear in the text that it searches.
"""

from __future__ import annotations

import re
from collections.abc import Container

from msgspec import Struct

ANY = range(400, 600)
BAD_REQUEST = (400, 413, 422)


class Refusal(Struct, frozen=True):
    """One meaning: the statuses and the words that it comes with, and the sentence for the user.

    The sentence is formatted with `endpoint`, `model`, `models` (where the models are listed), `credential` and
    `heard`.
    `alone`: it concerns the one request, and others may be answered. `option`: it names an option of the model, which
        is at fault unless others were answered.
    """

    statuses: Container[int]
    words: re.Pattern[str]
    sentence: str
    alone: bool = False
    option: bool = False


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


REFUSALS = (
    Refusal(
        ANY,
        _words(
            "insufficient_quota",
            "billing_hard_limit",
            "credit balance is too low",
            "insufficient (balance|credits|funds)",
            "reached your (specified )?(api )?usage limits",
            r"quotaId \w{0,60}PerDay",
            r"\blimit: 0(?![.\d])",
        ),
        "the account at {endpoint} has no quota left ({heard}): top it up and run again",
    ),
    Refusal(
        (403,),
        _words("moderation", "flagged", "content.?policy"),
        "the server at {endpoint} refused the request ({heard})",
        alone=True,
    ),
    Refusal(
        range(400, 429),
        _words(
            "model_not_(found|exist)",
            r"\bmodels?\b((?!image|file).){0,80}?(not exist|not found)",
            "not_found_error model:",
            "not a valid model",
            r"invalid model\b",
            r"unknown model\b",
            "no such model",
            "is not supported for generateContent",
        ),
        "the server at {endpoint} has no model {model!r} ({heard}): {models} names those that it has",
    ),
    Refusal(
        (400,),
        _words(
            "api.?key.{0,5}(not valid|invalid|expired|not found)", "(invalid|incorrect) api.?key", "renew the api key"
        ),
        "the server at {endpoint} refused {credential} ({heard}): put the right one there",
    ),
    Refusal(
        BAD_REQUEST,
        _words("allowed.local.media.path", "local (files|media)"),
        "the server at {endpoint} may not read files ({heard}): let it (vLLM: --allowed-local-media-path), "
        "or leave images=file out",
    ),
    Refusal(
        (*range(400, 429), 500, 501),
        _words(
            r"not (a )?multi.?modal",
            r"\bnot support(ed)? (image|vision|multi.?modal)(?!\w* (format|type|file|url|media|size|with|of)| detail)",
            r"image_url is only supported",
            r"support image input",
            r"(image|vision)s?( inputs?| content| blocks?| modality){0,2} (is|are) not (supported|enabled)",
            r"(unknown variant|unexpected).{0,5}image_url",
            r"missing data required for image",
            r"at most 0 image",
        ),
        "{model!r} at {endpoint} takes no pictures ({heard}): choose a model that sees, or a set without pictures",
    ),
    Refusal(
        ANY,
        _words(
            "context_length_exceeded",
            r"context.{0,10}(length|window|size|limit)",
            "exceed_context",
            "prompt is too long",
            r"exceeds the maximum number of (input )?tokens",
            r"longer than the model",
            r"range of input length",
            r"reduce the length of the (messages|prompt|input)",
            r"request too large for",
        ),
        "a request is too long for {model!r} at {endpoint} ({heard}): lower max_tokens, send smaller pictures"
        " (max_pixels) or less knowledge, or choose a model with a longer context",
        alone=True,
    ),
    Refusal(
        BAD_REQUEST,
        _words(
            r"at most [\d,]+ completion tokens",
            r"max_tokens: [\d,]+ > [\d,]+",
            r"maximum allowed number of output tokens",
            r"max.?output.?tokens.{0,60}(range|exceed)",
            r"budget_tokens",
        ),
        "{model!r} at {endpoint} does not write so many tokens ({heard}): mend max_tokens or thinking_budget",
        option=True,
    ),
)
"""Looked through in this order; the first one that fits counts."""

ONE_REQUEST_ONLY = _words(
    r"maximum.{0,20}(length|tokens)",
    r"too (long|large|many tokens)",
    r"content.?(policy|filter|management)",
    "inappropriate|inspection|safety|sensitive|image|picture",
)
"""Another refusal that speaks of these is about the request and not about how the model is set up."""

NOT_TAKEN = _words(
    "(un|not )support", "unrecogni[sz]ed", "unknown", "deprecated", "not (permitted|allowed)", "may only", "cannot both"
)
"""Beside a parameter's name: the model does not take it."""
