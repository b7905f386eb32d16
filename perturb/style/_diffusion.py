"""Loads a diffusion model from its checkpoint to a device; what `flux` and `klein` share.

Options follow the backend's name: `flux:/path/to/FLUX.1-dev,device=cuda:0,quantize=int8`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

from msgspec import Meta, Struct
from numpy.random import Generator

from mmdyn.errors import MmdynError, UserError, sentence_of
from mmdyn.keys import Json, digest
from mmdyn.models import (
    Checkpoint,
    Form,
    Precision,
    Spec,
    find_checkpoint as find,
    need,
    read_options,
    torch_device,
    torch_dtype,
)
from mmdyn.work import Batches, give_memory_back, is_out_of_memory
from perturb.item import Pixels, keys
from perturb.style._painter import Call, Costs, Painter, PaintJob, encoded, fit, prompts, styles

INDEX = "model_index.json"

DIFFUSERS = Form("diffusers", INDEX, ("*/*",))
"""Weights lie in folders by component; files beside them are the same weights once more, in one piece."""

PACKAGES = {"int8": "torchao", "fp8": "torchao", "nf4": "bitsandbytes"}


class LoadSettings(Struct, frozen=True):
    """Options of `flux` and `klein`.

    Args:
        device: A torch device; by default this rank's GPU (LOCAL_RANK), or the CPU where there is none.
        dtype: The precision; by default bf16 on a GPU and fp32 on a CPU.
        batch: The most pictures in a batch; by default chosen from the free memory.
        steps: Denoising steps; by default the backend's number.
        compile: Compile the model's blocks at their first use.
        quantize: Hold the transformer's weights in 8 or 4 bits.
        offload: Hold its weights in the host's memory, and copy them to the GPU by block (`model`) or layer
            (`sequential`).
        revision: A repository's branch, tag or commit.
    """

    device: str | None = None
    dtype: Precision | None = None
    batch: Annotated[int, Meta(ge=1)] | None = None
    steps: Annotated[int, Meta(ge=1, le=1000)] | None = None
    compile: bool = False
    quantize: Literal["int8", "fp8", "nf4"] | None = None
    offload: Literal["model", "sequential"] | None = None
    revision: str | None = None

    def check(self) -> None:
        """Raise UserError for settings that this machine cannot serve, MissingExtra where a package is missing."""
        need("torch", "diffusers", "transformers", "accelerate")
        if self.quantize and find_spec(package := PACKAGES[self.quantize]) is None:
            raise UserError(f"quantize={self.quantize} needs {package}, which is not installed: pip install {package}")
        if self.compile and self.offload == "sequential":
            raise UserError(
                "compile=true needs the layers on the GPU, which offload=sequential moves: use offload=model"
            )
        if self.offload and self.torch_device.type == "cpu":
            raise UserError(f"offload={self.offload} moves the model between a GPU and the CPU: leave it out on a CPU")

    @property
    def torch_device(self) -> Any:
        """The torch.device, without using memory of a GPU. Raises UserError where it does not exist."""
        return torch_device(self.device)

    @property
    def smaller(self) -> str:
        """Advice on settings that need less memory."""
        on_gpu = self.torch_device.type != "cpu"
        ways = [] if self.quantize else ["quantize=int8"]
        ways += ["offload=model"] if on_gpu and not self.offload else []
        ways += ["offload=sequential"] if self.offload == "model" else []
        return f"use {' or '.join(ways)}" if ways else "take a device with more memory"

    @property
    def torch_dtype(self) -> Any:
        """The torch.dtype of the model."""
        return torch_dtype(self.dtype, self.torch_device)


def find_checkpoint(name: str, revision: str | None = None) -> Checkpoint:
    """Find the checkpoint in a folder or repository. Raises UserError, MissingExtra."""
    return find(name, DIFFUSERS, revision)


def check_kind(folder: Path, kinds: tuple[str, ...], backend: str) -> None:
    """Raise UserError where a checkpoint's pipeline is none of the backend's `kinds`, or the model is not distilled,
    though its class has distilled ones: it would need many steps and guidance."""
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        kind, distilled = index["_class_name"], index.get("is_distilled", True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / INDEX} cannot be read ({error}): fetch the checkpoint again") from None
    if kind not in kinds:
        raise UserError(f"{folder} holds a {kind}, and {backend} paints with a {kinds[0]}: name another one")
    if not distilled:
        raise UserError(f"{folder} holds a base model, and {backend} needs a distilled one: name another one")


def quieten() -> None:
    """Silence the libraries' hints and progress bars; call it before their pipelines are imported."""
    import diffusers.utils.logging
    import transformers.utils.logging

    for log in (diffusers.utils.logging, transformers.utils.logging):
        log.set_verbosity_error()
        log.disable_progress_bar()


