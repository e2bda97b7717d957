"""What a dialect of a model API is to the stub: requests in, a script out, and answers in the API's own shapes."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from providers.stub.script import Malformed, Script

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for an answer, as its dialect understood it."""

    script: Script
    model: str
    stream: bool
    input_tokens: int = 1

    @property
    def output_tokens(self) -> int:
        """Tokens of the answer, at four characters each."""
        return len(self.script.answer) // 4 + 1


class Dialect(Protocol):
    """One API; the modules beside this one are dialects."""

    NAME: str

    def takes(self, path: str) -> bool:
        """Whether a POST to the path asks for an answer in this dialect."""
        ...

    def understand(self, path: str, body: Json, input_tokens: int) -> Asked:
        """The request; ``path`` with its query. Raises ``Malformed``."""
        ...

    def answer(self, asked: Asked) -> Json:
        """The answer as one JSON object."""
        ...

    def stream(self, asked: Asked) -> Iterator[str]:
        """The answer as server-sent events, each as it is sent."""
        ...

    def error(self, status: int, message: str) -> Json:
        """The body of an error answer."""
        ...


def server_event(data: Json, name: str = "") -> str:
    """A server-sent event as it is sent."""
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def words(text: str) -> list[str]:
    """The pieces in which a text is streamed; together they are the text."""
    return re.findall(r"\s*\S+\s*|\s+", text)


def fresh_id(prefix: str) -> str:
    """An id that no other answer has."""
    return prefix + uuid.uuid4().hex[:24]


def objects(body: Json, key: str) -> list[Json]:
    """The objects listed under a key, none where the key is missing. Raises ``Malformed`` for anything else."""
    found = body.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Malformed(f"{key!r} is not a list of objects")
    return found


def required_objects(body: Json, key: str) -> list[Json]:
    """The objects listed under a key that every request has. Raises ``Malformed``."""
    if not body.get(key):
        raise Malformed(f"{key!r} is missing or empty")
    return objects(body, key)


def parts(message: Json, kind: str) -> list[Json]:
    """The content of a message as a list of parts; a plain string is one part of type ``kind``."""
    content = message.get("content")
    return [{"type": kind, "text": content}] if isinstance(content, str) else objects(message, "content")


def properties(schema: object) -> Json:
    """The parameters in a tool's JSON schema."""
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def model_of(body: Json) -> str:
    """The model that a request names. Raises ``Malformed``."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise Malformed("'model' is missing")
    return model
