"""What follows a diffusion backend's name: `flux:/path/to/FLUX.1-dev,device=cuda:0,quantize=int8`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from mmdyn.errors import UserError
from mmdyn.models import Precision, need, torch_device, torch_dtype

PACKAGES = {"int8": "torchao", "fp8": "torchao", "nf4": "bitsandbytes"}


class Settings(Struct, frozen=True):
    """Options of `flux` and `klein`.

    `device`: a torch device; `cuda` is this rank's GPU (LOCAL_RANK), which is taken anyway, or the CPU where there is
        none.
    `dtype`: bf16 on a GPU and fp32 on a CPU unless given. `batch`: the most pictures at a time; otherwise chosen from
        the free memory. `steps`: denoising steps, the backend's own number unless given. `compile`: compile the model's
        blocks when they are first used. `quantize`: the transformer's weights in 8 or 4 bits. `offload`: keep on the
        GPU only the part that is at work, by component (`model`) or by layer (`sequential`). `revision`: a repository's
        branch, tag or commit.
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
        """Raises UserError for settings that this machine cannot serve, MissingExtra where a package is missing."""
        need("torch", "diffusers", "transformers", "accelerate")
        if self.quantize and find_spec(package := PACKAGES[self.quantize]) is None:
            raise UserError(f"quantize={self.quantize} needs {package}, which is not installed: pip install {package}")
        if self.offload and self.torch_device.type == "cpu":
            raise UserError(f"offload={self.offload} moves the model between a GPU and the CPU: leave it out on a CPU")

    @property
    def torch_device(self) -> Any:
        """The torch.device; a GPU is not touched yet. Raises UserError for one that there is not."""
        return torch_device(self.device)

    @property
    def smaller(self) -> str:
        """How to make do with less memory than with these settings."""
        on_gpu = self.torch_device.type != "cpu"
        ways = [] if self.quantize else ["quantize=int8"]
        ways += ["offload=model"] if on_gpu and not self.offload else []
        ways += ["offload=sequential"] if self.offload == "model" else []
        return f"use {' or '.join(ways)}" if ways else "take a device with more memory"

    @property
    def torch_dtype(self) -> Any:
        """The torch.dtype of the model."""
        return torch_dtype(self.dtype, self.torch_device)
