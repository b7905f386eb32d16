"""What a checkpoint is, by its config: a model of text, or of pictures and text."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mmdyn.errors import ModelError
from mmdyn.models.backends._local_prompt import read_json

Kind = Literal["image-text-to-text", "text"]

_VISION_CLASSES = ("AutoModelForImageTextToText", "AutoModelForVision2Seq")
_TEXT_CLASS = "AutoModelForCausalLM"


def kind_of(folder: Path, trust_remote_code: bool) -> Kind:
    """Raises ModelError for a checkpoint that cannot be asked, and for one with code of its own that is not trusted."""
    from transformers.models.auto import modeling_auto

    config = read_json(folder / "config.json")
    name, own = str(config.get("model_type")), config.get("auto_map") or {}
    if config.get("is_encoder_decoder"):
        raise ModelError(f"{folder} holds an encoder-decoder ({name}): name a model that goes on with a text")
    if name in modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        return "image-text-to-text"
    if name in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return "text"
    if own and not trust_remote_code:
        raise ModelError(
            f"{folder} holds a model of its own kind ({name}) and the Python code for it, which would run with all your"
            " rights: read the code, then give trust_remote_code=true"
        )
    if any(each in own for each in _VISION_CLASSES):
        return "image-text-to-text"
    if _TEXT_CLASS in own:
        return "text"
    raise ModelError(f"{folder} holds a {name}, which is no model that writes text: name another one")
