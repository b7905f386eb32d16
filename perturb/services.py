"""The contract of an operator, and the rewriter, styler and judge that operators use, opened at first use."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from msgspec import Struct
from numpy.random import Generator

from mmdyn import plugins
from mmdyn.errors import UserError, did_you_mean
from mmdyn.keys import Json
from mmdyn.models import CacheChoice
from mmdyn.sample import Sample
from perturb.device_pixels import Canvas
from perturb.item import EMBEDDED, NLI, Item, NotApplicable, OpenedTool, Pixels

if TYPE_CHECKING:
    from mmdyn.models import Caches
    from perturb.judge._judge import VariantJudge
    from perturb.rewrite._rewriter import Rewriter
    from perturb.short_answers import AnswerPool

STYLERS = (EMBEDDED, "flux", "klein")


class Styler(OpenedTool, Protocol):
    """Paints pictures in another style without changing what they show. Several threads may use it."""

    device: str | None
    """The torch device of the pixels that it takes (uint8 tensors of the same shapes); None for arrays on the host."""

    def params(self, stream: Generator, severity: str) -> dict[str, Json]:
        """Draw the parameters of `paint`."""

    def paint(self, pixels: Pixels, params: Mapping[str, Json], number: int) -> Pixels:
        """Paint a picture in another style.

        Args:
            pixels: Grey or RGB, an array or a tensor on `device`.
            number: The picture's index in the sample, from 0.

        Returns:
            RGB of the same height and width, an array or a tensor as `pixels`.

        Raises:
            ValueError: This picture cannot be painted.
            UserError: No picture can.
        """


class ToolNames(Struct, frozen=True):
    """The names of the tools that a recipe uses.

    Args:
        rewriter: `embedded` or a MODEL.
        style: `embedded`; or `flux` or `klein`, with options after a comma.
        judge: `embedded`, `nli` or a MODEL; empty for none.
        votes: The number of votes of a judge model, odd.
        concurrency: The most requests in flight.
        cache: Where replies are cached, as in `mmdyn.models.Caches`.
    """

    rewriter: str = EMBEDDED
    style: str = EMBEDDED
    judge: str = ""
    votes: int = 1
    concurrency: int = 32
    cache: CacheChoice | None = None

    def check(self) -> None:
        """Raise UserError for a name or number that is wrong, whether it is used or not."""
        from mmdyn.models import Caches

        Caches(self.cache)
        _refuse_misspelt("rewriter", self.rewriter)
        _styler_named(self.style)
        if self.judge:
            _refuse_misspelt("judge", self.judge)
        elif self.votes != 1:
            raise UserError(f"votes is {self.votes}, and nobody judges: give a judge too, or leave the votes out")


class Services:
    """Opens tools by name when they are first used; each raises UserError where it cannot be opened.

    `canvas` is where picture operators change pixels on a device; it opens nothing before its first use.

    Args:
        tools: The tools' names; all embedded, without a judge, by default.
        pool: The file of other samples' answers, for operators that need distractors.
        out: The output folder, for replies that are cached for this work alone.
    """

    def __init__(self, tools: ToolNames | None = None, pool: Path | None = None, out: Path | None = None) -> None:
        self.tools = tools or ToolNames()
        self._pool_file, self._out = pool, out
        self.canvas = Canvas()

    @cached_property
    def rewriter(self) -> Rewriter:
        """The rewriter, which rewords questions."""
        return open_rewriter(self.tools.rewriter, self.tools.concurrency, self._caches)

    @cached_property
    def styler(self) -> Styler:
        """The styler, which paints pictures in another style."""
        return open_styler(self.tools.style)

    @cached_property
    def judge(self) -> VariantJudge | None:
        """The judge, which rejects variants whose meaning changed; None where there is none."""
        tools = self.tools
        return open_judge(tools.judge, tools.votes, tools.concurrency, self._caches) if tools.judge else None

    @cached_property
    def pool(self) -> AnswerPool:
        """Other samples' answers; an empty pool where there is no file."""
        from perturb.short_answers import AnswerPool

        return AnswerPool.load(self._pool_file) if self._pool_file else AnswerPool()

    @property
    def _caches(self) -> Caches:
        from mmdyn.models import Caches

        return Caches(self.tools.cache, self._out)

    def close(self) -> None:
        """Close the opened tools and the canvas."""
        self.canvas.close()
        for name in ("rewriter", "styler", "judge"):
            if (tool := self.__dict__.get(name)) is not None:
                tool.close()


def open_rewriter(name: str, concurrency: int, caches: Caches | None = None) -> Rewriter:
    """Open a rewriter: `embedded` (the rules of this package) or any MODEL.

    Args:
        concurrency: The most requests in flight.
        caches: Where a model's replies are cached; by default as `Caches()`.

    Raises:
        UserError: There is no such backend or option.
    """
    if name == EMBEDDED:
        from perturb.rewrite.embedded_rewriter import EmbeddedRewriter

        return EmbeddedRewriter()
    _refuse_misspelt("rewriter", name)
    from mmdyn.models import SyncModelClient
    from perturb.rewrite.model_rewriter import ModelRewriter

    return ModelRewriter(SyncModelClient(name, concurrency, varied=True, caches=caches))


