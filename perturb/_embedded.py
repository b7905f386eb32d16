"""The name of what comes with the package and needs no model; who nearly types it means it, and no model."""

from __future__ import annotations

import re

from mmdyn import plugins
from mmdyn.errors import UserError, did_you_mean

EMBEDDED = "embedded"
"""The name of the rewriter, the styler and the judge that need no model."""


def refuse_misspelt(kind: str, name: str) -> None:
    """Raises UserError where the name of a rewriter or judge is nearly `embedded` and no backend of models is called
    so."""
    head = re.split("[:,]", name, maxsplit=1)[0].strip()
    hint = did_you_mean(head, [EMBEDDED])
    if hint and head != EMBEDDED and head not in plugins.names("models"):
        raise UserError(f"there is no {kind} {head!r}{hint}: use {EMBEDDED}, or a MODEL such as openai:NAME")
