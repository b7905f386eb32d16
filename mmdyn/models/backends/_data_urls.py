"""Pictures as data URLs, in the bytes that their files hold."""

from __future__ import annotations

import base64
from collections import OrderedDict

from mmdyn.data.images import MEDIA_TYPES, SUFFIXES, open_image
from mmdyn.errors import InputError
from mmdyn.keys import sha256
from mmdyn.models.message import ImagePart


class DataUrls:
    """Encodes pictures and keeps the latest by their digest; `size` is what they take, at most `most` characters."""

    def __init__(self, most: int = 32 * 1024 * 1024) -> None:
        self.size, self.most = 0, most
        self._kept = OrderedDict[str, str]()

    def get(self, part: ImagePart) -> str:
        """`data:image/…;base64,…`, the media type by what the bytes are, whatever the file is called.

        Raises InputError where the file is missing, is no picture, or is not the one that was asked about.
        """
        if part.digest in self._kept:
            self._kept.move_to_end(part.digest)
            return self._kept[part.digest]
        url = _encode(part)
        self._kept[part.digest] = url
        self.size += len(url)
        while self.size > self.most:
            self.size -= len(self._kept.popitem(last=False)[1])
        return url


def _encode(part: ImagePart) -> str:
    try:
        data = part.path.read_bytes()
        media_type = MEDIA_TYPES[SUFFIXES[open_image(data).format or ""]]
    except OSError as error:
        raise InputError(part.path, None, f"cannot be read ({error.strerror}): put the picture back") from None
    except ValueError as error:
        raise InputError(part.path, None, str(error)) from None
    if sha256(data) != part.digest:
        raise InputError(part.path, None, "the picture was changed while it was in use: run the same command again")
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
