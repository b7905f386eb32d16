"""The judge that asks a model: a language model about words, a vision language model about pictures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import fmean
from typing import Annotated

from msgspec import Meta, Struct

from mmdyn.keys import Json, digest, sha256
from mmdyn.models import (
    ImagePart,
    Message,
    Part,
    SyncModelClient,
    TextPart,
    ask_and_wait,
    nonces,
    open_ocr,
    prompts_digest,
)
from mmdyn.prompts import filled, read_reply
from mmdyn.sample import Language, Sample, Verdict
from perturb.judge import invariants
from perturb.judge._judge import UNKNOWN, Case, Look, VariantJudge
from perturb.judge.pictures import check_case, kept_verdict, picture_checks

KIND = "variant_judge"

_LONGEST_REASON = 300
_ANSWER: dict[Language, str] = {"en": "Answer: ", "zh": "答案："}


class Vote(Struct, frozen=True):
    """What a model is asked for."""

    same: bool
    confidence: Annotated[float, Meta(ge=0, le=1)]
    reason: str = ""


class ModelJudge(VariantJudge):
    """Rejects what the checks are certain of, and asks a model about everything else.

    It is asked about the words where they changed and about the pictures where they did, `votes` (an odd number) times
    each. A strict majority decides; the confidence is the majority's share times its mean confidence, the smaller one
    of words and pictures. Raises UserError for an even number of votes, and for several of a model whose answers are
    the same each time.

    Source: MDK12-Bench, "Evaluation Methods": a GPT-based judge removes variants whose meaning changed.
    """

    waits = 32

    def __init__(self, client: SyncModelClient, votes: int = 1) -> None:
        self._client, self._nonces, self._ocr = client, nonces(votes, client.label, varies=client.varies), open_ocr()
        self.label = client.label
        self.identity: Json = {
            "model": client.identity,
            "prompts": prompts_digest(KIND),
            "votes": votes,
            "rules": invariants.VERSION,
            "pictures": picture_checks(self._ocr),
        }

    def judge(self, case: Case) -> Verdict:
        """The verdict on words and pictures. Raises ValueError where the model gave none."""
        doubt = invariants.compare(case.before, case.after, case.looks)
        if not (doubt and doubt.certain):
            doubt = check_case(case, self._ocr)
        if doubt and doubt.certain:
            return doubt.unasked(self.label)
        verdict = Verdict("kept", self.label, "", 1.0)
        for parts in self._questions(case):
            found = self._decide(Message("user", parts), case.before.language)
            if found.status == "rejected":
                return found
            verdict = min(verdict, found, key=lambda verdict: verdict.confidence or 0.0)
        return kept_verdict(verdict, case, self._ocr)

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _questions(self, case: Case) -> Iterator[tuple[Part, ...]]:
        """What to ask about a case: its words and its pictures, as far as they changed."""
        before, after, language = _shown(case.before), _shown(case.after), case.before.language
        if before != after:
            mark = f"=== {digest([before, after])} ==="
            yield (TextPart(filled(KIND, "text", language, mark=mark, before=before, after=after)),)
        if case.looks:
            mark = f"=== {digest(after)} ==="
            asked = TextPart(filled(KIND, "picture", language, mark=mark, question=after))
            yield asked, *_pictures(case.looks, language)

    def _decide(self, prompt: Message, language: Language) -> Verdict:
        read = partial(read_reply, shapes=(Vote,))
        votes = [ask_and_wait(self._client, prompt, language, read, nonce) for nonce in self._nonces]
        same = 2 * sum(vote.same for vote in votes) > len(votes)
        majority = [vote for vote in votes if vote.same is same]
        surest = max(majority, key=lambda vote: vote.confidence)
        confidence = len(majority) / len(votes) * fmean(vote.confidence for vote in majority)
        reason = " ".join(surest.reason.split())[:_LONGEST_REASON]
        return Verdict("kept" if same else "rejected", self.label, reason, round(confidence, 4))


def _shown(sample: Sample) -> str:
    """A question as a judge reads it: its words, its options and its answer, whatever form that has."""
    options = [f"{option.label}. {option.text or '<image>'}" for option in sample.options]
    answer = [] if sample.answer == UNKNOWN else [_ANSWER[sample.language] + _answer(sample)]
    return "\n".join([sample.question, *options, *answer])


def _answer(sample: Sample) -> str:
    answer = sample.answer
    if isinstance(answer, bool):
        return str(answer).lower()
    if isinstance(answer, str):
        return answer
    return "; ".join(part if isinstance(part, str) else " / ".join(part) for part in answer)


def _pictures(looks: tuple[Look, ...], language: Language) -> Iterator[Part]:
    """Each picture before and after, each with a line that says which it is."""
    for number, look in enumerate(looks, 1):
        for name, file in (("before", look.before_file), ("after", look.after_file)):
            yield TextPart(filled(KIND, name, language, number=str(number)))
            yield ImagePart(file, sha256(file.read_bytes()))
