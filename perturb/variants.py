"""One parent -> all its variants, each with its trail. What a worker process does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import Dropped, ImageFolder, replace_images
from mmdyn.errors import NotNow, UserError
from mmdyn.keys import Json, canonical, stream
from mmdyn.sample import ImageRef, Sample, Step, Variant, Verdict
from perturb._operator import Item, NotApplicable, Operator, Picture
from perturb._pixels import to_host
from perturb.chains import Chain, Link
from perturb.codec import OnDevice, OnHost, Pictures, encode
from perturb.judge._judge import Case, Judge, Look
from perturb.outcomes import REDRAWN, Outcome, Outcomes
from perturb.recipe import Recipe
from perturb.services import Services

if TYPE_CHECKING:
    from perturb._operator import Pixels

UNJUDGED = Verdict("unjudged")

_Shown = tuple[object, ...]


class _NotKept(Exception):
    def __init__(self, status: str, reason: str, operator: str = "", *, may_pass: bool = False) -> None:
        super().__init__(reason)
        self.status, self.reason, self.operator, self.may_pass = status, reason, operator, may_pass


class VariantMaker:
    """Makes every variant of a parent: the parent's line in, its outcomes out, as JSON; pictures are put under `out`.

    A variant depends on (seed, parent id, chain, step, severity, draw, attempt) alone, and on what the rewriter and the
    judge say. Usable from several threads. Raises UserError where `out` cannot be written or a model cannot be asked.
    """

    def __init__(self, source: Path, out: Path, recipe: Recipe, pool: Path | None = None) -> None:
        self._source, self._out, self._recipe = ImageFolder(source), ImageFolder(out), recipe
        self._services = Services(recipe.tools, pool)
        self._chains = [(chain, chain.load(self._services), "styler" in chain.uses) for chain in recipe.chains]
        for name in recipe.uses:
            getattr(self._services, name)
        self._judge: Judge | None = self._services.judge
        self._device = self._services.styler.device if "styler" in recipe.uses else None

    def __call__(self, payload: bytes) -> bytes:
        """Every chain's draws, in order; a chain in which nothing is random has one."""
        outcomes = tuple(self._outcomes(msgspec.json.decode(payload, type=Sample)))
        return canonical(Outcomes(outcomes, settled=not any(outcome.may_pass for outcome in outcomes)))

    def close(self) -> None:
        """Let go of models and connections."""
        self._services.close()

    def _outcomes(self, parent: Sample) -> Iterator[Outcome]:
        pictures = Pictures(self._source, parent.all_images)
        on_device = OnDevice(pictures, self._device) if self._device else None
        for chain, operators, styled in self._chains:
            there = on_device if styled else None
            kept = dict[_Shown, int]()
            for draw in range(self._recipe.draws_of(operators)):
                trail = Variant(parent.id, chain.name, draw, self._recipe.seed, (), UNJUDGED, 0, parent.task_type)
                yield from self._attempts(_Attempt(parent, pictures, there, chain, operators, trail), kept)

    def _attempts(self, first: _Attempt, kept: dict[_Shown, int]) -> Iterator[Outcome]:
        """A draw's attempts, until one is neither rejected nor like an earlier draw; of the latter only the last is
        told."""
        attempts = self._recipe.attempts_of(first.operators)
        for number in range(attempts):
            made = self._outcome(replace(first, trail=replace(first.trail, attempt=number)), kept)
            status = made.dropped.status if made.dropped else ""
            if status not in ("rejected", "unchanged") or number + 1 == attempts:
                yield made
                return
            if made.dropped and status == "rejected":
                yield Outcome(dropped=replace(made.dropped, status=REDRAWN))

    def _outcome(self, attempt: _Attempt, kept: dict[_Shown, int]) -> Outcome:
        """`kept`: what earlier draws of the chain show, by draw; grows."""
        steps, made = list[Step](), None
        try:
            item, clean = self._run(attempt, steps)
            moved = self._put_pictures(item, attempt)
            trail = replace(attempt.trail, steps=tuple(steps))
            made = replace(replace_images(item.sample, moved.refs), id=attempt.id, variant=trail)
            if (draw := kept.get(_shown(made))) is not None:
                raise _NotKept("unchanged", f"the variant equals draw {draw}")
            verdict = self._verdict(attempt, made, clean, moved)
            made = made if verdict is UNJUDGED else _judged(made, verdict)
            if verdict.status == "rejected":
                raise _NotKept("rejected", verdict.reason)
            if not self._recipe.factorial:  # whose chains share draws, so that none may be drawn again for one of them
                kept[_shown(made)] = trail.draw
            return Outcome(made)
        except _NotKept as error:
            trail = attempt.trail
            what = (attempt.id, trail.parent, trail.chain, trail.draw, trail.seed, error.status, error.reason)
            dropped = Dropped(*what, error.operator, trail.attempt, tuple(steps), made)
            return Outcome(dropped=dropped, may_pass=error.may_pass)

    def _run(self, attempt: _Attempt, steps: list[Step]) -> tuple[Item, Item]:
        """Draw and apply one operator after the other; `steps` grows as far as it gets.

        The second item is what a judge looks at: without the noise. It is the same one where there is none.
        """
        trail, item = attempt.trail, Item(attempt.parent, attempt.pictures)
        clean = item
        for link, operator in zip(attempt.chain.links, attempt.operators, strict=True):
            identity = (attempt.chain.key, link.step, link.severity, trail.draw, trail.attempt)
            try:
                params = operator.params(stream(trail.seed, trail.parent, *identity), item.sample)
                if isinstance(params, NotApplicable):
                    raise _NotKept("not_applicable", params.reason, link.operator)
                steps.append(Step(link.operator, params))
                before, item = item, attempt.applied(operator, item, params, link)
                if self._judge is None or clean is before:
                    clean = before if operator.noisy and self._judge else item
                elif not operator.noisy:
                    clean = attempt.applied(operator, clean, params, link)
            except ValueError as error:
                raise _failed(error, link.operator) from None
        landed = attempt.landed(item)
        return landed, landed if clean is item or self._judge is None else attempt.landed(clean)

    def _put_pictures(self, item: Item, attempt: _Attempt) -> _Moved:
        """Encode what was changed and carry over what was not. Raises UserError where `out` cannot be written."""
        refs, originals = item.sample.all_images, attempt.pictures
        changed = {ref for ref in refs if item.pictures is not originals and _differs(item, originals, ref)}
        if not changed and _shown(item.sample) == _shown(attempt.parent):
            raise _NotKept("unchanged", "the variant equals its parent")
        try:
            return _Moved({ref: self._put(item, ref) if ref in changed else self._carry(ref) for ref in refs}, changed)
        except ValueError as error:
            raise _failed(error) from None
        except OSError as error:
            folder = self._out.folder
            raise UserError(f"cannot write {folder} ({error.strerror}): free some space and run again") from None

    def _put(self, item: Item, ref: ImageRef) -> ImageRef:
        picture = item.pictures[ref]
        return self._out.put_checked(encode(picture), picture.suffix)

    def _carry(self, ref: ImageRef) -> ImageRef:
        try:
            return self._out.bring(self._source, ref)
        except ValueError as error:
            raise ValueError(f"a picture cannot be carried over ({ref}: {error})") from None

    def _verdict(self, attempt: _Attempt, made: Sample, clean: Item, moved: _Moved) -> Verdict:
        """What the judge says of words and pictures. A verdict that could not be had is a failure, not a verdict."""
        if self._judge is None:
            return UNJUDGED
        looks = tuple(
            Look(attempt.pictures[ref], clean.pictures[ref], self._source.path(ref), self._out.path(new))
            for ref, new in moved.refs.items()
            if ref in moved.changed
        )
        try:
            return self._judge.judge(Case(attempt.parent, made, looks))
        except ValueError as error:
            raise _failed(error) from None


