"""In which language a text is, by an identifier of languages that is installed apart (the extra `build`)."""

from __future__ import annotations

from functools import cache
from typing import Any

from mmdyn.errors import MissingExtra


def language_of(text: str, among: tuple[str, ...]) -> tuple[str, float]:
    """The language that a text is most likely in, and how likely that is.

    Args:
        text: Of some words; shorter ones look alike in languages of one script.
        among: The languages to choose from, as codes of ISO 639-1.

    Returns:
        The code, and its probability in [0, 1].

    Raises:
        MissingExtra: The identifier of languages is not installed.
    """
    language, sure = _identifier(among).classify(text)
    return str(language), float(sure)


@cache
def _identifier(among: tuple[str, ...]) -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise MissingExtra("py3langid", "build") from None
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(among))
    return identifier
