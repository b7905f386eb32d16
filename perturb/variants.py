"""One parent -> all its variants, each with its trail. What a worker process does."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from mmdyn.data.images import ImageFolder
from mmdyn.data.rows import with_images
from mmdyn.data.set_folder import Dropped
from mmdyn.errors import UserError
from mmdyn.keys import canonical, stream
from mmdyn.sample import ImageRef, Sample, Step, Variant, Verdict
from perturb._operator import Item, NotApplicable, Operator
from perturb.chains import Chain
from perturb.codec import Pictures, encode

UNJUDGED = Verdict("unjudged")
SEVERITY, ATTEMPT = "", 0
"""Without severity levels and without a judge every variant is of the one severity and made at the first attempt."""


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What became of one draw of one chain: a variant, or a dropped one with the reason."""

    sample: Sample | None = None
    dropped: Dropped | None = None


class _NotKept(Exception):
    def __init__(self, status: str, reason: str, operator: str = "") -> None:
        super().__init__(reason)
        self.status, self.reason, self.operator = status, reason, operator


class VariantMaker:
    """Makes every variant of a parent: the parent's line in, its outcomes out, as JSON; pictures are put under `out`.

    A variant depends on (seed, parent id, chain, step, severity, draw, attempt) alone. Raises UserError where `out`
    cannot be written.
    """

    def __init__(self, source: Path, out: Path, chains: tuple[Chain, ...], draws: int, seed: int) -> None:
        self._source, self._out = ImageFolder(source), ImageFolder(out)
        self._chains = [(chain, chain.load()) for chain in chains]
        self._draws, self._seed = draws, seed

    def __call__(self, payload: bytes) -> bytes:
        """Every chain's draws, in order; a chain in which nothing is random has one."""
        parent = msgspec.json.decode(payload, type=Sample)
        pictures = Pictures(self._source, parent.all_images)
        try:
            return canonical(
                [
                    self._outcome(parent, pictures, chain, operators, draw)
                    for chain, operators in self._chains
                    for draw in range(self._draws if any(operator.random for operator in operators) else 1)
                ]
            )
        except OSError as error:
            folder = self._out.folder
            raise UserError(f"cannot write {folder} ({error.strerror}): free some space and run again") from None

    def _outcome(
        self, parent: Sample, pictures: Pictures, chain: Chain, operators: tuple[Operator, ...], draw: int
    ) -> Outcome:
        name, steps = f"{parent.id}~{chain.name}~{draw}", list[Step]()
        try:
            item = self._run(Item(parent, pictures), chain, operators, draw, steps)
            images = self._put_pictures(item, parent, pictures)
        except _NotKept as error:
            what = (name, parent.id, chain.name, draw, self._seed, error.status, error.reason, error.operator)
            return Outcome(dropped=Dropped(*what, attempt=ATTEMPT, steps=tuple(steps)))
        trail = Variant(parent.id, chain.name, draw, self._seed, tuple(steps), UNJUDGED, ATTEMPT, parent.task_type)
        return Outcome(msgspec.structs.replace(with_images(item.sample, images), id=name, variant=trail))

    def _run(self, item: Item, chain: Chain, operators: tuple[Operator, ...], draw: int, steps: list[Step]) -> Item:
        """Draw and apply one operator after the other; `steps` grows as far as it gets."""
        parent = item.sample.id
        for number, (name, operator) in enumerate(zip(chain.operators, operators, strict=True)):
            draws = stream(self._seed, parent, chain.key, number, SEVERITY, draw, ATTEMPT)
            try:
                params = operator.params(draws, item.sample)
                if isinstance(params, NotApplicable):
                    raise _NotKept("not_applicable", params.reason, name)
                steps.append(Step(name, params))
                changed = operator.apply(item, params)
            except ValueError as error:
                raise _NotKept("failed", str(error), name) from None
            if isinstance(changed, NotApplicable):
                raise _NotKept("not_applicable", changed.reason, name)
            item = changed
        return item

    def _put_pictures(self, item: Item, parent: Sample, originals: Pictures) -> dict[ImageRef, ImageRef]:
        """Encode what was changed and carry over what was not; the parent's paths -> the variant's."""
        refs = item.sample.all_images
        changed = {ref for ref in refs if item.pictures is not originals and _differs(item, originals, ref)}
        if not changed and _shown(item.sample) == _shown(parent):
            raise _NotKept("unchanged", "the variant equals its parent")
        try:
            return {ref: self._put(item, ref) if ref in changed else self._carry(ref) for ref in refs}
        except ValueError as error:
            raise _NotKept("failed", str(error)) from None

    def _put(self, item: Item, ref: ImageRef) -> ImageRef:
        picture = item.pictures[ref]
        return self._out.put_checked(encode(picture), picture.suffix)

    def _carry(self, ref: ImageRef) -> ImageRef:
        try:
            return self._out.bring(self._source, ref)
        except ValueError as error:
            raise ValueError(f"a picture cannot be carried over ({ref}: {error})") from None


def _differs(item: Item, originals: Pictures, ref: ImageRef) -> bool:
    return not np.array_equal(item.pictures[ref].pixels, originals[ref].pixels)


def _shown(sample: Sample) -> tuple[object, ...]:
    """What a model is asked, pictures aside."""
    return sample.question, sample.task_type, sample.options, sample.answer, sample.images
