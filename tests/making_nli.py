"""A cross-encoder of natural language inference, some hundred kilobytes, trained until it can tell its own pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SAME = [
    ("Who wrote the play?", "Who is the author of the play?"),
    ("Where do whales live?", "In which place do whales live?"),
    ("Why do leaves fall?", "For what reason do leaves fall?"),
    ("这种植物在哪里生长？", "这种植物的生长地点是哪里？"),
]
CHANGED = [
    ("Who wrote the play?", "Who directs the play?"),
    ("Where do whales live?", "Where do whales feed?"),
    ("Why do leaves fall?", "Why do apples fall?"),
    ("这种植物在哪里生长？", "这种植物在哪里开花？"),
]
WEAKER = [("Who wrote the long play?", "Who wrote a play?")]
"""The second one follows from the first, and not the other way round."""

LABELS = {0: "contradiction", 1: "Entailment", 2: "neutral"}
LIMIT = 48


def cross_encoder(folder: Path, labels: dict[int, str] | None = None, *, trained: bool = True) -> Path:
    """BERT of two layers; words and Chinese characters are tokens."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    labelled = [(a, b, 1) for a, b in SAME] + [(b, a, 1) for a, b in SAME]
    labelled += [(a, b, 0) for a, b in CHANGED] + [(b, a, 0) for a, b in CHANGED]
    labelled += [(a, b, 1) for a, b in WEAKER] + [(b, a, 2) for a, b in WEAKER]
    tokenizer = _tokenizer([text for a, b, _ in labelled for text in (a, b)])
    labels = labels or LABELS
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    sizes |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    names = {"id2label": labels, "label2id": {label: place for place, label in labels.items()}}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=LIMIT, **sizes, **names)
    model = BertForSequenceClassification(config)
    if trained:
        _train(model, tokenizer, labelled)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _train(model: Any, tokenizer: Any, labelled: list[tuple[str, str, int]]) -> None:
    """Until each pair's label has a probability of 0.95; some seconds."""
    import torch

    firsts, seconds, wanted = zip(*labelled, strict=True)
    inputs = tokenizer(list(firsts), list(seconds), padding=True, return_tensors="pt")
    labels = torch.tensor(wanted)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(400):
        found = model(**inputs, labels=labels)
        if found.logits.softmax(-1)[range(len(wanted)), list(wanted)].min() > 0.95:
            return
        optimizer.zero_grad()
        found.loss.backward()
        optimizer.step()
    raise AssertionError("it did not learn its pairs")


def _tokenizer(texts: list[str]) -> Any:
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordLevel
    from tokenizers.trainers import WordLevelTrainer
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    bare = Tokenizer(WordLevel(unk_token="[UNK]"))
    bare.normalizer = normalizers.BertNormalizer()
    bare.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    bare.train_from_iterator(texts, WordLevelTrainer(special_tokens=special))
    bare.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=bare, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
