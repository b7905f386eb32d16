"""The contract of an operator. `params` draws, `apply` changes: what was drawn is JSON, so a variant can be
replayed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal

from numpy.random import Generator

from mmdyn.keys import Json
from mmdyn.sample import Sample
from perturb.item import Item, NotApplicable
from perturb.services import Services

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
