"""A name that is nearly `embedded` is answered with it, whoever is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mmdyn.errors import UserError
from perturb import open_judge
from perturb.services import open_rewriter, open_styler

OPENERS: list[tuple[str, Callable[[str], object], str]] = [
    ("rewriter", lambda name: open_rewriter(name, 1), "use embedded, or a MODEL such as openai:NAME"),
    ("judge", open_judge, "use embedded, or a MODEL such as openai:NAME"),
    ("style backend", open_styler, "use embedded, flux, klein"),
]


@pytest.mark.parametrize(("kind", "opened", "use"), OPENERS, ids=[kind for kind, _, _ in OPENERS])
@pytest.mark.parametrize("name", ["embeded", " embbeded ", "Embedded", "embeded:none", "embeded,none"])
def test_a_typo_is_answered_with_the_name(kind: str, opened: Callable[[str], object], use: str, name: str) -> None:
    typed = name.split(":")[0].split(",")[0].strip()
    with pytest.raises(UserError) as error:
        opened(name)
    assert str(error.value) == f"there is no {kind} {typed!r} (did you mean 'embedded'?): {use}"


@pytest.mark.parametrize(("kind", "opened", "use"), OPENERS[:2], ids=["rewriter", "judge"])
def test_other_names_are_models(kind: str, opened: Callable[[str], object], use: str) -> None:
    with pytest.raises(UserError, match="the model 'gpt' is not backend:name"):
        opened("gpt")
    with pytest.raises(UserError, match=r"there is no model 'opnai' \(did you mean 'openai'\?\)"):
        opened("opnai:gpt")
