"""Messages as the one text that a model on this machine goes on with."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from mmdyn.models.message import ImagePart, Message, TextPart, choices
from mmdyn.record import Reply, Usage
from mmdyn.text import split_thinking


class Refused(ValueError):
    """This request cannot be put to the model as it is set up."""


class LocalPrompt(Struct, frozen=True, eq=False):
    """`text` with a placeholder for each of the `pictures` (RGB, in order), and what it may go on with, if that is
    given.

    `special`: whether the tokenizer is to add its own special tokens, which a chat template brings. `lead`: the end of
    the text, with which the answer begins. `seed`: what its draws are keyed with.
    """

    text: str
    pictures: list[Any]
    choices: tuple[str, ...]
    special: bool
    lead: str
    seed: tuple[str | int, ...]
    changed: str


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
        for what, tokens in (("picture", self._placeholders), ("control token", self._controls)):
            if any(token in message.text for token in tokens for message in messages):
                changed = "; ".join(filter(None, [changed, f"a text that stands for a {what} parted in two"]))
        return LocalPrompt(text, pictures, choices(messages), special, lead, seed, changed)

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


def written(prompt: LocalPrompt, text: str, finish: str, read: int, tokens: int) -> Reply:
    """The reply for what a model wrote behind a prompt: `read` tokens of the prompt, `tokens` of its own."""
    reasoning, answer = split_thinking(text)
    text = (prompt.lead + answer).strip()
    return Reply(text, finish, Usage(read, tokens), reasoning=reasoning, changed=prompt.changed)
