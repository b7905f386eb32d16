"""A judge's name -> the judge."""

from __future__ import annotations

import re

from mmdyn.errors import UserError
from perturb._embedded import EMBEDDED, refuse_misspelt
from perturb.judge._judge import Judge
from perturb.judge.embedded import EmbeddedJudge

_EMBEDDED = re.compile(rf"{EMBEDDED}(?:[:,].*)?", re.DOTALL)


def open_judge(name: str, votes: int = 1, concurrency: int = 32) -> Judge:
    """`embedded`, with a model and options where they follow, or any MODEL, which is asked `concurrency` times at once.

    Raises UserError: no such backend or option, an even number of votes, or several of the embedded judge.
    """
    if _EMBEDDED.fullmatch(name.strip()):
        if votes != 1:
            raise UserError("the embedded judge says the same each time it is asked: leave the votes out")
        return EmbeddedJudge(name.strip())
    refuse_misspelt("judge", name)
    from mmdyn.models import SyncModelClient
    from perturb.judge.model import ModelJudge

    client = SyncModelClient(name, concurrency, varied=votes > 1)
    try:
        return ModelJudge(client, votes)
    except BaseException:
        client.close()
        raise
