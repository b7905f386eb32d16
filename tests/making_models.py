"""Language and vision-language checkpoints of random weights, some hundred kilobytes each, of real architectures.

Letters are tokens (byte by byte), so that lengths are easy to see.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

WIDTH, HEADS, PICTURE, PATCH = 32, 2, 28, 14

CHAT = (
    "{{ bos_token }}{% for message in messages %}<{{ message['role'] }}>"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}PLACEHOLDER{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}{{ '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def llama(folder: Path, *, chat: bool = True, seed: int = 0, **config: Any) -> Path:
    """A model of text: two layers."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer(chat=CHAT if chat else None)
    _seed(seed)
    sizes = {**_text_sizes(tokenizer), "num_hidden_layers": 2, **config}
    return _saved(folder, tokenizer, LlamaForCausalLM(LlamaConfig(**sizes)))


def qwen2(folder: Path, *, seed: int = 0) -> Path:
    """A base model of text, without a chat template."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    tokenizer = _tokenizer()
    _seed(seed)
    return _saved(folder, tokenizer, Qwen2ForCausalLM(Qwen2Config(**_text_sizes(tokenizer))))


def mistral(folder: Path) -> Path:
    """A model of text that sees the eight tokens before each one, and no more."""
    from transformers import MistralConfig, MistralForCausalLM

    tokenizer = _tokenizer()
    _seed(0)
    sizes = {**_text_sizes(tokenizer), "num_hidden_layers": 2, "sliding_window": 8}
    return _saved(folder, tokenizer, MistralForCausalLM(MistralConfig(**sizes)))


def mamba(folder: Path) -> Path:
    """A model of text that keeps a state in place of keys and values."""
    from transformers import MambaConfig, MambaForCausalLM

    tokenizer = _tokenizer()
    _seed(0)
    names = ("vocab_size", "hidden_size", "pad_token_id", "bos_token_id", "eos_token_id", "initializer_range")
    sizes = {name: value for name, value in _text_sizes(tokenizer).items() if name in names}
    return _saved(folder, tokenizer, MambaForCausalLM(MambaConfig(**sizes, num_hidden_layers=2, state_size=4)))


def saying(folder: Path, text: str = "Answer: B", *, lead: str = "<assistant>") -> Path:
    """A model of text that answers whatever it is asked with `text`, whose letters differ from each other and from the
    last one of `lead`: each token is followed by one and the same.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer(chat=CHAT)
    ids = [*tokenizer(lead[-1] + text)["input_ids"], tokenizer.eos_token_id]
    assert len(set(ids)) == len(ids)
    size = len(tokenizer) + len(tokenizer) % 2
    sizes = {**_text_sizes(tokenizer), "hidden_size": size, "head_dim": 2, "num_attention_heads": 1}
    model = LlamaForCausalLM(LlamaConfig(**{**sizes, "num_key_value_heads": 1}))
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
        model.model.norm.weight.fill_(1.0)
        model.model.embed_tokens.weight.copy_(torch.eye(len(tokenizer), size))
        for before, after in pairwise(ids):
            model.lm_head.weight[after, before] = 1.0
    return _saved(folder, tokenizer, model)


def llava(folder: Path, *, chat: bool = True, seed: int = 0) -> Path:
    """CLIP, a projector and Llama."""
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration as Llava,
        LlavaProcessor,
    )

    template = CHAT.replace("PLACEHOLDER", "<image>")
    tokenizer = _tokenizer("<image>", chat=template if chat else None)
    square = {"height": PICTURE, "width": PICTURE}
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessorPil(size=square, crop_size=square),
        tokenizer=tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template if chat else None,
    )
    _seed(seed)
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**_vision_sizes(), projection_dim=WIDTH),
        text_config=LlamaConfig(**_text_sizes(tokenizer)),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    return _saved(folder, processor, _loud(Llava(config)))


def idefics3(folder: Path, *, seed: int = 0) -> Path:
    """SigLIP, a connector that shuffles pixels, and Llama; pictures are cut into tiles."""
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration as Idefics3,
        Idefics3ImageProcessorPil,
        Idefics3Processor,
        LlamaConfig,
    )

    tiles = [f"<row_{row}_col_{column}>" for row in range(1, 4) for column in range(1, 4)]
    words = ("<image>", "<fake_token_around_image>", "<end_of_utterance>", "<global-img>", *tiles)
    template = CHAT.replace("PLACEHOLDER", "<image>")
    tokenizer = _tokenizer(*words, chat=template)
    processor = Idefics3Processor(
        image_processor=Idefics3ImageProcessorPil(
            size={"longest_edge": 2 * PICTURE}, max_image_size={"longest_edge": PICTURE}
        ),
        tokenizer=tokenizer,
        image_seq_len=1,
        chat_template=template,
    )
    _seed(seed)
    config = Idefics3Config(
        vision_config=_vision_sizes(),
        text_config=LlamaConfig(**_text_sizes(tokenizer)),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        pad_token_id=tokenizer.pad_token_id,
    )
    return _saved(folder, processor, _loud(Idefics3(config)))


