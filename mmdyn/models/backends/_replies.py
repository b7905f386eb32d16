"""What servers tell of replies: tokens, what answered, the likeliest of choices, and how likely continuations are."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import takewhile
from typing import TypeAlias

import msgspec
from msgspec import Struct

from mmdyn.errors import ModelError
from mmdyn.keys import Json
from mmdyn.models.model import RejectedError, TransientError
from mmdyn.record import Reply, Usage

MOST = 2**53
"""What no count of tokens reaches."""
LONGEST_NAME = 200
NO_TOKENS = "the text has no token behind another, so that none can be weighed"
"""The error for a text that is too short to be weighed by itself."""


def count(usage: object, name: str, within: str = "") -> int:
    """The count under a name, perhaps `within` an object; 0 where there is none that can be read: an odd one never
    costs the answer that it came with."""
    if within:
        usage = usage.get(within) if isinstance(usage, dict) else None
    value = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < MOST else 0


def consistent(prompt: int, completion: int, reasoning: int, cached: int, total: int = 0) -> Usage:
    """The counts as a Usage has them: reasoning among the completion, cached among the prompt.

    Some servers count reasoning apart from the completion: it is larger then, or a part of the `total` beside it.
    Others tell it by the total alone, as what is neither prompt nor completion; where that is the cached tokens, those
    are left out of the prompt.
    """
    apart = total - prompt - completion if prompt else 0
    if not reasoning and apart > 0:
        prompt, reasoning = (prompt + cached, 0) if apart == cached else (prompt, apart)
    whole = completion + reasoning if reasoning > completion or apart == reasoning else completion
    return Usage(prompt, whole, reasoning, min(cached, prompt))


def name_of(told: object) -> str:
    """What a server says that a reply is of, such as its `model`; empty where that is no name."""
    return told[:LONGEST_NAME] if isinstance(told, str) else ""


def likeliest(
    lead: str, choices: Sequence[str], sums: Sequence[float], lengths: Sequence[int], usage: Usage, changed: str = ""
) -> Reply:
    """The reply for the likeliest of the choices with which an answer may go on.

    A choice's score is the log-probability of its tokens given the prompt, divided by their number, so that long ones
    are not at a disadvantage (as in Brown et al. 2020, "Language Models are Few-Shot Learners", section 2.4).

    Args:
        lead: What the answer begins with.
        choices: What it may go on with.
        sums: The choices' log-probabilities, in nats.
        lengths: Their lengths in tokens.
        usage: What was read and written.
        changed: What of the request was changed.
    """
    means = [total / length for total, length in zip(sums, lengths, strict=True)]
    return Reply(
        text=(lead + choices[means.index(max(means))]).strip(),
        finish_reason="likelihood",
        usage=usage,
        logprobs=tuple(sums),
        option_tokens=tuple(lengths),
        changed=changed,
    )


def token_reply(
    logprobs: Sequence[float], usage: Usage, vocabulary: Sequence[tuple[float, float]] = (), changed: str = ""
) -> Reply:
    """The reply for a text that was weighed by itself; `Reply` says what the arguments are."""
    return Reply(
        finish_reason="tokens", usage=usage, logprobs=tuple(logprobs), vocabulary=tuple(vocabulary), changed=changed
    )


FORCE = 10_000.0
"""Added to the logit of the token that is to come next, so that no other one does."""

Post: TypeAlias = "Callable[[dict[str, Json], str], Awaitable[bytes]]"
"""Sends a body to a path of the server, or where the model is asked if that is empty, and gives the answer's body."""


class _Untold(Exception):
    """The server does not tell it in this way."""


class _Entry(Struct, frozen=True):
    id: int = -1
    logprob: float | None = None


class _Logprobs(Struct, frozen=True):
    tokens: list[str] = []
    token_logprobs: list[float | None] = []
    content: list[_Entry] = []


class _Choice(Struct, frozen=True):
    logprobs: _Logprobs | None = None


class _Details(Struct, frozen=True):
    prefill: list[_Entry] = []


class _Answer(Struct, frozen=True):
    choices: list[_Choice] = []
    usage: object = None
    details: _Details | None = None
    tokens: list[int] = []


class _Read(Struct, frozen=True):
    """A text as the server reads it: its tokens, and how likely each was after those before it, if that is told."""

    tokens: Sequence[str | int]
    logprobs: Sequence[float | None] = ()


_Way: TypeAlias = Callable[[str, list[object]], Awaitable[_Read]]
"""Reads a text; what the server counted is added to the list."""


