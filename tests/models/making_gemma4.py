"""A Gemma 4 checkpoint of random weights: `python making_gemma4.py FOLDER`, run by an interpreter that has vlmeval.

Its processor wants torchvision, which needs the same help as the worker gives it where its compiled operators are
missing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

WIDTH, HEADS = 32, 2

PROCESSOR = """
from transformers import Gemma4Processor

class PlainProcessor(Gemma4Processor):
    def parse_response(self, text):
        return {"answer": text}
"""
"""VLMEvalKit's class asks the processor to parse a response without the prompt, which transformers' own refuses."""


def gemma4(folder: Path) -> None:
    """Two layers of text, one of vision, no audio; letters are tokens."""
    import torch
    from making_models import CHAT, _text_sizes, _tokenizer
    from transformers import (
        Gemma4AudioFeatureExtractor,
        Gemma4Config,
        Gemma4ForConditionalGeneration,
        Gemma4ImageProcessor,
        Gemma4Processor,
        Gemma4VideoProcessor,
    )

    names = {f"{kind}_token": f"<{kind}>" for kind in ("image", "boi", "eoi", "audio", "boa", "eoa")}
    template = CHAT.replace("PLACEHOLDER", "<image>")
    tokenizer = _tokenizer(chat=template, **names)
    processor = Gemma4Processor(
        feature_extractor=Gemma4AudioFeatureExtractor(),
        image_processor=Gemma4ImageProcessor(max_soft_tokens=70),
        tokenizer=tokenizer,
        video_processor=Gemma4VideoProcessor(),
        chat_template=template,
    )
    ids = {f"{name}_id": tokenizer.convert_tokens_to_ids(token) for name, token in names.items()}
    ids["video_token_id"] = tokenizer.convert_tokens_to_ids("<|video|>")
    ids["eoa_token_index"] = ids.pop("eoa_token_id")
    text = {**_text_sizes(tokenizer), "vocab_size": len(tokenizer), "num_hidden_layers": 2}
    torch.manual_seed(0)
    config = Gemma4Config(
        text_config={
            **text,
            "head_dim": WIDTH // HEADS,
            "global_head_dim": WIDTH // HEADS,
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": len(tokenizer),
            "layer_types": ["sliding_attention", "full_attention"],
        },
        vision_config={
            "hidden_size": WIDTH,
            "intermediate_size": WIDTH,
            "num_hidden_layers": 1,
            "num_attention_heads": HEADS,
            "num_key_value_heads": HEADS,
            "head_dim": WIDTH // HEADS,
            "position_embedding_size": 128,
        },
        tie_word_embeddings=False,
        **ids,
    )
    model = Gemma4ForConditionalGeneration(config)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "embed_vision" in name or "lm_head" in name:
                weights.normal_(0, 4)
    model.to(torch.bfloat16).save_pretrained(folder)
    processor.save_pretrained(folder)
    (folder / "processing_plain.py").write_text(PROCESSOR)
    settings = json.loads((folder / "processor_config.json").read_text())
    settings |= {"auto_map": {"AutoProcessor": "processing_plain.PlainProcessor"}, "processor_class": "PlainProcessor"}
    (folder / "processor_config.json").write_text(json.dumps(settings))


if __name__ == "__main__":
    from _vlmeval_worker import mend_torchvision

    mend_torchvision()
    gemma4(Path(sys.argv[1]))