def gemma3(folder: Path, *, seed: int = 0) -> Path:
    """SigLIP, a projector that pools, and Gemma; tokens of one picture see each other."""
    from transformers import (
        Gemma3Config,
        Gemma3ForConditionalGeneration as Gemma3,
        Gemma3ImageProcessorPil,
        Gemma3Processor,
    )

    template = CHAT.replace("PLACEHOLDER", "<start_of_image>")
    names = {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}
    tokenizer = _tokenizer(chat=template, **names)
    square = {"height": PICTURE, "width": PICTURE}
    processor = Gemma3Processor(
        image_processor=Gemma3ImageProcessorPil(size=square),
        tokenizer=tokenizer,
        image_seq_length=1,
        chat_template=template,
    )
    ids = {name: tokenizer.convert_tokens_to_ids(token) for name, token in names.items()}
    _seed(seed)
    config = Gemma3Config(
        vision_config=_vision_sizes(),
        text_config={**_text_sizes(tokenizer), "head_dim": WIDTH // HEADS, "query_pre_attn_scalar": 16},
        tie_word_embeddings=False,
        initializer_range=0.5,
        mm_tokens_per_image=1,
        boi_token_index=ids["boi_token"],
        eoi_token_index=ids["eoi_token"],
        image_token_index=ids["image_token"],
    )
    return _saved(folder, processor, _loud(Gemma3(config)))


def paddleocr_vl(folder: Path) -> Path:
    """A vision transformer and Ernie, whose positions tell where in a picture a token stands, as Qwen-VL's do."""
    from transformers import (
        PaddleOCRVLConfig,
        PaddleOCRVLForConditionalGeneration as PaddleOCRVL,
        PaddleOCRVLImageProcessorPil,
        PaddleOCRVLProcessor,
    )

    names = {"image_token": "<image>"}
    template = CHAT.replace("PLACEHOLDER", "<image>")
    tokenizer = _tokenizer("<start>", chat=template, **names)
    size = {"shortest_edge": PICTURE**2, "longest_edge": 16 * PICTURE**2}
    processor = PaddleOCRVLProcessor(
        image_processor=PaddleOCRVLImageProcessorPil(size=size), tokenizer=tokenizer, chat_template=template
    )
    text = _text_sizes(tokenizer)
    head = WIDTH // HEADS
    rope = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [2, 3, 3]}
    _seed(0)
    config = PaddleOCRVLConfig(
        vision_config=_vision_sizes(),
        text_config={**text, "head_dim": head, "rope_parameters": rope},
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        vision_start_token_id=tokenizer.convert_tokens_to_ids("<start>"),
        tie_word_embeddings=False,
    )
    return _saved(folder, processor, _loud(PaddleOCRVL(config)))


def aya_vision(folder: Path, *, seed: int = 0) -> Path:
    """SigLIP, a projector that shuffles pixels, and Llama; the processor's own default is to pad on the left."""
    from transformers import (
        AyaVisionConfig,
        AyaVisionForConditionalGeneration as AyaVision,
        AyaVisionProcessor,
        GotOcr2ImageProcessorPil,
        LlamaConfig,
        SiglipVisionConfig,
    )

    template = CHAT.replace("PLACEHOLDER", "<image>")
    words = ("<image>", "<|START_OF_IMG|>", "<|END_OF_IMG|>", "<|IMG_PATCH|>", "TILE", "TILE_GLOBAL")
    tokenizer = _tokenizer(*words, chat=template)
    square = {"height": PICTURE, "width": PICTURE}
    processor = AyaVisionProcessor(
        image_processor=GotOcr2ImageProcessorPil(size=square, max_patches=1),
        tokenizer=tokenizer,
        patch_size=PATCH,
        img_size=PICTURE,
        downsample_factor=2,
        chat_template=template,
    )
    _seed(seed)
    config = AyaVisionConfig(
        vision_config=SiglipVisionConfig(**_vision_sizes(), vision_use_head=False),
        text_config=LlamaConfig(**_text_sizes(tokenizer)),
        downsample_factor=2,
        image_token_index=tokenizer.convert_tokens_to_ids("<|IMG_PATCH|>"),
        tie_word_embeddings=False,
    )
    return _saved(folder, processor, _loud(AyaVision(config)))


def _tokenizer(*words: str, chat: str | None = None, **named: str) -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import BPE
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = Tokenizer(BPE(vocab={letter: place for place, letter in enumerate(letters)}, merges=[]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    special = ["<pad>", "<s>", "</s>", *words, *named.values()]
    bare.add_special_tokens([AddedToken(word, normalized=False, special=True) for word in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=bare,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        chat_template=chat,
        extra_special_tokens=named or list(words),
    )


def _text_sizes(tokenizer: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "intermediate_size": WIDTH,
        "num_hidden_layers": 1,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "max_position_embeddings": 2048,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "tie_word_embeddings": False,
        "initializer_range": 0.5,
    }


def _vision_sizes() -> dict[str, Any]:
    return {
        "hidden_size": WIDTH,
        "intermediate_size": WIDTH,
        "num_hidden_layers": 1,
        "num_attention_heads": HEADS,
        "image_size": PICTURE,
        "patch_size": PATCH,
    }


def _loud(model: Any) -> Any:
    """Weights on the way from the picture so large that it shows in the answer."""
    import torch

    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "projector" in name or "connector" in name:
                weights.normal_(0, 2)
    return model


def _seed(seed: int) -> None:
    import torch

    torch.manual_seed(seed)


def _saved(folder: Path, processor: Any, model: Any) -> Path:
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
