"""What follows the name of a model on this machine: `hf:/path/to/model,device=cuda:1,batch=8`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from mmdyn.keys import Json
from mmdyn.models.checkpoint import Form
from mmdyn.models.device import Precision

TRANSFORMERS = Form(
    "transformers",
    "config.json",
    ("*.json", "model*.safetensors", "*.jinja", "*.txt", "*.model", "*.tiktoken", "*.py"),
)
"""Only safetensors, which hold numbers and no code."""

PARAMETERS = ("max_new_tokens", "temperature", "top_p", "seed", "max_pixels")

Count = Annotated[int, Meta(ge=1)]


class LocalOptions(Struct, frozen=True):
    """Options of `hf` and `vllm`.

    `dtype`: bf16 on a GPU and fp32 on a CPU unless given. `max_new_tokens`: the longest answer. `temperature`: 0 takes
        the likeliest token each time; above it tokens are drawn, out of the likeliest that make up `top_p` together;
        `seed` makes the draws of equal requests equal. `system`: a system message before every request that has none.
        `revision`: a repository's branch, tag or commit. `trust_remote_code`: run the Python code that the checkpoint
        brings. `max_pixels`: larger pictures are scaled down to it. `label`: how reports name the model. `batch`: the
        most requests at a time; how many are let in to make such batches of follows from it, whatever `--concurrency`
        says.
    """

    dtype: Precision | None = None
    max_new_tokens: Count = 1024
    temperature: Annotated[float, Meta(ge=0, le=10)] = 0.0
    top_p: Annotated[float, Meta(gt=0, le=1)] = 1.0
    seed: int | None = None
    system: str | None = None
    revision: str | None = None
    trust_remote_code: bool = False
    max_pixels: Count | None = None
    label: str | None = None
    batch: Count = 16

    @property
    def parameters(self) -> dict[str, Json]:
        """What of the options decides the answers, with their values."""
        return {name: getattr(self, name) for name in PARAMETERS}

    @property
    def varies(self) -> bool:
        """Whether equal requests may be answered differently."""
        return self.temperature > 0 and self.seed is None


class HfOptions(LocalOptions, frozen=True):
    """Options of `hf`, beside those of every local model.

    `device`: a torch device; `cuda` is this rank's GPU (LOCAL_RANK), which is taken anyway, or the CPU where there is
        none.
    `device_map`: how a model is spread over several GPUs, such as `auto`. `attn`: the implementation of attention, such
        as `sdpa` or `flash_attention_2`.
    """

    device: str | None = None
    device_map: str | None = None
    attn: str | None = None


class VllmOptions(LocalOptions, frozen=True):
    """Options of `vllm`, beside those of every local model.

    `tensor_parallel_size`: over how many GPUs the model is spread. `gpu_memory_utilization`: the share of a GPU's
        memory that the engine takes. `max_model_len`: the most tokens of prompt and answer together, the model's own
        unless given.
    `max_images`: the most pictures in a request.
    """

    batch: Count = 256
    tensor_parallel_size: Count = 1
    gpu_memory_utilization: Annotated[float, Meta(gt=0, le=1)] = 0.9
    max_model_len: Count | None = None
    max_images: Count = 16
