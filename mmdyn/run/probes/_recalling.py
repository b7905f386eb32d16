"""How models are asked for a hidden part of a question: with the set named, and not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import UserError
from mmdyn.keys import digest
from mmdyn.models import Asker, Message, TextPart
from mmdyn.prompts import asking_digest, filled
from mmdyn.run.probes._probe import KIND, Asked
from mmdyn.run.verdicts import NoVerdict
from mmdyn.sample import Language, Sample
from mmdyn.scoring import Scorer
from mmdyn.tables import RecallDesign, Recalled, RecallItem, recall_kind
from mmdyn.text import split_thinking

LEAST = 10
"""The least number of questions."""

PICTURES = "that cannot be asked without pictures"

_DECLINES = re.compile(
    r"(?:cannot|can[’']t|won[’']t|unable to|not able to) (?:reproduce|recall|retrieve|complete|continue|share|quote)"
    r"|(?:无法|不能)(?:复现|续写|补全|还原|回忆|引用)",
    re.IGNORECASE,
)


class RecallJob(NamedTuple):
    """A request about an item, given by its key."""

    set: str
    sample: str
    language: Language
    item: str
    named: bool
    prompt: str


class Recalling(Struct, frozen=True, kw_only=True):
    """What kinds of evidence share that hide a part of a question."""

    questions: int = 100
    seed: int = 0

    evidence: ClassVar[str]
    weighs = False
    verdict = Recalled

    @property
    def designs(self) -> str:
        """The store's kind for what was chosen to be asked."""
        return f"{self.evidence} design"

    def check(self, sets: Sequence[SampleSet]) -> None:
        """Nothing can be wrong before the sets are read."""

    def ordered(self, source: SampleSet) -> list[Sample]:
        """The standard questions of a set in the order in which they are looked at."""
        own = [sample for sample in source if sample.variant is None]
        return sorted(own, key=lambda sample: digest([self.evidence, self.seed, sample.id]))

    def asked(
        self, source: SampleSet, items: Sequence[RecallItem], left_out: Mapping[str, int]
    ) -> Asked[RecallDesign, RecallJob]:
        """What is asked about items: with the set named, and of published questions also without. Raises UserError
        where there are too few."""
        if (found := sum(not item.by for item in items)) < LEAST:
            why = "".join(f"; {count} {reason}" for reason, count in left_out.items())
            raise UserError(f"{source.name} has {found} questions that can be asked so, {LEAST} are needed{why}")
        names = (self.evidence, f"{self.evidence}_named")
        design = RecallDesign(
            set=source.name,
            id=digest([source.manifest.digest, self.seed, asking_digest(KIND, *names)], 8),
            items=tuple(items),
            left_out=dict(left_out),
        )
        jobs = {f"{job.item} {job.named}": job for item in items for job in self._jobs(source.name, item)}
        return Asked(design, recall_kind(self.evidence, design.id), jobs)

    def _jobs(self, set: str, item: RecallItem) -> Iterator[RecallJob]:
        named = filled(KIND, f"{self.evidence}_named", item.language, set=item.called, text=item.shown)
        yield RecallJob(set, item.sample, item.language, item.key, True, named)
        if not item.by:
            bare = filled(KIND, self.evidence, item.language, text=item.shown)
            yield RecallJob(set, item.sample, item.language, item.key, False, bare)

    async def ask(self, asker: Asker, job: RecallJob) -> Recalled | NoVerdict:
        """Ask a model for the hidden part."""
        reply = await asker.ask((Message("user", (TextPart(job.prompt),)),))
        label = asker.model.label
        if reply.error:
            named = "set named" if job.named else "set not named"
            return NoVerdict(job.set, job.sample, named, reply.error, label)
        text = split_thinking(reply.text)[1].strip()
        about = Sample(id="asked", question=job.prompt, task_type="open_ended", answer="-", language=job.language)
        refused = Scorer().extract(about, reply).status == "refused" or bool(_DECLINES.search(text))
        return Recalled(label, job.item, job.named, text, "refused" if refused else "said" if text else "empty")


def called(source: SampleSet, sample: Sample) -> str:
    """A set's name, with the question's source and split where its fields have them."""
    more = [str(sample.fields[name]) for name in ("source", "split") if name in sample.fields]
    return ", ".join(dict.fromkeys([source.name, *more]))
