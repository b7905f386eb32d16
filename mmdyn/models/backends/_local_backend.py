"""What models on this machine share: the checkpoint, the prompt, and requests put together into batches."""

from __future__ import annotations

import asyncio
import json
import re
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
from mmdyn.models.backends._pictures import decode
from mmdyn.models.backends._replies import NO_TOKENS
from mmdyn.models.checkpoint import Form, Precision, find_checkpoint, torch_device, torch_dtype
from mmdyn.models.model import (
    ImagePart,
    Message,
    ModelLimits,
    RejectedError,
    Spec,
    TextPart,
    choices,
    identity,
    is_alone,
    typed_model,
)
from mmdyn.record import Reply, Usage
from mmdyn.text import split_thinking
from mmdyn.work import CLOSED, Batches, give_memory_back, is_out_of_memory

FORM = Form(
    "transformers", "config.json", ("*.json", "model*.safetensors", "*.jinja", "*.txt", "*.model", "*.tiktoken", "*.py")
)
"""Only safetensors, which hold numbers and no code."""

Kind = Literal["image-text-to-text", "text"]

_VISION_CLASSES = {"AutoModelForImageTextToText", "AutoModelForVision2Seq"}
_BROKEN = (ImportError, OSError, ValueError, KeyError, TypeError, AttributeError)
"""What transformers raises where a package or a file is missing."""
_PIP = re.compile(r"pip install (?:-U )?['\"`]?([\w.-]+)")


def kind_of(folder: Path, trust_remote_code: bool) -> Kind:
    """What a checkpoint is.

    Raises:
        ModelError: It cannot be asked, or it has code of its own that is not trusted.
    """
    from transformers.models.auto import modeling_auto

    config = read_json(folder / "config.json")
    name, own = str(config.get("model_type")), config.get("auto_map") or {}
    if config.get("is_encoder_decoder"):
        raise ModelError(f"{folder} holds an encoder-decoder ({name}): name a model that goes on with a text")
    if name in modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        return "image-text-to-text"
    if name in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return "text"
    if own and not trust_remote_code:
        raise ModelError(
            f"{folder} holds a model of its own kind ({name}) and the Python code for it, which would run with all your"
            " rights: read the code, then give trust_remote_code=true"
        )
    if _VISION_CLASSES.intersection(own):
        return "image-text-to-text"
    if "AutoModelForCausalLM" in own:
        return "text"
    raise ModelError(f"{folder} holds a {name}, which is no model that writes text: name another one")


def has_chat_template(folder: Path) -> bool:
    """Whether a checkpoint brings a chat template; one without is given the bare texts."""
    files = (folder / f"{name}.json" for name in ("chat_template", "processor_config", "tokenizer_config"))
    return (folder / "chat_template.jinja").is_file() or any(read_json(file).get("chat_template") for file in files)


