"""A checkpoint of transformers: what it is by its config, its processor, and its weights on the device."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal

from mmdyn.errors import ModelError
from mmdyn.models.checkpoint import Form
from mmdyn.work import give_memory_back, is_out_of_memory

FORM = Form(
    "transformers", "config.json", ("*.json", "model*.safetensors", "*.jinja", "*.txt", "*.model", "*.tiktoken", "*.py")
)
"""Only safetensors, which hold numbers and no code."""

Kind = Literal["image-text-to-text", "text"]

_VISION_CLASSES = {"AutoModelForImageTextToText", "AutoModelForVision2Seq"}
_BROKEN = (ImportError, OSError, ValueError, KeyError, TypeError, AttributeError)
"""What transformers raises where a package or a file is missing."""
_PIP = re.compile(r"pip install (?:-U )?['\"`]?([\w.-]+)")


def kind_of(folder: Path, trust_remote_code: bool) -> Kind:
    """What a checkpoint is.

    Raises:
        ModelError: It cannot be asked, or it has code of its own that is not trusted.
    """
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
    if _VISION_CLASSES.intersection(own):
        return "image-text-to-text"
    if "AutoModelForCausalLM" in own:
        return "text"
    raise ModelError(f"{folder} holds a {name}, which is no model that writes text: name another one")


def has_chat_template(folder: Path) -> bool:
    """Whether a checkpoint brings a chat template; one without is given the bare texts."""
    files = (folder / f"{name}.json" for name in ("chat_template", "processor_config", "tokenizer_config"))
    return (folder / "chat_template.jinja").is_file() or any(read_json(file).get("chat_template") for file in files)


def read_json(file: Path) -> dict[str, Any]:
    """A checkpoint's small JSON file; empty where it is missing or is no object."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def load_processor(folder: Path, vision: bool, trust_remote_code: bool) -> Any:
    """The processor, or the tokenizer of a model that reads no pictures, with a token to pad with.

    Raises ModelError where a package or a file is missing.
    """
    from transformers import AutoProcessor, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()  # and no hints or progress bars
    logging.disable_progress_bar()
    kind = AutoProcessor if vision else AutoTokenizer
    try:
        processor = kind.from_pretrained(str(folder), local_files_only=True, trust_remote_code=trust_remote_code)
    except _BROKEN as error:
        raise _problem(folder, error) from None
    if vision and not hasattr(processor, "image_processor"):
        raise ModelError(f"{folder} has no processor that can be used for pictures: fetch the checkpoint again")
    tokenizer = processor.tokenizer if vision else processor
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    return processor


def load_weights(folder: Path, kind: str, **settings: Any) -> Any:
    """The model, ready to be asked, by the class of transformers that is called so; `settings` are those of its
    `from_pretrained`.

    Raises ModelError where the weights are missing, broken, not all there, or do not fit.
    """
    import transformers
    from safetensors import SafetensorError

    try:
        model, found = getattr(transformers, kind).from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, output_loading_info=True, **settings
        )
    except (*_BROKEN, SafetensorError) as error:
        raise _problem(folder, error) from None
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise _problem(folder, error) from None
    else:
        if missing := sorted(found["missing_keys"]):
            lacks = f"{len(missing)} of the model's weights, such as {missing[0]}"
            raise ModelError(f"{folder} lacks {lacks}: fetch the checkpoint again")
        return model.eval()
    give_memory_back()  # only now, because the error held on to it
    raise ModelError(
        f"the weights of {folder} do not fit into the device: use dtype=bf16, device_map=auto or a larger one"
    )


def _problem(folder: Path, error: Exception) -> ModelError:
    says = " ".join(str(error).split())
    if isinstance(error, ImportError):
        needs = "torchvision" if "torchvision" in says.lower() else (_PIP.search(says) or ("", ""))[1]
        if needs:
            return ModelError(f"{folder} needs {needs}, which is not installed: pip install {needs}")
    return ModelError(f"{folder} cannot be loaded ({says[:200]}): fetch the checkpoint again, or mend the options")
