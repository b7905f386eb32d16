"""A request in the plain form in which programs and endpoints of the user's own read it (docs/programs.md)."""

from __future__ import annotations

from collections.abc import Mapping

from mmdyn.data import IMAGE_MEDIA_TYPES
from mmdyn.keys import Json
from mmdyn.models.backends._pictures import SentPicture, image_parts
from mmdyn.models.message import Message, TextPart

_SUFFIXES = {media_type: suffix for suffix, media_type in IMAGE_MEDIA_TYPES.items()}


def plain_request(
    messages: tuple[Message, ...], pictures: Mapping[str, SentPicture]
) -> tuple[dict[str, Json], dict[str, SentPicture]]:
    """`question` and `messages` as JSON, and the pictures by the names that stand in them, image-1.png and so on.

    The question is the text of all messages, a picture's name in brackets in its place; of several messages each has
    its role before it. `pictures` are those of the messages, by digest.
    """
    digests = dict.fromkeys(part.digest for part in image_parts(messages))
    names = {digest: f"image-{n}.{_SUFFIXES[pictures[digest].media_type]}" for n, digest in enumerate(digests, 1)}
    turns: list[Json] = []
    texts = list[str]()
    for message in messages:
        parts: list[dict[str, Json]] = [
            {"text": part.text} if isinstance(part, TextPart) else {"image": names[part.digest]}
            for part in message.shown
        ]
        text = "".join([f"{part.get('text') or ''}" if "text" in part else f"[{part['image']}]\n" for part in parts])
        turns.append({"role": message.role, "parts": list[Json](parts)})
        texts.append(text if len(messages) == 1 else f"[{message.role}]\n{text}")
    return {"question": "\n\n".join(texts), "messages": turns}, {name: pictures[key] for key, name in names.items()}