def read_json(file: Path) -> dict[str, Any]:
    """A checkpoint's small JSON file; empty where it is missing or is no object."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def load_processor(folder: Path, vision: bool, trust_remote_code: bool) -> Any:
    """The processor, or the tokenizer of a model that reads no pictures, with a token to pad with.

    Raises ModelError where a package or a file is missing.
    """
    from transformers import AutoProcessor, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()  # and no hints or progress bars
    logging.disable_progress_bar()
    kind = AutoProcessor if vision else AutoTokenizer
    try:
        processor = kind.from_pretrained(str(folder), local_files_only=True, trust_remote_code=trust_remote_code)
    except _BROKEN as error:
        raise _problem(folder, error) from None
    if vision and not hasattr(processor, "image_processor"):
        raise ModelError(f"{folder} has no processor that can be used for pictures: fetch the checkpoint again")
    tokenizer = processor.tokenizer if vision else processor
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    return processor


def load_weights(folder: Path, kind: str, **settings: Any) -> Any:
    """The model, ready to be asked, by the class of transformers that is called so; `settings` are those of its
    `from_pretrained`.

    Raises ModelError where the weights are missing, broken, not all there, or do not fit.
    """
    import transformers
    from safetensors import SafetensorError

    try:
        model, found = getattr(transformers, kind).from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, output_loading_info=True, **settings
        )
    except (*_BROKEN, SafetensorError) as error:
        raise _problem(folder, error) from None
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise _problem(folder, error) from None
    else:
        if missing := sorted(found["missing_keys"]):
            lacks = f"{len(missing)} of the model's weights, such as {missing[0]}"
            raise ModelError(f"{folder} lacks {lacks}: fetch the checkpoint again")
        return model.eval()
    give_memory_back()  # only now, because the error held on to it
    raise ModelError(
        f"the weights of {folder} do not fit into the device: use dtype=bf16, device_map=auto or a larger one"
    )


def _problem(folder: Path, error: Exception) -> ModelError:
    says = " ".join(str(error).split())
    if isinstance(error, ImportError):
        needs = "torchvision" if "torchvision" in says.lower() else (_PIP.search(says) or ("", ""))[1]
        if needs:
            return ModelError(f"{folder} needs {needs}, which is not installed: pip install {needs}")
    return ModelError(f"{folder} cannot be loaded ({says[:200]}): fetch the checkpoint again, or mend the options")


class Refused(ValueError):
    """This request cannot be put to the model as it is set up."""


class LocalPrompt(Struct, frozen=True, eq=False):
    """`text` with a placeholder for each of the `pictures` (RGB, in order), and what it may go on with, if that is
    given.

    `special`: whether the tokenizer is to add its own special tokens, which a chat template brings. `lead`: the end of
    the text, with which the answer begins. `seed`: what its draws are keyed with. `alone`: the text is empty, and its
    only choice is weighed by itself, token by token.
    """

    text: str
    pictures: list[Any]
    choices: tuple[str, ...]
    special: bool
    lead: str
    seed: tuple[str | int, ...]
    changed: str
    alone: bool = False


class Prompter:
    """Writes prompts for one model: `processor` is its processor, or its tokenizer where it reads no pictures."""

    def __init__(self, processor: Any, *, vision: bool, chat: bool, system: str | None) -> None:
        self._processor, self._vision, self._chat, self._system = processor, vision, chat, system
        self.tokenizer = processor.tokenizer if vision else processor
        owners = (processor, self.tokenizer) if vision else ()
        tokens = [getattr(owner, "image_token", None) for owner in owners]
        self._placeholders = [token for token in tokens if isinstance(token, str) and token]
        self._controls = sorted(_control_tokens(self.tokenizer).difference(self._placeholders))

    def write(
        self, messages: tuple[Message, ...], pictures: list[Any], changed: str, seed: tuple[str | int, ...]
    ) -> LocalPrompt:
        """The prompt for some messages; a last message of the assistant's is where the answer begins. Raises
        Refused."""
        if is_alone(messages):
            return self._alone(choices(messages)[0], changed, seed)
        if pictures and not self._vision:
            raise Refused("the model reads no pictures: ask it questions without, or name a vision-language model")
        if self._system is not None and not any(message.role == "system" for message in messages):
            messages = (Message("system", (TextPart(self._system),)), *messages)
        begun = messages[-1] if messages[-1].role == "assistant" else None
        turns = messages[:-1] if begun else messages
        lead = self._own(begun.text) if begun else ""
        text = self._templated(turns) + lead if self._chat else self._plain(turns, lead)
        bos = self.tokenizer.bos_token
        special = not self._chat or (self._vision and not (bos and text.startswith(bos)))
        changed = self._parted([message.text for message in messages], changed)
        return LocalPrompt(text, pictures, choices(messages), special, lead, seed, changed)

    def _alone(self, text: str, changed: str, seed: tuple[str | int, ...]) -> LocalPrompt:
        changed = self._parted([text], changed)
        return LocalPrompt("", [], (self._own(text),), True, "", seed, changed, alone=True)

    def _parted(self, texts: Sequence[str], changed: str) -> str:
        """What was changed, with what `_own` changes in texts."""
        for what, tokens in (("picture", self._placeholders), ("control token", self._controls)):
            if any(token in text for token in tokens for text in texts):
                changed = "; ".join(filter(None, [changed, f"a text that stands for a {what} parted in two"]))
        return changed

    def _templated(self, turns: tuple[Message, ...]) -> str:
        from jinja2 import TemplateError

        shown = [{"role": turn.role, "content": self._content(turn)} for turn in turns]
        template = None if self._processor.chat_template else self.tokenizer.chat_template
        try:
            how = {"chat_template": template, "tokenize": False, "add_generation_prompt": True}
            return str(self._processor.apply_chat_template(shown, **how))
        except TemplateError as error:
            raise Refused(f"the model's chat template refuses the messages ({error})") from None

    def _content(self, turn: Message) -> Any:
        if not self._vision:
            return self._own(turn.text)
        return [
            {"type": "image"} if isinstance(part, ImagePart) else {"type": "text", "text": self._own(part.text)}
            for part in turn.shown
        ]

    def _plain(self, turns: tuple[Message, ...], lead: str) -> str:
        """The bare texts, a blank line between turns; an answer begins on a line of its own."""
        texts = ["".join(self._piece(part) for part in turn.shown) for turn in turns]
        return "\n\n".join([*texts, lead] if lead else texts) + ("" if lead else "\n")

    def _piece(self, part: TextPart | ImagePart) -> str:
        if isinstance(part, TextPart):
            return self._own(part.text)
        if not self._placeholders:
            raise Refused("the model has no chat template that says where pictures stand: give one that has")
        return str(self._placeholders[0])

    def _own(self, text: str) -> str:
        """A text in which nothing stands for a picture, or for a token that is no text."""
        for token in (*self._placeholders, *self._controls):
            text = text.replace(token, f"{token[0]} {token[1:]}")
        return text


def _control_tokens(tokenizer: Any) -> set[str]:
    """Those that a text is searched for: the ones with a role, such as EOS, and all others that are marked as special.

    One of a single letter cannot be parted (it may be a letter of the vocabulary that was taken to pad with).
    """
    try:
        marked = {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    except NotImplementedError:  # mistral-common's, which looks for none in a text
        marked = set()
    return {token for token in marked.union(tokenizer.all_special_tokens) if len(token) > 1}


def ends_texts(tokenizer: Any) -> bool:
    """Whether a tokenizer puts EOS behind texts, as for training: a model does not go on with those."""
    bare, ended = (tokenizer("a", add_special_tokens=special)["input_ids"] for special in (False, True))
    return bool(ended[-1:] == [tokenizer.eos_token_id] != bare[-1:])


def continuation_ids(tokenizer: Any, text: str, continuation: str) -> tuple[int, ...]:
    """The tokens that a continuation adds to a text; those of its own where the two grow together at the seam.

    Raises Refused where the tokenizer makes nothing of it.
    """
    before = tokenizer(text, add_special_tokens=False)["input_ids"]
    whole = tokenizer(text + continuation, add_special_tokens=False)["input_ids"]
    if whole[: len(before)] == before and len(whole) > len(before):
        return tuple(whole[len(before) :])
    if not (alone := tokenizer(continuation, add_special_tokens=False)["input_ids"]):
        raise Refused(f"the model's tokenizer makes nothing of the option {continuation!r}")
    return tuple(alone)


def ids_alone(tokenizer: Any, text: str) -> tuple[int, ...]:
    """The tokens of a text by itself, behind the one with which texts begin, if there is one.

    Raises ValueError where none of them has another before it.
    """
    ids = tokenizer(text)["input_ids"]
    ids = ids[:-1] if ends_texts(tokenizer) else ids
    if len(ids) < 2:
        raise ValueError(NO_TOKENS)
    return tuple(ids)


def written(prompt: LocalPrompt, text: str, finish: str, read: int, tokens: int) -> Reply:
    """The reply for what a model wrote behind a prompt: `read` tokens of the prompt, `tokens` of its own."""
    reasoning, answer = split_thinking(text)
    text = (prompt.lead + answer).strip()
    return Reply(text, finish, Usage(read, tokens), reasoning=reasoning, changed=prompt.changed)


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


Wanted = Literal["write", "weigh", "read"]
"""`read`: weigh texts by themselves."""


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
        """The likeliest of each prompt's choices; or where it stands alone, what is told of its tokens."""


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
        wanted: Wanted = "read" if is_alone(messages) else "weigh" if choices(messages) else "write"
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
            return engine.write(prompts, encoded) if key[0] == "write" else engine.weigh(prompts, encoded)
        except ValueError as error:
            if len(prompts) == 1:
                return [error]
        half = len(prompts) // 2
        return self._answered(key, prompts[:half]) + self._answered(key, prompts[half:])


def _shown(name: str) -> str:
    """A repository's name, or a folder's without where it lies."""
    folder = Path(name).expanduser()
    return folder.resolve().name if folder.is_dir() else name