def load(kind: Any, folder: Path, settings: LoadSettings, **parts: Any) -> Any:
    """Load a pipeline from a folder, onto its device, or onto the host where it is to be offloaded.

    Args:
        kind: The pipeline's class.
        parts: Passed on to `from_pretrained`; a component that is None is not loaded.

    Raises:
        UserError: Files are missing or damaged.
    """
    import torch
    from safetensors import SafetensorError

    if settings.torch_device.type == "cuda":
        torch.cuda.set_device(settings.torch_device)  # compiled and quantised kernels go to the thread's own device
    parts = ({} if settings.offload else {"device_map": settings.torch_device.type}) | parts
    try:
        pipeline = kind.from_pretrained(str(folder), dtype=settings.torch_dtype, local_files_only=True, **parts)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{folder} cannot be loaded ({reason}): fetch the checkpoint again") from None
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def place(pipeline: Any, settings: LoadSettings) -> None:
    """Put the pipeline on its device, or set up offloading; compile its blocks if the settings say so.

    With offloading, the next weights are copied while others compute. The VAE stays on the device and decodes one
    picture at a time: at these sizes that takes no longer, and much less memory.
    """
    if settings.offload:
        device, parts = settings.torch_device, {"model": "block_level", "sequential": "leaf_level"}
        streams = device.type == "cuda" and not settings.quantize  # pinning quantised weights fails (diffusers 14433)
        how = {"offload_type": parts[settings.offload], "num_blocks_per_group": 1, "use_stream": streams}
        pipeline.enable_group_offload(device, exclude_modules=["vae"], **how)
    else:
        pipeline.to(settings.torch_device)  # whose number `load` cannot say
    pipeline.vae.enable_slicing()
    if settings.compile:
        pipeline.transformer.compile_repeated_blocks(fullgraph=not settings.offload)


def lent(pipeline: Any) -> int:
    """The most bytes of offloaded weights on the device at once: two blocks, and all that is in no block."""
    from torch.nn import ModuleList

    parts = [part for part in pipeline.transformer.children() if isinstance(part, ModuleList)]
    blocks = [_bytes(block) for part in parts for block in part]
    return _bytes(pipeline.transformer) - sum(blocks) + 2 * max(blocks, default=0)


def _bytes(module: Any) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in module.parameters())


