"""One parent -> all its variants, each with its trail. What a worker process does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mmdyn.data import WORK, Dropped, ImageFolder, replace_images
from mmdyn.errors import MmdynError, NotNow, UserError, reason_of
from mmdyn.keys import Json, stream
from mmdyn.sample import ImageRef, Sample, Step, Variant, Verdict
from mmdyn.text import lost_term
from mmdyn.work import Outcome
from perturb.chains import Chain, Link, Recipe
from perturb.codec import LazyPictures, encode, on_device, on_host, pictures_in
from perturb.device_pixels import to_host
from perturb.item import Item, NotApplicable, Picture
from perturb.judge._judge import Case, Look, VariantJudge
from perturb.services import Operator, Services
from perturb.strength import strength

UNJUDGED = Verdict("unjudged")
REFUSED = ("rejected", "doubtful")
"""What a judge may say of a variant that is not kept."""

_Shown = tuple[object, ...]


class _NotKept(Exception):
    def __init__(self, status: str, reason: str, operator: str = "", *, may_pass: bool = False) -> None:
        super().__init__(reason)
        self.status, self.reason, self.operator, self.may_pass = status, reason, operator, may_pass


class _Failures:
    """What goes wrong with a variant is its failure, in the error's words, and ends nothing else; only an MmdynError
    ends the work. What nobody foresaw (anything but a ValueError) may pass, and so may what cannot be done now.
    """

    def __init__(self, operator: str = "") -> None:
        self._operator = operator

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, MmdynError | _NotKept):
            may_pass = isinstance(error, NotNow) or not isinstance(error, ValueError)
            raise _NotKept("failed", reason_of(error), self._operator, may_pass=may_pass) from None


class VariantMaker:
    """Makes every variant of a parent; pictures are put under `out`.

    A variant depends on (seed, parent id, chain, step, severity, draw, attempt) alone, and on what the rewriter and the
    judge say. Usable from several threads. Raises UserError where `out` cannot be written or a model cannot be asked.
    """

    def __init__(self, source: Path, out: Path, recipe: Recipe, pool: Path | None = None) -> None:
        self._source, self._out, self._recipe = ImageFolder(source), ImageFolder(out), recipe
        self._services = Services(recipe.tools, pool, out / WORK)
        self._loaded = dict[Chain, tuple[Operator, ...]]()
        for name in recipe.uses:
            getattr(self._services, name)
        self._judge: VariantJudge | None = self._services.judge
        self._device = self._services.styler.device if "styler" in recipe.uses else None

    def __call__(self, sample: Sample) -> Iterator[Outcome]:
        """Every chain's draws, in order; a chain in which nothing is random has one."""
        if sample.variant:
            raise UserError(f"{self._source.folder} holds a variant ({sample.id}): give a set of standard samples")
        pictures = pictures_in(self._source, sample.all_images)
        there = on_device(pictures, self._device) if self._device else None
        for chain in self._recipe.forms(sample.id):
            operators, styled = self._operators(chain), "styler" in chain.uses
            kept, refused = dict[_Shown, int](), dict[_Shown, Verdict]()
            draws, attempts = self._recipe.draws_of(operators)
            for draw in range(draws):
                trail = Variant(
                    sample.id, chain.name, draw, self._recipe.seed, (), UNJUDGED, 0, sample.task_type,
                    keeps_answer=all(operator.keeps_answer for operator in operators),
                )  # fmt: skip
                first = _Attempt(sample, pictures, there if styled else None, chain, operators, trail)
                yield from self._attempts(first, attempts, kept, refused)

    def _operators(self, chain: Chain) -> tuple[Operator, ...]:
        if chain not in self._loaded:
            self._loaded[chain] = chain.load(self._services)
        return self._loaded[chain]

    def close(self) -> None:
        """Let go of models and connections."""
        self._services.close()

    def _attempts(
        self, first: _Attempt, attempts: int, kept: dict[_Shown, int], refused: dict[_Shown, Verdict]
    ) -> Iterator[Outcome]:
        """A draw's attempts, until one is neither refused by the judge nor like an earlier draw; of the latter only the
        last is told, and a refused one that another followed is `redrawn`, once."""
        before: Dropped | None = None
        for number in range(attempts):
            trail, known = replace(first.trail, attempt=number), len(refused)
            made = self._outcome(replace(first, trail=trail) if number else first, kept, refused)
            status, last = made.dropped.status if made.dropped else "", number + 1 == attempts
            ends = last or status not in (*REFUSED, "unchanged")
            new = made.dropped if status in REFUSED and len(refused) > known else None
            if before and (new or ends) and not (made.dropped and made.dropped.steps == before.steps):
                yield Outcome(dropped=replace(before, status="redrawn"))
            before = new or before
            if ends:
                yield made
                return

    def _outcome(self, attempt: _Attempt, kept: dict[_Shown, int], refused: dict[_Shown, Verdict]) -> Outcome:
        """`kept`: what earlier draws of the chain show, by draw. `refused`: the verdicts on what was refused, which are
        not asked for again. Both grow."""
        steps, made = list[Step](), None
        try:
            with _Failures():
                item, clean = self._run(attempt, steps)
                refs, changed = self._put_pictures(item, attempt)
                far = strength(attempt.parent, item.sample, attempt.pictures, item.pictures, changed)
                trail = replace(attempt.trail, steps=tuple(steps), strength=far)
                claims = isinstance(item.sample.answer, bool) and not isinstance(attempt.parent.answer, bool)
                if claims or not trail.keeps_answer:
                    trail = replace(trail, hidden=attempt.parent.told)
                made = replace(replace_images(item.sample, refs), id=attempt.id, variant=trail)
                if (draw := kept.get(_shown(made))) is not None:
                    raise _NotKept("unchanged", f"the variant equals draw {draw}")
                new = {ref: refs[ref] for ref in refs if ref in changed}
                verdict = refused.get(_shown(made)) or self._verdict(attempt, made, (item, clean), new)
                made = made if verdict is UNJUDGED else replace(made, variant=replace(trail, verdict=verdict))
                if verdict.status in REFUSED:
                    refused[_shown(made)] = verdict
                    raise _NotKept(verdict.status, verdict.reason)
                if not self._recipe.design:  # whose chains share draws, so that none may be drawn again for one of them
                    kept[_shown(made)] = trail.draw
                return Outcome(made)
        except _NotKept as error:
            trail = attempt.trail
            dropped = Dropped(
                id=attempt.id,
                parent=trail.parent,
                chain=trail.chain,
                draw=trail.draw,
                seed=trail.seed,
                status=error.status,
                reason=error.reason,
                operator=error.operator,
                attempt=trail.attempt,
                steps=tuple(steps),
                sample=made,
            )
            return Outcome(dropped=dropped, may_pass=error.may_pass)

    def _run(self, attempt: _Attempt, steps: list[Step]) -> tuple[Item, Item]:
        """Draw and apply one operator after the other; `steps` grows as far as it gets.

        The second item is what a judge looks at: without the noise. It is the same one where there is none.
        """
        trail, item = attempt.trail, Item(attempt.parent, attempt.pictures)
        clean = item
        for link, operator in zip(attempt.chain.links, attempt.operators, strict=True):
            identity = (attempt.chain.key, link.step, link.drawn_as, trail.draw, trail.attempt)
            with _Failures(link.operator):
                params = operator.params(stream(trail.seed, trail.parent, *identity), item.sample)
                if isinstance(params, NotApplicable):
                    raise _NotKept("not_applicable", params.reason, link.operator)
                steps.append(Step(link.operator, params))
                before, item = item, attempt.applied(operator, item, params, link)
                if self._judge is None or clean is before:
                    clean = before if operator.noisy and self._judge else item
                elif not operator.noisy:
                    clean = attempt.applied(operator, clean, params, link)
        landed = attempt.landed(item)
        return landed, landed if clean is item or self._judge is None else attempt.landed(clean)

    def _put_pictures(self, item: Item, attempt: _Attempt) -> tuple[dict[ImageRef, ImageRef], set[ImageRef]]:
        """Encode what was changed and carry over what was not: the parent's paths with the variant's, and what changed.

        Raises UserError where `out` cannot be written.
        """
        refs, old, new = item.sample.all_images, attempt.pictures, item.pictures
        changed = {ref for ref in refs if new is not old and not np.array_equal(new[ref].pixels, old[ref].pixels)}
        if not changed and _shown(item.sample) == _shown(attempt.parent):
            raise _NotKept("unchanged", "the variant equals its parent")
        try:
            return {ref: self._put(new[ref]) if ref in changed else self._carry(ref) for ref in refs}, changed
        except OSError as error:
            folder = self._out.folder
            raise UserError(f"cannot write {folder} ({error.strerror}): free some space and run again") from None

    def _put(self, picture: Picture) -> ImageRef:
        return self._out.put_checked(encode(picture), picture.suffix)

    def _carry(self, ref: ImageRef) -> ImageRef:
        try:
            return self._out.bring(self._source, ref)
        except ValueError as error:
            raise ValueError(f"a picture cannot be carried over ({ref}: {error})") from None

    def _verdict(
        self, attempt: _Attempt, made: Sample, items: tuple[Item, Item], changed: Mapping[ImageRef, ImageRef]
    ) -> Verdict:
        """What the judge says of words and pictures, `items` as `_run` gives them. A verdict that could not be had is a
        failure, not a verdict. What nobody would call a change is kept without asking, and nobody is asked whether a
        variant keeps the meaning that is meant to change it."""
        if self._judge is None or not attempt.trail.keeps_answer:
            return UNJUDGED
        if all(operator.role == "null" for operator in attempt.operators):
            return Verdict("kept", self._judge.label, "a null change keeps the meaning by construction", 1.0)
        old, (shown, clean) = attempt.pictures, (item.pictures for item in items)
        looks = [
            Look(old[ref], clean[ref], self._source.path(ref), self._out.path(new), shown[ref])
            for ref, new in changed.items()
        ]
        return self._judge.judge(Case(attempt.parent, made, tuple(looks)))


