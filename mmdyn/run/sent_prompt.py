"""The prompt of a record, rendered again out of what the run keeps, and whether it is what was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from kprag import Knowledge, Layout
from mmdyn.context import NONE, Context
from mmdyn.data import ImageFolder, SampleSet
from mmdyn.errors import MmdynError
from mmdyn.keys import digest
from mmdyn.models import Message, identity
from mmdyn.prompts import Template
from mmdyn.record import Record
from mmdyn.run.render import CUSTOM, Renderer
from mmdyn.sample import Sample
from mmdyn.work import EXPANSION, Expansion, Reader, RunFolder


class SentPrompt(Struct, frozen=True):
    """exact: its key is that of the request that was sent. beside: what lay beside the question, as far as that can be
    told; problem: why the prompt cannot be rendered, empty where it is."""

    messages: tuple[Message, ...]
    exact: bool
    beside: str
    problem: str = ""


def sent_prompt(run: RunFolder, reader: Reader, record: Record, sample: Sample, images: ImageFolder) -> SentPrompt:
    """Render the request of a record. Points that were looked up, and examples, are not looked up again."""
    beside = ""
    try:
        beside = _beside(run, reader, record, sample)
        custom = (
            Template.parse(run.config.evaluator(record.set).prompt, "prompt")
            if record.condition.style == CUSTOM
            else None
        )
        messages = Renderer(images, custom).messages(sample, record.condition, beside)
    except (ValueError, MmdynError) as error:
        return SentPrompt((), False, beside, str(error))
    models = [entry.identity for entry in run.config.models if entry.label == record.model]
    exact = any(digest([one, identity(messages), record.epoch]) == record.request for one in models)
    captions = sample.captions if Context.parse(record.condition.context).pictures == "captioned" else ()
    return SentPrompt(messages, exact, "\n".join(filter(None, (*captions, beside))))


def _beside(run: RunFolder, reader: Reader, record: Record, sample: Sample) -> str:
    if record.expansion:
        stored = reader.get(EXPANSION, record.expansion)
        return msgspec.json.decode(stored, type=Expansion).reply.text if stored else ""
    context = Context.parse(record.condition.context)
    if context.family == NONE:
        return ""
    given = run.config.knowledge.get("layout")
    settings: Mapping[str, Any] = given if isinstance(given, dict) else {}
    layout = msgspec.convert({name: settings[name] for name in Layout.__struct_fields__ if name in settings}, Layout)
    texts = dict[str, str]()
    for entry in run.config.sets:
        if entry.root == record.set and run.set_folder(entry).is_dir():
            texts |= {point.point: point.text for point in SampleSet(run.set_folder(entry)).knowledge()}
    built = Knowledge(texts, None, layout, seed=settings.get("seed", 0)).build_context(sample, context)
    return built.text if built else ""