def quantization(settings: LoadSettings) -> Any:
    """The configuration that quantises the transformer while it is loaded; None for no quantisation.

    Raises:
        UserError: The device cannot compute in this format.
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


def _torchao(settings: LoadSettings) -> Any:
    import torch
    from diffusers import TorchAoConfig
    from torchao.quantization import Float8DynamicActivationFloat8WeightConfig, Int8WeightOnlyConfig

    if settings.quantize == "int8":
        return TorchAoConfig(Int8WeightOnlyConfig())
    device = settings.torch_device
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < (8, 9):
        raise UserError(f"quantize=fp8 needs a GPU with 8-bit floating point, and {device} has none: use int8")
    return TorchAoConfig(Float8DynamicActivationFloat8WeightConfig())


VERSION = 3
"""Goes up whenever equal parameters and weights paint other pictures, such as by other buckets."""


class Diffusion(ABC):
    """A styler on a diffusers pipeline. The weights are loaded with the first picture.

    Seeds and parameters are exact. Pixels are equal up to a few levels of 255 over batches, devices and versions of the
    libraries, which sum in another order.

    Args:
        spec: The name is a checkpoint's folder or a repository; the options are those of LoadSettings.

    Raises:
        UserError: An option, the device or the checkpoint does not fit.
        MissingExtra: A package is not installed.
    """

    label: str
    repository: ClassVar[str]
    """The default repository of the weights."""
    kinds: ClassVar[tuple[str, ...]]
    """The pipeline classes whose checkpoints it can use."""
    text_parts: ClassVar[tuple[str, ...]]
    """The components that only encode prompts."""
    steps: ClassVar[int]
    costs: ClassVar[Costs]
    waits = 256

    def __init__(self, spec: Spec) -> None:
        self._settings = read_options(spec, LoadSettings)
        self._settings.check()
        self._checkpoint = find_checkpoint(spec.name, self._settings.revision)
        check_kind(self._checkpoint.folder, self.kinds, self.label)
        self.device: str | None = str(self._settings.torch_device)
        self._texts, self._steps = prompts(self.label), self._settings.steps or self.steps
        self.identity: Json = {
            "styler": self.label,
            "version": VERSION,
            "checkpoint": self._checkpoint.identity,
            "dtype": str(self._settings.torch_dtype).removeprefix("torch."),
            "quantize": self._settings.quantize,
            "steps": self._steps,
            "prompts": digest(self._texts),
        }
        self._batches = Batches[Call, PaintJob, Any](
            self._paint, lambda call: self.painter.batch_size(call), give_memory_back, weight=lambda call: call.pixels
        )

    def params(self, stream: Generator, severity: str) -> dict[str, Json]:
        """Draw a prompt's name and a 63-bit seed."""
        return {"prompt": styles()[stream.integers(len(styles()))], "seed": int(stream.integers(1 << 63))}

    def paint(self, pixels: Pixels, params: Mapping[str, Json], number: int) -> Pixels:
        """Paint a picture; waits for its batch.

        Returns:
            RGB of the same size, an array or a tensor as `pixels`.

        Raises:
            ValueError: There is no such prompt, the picture does not fit into memory, or the model's values overflowed.
            UserError: The weights cannot be loaded.
            ModelError: The styler is closed.
        """
        prompt, seed = cast("str", params["prompt"]), cast("int", params["seed"])
        if prompt not in self._texts:
            raise ValueError(f"{self.label} has no prompt {prompt!r}: it has {', '.join(styles())}")
        plan = fit(*pixels.shape[:2])
        call = Call(plan.bucket, cast("float", params.get("strength", 1.0)))
        return cast("Pixels", self._batches.ask(call, PaintJob(pixels, plan, prompt, keys(seed, number)[0])))

    def close(self) -> None:
        """Finish the running batch and free the model's memory; pictures that still wait fail."""
        self._batches.close()
        if self.__dict__.pop("painter", None):
            give_memory_back()

    @cached_property
    def painter(self) -> Painter:
        """The model on its device. Raises UserError for weights that are damaged or do not fit."""
        try:
            if not (lacks := (painter := self._opened()).lacks):
                return painter
            del painter
            fault = f"the weights fit into {self.device}, but a picture of a megapixel needs {lacks / 1e9:.1f} GB more"
        except MmdynError:
            raise
        except Exception as error:  # which would be every picture's
            if not is_out_of_memory(error):
                mend = "fetch the checkpoint again, or install other versions of torch and diffusers"
                raise UserError(f"{self.label} cannot be loaded ({sentence_of(error)}): {mend}") from error
            fault = f"the weights do not fit into {self.device}"
        give_memory_back()  # only now, because the error held on to it
        raise UserError(f"{fault}: {self._settings.smaller}")

    def _opened(self) -> Painter:
        """Without text encoders: their work is done, or was found in the cache."""
        settings, device = self._settings, self._settings.torch_device
        what: Json = [self._checkpoint.identity, str(settings.torch_dtype)]
        embeds = encoded(self._texts, what, self._encode_once)
        pipeline = self._load(quantization_config=quantization(settings), **dict.fromkeys(self.text_parts))
        place(pipeline, settings)
        embeds = {name: tensor.to(device) for name, tensor in embeds.items()}
        return Painter(
            pipeline=pipeline,
            prompts=embeds,
            names=list(self._texts),
            repaint=self.repaint,
            costs=self.costs,
            steps=self._steps,
            device=device,
            batch=settings.batch,
            lent=lent(pipeline) if settings.offload else 0,
        )

    @property
    @abstractmethod
    def pipeline_class(self) -> Any:
        """The pipeline's class. Raises UserError where the installed diffusers has none."""

    @staticmethod
    @abstractmethod
    def encode(pipeline: Any, texts: list[str]) -> dict[str, Any]:
        """Encode prompts; returns the pipeline's arguments by name. The pipeline has only text encoders and
        tokenizers."""

    @staticmethod
    @abstractmethod
    def repaint(pipeline: Any, pictures: Any, call: Call, **arguments: Any) -> Any:
        """Paint pictures, float (n, 3, height, width) from 0 to 1; `arguments` are steps, generators and encoded
        prompts."""

    def _paint(self, call: Call, jobs: Sequence[PaintJob]) -> Sequence[Any | ValueError]:
        return self.painter.paint(call, jobs)

    def _load(self, **parts: Any) -> Any:
        quieten()
        return load(self.pipeline_class, self._checkpoint.folder, self._settings, **parts)

    def _encode_once(self, texts: list[str]) -> dict[str, Any]:
        pipeline = self._load(transformer=None, vae=None, device_map=None)  # by which transformers takes LOCAL_RANK's
        pipeline.to("cpu" if self._settings.offload else self._settings.torch_device)
        made = {name: tensor.cpu() for name, tensor in self.encode(pipeline, texts).items()}
        del pipeline
        give_memory_back()
        return made
