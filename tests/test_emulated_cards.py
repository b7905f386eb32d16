"""What is chosen on GPUs that are not here: free memory and ranks are emulated, weights have shapes and no data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import making_models
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from mmdyn.errors import UserError
from mmdyn.models import open_model
from mmdyn.models.backends.hf import HuggingFace, _Engine
from mmdyn.models.checkpoint import own_card, own_cards
from perturb.style._diffusion import LoadSettings, lent, load, place
from perturb.style._painter import Call, Painter, fit, put_in, take_out
from perturb.style.flux import Flux

GB = 10**9
CARDS = (24, 80, 141)
SHOWN = (Path(__file__).parents[1] / "docs/gpu.md").read_text(encoding="utf-8")
DEVICE = torch.device("cuda", 0)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Gives the only GPU so many free bytes."""

    def free(left: float) -> None:
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (int(left), 141 * GB))

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 0)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 0)
    return free


@pytest.fixture(scope="module")
def flux() -> Any:
    """FLUX.1-dev's weights in bf16, without data."""
    from diffusers import AutoencoderKL, FluxTransformer2DModel

    blocks = {"block_out_channels": (128, 256, 512, 512), "layers_per_block": 2, "latent_channels": 16}
    kinds = {"down_block_types": ("DownEncoderBlock2D",) * 4, "up_block_types": ("UpDecoderBlock2D",) * 4}
    with torch.device("meta"):
        transformer = FluxTransformer2DModel(guidance_embeds=True).bfloat16()
        return SimpleNamespace(transformer=transformer, vae=AutoencoderKL(**blocks, **kinds).bfloat16())


def weights(module: Any) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in module.parameters())


def painter(flux: Any, free: Callable[[float], None], gb: int, how: str) -> Painter:
    """The painter on a card of so many gigabytes, with what stays there of the weights."""
    there = {"": weights(flux.transformer), "quantize=int8": weights(flux.transformer) / 2, "offload=model": 0}[how]
    free(gb * GB - weights(flux.vae) - there)
    return Painter(
        flux, {}, (), Flux.repaint, Flux.costs, Flux.steps, DEVICE, lent=lent(flux) if "offload" in how else 0
    )


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


@pytest.mark.parametrize("how", ["", "quantize=int8", "offload=model"])
@pytest.mark.parametrize("gb", CARDS)
def test_pictures_at_a_time_are_what_the_table_says(flux: Any, card: Any, gb: int, how: str) -> None:
    model = painter(flux, card, gb, how)
    sizes = [model.batch_size(Call(bucket)) for bucket in ((1024, 1024), (512, 640))]
    lacks = f"refused: {model.lacks / GB:.1f} GB short" if model.lacks else "ok"
    assert row(f"{gb} GB", f"`{how}`" if how else "bf16", *([lacks] * 2 if model.lacks else sizes)) in SHOWN


def test_a_card_on_which_large_pictures_have_no_room_is_told_when_weights_are_loaded(
    flux: Any, card: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    styler: Any = object.__new__(Flux)
    styler.device, styler._settings = "cuda:0", LoadSettings(device="cuda:0")
    styler._opened = lambda: painter(flux, card, 24, "")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError) as error:
        _ = styler.painter
    assert str(error.value) == (
        "the weights fit into cuda:0, but a picture of a megapixel needs 5.7 GB more: use quantize=int8 or offload=model"
    )


