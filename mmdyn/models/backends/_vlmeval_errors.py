"""What a worker's failures mean, each as one sentence for the user."""

from __future__ import annotations

from msgspec import Struct

from mmdyn.errors import ModelError, UserError
from mmdyn.models.backends._vlmeval_process import LONGEST, Process, Told
from mmdyn.models.model import RejectedError, TransientError

PASSING = {408, 409, 425, 429}


class Names(Struct, frozen=True):
    """What the sentences name: the model as reports do, its NAME, and the interpreter."""

    label: str
    name: str
    python: str


def refused(told: Told, process: Process, names: Names) -> Exception:
    """Why a worker has no model to ask."""
    says = _said(told, process)
    if told.kind == "missing":
        return UserError(
            f"{names.python} has no vlmeval: make an environment for it (pip install ms-vlmeval==0.0.20), and give its "
            "interpreter as python=… or in $MMDYN_VLMEVAL_PYTHON"
        )
    if told.kind == "unknown":
        return UserError(f"VLMEvalKit {says}; `mmdyn list vlmeval` names its models")
    if told.kind == "unimportable":
        return ModelError(f"{names.python} cannot import vlmeval ({says}): mend that environment, or name another")
    return ModelError(f"VLMEvalKit cannot make {names.name} ({says}): mend its options, or the environment it runs in")


def failed(told: Told, process: Process, names: Names, *, answers: bool) -> Exception:
    """Why one request got no answer. `answers`: whether the model has answered any."""
    says = _said(told, process)
    heard = f"HTTP {told.status}: {says}" if told.status else says
    if told.kind == "raised":
        return RejectedError(f"VLMEvalKit's {names.name} failed ({heard})", perhaps_all=True)
    if told.kind == "unreachable" and not answers:
        return ModelError(f"{names.label} cannot reach its server ({heard}): start the server or mend its options")
    if told.status in (401, 403):
        return ModelError(
            f"the server of {names.label} refused the key ({heard}): put the right one into the environment"
        )
    if told.status == 404:
        return ModelError(f"the server of {names.label} has no such model or address ({heard}): mend its options")
    if 400 <= told.status < 500 and told.status not in PASSING:
        return RejectedError(f"the server of {names.label} refused the request ({heard})", perhaps_all=True)
    return TransientError(heard, slow_down=told.status == 429)


def _said(told: Told, process: Process) -> str:
    text = process.clean(told.error)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
