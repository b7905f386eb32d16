"""A checkpoint's processor and weights, from its folder to the device."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mmdyn.errors import ModelError
from mmdyn.work import give_memory_back, is_out_of_memory

_PIP = re.compile(r"pip install (?:-U )?['\"`]?([\w.-]+)")


def quieten() -> None:
    """Keep the library's hints and progress bars to themselves."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def load_processor(folder: Path, vision: bool, trust_remote_code: bool) -> Any:
    """The processor, or the tokenizer of a model that reads no pictures, with a token to pad with.

    Raises ModelError where a package or a file is missing.
    """
    from transformers import AutoProcessor, AutoTokenizer

    quieten()
    kind = AutoProcessor if vision else AutoTokenizer
    try:
        processor = kind.from_pretrained(str(folder), local_files_only=True, trust_remote_code=trust_remote_code)
    except (ImportError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _problem(folder, error) from None
    if vision and not hasattr(processor, "image_processor"):
        raise ModelError(f"{folder} has no processor that can be used for pictures: fetch the checkpoint again")
    tokenizer = processor.tokenizer if vision else processor
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    return processor


def load_weights(folder: Path, vision: bool, **settings: Any) -> Any:
    """The model, ready to be asked, on the device; `settings` are those of `from_pretrained`.

    Raises ModelError where the weights are missing, broken, not all there, or do not fit.
    """
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    kind = AutoModelForImageTextToText if vision else AutoModelForCausalLM
    try:
        model, found = kind.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, output_loading_info=True, **settings
        )
    except (ImportError, OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise _problem(folder, error) from None
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise _problem(folder, error) from None
    else:
        if missing := sorted(found["missing_keys"]):
            raise ModelError(
                f"{folder} lacks {len(missing)} of the model's weights, such as {missing[0]}: fetch the checkpoint"
                " again"
            )
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
