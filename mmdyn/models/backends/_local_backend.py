"""What models on this machine share: requests of many tasks are put together into batches and answered in a thread."""

from __future__ import annotations

import asyncio
import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias

from msgspec import Meta, Struct

from mmdyn.errors import ModelError
from mmdyn.keys import Json, digest
from mmdyn.models.backends._local_checkpoint import FORM, has_chat_template, kind_of, read_json
from mmdyn.models.backends._local_prompt import LocalPrompt, Prompter, Refused
from mmdyn.models.backends._pictures import decode
from mmdyn.models.checkpoint import find_checkpoint
from mmdyn.models.device import Precision, torch_device, torch_dtype
from mmdyn.models.message import Message, choices, identity
from mmdyn.models.model import ModelLimits, RejectedError, Spec, typed_model
from mmdyn.record import Reply
from mmdyn.work import CLOSED, Batches, give_memory_back, is_out_of_memory

DTYPES: dict[str, Precision] = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
"""The option for a precision by torch's name of it."""

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
        return {name: getattr(self, name) for name in ("max_new_tokens", "temperature", "top_p", "seed", "max_pixels")}

    @property
    def varies(self) -> bool:
        """Whether equal requests may be answered differently."""
        return self.temperature > 0 and self.seed is None


Wanted = Literal["write", "weigh"]


class LocalEngine(Protocol):
    """What answers prompts: each gets a reply, or the ValueError that says why it cannot have one.

    Raises ValueError where it cannot say which of them is at fault, and an error of memory where they do not fit
    together.
    """

    def encode(self, wanted: Wanted, prompts: Sequence[LocalPrompt]) -> Any:
        """What the processor makes of prompts, on the host; called in another thread than the others."""

    def write(self, prompts: Sequence[LocalPrompt], encoded: Any) -> list[Reply | ValueError]:
        """Answers."""

    def weigh(self, prompts: Sequence[LocalPrompt], encoded: Any) -> list[Reply | ValueError]:
        """The likeliest of each prompt's choices; there are at least two."""


class LocalRequest(Struct, frozen=True, eq=False):
    """A request with its pictures decoded. `seed` is what its draws are keyed with."""

    messages: tuple[Message, ...]
    pictures: list[Any]
    changed: str
    seed: tuple[str | int, ...]


class _Prepared(Struct, frozen=True, eq=False):
    """A batch's prompts, encoded together unless one of them cannot be; in the place of a prompt that the model cannot
    be given, the error."""

    prompts: list[LocalPrompt | Refused]
    encoded: Any


Key: TypeAlias = "tuple[Wanted, int, int]"
"""What is asked for, how many pictures there are, and a class of length; what is equal in these is batched together."""


