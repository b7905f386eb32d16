"""How likely models find the questions of a set in their published order, and in random ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from mmdyn.data import SampleSet
from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import digest, stream
from mmdyn.models import Asker, ChoicesPart, Message, TextPart
from mmdyn.prompts import asking_digest, filled
from mmdyn.run.probes._probe import KIND, Asked, text_of
from mmdyn.run.verdicts import NoVerdict
from mmdyn.tables import ORDER_DESIGN, OrderDesign, OrderWeight, order_kind

LEAST = 10
"""The least number of questions of a block (Oren et al. 2023, section 4.2, take blocks of 10 to 50)."""


class OrderJob(NamedTuple):
    """A block's questions in an order (0 is the published one), and the words before them."""

    set: str
    block: int
    order: int
    lead: str
    text: str


class Order(Struct, frozen=True, kw_only=True):
    """Weigh blocks of questions in the order of their set, and in random orders.

    Source: Oren et al. 2023 (arXiv:2310.17623), section 3.

    shards: blocks of 10 to 19 questions that are weighed of each set; a larger number keeps those of before.
    orders: random orders of each block.
    seed: another seed draws other blocks and orders.
    is_random: sets whose makers say that they put the questions in random order.
    """

    shards: int = 20
    orders: int = 19
    seed: int = 0
    is_random: str = ""

    what = "orders"
    weighs = True
    verdict = OrderWeight
    designs = ORDER_DESIGN

    @property
    def _random(self) -> list[str]:
        return [name for part in self.is_random.split(",") if (name := part.strip())]

    def check(self, sets: Sequence[SampleSet]) -> None:
        """Raise UserError for the name of a set that is none of the run's standard sets."""
        names = [one.name for one in sets]
        if unknown := [name for name in self._random if name not in names]:
            holds = f"its standard sets are {', '.join(names)}"
            raise UserError(f"the run has no set {unknown[0]!r}{did_you_mean(unknown[0], names)}: {holds}")

    def choose(self, source: SampleSet, variants: Iterable[SampleSet]) -> Asked[OrderDesign, OrderJob]:
        """Choose the blocks, and draw their orders. Raises UserError for fewer than 10 questions."""
        samples = [sample for sample in source if sample.variant is None]
        texts = [text for sample in samples if (text := text_of(sample))]
        if len(texts) < LEAST:
            raise UserError(f"{source.name} has {len(texts)} questions in words: orders are weighed of {LEAST} or more")
        of_set, blocks = source.manifest.digest, np.array_split(np.array(texts, object), len(texts) // LEAST)
        places = sorted(range(len(blocks)), key=lambda place: digest(["blocks", self.seed, of_set, place]))
        design = OrderDesign(
            set=source.name,
            id=digest([texts, self.seed, asking_digest(KIND, "order")], 8),
            chosen=tuple(places[: self.shards]),
            orders=self.orders,
            declared=source.name in self._random,
            no_text=len(samples) - len(texts),
        )
        lead = filled(KIND, "order", Counter(sorted(sample.language for sample in samples)).most_common(1)[0][0])
        jobs = dict[str, OrderJob]()
        for place in design.chosen:
            for number in range(self.orders + 1):
                texts_so = blocks[place]
                if number:
                    texts_so = stream("question order", self.seed, of_set, place, number).permutation(texts_so)
                jobs[f"{place} {number}"] = OrderJob(source.name, place, number, lead, "\n\n".join(texts_so))
        return Asked(design, order_kind(design.id), jobs)

    async def ask(self, asker: Asker, job: OrderJob) -> OrderWeight | NoVerdict:
        """Have a model weigh an order."""
        reply = await asker.ask(
            (Message("user", (TextPart(job.lead),)), Message("assistant", (TextPart(""), ChoicesPart((job.text,)))))
        )
        if reply.error:
            return NoVerdict(job.set, f"block {job.block}", f"order {job.order}", reply.error, asker.model.label)
        return OrderWeight(asker.model.label, job.block, job.order, reply.logprobs[0])
