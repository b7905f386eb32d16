"""The records of a run, which reports read: Condition, Reply, Score, Judgement, Record."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import force_setattr

from mmdyn.keys import Json
from mmdyn.sample import VariantKind

Status = Literal["ok", "unparsed", "refused", "failed"]
"""`unparsed`: answered, no answer found, scores 0; `refused`: declined, scores 0; `failed`: never answered,
excluded."""

Scale = Literal["raw", "corrected"]
"""`corrected`: for chance, (score - chance) / (1 - chance) of each answer; docs/statistics.md, "Chance"."""


class Condition(Struct, frozen=True, forbid_unknown_fields=True):
    """The factors under which a sample is asked.

    variant: the original questions, or variants of one kind. chain: the chain of operators that made them; "" for the
    original questions. context: the context beside the question (mmdyn/context.py). style: the style of the prompt.
    shots: how many examples stand before the question, and which (mmdyn/shots.py). Without examples it is left out, of
    keys, too.

    >>> Condition(variant="dynamic", context="kprag").mode, Condition(shots="0") == Condition()
    ('dynamic+kprag', True)
    """

    variant: VariantKind = "standard"
    chain: str = ""
    context: str = "none"
    style: str = "direct"
    shots: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.shots in ("", "0"):
            force_setattr(self, "shots", UNSET)

    @property
    def shot_name(self) -> str:
        """The shots; "0" without examples."""
        return self.shots or "0"

    @property
    def mode(self) -> str:
        """The short name of variant and context: standard, dynamic, kprag, dynamic+kprag, dynamic+hint:all, …"""
        if self.context == "none":
            return self.variant
        return self.context if self.variant == "standard" else f"{self.variant}+{self.context}"


class Usage(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Token counts as the server reports them; 0 where it reports none.

    reasoning_tokens: included in `completion_tokens`.
    cached_tokens: read from the server's own cache; included in `prompt_tokens`.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0


class Reply(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The reply to one request.

    error: set where there is no answer; `text` is then empty. final: another request would not correct it.
    reasoning: the model's thoughts, separate from the answer.
    logprobs: of the answer's tokens, in nats, where requested; where options were weighed (`finish_reason` is
        `likelihood`), the sum over each option's tokens, and `option_tokens` are their numbers; where a text was
        weighed by itself (`tokens`), of its tokens, and `vocabulary` holds for each of them the mean and the standard
        deviation of all tokens' log-probabilities at its place, under the model's own distribution, where it is known.
    changed: parts that were sent in another form than the set's, such as a smaller picture.
    cost: in `currency`, by the given prices; 0 for a cached reply, None where it is unknown.
    made: the time of the reply, in seconds of Unix time. cached: whether the reply comes from the cache.
    answered_by, fingerprint: the model and the system that the server names.
    image_count: the number of pictures sent. estimate: the estimated tokens of the texts beside them.
    """

    text: str = ""
    finish_reason: str = ""
    usage: Usage = Usage()
    attempts: int = 1
    seconds: float = 0.0
    error: str = ""
    final: bool = False
    reasoning: str = ""
    logprobs: tuple[float, ...] = ()
    option_tokens: tuple[int, ...] = ()
    vocabulary: tuple[tuple[float, float], ...] = ()
    changed: str = ""
    cost: float | None = None
    currency: str = ""
    made: int = 0
    cached: bool = False
    answered_by: str = ""
    fingerprint: str = ""
    image_count: int = 0
    estimate: int = 0


class Score(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The score of a reply, with the answer that was read.

    value: in [0, 1]; None where the status is `failed`.
    extracted: the answer that `rule` found in the reply.
    confidence: of that reading, by its rule, in [0, 1]; 0 where nothing was read.
    needs_judge: the rules do not decide the value, and no judge has.
    lower_bound: it needs a judge because it is an open answer, or the text read for a blank is of another kind than the
        right answer, so that the rules may have missed a right answer.
    chance: the expected score of a guess under the same policy, in [0, 1].
    """

    status: Status
    value: float | None
    extracted: Json = None
    rule: str = ""
    parts: tuple[float, ...] = ()
    weight: float = 1.0
    confidence: float = 0.0
    needs_judge: bool = False
    lower_bound: bool = False
    chance: float = 0.0


class Judgement(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The judgement of a reply by a judge model.

    value: in [0, 1]; None where there is no verdict (`error` says why).
    votes: the value of each vote; empty where rules decided without a request.
    parts: for an answer of several parts the median vote for each; `value` is their mean, or for one part that median.
    items: for a checklist, whether most votes find each item met.
    agreement: over several votes, the share that agrees with the decision, over all parts and items.
    reason: the first vote's own words.
    requests: the number sent to the judge, retries included; `usage` and `cost` are sums over them, and `cost` is None
        where it is unknown. cached: the number of further replies that came from the cache.
    """

    value: float | None
    votes: tuple[float, ...] = ()
    parts: tuple[float, ...] = ()
    items: tuple[bool, ...] = ()
    agreement: float | None = None
    reason: str = ""
    error: str = ""
    requests: int = 0
    cached: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    currency: str = ""


class ContextInfo(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The context of a question.

    points: the names of the knowledge points in their order, or the kinds of the hints.
    own: how many knowledge points the sample itself names. hits: how many of these are in the context.
    leaks: whether the text beside the question (in two turns the model's own) contains the gold answer word for word.
    cut: whether a part was left out for lack of space.
    """

    points: tuple[str, ...] = ()
    own: int = 0
    hits: int = 0
    leaks: bool = False
    cut: bool = False


class Record(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One reply of one model to one sample under one condition, with the properties of the sample that reports need.

    request: the key of the request. digest: that of the sample, which is stored beside the records under it.
    beside: the context; None without one.
    expansion: in a context of two turns, the key of the model's own text of the first turn, which is stored as well.
    pictures: a digest of the pictures shown, independent of their order; empty without any, None where it is unknown.
    examples: the ids of the examples before the question, in order.
    """

    key: str
    request: str
    digest: str
    model: str
    set: str
    sample: str
    parent: str
    task_type: str
    parent_type: str
    language: str
    condition: Condition
    reply: Reply
    group: str | None = None
    fields: dict[str, str | int | float] = {}
    points: float = 1.0
    draw: int = 0
    epoch: int = 0
    beside: ContextInfo | None = None
    expansion: str = ""
    pictures: str | None = None
    score: Score | None = None
    examples: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether a judge's verdict is open that intervals allow for: the answer was read, and rules do not settle it.
        What was not read, or was cut off, counts as the policy has it, though a judge may still raise it."""
        read = self.score is not None and self.score.needs_judge and self.score.status == "ok"
        return read and self.reply.finish_reason != "length"