class Weigher:
    """Asks one server. The first way in which it tells log-probabilities is kept to:

    1. `echo` with `logprobs`: those of the prompt's tokens (vLLM, SGLang, llama-cpp-python).
    2. `decoder_input_details` of TGI's own /generate, likewise.
    3. llama.cpp's server tells those of tokens that it writes. A bias makes each token of a continuation the next one;
       what is told is its log-probability without the bias.

    A continuation's tokens are those that the text has with it and not without. Where it grows together with the end of
    the text, the log-probability of the last tokens of the text alone is taken off.

    post: how requests are sent. sent: what is sent with each. where: the model and its endpoint in words.
    """

    def __init__(self, post: Post, sent: Mapping[str, Json], where: str) -> None:
        self._post, self._sent, self._where = post, sent, where
        self._ways: tuple[_Way, ...] = (self._echoed, self._prefilled, self._tokenized)
        self._without_bos = False

    async def weigh(self, prompt: str, lead: str, texts: Sequence[str]) -> Reply:
        """The likeliest of `texts` behind a prompt that ends with `lead`. Raises TransientError, RejectedError, and
        ModelError where the server tells no log-probabilities."""
        return await self._by_some_way(lambda read: self._weighed(read, prompt, lead, texts))

    async def weigh_alone(self, text: str) -> Reply:
        """The log-probabilities of a text's tokens but the first, which a server tells only where it puts a token
        before it. Raises as `weigh` does."""
        return await self._by_some_way(lambda read: self._told(read, text))

    async def _by_some_way(self, ask: Callable[[_Way], Awaitable[Reply]]) -> Reply:
        why = ""
        for way in self._ways:
            try:
                reply = await ask(way)
            except _Untold as untold:
                why = why or str(untold)
            else:
                self._ways = (way,)
                return reply
        if len(self._ways) == 1:
            raise TransientError(f"an answer without log-probabilities ({why})")
        mend = "ask a server that gives logprobs with echo (vLLM, SGLang), or an hf: model"
        raise ModelError(f"{self._where} tells no log-probabilities of a text ({why}): {mend}")

    async def _weighed(self, read: _Way, prompt: str, lead: str, texts: Sequence[str]) -> Reply:
        usage = list[object]()
        before = await read(prompt, usage)
        sums, lengths = list[float](), list[int]()
        for text in texts:
            whole = await read(prompt + text, usage)
            seam = _seam(before, whole)
            if seam == len(whole.tokens):
                raise RejectedError(f"the model's tokenizer makes nothing of the option {text!r}")
            sums.append(sum(await self._values(whole, seam, usage)) - sum(await self._values(before, seam, usage)))
            lengths.append(len(whole.tokens) - seam)
        return likeliest(lead, texts, sums, lengths, _counted(usage))

    async def _told(self, read: _Way, text: str) -> Reply:
        usage = list[object]()
        whole = await read(text, usage)
        if len(whole.tokens) < 2:
            raise RejectedError(NO_TOKENS)
        return token_reply(await self._values(whole, 1, usage), _counted(usage))

    async def _echoed(self, text: str, usage: list[object]) -> _Read:
        try:
            answer = await self._complete({"prompt": text, "echo": True}, usage)
        except (TransientError, RejectedError, ModelError) as error:
            if re.search(r"\becho|logprobs|logits", str(error)):
                raise _Untold(str(error)) from None
            raise
        found = answer.choices[0].logprobs or _Logprobs()
        read, written = count(answer.usage, "prompt_tokens"), count(answer.usage, "completion_tokens")
        tokens = found.tokens[: len(found.tokens) - written]
        logprobs = found.token_logprobs[: len(tokens)]
        # llama-cpp-python leaves out the BOS. Where there is none, the last token is missing instead, and what it tells
        # of each token belongs to the next one.
        self._without_bos |= len(tokens) == read - 1 > 0 and text.endswith(tokens[-1] or "\0")
        if not tokens or len(tokens) != read - self._without_bos or None in logprobs[1:]:
            raise _Untold("echo with logprobs gives none for the prompt, or not for all of it")
        return _Read(tokens, logprobs)

    async def _prefilled(self, text: str, usage: list[object]) -> _Read:
        parameters: Json = {"details": True, "decoder_input_details": True, "max_new_tokens": 1}
        answer = await self._elsewhere("/generate", {"inputs": text, "parameters": parameters})
        if not (answer.details and answer.details.prefill):
            mend = "start TGI with --enable-prefill-logprobs"
            raise ModelError(f"{self._where} tells no log-probabilities of a text: {mend}")
        entries = answer.details.prefill
        usage.append({"prompt_tokens": len(entries), "completion_tokens": 1})
        return _Read([entry.id for entry in entries], [entry.logprob for entry in entries])

    async def _tokenized(self, text: str, usage: list[object]) -> _Read:
        body: dict[str, Json] = {"content": text, "add_special": True, "parse_special": False}
        return _Read((await self._elsewhere("/tokenize", body)).tokens)

    async def _values(self, read: _Read, start: int, usage: list[object]) -> list[float]:
        """The log-probabilities of the tokens from a place on, given those before them."""
        if read.logprobs:
            if None in read.logprobs[max(start, 1) :]:
                raise _Untold("the log-probability of a token is missing")
            return [value or 0.0 for value in read.logprobs[start:]]
        found = list[float]()
        for place in range(start, len(read.tokens)):
            bias: Json = [[read.tokens[place], FORCE]]
            answer = await self._complete({"prompt": list(read.tokens[:place]), "logit_bias": bias}, usage)
            logprobs = answer.choices[0].logprobs
            entry = logprobs.content[0] if logprobs and logprobs.content else _Entry()
            if entry.id != read.tokens[place] or entry.logprob is None:
                raise _Untold("a token that was to come next did not, or its log-probability is missing")
            found.append(entry.logprob)
        return found

    async def _complete(self, body: dict[str, Json], usage: list[object]) -> _Answer:
        answer = _decoded(await self._post({**self._sent, **body, "logprobs": 1, "max_tokens": 1}, ""))
        if not answer.choices:
            raise TransientError("an answer without choices")
        usage.append(answer.usage)
        return answer

    async def _elsewhere(self, path: str, body: dict[str, Json]) -> _Answer:
        try:
            return _decoded(await self._post(body, path))
        except ModelError as error:
            raise _Untold(str(error)) from None


def _counted(usage: Sequence[object]) -> Usage:
    """The tokens of several requests."""
    return Usage(
        prompt_tokens=sum(count(one, "prompt_tokens") for one in usage),
        completion_tokens=sum(count(one, "completion_tokens") for one in usage),
    )


def _seam(before: _Read, whole: _Read) -> int:
    """How many tokens two texts begin with in common."""
    pairs = zip(before.tokens, whole.tokens, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _decoded(body: bytes) -> _Answer:
    try:
        return msgspec.json.decode(body, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _Untold("an answer of another form") from None
