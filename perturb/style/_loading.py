"""Diffusers pipelines from a folder to a device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mmdyn.errors import UserError
from perturb.style._settings import Settings


def quieten() -> None:
    """Keep the libraries' hints and progress bars to themselves; to be called before their pipelines are imported."""
    import diffusers.utils.logging
    import transformers.utils.logging

    for log in (diffusers.utils.logging, transformers.utils.logging):
        log.set_verbosity_error()
        log.disable_progress_bar()


def load(kind: Any, folder: Path, settings: Settings, **parts: Any) -> Any:
    """A pipeline of a class out of a folder, on the host; `parts` are handed on: a component that is None is left out.

    Raises UserError where files are missing or broken.
    """
    import torch
    from safetensors import SafetensorError

    if settings.torch_device.type == "cuda":
        torch.cuda.set_device(settings.torch_device)  # compiled and quantised kernels go to the thread's own device
    try:
        pipeline = kind.from_pretrained(str(folder), dtype=settings.torch_dtype, local_files_only=True, **parts)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{folder} cannot be loaded ({reason}): fetch the checkpoint again") from None
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def place(pipeline: Any, settings: Settings) -> Any:
    """The pipeline on its device, or kept on the host and lent to it; its blocks compiled where that was asked for.

    The VAE decodes one picture after the other: that costs no time at these sizes, and much less memory.
    """
    device = settings.torch_device
    if settings.offload == "model":
        pipeline.enable_model_cpu_offload(device=device)
    elif settings.offload == "sequential":
        pipeline.enable_sequential_cpu_offload(device=device)
    else:
        pipeline.to(device)
    pipeline.vae.enable_slicing()
    if settings.compile:
        pipeline.transformer.compile_repeated_blocks(fullgraph=True)
    return pipeline


def quantization(settings: Settings) -> Any:
    """How the transformer is to be quantised while it is loaded; None for not at all.

    Raises UserError where the device cannot reckon so.
    """
    if settings.quantize is None:
        return None
    from diffusers import BitsAndBytesConfig, PipelineQuantizationConfig

    if settings.quantize == "nf4":
        dtype = settings.torch_dtype
        way = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype)
    else:
        way = _torchao(settings)
    return PipelineQuantizationConfig(quant_mapping={"transformer": way})


def _torchao(settings: Settings) -> Any:
    import torch
    from diffusers import TorchAoConfig
    from torchao.quantization import Float8DynamicActivationFloat8WeightConfig, Int8WeightOnlyConfig

    if settings.quantize == "int8":
        return TorchAoConfig(Int8WeightOnlyConfig())
    device = settings.torch_device
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < (8, 9):
        raise UserError(f"quantize=fp8 needs a GPU with 8-bit floating point, and {device} has none: use int8")
    return TorchAoConfig(Float8DynamicActivationFloat8WeightConfig())
