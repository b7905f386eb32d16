"""What a run is made of and a report reads: Condition, Record."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import force_setattr

from mmdyn.keys import Json
from mmdyn.sample import TaskType

Status = Literal["ok", "unparsed", "refused", "failed"]
"""`unparsed`: answered, no answer found, scores 0; `refused`: declined, scores 0; `failed`: never answered,
excluded."""

Scale = Literal["raw", "corrected"]
"""`corrected`: for chance, (score - chance) / (1 - chance) of each answer; docs/statistics.md, "Chance"."""


class Condition(Struct, frozen=True, forbid_unknown_fields=True):
    """A named set of factors under which samples are asked.

    shots: how many examples stand before the question (mmdyn/shots.py). Without any it is left out, of keys too.
    """

    variant: Literal["standard", "dynamic"] = "standard"
    chain: str = ""
    context: str = "none"
    style: str = "direct"
    shots: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.shots in ("", "0"):
            force_setattr(self, "shots", UNSET)

    @property
    def shot_name(self) -> str:
        """The shots, also where there are none."""
        return self.shots or "0"

    @property
    def mode(self) -> str:
        """The short name of variant and context: standard, dynamic, kprag, dynamic+kprag, dynamic+hint:all, …"""
        if self.context == "none":
            return self.variant
        return self.context if self.variant == "standard" else f"dynamic+{self.context}"


class Usage(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Tokens as the server counted them; zero where it did not say.

    `reasoning_tokens` are among the `completion_tokens`, `cached_tokens` (read from the server's own cache) among the
    `prompt_tokens`.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0


class Reply(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What came back for one request. `error` is set where no answer was had (then `text` is empty).

    `reasoning`: what the model thought aloud, kept apart from the answer. `logprobs`: of the answer's tokens, in nats,
        where they were asked for; where options were weighed (`finish_reason` is `likelihood`), the sum over each
        option's tokens, and `option_tokens` how many these are. `final`: asking again would not mend the `error`.
        `changed`: what was sent otherwise than the set holds it, such as a picture that was made smaller.
    `cost`: what it cost in `currency` by the prices that were given: 0 out of the cache, None where that is not known.
    `made`: when it was, in seconds of Unix time; `cached`: it came out of the cache. `answered_by`, `fingerprint`: of
        which model and system the server says it is. `image_count`: of the pictures that were sent; `estimate`: of the
        tokens of the texts beside them.
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
    """How a reply was read: `value` in [0, 1] (None where the status is `failed`), `extracted` as it was found, by
    which `rule`.

    confidence: of the reading, by its rule, in [0, 1]; 0 where nothing was read. needs_judge: the rules do not settle
        the value, and no judge has. lower_bound: it needs one because it is an open answer, or what was read for a
        blank is not of the right answer's kind, so that the rules may have missed that it is right. chance: what
        guessing at the sample earns under the same policy, in [0, 1].
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
    """What a judge made of a reply: `value` in [0, 1]; None where it gave no verdict (`error` says why).

    `votes`: what each vote gives the reply, none where it was decided without asking. `parts`: of an answer of several
        parts, what each is given, the median of the votes; `value` is their mean, or for one part the median itself.
        `items`: for a checklist, by item, whether most votes find it met. `agreement`: of several votes, the share that
        says what was decided, over all parts and items. `reason`: the first vote's own words. `requests`: how many were
        sent to the judge, tries again counted; `usage` and `cost` are the sums over them, `cost` None where that is not
        known. `cached`: replies out of the cache beside them.
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
    """What lay beside a question.

    `points`: the names of the knowledge points in the order in which they stood, or the kinds of the hints. `own`: how
        many points the sample itself names, `hits`: how many of these lay there. `leaks`: the text that the model read
        with the question (in two turns its own) holds the gold answer word for word. `cut`: some of it was left out for
        want of room.
    """

    points: tuple[str, ...] = ()
    own: int = 0
    hits: int = 0
    leaks: bool = False
    cut: bool = False


class Record(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One answer of one model to one sample under one condition, with what a report needs to know of the sample.

    `request` is the request's key, `digest` the sample's: the sample itself lies beside the records under it. `beside`:
    what lay beside the question, None where nothing did. `expansion`: in a context of two turns the key of what the
    model wrote on that first, which lies beside the records too. `pictures`: a digest of those that lay there, whatever
    their order; empty where there were none, None where it is not known. `examples`: the ids of those that stood before
    the question, in their order.
    """

    key: str
    request: str
    digest: str
    model: str
    set: str
    sample: str
    parent: str
    task_type: TaskType
    parent_type: TaskType
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