class LocalBackend(ABC):
    """A checkpoint in transformers' form: image-text-to-text where its config says so, else text.

    A model without a chat template is given the bare texts. Options can be weighed (`ChoicesPart`). The weights are
    loaded with the first request. The libraries' versions decide how sums are rounded, not what is asked: run.json's
    `versions` holds them, not the identity. Raises UserError: options, device, checkpoint; MissingExtra.
    """

    cached = weighs = True
    varied: ClassVar[Mapping[str, str]] = {"temperature": "0.7"}
    starts: ClassVar[tuple[str, ...]] = ("trust_remote_code",)
    name: ClassVar[str]
    batches_waiting: ClassVar[int]
    """So many batches' requests are let in, so that those of about one length make full ones."""

    def __init__(self, spec: Spec, options: LocalOptions, device: str | None = None) -> None:
        self._device = torch_device(device)
        self._dtype = torch_dtype(options.dtype, self._device)
        self._checkpoint = find_checkpoint(spec.name, FORM, options.revision)
        self._folder, self._local_options = self._checkpoint.folder, options
        self._kind = kind_of(self._folder, options.trust_remote_code)
        self._chat = has_chat_template(self._folder)
        self._closing = False
        self._batches = Batches[Key, LocalRequest, Reply](
            self._run, self._size, give_memory_back, prepare=self._prepare, weight=self._tokens
        )
        self.label = options.label or f"{self.name}:{_shown(spec.name)}"
        self.varies = options.varies
        self.limits = ModelLimits(concurrency=self.batches_waiting * options.batch, max_tries=1)
        self.identity: dict[str, Json] = {
            "backend": self.name,
            "checkpoint": self._checkpoint.identity,
            "kind": self._kind,
            "template": "chat" if self._chat else "plain",
            "dtype": str(self._dtype).removeprefix("torch."),
            "system": options.system,
            "parameters": options.parameters,
            "generation": read_json(self._folder / "generation_config.json"),
        }

    @classmethod
    def typed(cls, label: str, identity: Mapping[str, Any]) -> tuple[str, bool]:
        """The MODEL with its commit and the options that are none of the defaults; the label for a folder, of which no
        more than a digest is known."""
        checkpoint = identity["checkpoint"]
        if "repository" not in checkpoint:
            return label, False
        options = {"system": identity["system"], "attn": identity.get("attention"), **identity["parameters"]}
        given = {name: value for name, value in options.items() if value != getattr(LocalOptions(), name, None)}
        where = {"revision": checkpoint["revision"], "dtype": DTYPES[identity["dtype"]]}
        return typed_model(label, cls.name, checkpoint["repository"], where | given)

    async def ask(self, messages: tuple[Message, ...]) -> Reply:
        """One answer, out of a batch. Raises RejectedError where this request cannot be answered (it is too long, say),
        ModelError where the model cannot be asked, and InputError for a picture that cannot be read.
        """
        options = self._local_options
        pictures, changed = await asyncio.to_thread(decode, messages, options.max_pixels)
        seed = secrets.randbits(63) if options.seed is None else options.seed
        job = LocalRequest(messages, pictures, changed, ("draw tokens", seed, digest(identity(messages))))
        wanted: Wanted = "weigh" if choices(messages) else "write"
        try:
            return await asyncio.wrap_future(self._batches.submit((wanted, len(pictures), self._length(job)), job))
        except Refused as error:
            raise RejectedError(str(error), perhaps_all=True) from None
        except ValueError as error:
            raise RejectedError(str(error)) from None

    async def close(self) -> None:
        """Break off what is being written and let go of the model."""
        self._closing = True
        await asyncio.to_thread(self._batches.close)
        if self.__dict__.pop("_loaded", None) is not None:
            give_memory_back()

    @property
    def _vision(self) -> bool:
        return self._kind == "image-text-to-text"

    @abstractmethod
    def _load(self) -> tuple[LocalEngine, Any]:
        """The engine, and the processor (the tokenizer of a model of text). Raises ModelError."""

    def _length(self, job: LocalRequest) -> int:
        """The class of length of a request: the logarithm, to base 2, of about how many tokens it has."""
        return 0

    def _tokens(self, key: Key) -> int:
        """About how many tokens a request has, with its answer."""
        return int(2.0 ** (key[2] + 0.5)) + (self._local_options.max_new_tokens if key[0] == "write" else 0)

    def _size(self, key: Key) -> int:
        """The most requests at a time."""
        _ = self._loaded  # first, so that requests gather meanwhile
        return self._local_options.batch

    @cached_property
    def _loaded(self) -> tuple[LocalEngine, Prompter]:
        engine, processor = self._load()
        return engine, Prompter(processor, vision=self._vision, chat=self._chat, system=self._local_options.system)

    def _prepare(self, key: Key, jobs: Sequence[LocalRequest]) -> _Prepared:
        engine, prompter = self._loaded
        prompts = list[LocalPrompt | Refused]()
        for job in jobs:
            try:
                prompts.append(prompter.write(job.messages, job.pictures, job.changed, job.seed))
            except Refused as error:
                prompts.append(error)
        asked, encoded = [prompt for prompt in prompts if isinstance(prompt, LocalPrompt)], None
        with suppress(ValueError, RuntimeError):  # told by `_run`, which does it again
            encoded = engine.encode(key[0], asked) if asked else None
        return _Prepared(prompts, encoded)

    def _run(self, key: Key, prepared: _Prepared) -> list[Reply | ValueError]:
        """A batch. Raises ModelError where the model fails in running, and where it was closed meanwhile."""
        asked = [prompt for prompt in prepared.prompts if isinstance(prompt, LocalPrompt)]
        try:
            answers = iter(self._answered(key, asked, prepared.encoded))
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise
            reason = str(error).partition("\n")[0][:200]
            raise ModelError(f"{self.label} failed ({reason}): try dtype=fp32, or another device") from None
        if self._closing:
            raise ModelError(CLOSED)
        return [prompt if isinstance(prompt, Refused) else next(answers) for prompt in prepared.prompts]

    def _answered(self, key: Key, prompts: list[LocalPrompt], encoded: Any = None) -> list[Reply | ValueError]:
        """In halves where one of them cannot be taken, such as a prompt too long, so that only that one fails."""
        if not prompts:
            return []
        engine, _ = self._loaded
        try:
            encoded = engine.encode(key[0], prompts) if encoded is None else encoded
            return engine.weigh(prompts, encoded) if key[0] == "weigh" else engine.write(prompts, encoded)
        except ValueError as error:
            if len(prompts) == 1:
                return [error]
        half = len(prompts) // 2
        return self._answered(key, prompts[:half]) + self._answered(key, prompts[half:])


def _shown(name: str) -> str:
    """A repository's name, or a folder's without where it lies."""
    folder = Path(name).expanduser()
    return folder.resolve().name if folder.is_dir() else name
