"""What control room and helper say to each other over a pipe: frames of a length, a kind and a body.

Keys go as raw bytes, everything else as JSON. A frame of an unknown kind is passed over, so that either side may learn
more.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Final

INPUT: Final = b"i"
"""To the helper: bytes for the program."""
SEEN: Final = b"s"
"""To the helper: the last frame is drawn; until then it makes no other, so that none waits behind it."""
WORD: Final = b"w"
"""Either way: a JSON object whose ``say`` names what it is."""
LONGEST: Final = 64 * 1024 * 1024
"""No frame is longer; a length beyond it means that the stream is not ours."""
_HEAD = struct.Struct(">Ic")

Word = dict[str, object]


class Garbled(ValueError):
    """What came cannot be a frame."""


def encode(kind: bytes, body: bytes) -> bytes:
    """One frame."""
    return _HEAD.pack(len(body), kind) + body


def encode_word(say: str, **values: object) -> bytes:
    """A JSON frame."""
    body = json.dumps({"say": say, **values}, ensure_ascii=False, separators=(",", ":"))
    # A file name or a variable may hold bytes that are no text.
    return encode(WORD, body.encode("utf-8", "surrogatepass"))


class Frames:
    """Takes bytes as they come, gives whole frames."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Kind and body of each frame that is complete now. Raises Garbled."""
        pending = self._pending
        pending += data
        while len(pending) >= _HEAD.size:
            size, kind = _HEAD.unpack_from(pending)
            if size > LONGEST:
                raise Garbled(f"a frame of {size} bytes")
            end = _HEAD.size + size
            if len(pending) < end:
                return
            body = bytes(pending[_HEAD.size : end])
            del pending[:end]
            yield kind, body


def decode_word(body: bytes) -> Word:
    """The object of a JSON frame. Raises Garbled."""
    try:
        word = json.loads(body.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise Garbled(str(error)) from error
    if not isinstance(word, dict) or not isinstance(word.get("say"), str):
        raise Garbled("no word")
    return word
