"""Diffusion checkpoints of random weights, a few hundred kilobytes each, of the real classes with every component."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

HEADS, HEAD, WIDTH, LATENTS = 2, 16, 32, 4
BLOCKS = 4
"""Of the VAE: it makes an eighth of each side, as the large one does."""
TRANSFORMER: dict[str, Any] = {"in_channels": 4 * LATENTS, "num_layers": 1, "num_single_layers": 1, "attention_head_dim": HEAD, "num_attention_heads": HEADS}  # fmt: skip
"""Of either: one double and one single block."""


def flux(folder: Path, seed: int = 0) -> Path:
    """A FLUX.1 checkpoint: one double and one single block, CLIP and T5, an image autoencoder."""
    import torch
    from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel
    from transformers import CLIPTextConfig, CLIPTextModel, T5Config, T5EncoderModel

    torch.manual_seed(seed)
    clip, t5 = _clip_tokenizer(), _t5_tokenizer()
    sizes: dict[str, Any] = {"num_hidden_layers": 1, "num_attention_heads": HEADS}
    inner: dict[str, Any] = {"joint_attention_dim": WIDTH, "pooled_projection_dim": WIDTH, "axes_dims_rope": (4, 6, 6)}
    transformer = FluxTransformer2DModel(**TRANSFORMER, **inner, guidance_embeds=True)
    sizes |= {"hidden_size": WIDTH, "intermediate_size": WIDTH}
    text = CLIPTextConfig(vocab_size=len(clip), eos_token_id=clip.eos_token_id, **sizes)
    sizes = {"d_model": WIDTH, "d_kv": HEAD, "d_ff": WIDTH, "num_layers": 1, "num_heads": HEADS}
    text_2 = T5Config(vocab_size=len(t5), tie_word_embeddings=False, **sizes)
    pipeline = FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0, use_dynamic_shifting=True),
        vae=AutoencoderKL(**_vae(), use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.1),
        text_encoder=CLIPTextModel(text),
        tokenizer=clip,
        text_encoder_2=T5EncoderModel(text_2),
        tokenizer_2=t5,
        transformer=transformer,
    )
    return _saved(pipeline, folder)


def klein(folder: Path, seed: int = 0) -> Path:
    """A FLUX.2-klein checkpoint: one double and one single block, a Qwen3 of 28 thin layers, its autoencoder."""
    import torch
    from diffusers import (
        AutoencoderKLFlux2,
        FlowMatchEulerDiscreteScheduler,
        Flux2KleinPipeline,
        Flux2Transformer2DModel,
    )
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    tokenizer = _qwen_tokenizer()
    inner: dict[str, Any] = {"joint_attention_dim": 3 * WIDTH, "axes_dims_rope": (4, 4, 4, 4)}
    transformer = Flux2Transformer2DModel(**TRANSFORMER, **inner, guidance_embeds=False)
    sizes: dict[str, Any] = {"hidden_size": WIDTH, "intermediate_size": WIDTH, "num_hidden_layers": 28}
    sizes |= {"num_attention_heads": HEADS, "num_key_value_heads": 1, "head_dim": HEAD}
    text = Qwen3Config(vocab_size=len(tokenizer), **sizes)
    pipeline = Flux2KleinPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0, use_dynamic_shifting=True),
        vae=AutoencoderKLFlux2(**_vae()),
        text_encoder=Qwen3ForCausalLM(text),
        tokenizer=tokenizer,
        transformer=_loud(transformer),
        is_distilled=True,
    )
    return _saved(pipeline, folder)


def _loud(transformer: Any) -> Any:
    """Weights so large that prompt and reference show in the picture, which random ones of the usual size hide."""
    import torch

    with torch.no_grad():
        for weights in transformer.parameters():
            weights.mul_(3)
    return transformer


def _vae() -> dict[str, Any]:
    return {
        "block_out_channels": (8,) * BLOCKS,
        "down_block_types": ("DownEncoderBlock2D",) * BLOCKS,
        "up_block_types": ("UpDecoderBlock2D",) * BLOCKS,
        "layers_per_block": 1,
        "latent_channels": LATENTS,
        "norm_num_groups": 4,
    }


def _saved(pipeline: Any, folder: Path) -> Path:
    pipeline.set_progress_bar_config(disable=True)
    pipeline.save_pretrained(folder)
    return folder


def _byte_letters() -> list[str]:
    from tokenizers.pre_tokenizers import ByteLevel

    return sorted(ByteLevel.alphabet())


def _clip_tokenizer() -> Any:
    from transformers import CLIPTokenizer

    letters = _byte_letters()
    words = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{letter}</w>" for letter in letters)]
    return CLIPTokenizer(vocab={word: place for place, word in enumerate(words)}, merges=[], model_max_length=77)


def _t5_tokenizer() -> Any:
    from transformers import T5Tokenizer

    special = ["<pad>", "</s>", "<unk>", "▁"]
    vocab = [(piece, -float(place)) for place, piece in enumerate([*special, *string.printable[:95]])]
    return T5Tokenizer(vocab=vocab, extra_ids=0)


def _qwen_tokenizer() -> Any:
    from transformers import Qwen2Tokenizer

    words = [*_byte_letters(), "<|endoftext|>"]
    tokenizer = Qwen2Tokenizer(vocab={word: place for place, word in enumerate(words)}, merges=[])
    line = "{{ message['role'] }}: {{ message['content'] }}\n"
    tokenizer.chat_template = f"{{% for message in messages %}}{line}{{% endfor %}}"
    return tokenizer
