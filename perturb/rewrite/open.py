"""A rewriter's name -> the rewriter."""

from __future__ import annotations

from perturb._embedded import refuse_misspelt
from perturb.rewrite._rewriter import Rewriter
from perturb.rewrite.embedded import EmbeddedRewriter


def open_rewriter(name: str, concurrency: int) -> Rewriter:
    """`embedded` for the rules that come with the package, or any MODEL, which is asked `concurrency` times at once.

    Raises UserError: no such backend or option.
    """
    if name == EmbeddedRewriter.label:
        return EmbeddedRewriter()
    refuse_misspelt("rewriter", name)
    from mmdyn.models import SyncModelClient
    from perturb.rewrite.model import ModelRewriter

    return ModelRewriter(SyncModelClient(name, concurrency, varied=True))
