"""Stylers by their names."""

from __future__ import annotations

from mmdyn.errors import UserError, did_you_mean
from mmdyn.models import Spec
from perturb.style._styler import Styler

BACKENDS = ("embedded", "flux", "klein")


def open_styler(text: str) -> Styler:
    """The styler that `embedded`, `flux` or `klein` names; after a colon a checkpoint's folder or repository, and
    options after commas: `flux:/path/to/FLUX.1-dev,quantize=int8`.

    Raises UserError: no such backend or option, no weights; MissingExtra.
    """
    head, comma, options = text.partition(",")
    name, backend = head.partition(":")[2].strip(), check_backend(text)
    if backend == "embedded":
        if text.strip() != backend:
            raise UserError(f"the style backend embedded takes no name and no options: {text!r} has some")
        from perturb.style.embedded import Embedded

        return Embedded()
    if backend == "flux":
        from perturb.style.flux import Flux

        return Flux(Spec.parse(f"{backend}:{name or Flux.repository}{comma}{options}"))
    from perturb.style.klein import Klein

    return Klein(Spec.parse(f"{backend}:{name or Klein.repository}{comma}{options}"))


def check_backend(text: str) -> str:
    """The backend that a text names. Raises UserError where there is none of that name."""
    backend = text.partition(",")[0].partition(":")[0].strip()
    if backend not in BACKENDS:
        raise UserError(
            f"there is no style backend {backend!r}{did_you_mean(backend, BACKENDS)}: use {', '.join(BACKENDS)}"
        )
    return backend