def open_judge(name: str, votes: int = 1, concurrency: int = 32, caches: Caches | None = None) -> VariantJudge:
    """Open a judge of variants: `embedded`, `nli` (with a model and options after it), or any MODEL.

    Args:
        votes: The number of votes of a model, odd; 1 for a judge whose verdicts do not vary.
        concurrency: The most requests in flight.
        caches: Where a model's replies are cached; by default as `Caches()`.

    Raises:
        UserError: There is no such checkpoint, backend or option, or the number of votes does not fit.
    """
    kind = _head(name)
    if kind in (EMBEDDED, NLI) and votes != 1:
        raise UserError(f"the {kind} judge says the same each time it is asked: leave the votes out")
    if kind == NLI:
        from perturb.judge.nli_judge import NliJudge

        return NliJudge(name.strip())
    if kind == EMBEDDED:
        if name.strip() != EMBEDDED:
            raise UserError(f"the embedded judge takes no model and no options: write embedded in place of {name!r}")
        from perturb.judge.embedded_judge import EmbeddedJudge

        return EmbeddedJudge()
    _refuse_misspelt("judge", name)
    from mmdyn.models import SyncModelClient
    from perturb.judge.model_judge import ModelJudge

    client = SyncModelClient(name, concurrency, varied=votes > 1, caches=caches)
    try:
        return ModelJudge(client, votes)
    except BaseException:
        client.close()
        raise


def open_styler(text: str) -> Styler:
    """Open a styler: `embedded`, `flux` or `klein`. A checkpoint's folder or repository may follow a colon, and options
    follow commas: `flux:/path/to/FLUX.1-dev,quantize=int8`.

    Raises:
        UserError: There is no such backend or option, or no weights.
        MissingExtra: torch, diffusers or another package is not installed.
    """
    head, comma, options = text.partition(",")
    name, backend = head.partition(":")[2].strip(), _styler_named(text)
    if backend == EMBEDDED:
        if text.strip() != backend:
            raise UserError(f"the style backend embedded takes no name and no options: {text!r} has some")
        from perturb.style.embedded_styler import EmbeddedStyler

        return EmbeddedStyler()
    from mmdyn.models import Spec
    from perturb.style.flux import Flux
    from perturb.style.klein import Klein

    kind = Flux if backend == "flux" else Klein
    return kind(Spec.parse(f"{backend}:{name or kind.repository}{comma}{options}"))


def _styler_named(text: str) -> str:
    """The style backend that a text names. Raises UserError where there is none of that name."""
    backend = text.partition(",")[0].partition(":")[0].strip()
    if backend not in STYLERS:
        hint = did_you_mean(backend, STYLERS)
        raise UserError(f"there is no style backend {backend!r}{hint}: use {', '.join(STYLERS)}")
    return backend


def _refuse_misspelt(kind: str, name: str) -> None:
    """Raises UserError where the name of a rewriter or judge is nearly `embedded` and no backend of models is called
    so."""
    head = _head(name)
    hint = did_you_mean(head, [EMBEDDED])
    if hint and head != EMBEDDED and head not in plugins.names("models"):
        raise UserError(f"there is no {kind} {head!r}{hint}: use {EMBEDDED}, or a MODEL such as openai:NAME")


def _head(name: str) -> str:
    """The backend that a name begins with."""
    return re.split("[:,]", name, maxsplit=1)[0].strip()


Tool = Literal["rewriter", "styler", "pool"]


class Operator(ABC):
    """Changes a sample. Each file in perturb/image and perturb/text has one public class.

    An operator is made once for each step of a chain in each process; several threads may use it. An error that it
    raises drops that one variant, with the error as the reason; an MmdynError ends the work.
    """

    random: bool
    """Whether `params` draws anything. A chain without a random operator makes one variant, whatever the number of
    draws."""

    role: ClassVar[Literal["treatment", "null"]] = "treatment"
    """`null` where nobody would call the result a change. A chain of null operators alone is not judged, and does not
    count as treatment."""

    keeps_answer: ClassVar[bool] = True
    """False where a variant asks something else, so that it has another answer. Such an operator is alone in its chain;
    its variants are asked under a condition of their own (`counterfactual`), and no judge of meaning sees them."""

    noisy: ClassVar[bool] = False
    """Whether it only makes pictures harder to read, as noise, blur and a slant do. A judge looks at pictures without
    it, because it would reject the dose; the effect is measured, not judged."""

    keeps_lines: ClassVar[bool] = False
    """Whether two pictures that differ still differ behind it, line by line; then rules judge it without looking. False
    where values are clipped or lines may vanish. Not needed where it is noisy."""

    severities: ClassVar[tuple[str, ...]] = ()
    """The severities that may follow its name in a chain (`pad@strong`); without one its strength is that of its
    source."""

    forms: ClassVar[tuple[str, ...]] = ()
    """The forms that may follow its name (`convert:blank`), for an operator that makes several kinds of variants;
    without one it draws a form. A form says what is made, a severity how much is changed."""

    uses: ClassVar[tuple[Tool, ...]] = ()
    """The services that it uses."""

    on_device: ClassVar[bool] = False
    """Whether `apply` also takes pictures as torch tensors, and returns tensors with the same bits; worth it for what
    follows a style on a GPU."""

    def __init__(self, services: Services | None = None, severity: str = "", form: str = "") -> None:
        """Make the operator; `services` are the embedded ones by default."""
        self.services, self._severity, self._form = services or Services(), severity, form

    @abstractmethod
    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """Draw what `apply` needs for a sample; only here is the stream used and a model asked.

        It sees the sample's words, not its pictures.

        Raises:
            ValueError: A model did not answer.
        """

    @abstractmethod
    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """Change an item by the parameters. A pure function: equal input gives equal output, and the input is not
        changed.

        The parameters hold all that decides the result, the effect of severity and form included: a replay has nothing
        else.

        Raises:
            ValueError: A picture cannot be decoded.
        """