class _Moved(Struct, frozen=True, eq=False):
    """The parent's picture paths -> the variant's, and which of the pictures were changed."""

    refs: dict[ImageRef, ImageRef]
    changed: set[ImageRef]


class _Attempt(Struct, frozen=True, eq=False):
    """One attempt at one draw of one chain, with the trail as far as it is known before anything was drawn.

    `on_device`: the pictures where the chain's styler wants them; None where that is on the host.
    """

    parent: Sample
    pictures: Pictures
    on_device: OnDevice | None
    chain: Chain
    operators: tuple[Operator, ...]
    trail: Variant

    @property
    def id(self) -> str:
        """The variant's id."""
        return f"{self.parent.id}~{self.chain.name}~{self.trail.draw}"

    def applied(self, operator: Operator, item: Item, params: Mapping[str, Json], link: Link) -> Item:
        """The changed item. Pictures are handed over on the styler's device to operators that work there."""
        view = item.pictures
        if self.on_device is not None and operator.on_device:
            view = self.on_device if view is self.pictures else OnDevice(view, self.on_device.device)
        elif self.on_device is not None:
            view = OnHost(view)
        changed = operator.apply(Item(item.sample, view), params)
        if isinstance(changed, NotApplicable):
            raise _NotKept("not_applicable", changed.reason, link.operator)
        return Item(changed.sample, item.pictures) if changed.pictures is view else changed

    def landed(self, item: Item) -> Item:
        """The item with its pictures on the host."""
        return item if self.on_device is None or item.pictures is self.pictures else item.repaint(_landed)


def _failed(error: ValueError, operator: str = "") -> _NotKept:
    return _NotKept("failed", str(error), operator, may_pass=isinstance(error, NotNow))


def _judged(made: Sample, verdict: Verdict) -> Sample:
    assert made.variant is not None
    return replace(made, variant=replace(made.variant, verdict=verdict))


def _landed(_: int, picture: Picture) -> Pixels:
    return to_host(picture.pixels)


def _differs(item: Item, originals: Pictures, ref: ImageRef) -> bool:
    return not np.array_equal(item.pictures[ref].pixels, originals[ref].pixels)


def _shown(sample: Sample) -> _Shown:
    """What a model is asked, pictures aside."""
    return sample.question, sample.task_type, sample.options, sample.answer, sample.images
