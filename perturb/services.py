"""What operators and the judge need besides a sample, each opened when it is first used; one a process."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from mmdyn.errors import UserError
from perturb._canvas import Canvas
from perturb._embedded import EMBEDDED, refuse_misspelt

if TYPE_CHECKING:
    from perturb.judge._judge import Judge
    from perturb.pool import Pool
    from perturb.rewrite._rewriter import Rewriter
    from perturb.style._styler import Styler


class Tools(Struct, frozen=True):
    """Who rewrites, paints and judges. `rewriter` and `judge`: `embedded` or a MODEL, `judge` empty for none;
    `style`: `embedded`, or `flux` or `klein` with options after a comma; `votes`: how often a judge model is asked;
    `concurrency`: requests in flight at most.
    """

    rewriter: str = EMBEDDED
    style: str = EMBEDDED
    judge: str = ""
    votes: int = 1
    concurrency: int = 32

    def check(self) -> None:
        """Raises UserError for what is wrong whether it is used or not."""
        from perturb.style.open import check_backend

        refuse_misspelt("rewriter", self.rewriter)
        check_backend(self.style)
        if self.judge:
            refuse_misspelt("judge", self.judge)
        elif self.votes != 1:
            raise UserError(f"votes is {self.votes}, and nobody judges: give a judge too, or leave the votes out")


class Services:
    """Opens tools by their names. `pool`: the file of other samples' answers, for operators that need distractors.

    `canvas` is where picture operators change pixels on a device; it costs nothing until it is asked.
    """

    def __init__(self, tools: Tools | None = None, pool: Path | None = None) -> None:
        self.tools = tools or Tools()
        self._pool_file = pool
        self.canvas = Canvas()

    @cached_property
    def rewriter(self) -> Rewriter:
        """Who puts questions into other words. Raises UserError."""
        from perturb.rewrite.open import open_rewriter

        return open_rewriter(self.tools.rewriter, self.tools.concurrency)

    @cached_property
    def styler(self) -> Styler:
        """Who paints pictures in another style. Raises UserError."""
        from perturb.style.open import open_styler

        return open_styler(self.tools.style)

    @cached_property
    def judge(self) -> Judge | None:
        """Who throws variants out whose meaning changed; None where nobody does. Raises UserError."""
        if not self.tools.judge:
            return None
        from perturb.judge.open import open_judge

        return open_judge(self.tools.judge, self.tools.votes, self.tools.concurrency)

    @cached_property
    def pool(self) -> Pool:
        """Other samples' answers; an empty pool where no file was handed in."""
        from perturb.pool import Pool

        return Pool.load(self._pool_file) if self._pool_file else Pool()

    def close(self) -> None:
        """Close what was opened, and the canvas."""
        self.canvas.close()
        for name in ("rewriter", "styler", "judge"):
            if (tool := self.__dict__.get(name)) is not None:
                tool.close()
