"""The contract of an operator, and who rewrites, paints and judges for it, opened when first used."""

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
    """Paints pictures in another style without changing what they show. Used from several threads at a time."""

    device: str | None
    """The torch device on which it wants pixels (uint8 tensors of the same shapes); None for arrays on the host."""

    def params(self, stream: Generator, severity: str) -> dict[str, Json]:
        """Draw what `paint` needs."""

    def paint(self, pixels: Pixels, params: Mapping[str, Json], number: int) -> Pixels:
        """The picture in another style: RGB of the same height and width, for a grey one too. It comes back as it was
        given, as an array or a tensor on its device; `number` is its place in the sample, from 0.

        Raises ValueError where this picture cannot be painted, UserError where none can.
        """


class ToolNames(Struct, frozen=True):
    """Who rewrites, paints and judges. `rewriter` and `judge`: `embedded` or a MODEL, `judge` empty for none;
    `style`: `embedded`, or `flux` or `klein` with options after a comma; `votes`: how often a judge model is asked;
    `concurrency`: requests in flight at most; `cache`: where replies are kept, as in `mmdyn.models.Caches`.
    """

    rewriter: str = EMBEDDED
    style: str = EMBEDDED
    judge: str = ""
    votes: int = 1
    concurrency: int = 32
    cache: CacheChoice | None = None

    def check(self) -> None:
        """Raises UserError for what is wrong whether it is used or not."""
        from mmdyn.models import Caches

        Caches(self.cache)
        _refuse_misspelt("rewriter", self.rewriter)
        _styler_named(self.style)
        if self.judge:
            _refuse_misspelt("judge", self.judge)
        elif self.votes != 1:
            raise UserError(f"votes is {self.votes}, and nobody judges: give a judge too, or leave the votes out")


class Services:
    """Opens tools by their names. `pool`: the file of other samples' answers, for operators that need distractors.
    `out`: the folder for replies that are kept for this work alone.

    `canvas` is where picture operators change pixels on a device; it costs nothing until it is asked. Each tool raises
    UserError where it cannot be had.
    """

    def __init__(self, tools: ToolNames | None = None, pool: Path | None = None, out: Path | None = None) -> None:
        self.tools = tools or ToolNames()
        self._pool_file, self._out = pool, out
        self.canvas = Canvas()

    @cached_property
    def rewriter(self) -> Rewriter:
        """Who puts questions into other words."""
        return open_rewriter(self.tools.rewriter, self.tools.concurrency, self._caches)

    @cached_property
    def styler(self) -> Styler:
        """Who paints pictures in another style."""
        return open_styler(self.tools.style)

    @cached_property
    def judge(self) -> VariantJudge | None:
        """Who throws variants out whose meaning changed; None where nobody does."""
        tools = self.tools
        return open_judge(tools.judge, tools.votes, tools.concurrency, self._caches) if tools.judge else None

    @cached_property
    def pool(self) -> AnswerPool:
        """Other samples' answers; an empty pool where no file was handed in."""
        from perturb.short_answers import AnswerPool

        return AnswerPool.load(self._pool_file) if self._pool_file else AnswerPool()

    @property
    def _caches(self) -> Caches:
        from mmdyn.models import Caches

        return Caches(self.tools.cache, self._out)

    def close(self) -> None:
        """Close what was opened, and the canvas."""
        self.canvas.close()
        for name in ("rewriter", "styler", "judge"):
            if (tool := self.__dict__.get(name)) is not None:
                tool.close()


def open_rewriter(name: str, concurrency: int, caches: Caches | None = None) -> Rewriter:
    """`embedded` for the rules that come with the package, or any MODEL, which is asked `concurrency` times at once.

    Raises UserError: no such backend or option.
    """
    if name == EMBEDDED:
        from perturb.rewrite.embedded_rewriter import EmbeddedRewriter

        return EmbeddedRewriter()
    _refuse_misspelt("rewriter", name)
    from mmdyn.models import SyncModelClient
    from perturb.rewrite.model_rewriter import ModelRewriter

    return ModelRewriter(SyncModelClient(name, concurrency, varied=True, caches=caches))


def open_judge(name: str, votes: int = 1, concurrency: int = 32, caches: Caches | None = None) -> VariantJudge:
    """`embedded`, `nli` with a model and options where they follow, or any MODEL, which is asked `concurrency` times at
    once.

    Raises UserError: no such checkpoint, backend or option, an even number of votes, or several of a judge that says
    the same each time.
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
    """The styler that `embedded`, `flux` or `klein` names; after a colon a checkpoint's folder or repository, and
    options after commas: `flux:/path/to/FLUX.1-dev,quantize=int8`.

    Raises UserError: no such backend or option, no weights; MissingExtra.
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
    """One public class a file under perturb/image or perturb/text.

    It is made once for each place in a chain and process. An operator may be used from several threads at a time.
    Whatever it raises loses that variant alone, with the error as the reason; an MmdynError ends the work.
    """

    random: bool
    """Whether `params` draws anything. A chain in which nothing is random makes one variant, whatever the number of
    draws."""

    role: ClassVar[Literal["treatment", "null"]] = "treatment"
    """`null` where nobody would call what it does a change. No judge is asked about a chain of such operators alone,
    and it is no part of its set's treatment."""

    noisy: ClassVar[bool] = False
    """Whether it makes pictures worse to read and draws nothing else, as noise and blur do: a judge looks at pictures
    without it, because it would reject the dose. How much is lost is measured, not judged."""

    severities: ClassVar[tuple[str, ...]] = ()
    """The names that may follow it in a chain (`pad@strong`); without one it is as strong as its source says."""

    forms: ClassVar[tuple[str, ...]] = ()
    """What may be asked for behind a colon (`convert:blank`) where it makes several kinds of variants; without one it
    draws among them. A form says what is made, a severity how much is changed."""

    uses: ClassVar[tuple[Tool, ...]] = ()
    """What it takes from the services."""

    on_device: ClassVar[bool] = False
    """Whether `apply` also takes pictures whose pixels are torch tensors, and gives such back, with the same bits."""

    def __init__(self, services: Services | None = None, severity: str = "", form: str = "") -> None:
        """`services`: the rewriter, the styler and the pool of other samples; all embedded where none is handed in."""
        self.services, self._severity, self._form = services or Services(), severity, form

    @abstractmethod
    def params(self, stream: Generator, sample: Sample) -> dict[str, Json] | NotApplicable:
        """Draw what `apply` needs for a sample, and ask the rewriter; only here is the stream used and a model asked.

        Only the sample's words are seen. Raises ValueError where a model did not answer.
        """

    @abstractmethod
    def apply(self, item: Item, params: Mapping[str, Json]) -> Item | NotApplicable:
        """Change an item as the parameters say. Pure: equal input gives equal output, and the input stays as it is.

        All that decides it is in the parameters, the effect of severity and form too: a replay has nothing else.

        Raises ValueError where a picture cannot be decoded.
        """
