"""Reading the body of a request as a JSON object, however it was sent."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from providers.stub.dialect import Json
from providers.stub.script import Malformed

BYTES_MAX = 64 * 1024 * 1024


def read_bytes(headers: Mapping[str, str], source: BinaryIO) -> bytes:
    """The body as it was sent, unpacked.

    Raises:
        Malformed: its length or encoding cannot be read, or it is longer than ``BYTES_MAX``.
    """
    if (headers.get("transfer-encoding") or "").lower() == "chunked":
        raw = b"".join(_chunks(source))
    else:
        raw = _exactly(source, _size(headers.get("content-length") or "0", 10))
    return _unpacked(raw, headers.get("content-encoding") or "identity")


def as_object(raw: bytes) -> Json:
    """The JSON object in a body. Raises ``Malformed``."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise Malformed("the body is not a JSON object")
    return body


def _chunks(source: BinaryIO) -> Iterator[bytes]:
    total = 0
    while size := _size(source.readline(1024).split(b";")[0].decode("ascii", "replace").strip(), 16):
        total += size
        if total > BYTES_MAX:
            raise Malformed(f"the body is longer than {BYTES_MAX:,} bytes")
        yield _exactly(source, size)
        source.readline(1024)
    source.readline(1024)


def _size(digits: str, base: int) -> int:
    try:
        size = int(digits, base)
    except ValueError:
        raise Malformed(f"the length {digits!r} is not a number") from None
    if not 0 <= size <= BYTES_MAX:
        raise Malformed(f"the body is longer than {BYTES_MAX:,} bytes" if size > 0 else "the length is negative")
    return size


def _exactly(source: BinaryIO, size: int) -> bytes:
    data = source.read(size)
    if len(data) < size:
        raise ConnectionAbortedError("the client went before its request was whole")
    return data


def _unpacked(raw: bytes, encoding: str) -> bytes:
    if encoding == "identity":
        return raw
    if encoding != "gzip":
        raise Malformed(f"the stub cannot read a body in {encoding}")
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise Malformed(f"the body is not gzip: {error}") from None