class _Attempt(Struct, frozen=True, eq=False):
    """One attempt at one draw of one chain, with the trail as far as it is known before anything was drawn.

    `on_device`: the pictures where the chain's styler wants them; None where that is on the host.
    """

    parent: Sample
    pictures: LazyPictures
    on_device: LazyPictures | None
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
            view = self.on_device if view is self.pictures else on_device(view, self.on_device.device)
        elif self.on_device is not None:
            view = on_host(view)
        changed = operator.apply(Item(item.sample, view), params)
        if isinstance(changed, NotApplicable):
            raise _NotKept("not_applicable", changed.reason, link.operator)
        if lost := lost_term(item.sample.instructions, item.sample.question, changed.sample.question):
            raise _NotKept("not_applicable", f"it changes {lost[:60]!r}, which an instruction names", link.operator)
        return Item(changed.sample, item.pictures) if changed.pictures is view else changed

    def landed(self, item: Item) -> Item:
        """The item with its pictures on the host."""
        if self.on_device is None or item.pictures is self.pictures:
            return item
        return item.repaint(lambda _, picture: to_host(picture.pixels))


def _shown(sample: Sample) -> _Shown:
    """What a model is asked, pictures aside."""
    return sample.question, sample.task_type, sample.options, sample.answer, sample.images
