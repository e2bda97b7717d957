"""What the answers of every dialect are made of."""

from __future__ import annotations

import json
import re
import uuid

from providers.stub.dialect import Json


def server_event(data: Json, name: str = "") -> str:
    """A server-sent event as it is sent."""
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def words(text: str) -> list[str]:
    """The pieces in which a text is streamed; together they are the text."""
    return re.findall(r"\s*\S+\s*|\s+", text)


def fresh_id(prefix: str) -> str:
    """An id that no other answer has."""
    return prefix + uuid.uuid4().hex[:24]