class FakePipeline:
    """Notes what is asked of it; what diffusers' own takes is checked against that."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}
        self.vae = SimpleNamespace(enable_slicing=lambda: None)

    @classmethod
    def from_pretrained(cls, folder: str, **parts: Any) -> FakePipeline:
        made = cls()
        made.asked = parts
        return made

    def set_progress_bar_config(self, **_: Any) -> None: ...

    def to(self, device: Any) -> None:
        self.asked["to"] = str(device)

    def enable_group_offload(self, *where: Any, **how: Any) -> None:
        import inspect

        from diffusers import DiffusionPipeline

        self.asked |= inspect.signature(DiffusionPipeline.enable_group_offload).bind(self, *where, **how).arguments


@pytest.mark.parametrize(("offload", "kind"), [(None, ""), ("model", "block_level"), ("sequential", "leaf_level")])
def test_weights_go_straight_to_the_card_or_are_lent_to_it_in_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: Any, offload: Any, kind: str
) -> None:
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    settings = LoadSettings(device="cuda:0", offload=offload)
    pipeline = load(FakePipeline, tmp_path, settings)
    assert pipeline.asked.get("device_map") == (None if offload else "cuda")
    encoders = load(FakePipeline, tmp_path, settings, device_map=None)
    assert encoders.asked.get("device_map") is None, "transformers would take the card of LOCAL_RANK"
    place(pipeline, settings)
    if not offload:
        assert pipeline.asked["to"] == "cuda:0" and "onload_device" not in pipeline.asked
        return
    assert (pipeline.asked["onload_device"], pipeline.asked["exclude_modules"]) == (DEVICE, ["vae"])
    assert (pipeline.asked["offload_type"], pipeline.asked["use_stream"]) == (kind, True) and "to" not in pipeline.asked


def test_two_blocks_and_what_is_in_none_are_lent(flux: Any) -> None:
    blocks = [weights(block) for block in (*flux.transformer.transformer_blocks,)]
    singles = [weights(block) for block in flux.transformer.single_transformer_blocks]
    rest = weights(flux.transformer) - sum(blocks) - sum(singles)
    assert lent(flux) == rest + 2 * max(blocks) < 2 * GB


class Largest(TorchDispatchMode):
    """The most bytes of a tensor of floats that is made."""

    bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, tuple | list) else [made]:
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                self.bytes = max(self.bytes, tensor.numel() * tensor.element_size())
        return made


def test_a_picture_of_48_megapixels_takes_no_floats_of_its_size() -> None:
    plan = fit(6000, 8000)
    with Largest() as seen:  # on tensors without data
        inside = put_in(torch.zeros(6000, 8000, 3, dtype=torch.uint8, device="meta"), plan)
        taken = take_out(inside, plan)
    assert taken.shape == (6000, 8000, 3) and 6000 * 8000 * 3 * 4 == 576_000_000
    assert seen.bytes < 120_000_000


@pytest.mark.parametrize("gb", CARDS)
def test_requests_at_a_time_are_what_the_table_says(tmp_path: Path, card: Any, gb: int) -> None:
    """A model of 8 billion weights in bf16 with grouped queries: 32 layers, 8 heads of 128 for keys and values."""
    model: Any = open_model(f"hf:{making_models.llama(tmp_path / 'llama')},device=cpu,max_new_tokens=1024")
    assert isinstance(model, HuggingFace)
    config = SimpleNamespace(num_attention_heads=32, num_key_value_heads=8, hidden_size=4096, num_hidden_layers=32)
    engine: Any = object.__new__(_Engine)
    engine.model = SimpleNamespace(config=SimpleNamespace(get_text_config=lambda: config), dtype=torch.bfloat16)
    assert engine.token_bytes == 131_072
    model.__dict__["_loaded"], model._device = (engine, None), DEVICE
    card((gb - 16) * GB)
    sizes = [model._size(("write", 0, length)) for length in (9, 12, 14)]
    assert row(f"{gb} GB", *sizes) in SHOWN


@pytest.mark.parametrize("name", ["Gemma4TextConfig", "MambaConfig"])
def test_a_model_whose_config_says_no_size_of_its_keys_is_asked_all_the_same(name: str) -> None:
    """One has other numbers in each layer, the other no keys."""
    import transformers

    engine: Any = object.__new__(_Engine)
    engine.model = SimpleNamespace(config=getattr(transformers, name)(), dtype=torch.bfloat16)
    assert engine.token_bytes == 1


@pytest.mark.parametrize("ranks", [1, 2, 8])
def test_ranks_take_their_own_cards_whatever_they_are_shown(monkeypatch: pytest.MonkeyPatch, ranks: int) -> None:
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(ranks))
    taken: dict[str, list[Any]] = {"all": [], "one": []}
    for rank in range(ranks):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        for shown, names in (("all", [str(number) for number in range(ranks)]), ("one", [str(rank)])):
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(names))
            taken[shown].append((own_card(len(names)), *own_cards(names, 1)))
    assert taken["all"] == [(rank, str(rank)) for rank in range(ranks)]
    assert taken["one"] == [(0, str(rank)) for rank in range(ranks)]


def test_no_option_of_the_stylers_is_missing_in_the_docs() -> None:
    assert all(f"`{name}`" in SHOWN for name in LoadSettings.__struct_fields__)
