"""What a dialect takes out of the body of a request; each raises ``Malformed`` for what no API would take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from providers.stub.dialect import Asked, Json
from providers.stub.script import Malformed, Tools, script_of


def understood(body: Json, texts: Iterator[str | None], tools: Tools, input_tokens: int) -> Asked:
    """The request of an API whose body names the model, and says whether the answer is streamed."""
    return Asked(script_of(texts, tools), model_of(body), body.get("stream") is True, input_tokens)


def model_of(body: Json) -> str:
    """The model that a request names."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise Malformed("'model' is missing")
    return model


def required_objects(body: Json, key: str) -> list[Json]:
    """The objects listed under a key that every request has."""
    if not body.get(key):
        raise Malformed(f"{key!r} is missing or empty")
    return objects(body, key)


def objects(body: Json, key: str) -> list[Json]:
    """The objects listed under a key, none where the key is missing."""
    found = body.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Malformed(f"{key!r} is not a list of objects")
    return found


def parts(message: Json, kind: str) -> list[Json]:
    """The content of a message as a list of parts; a plain string is one part of type ``kind``."""
    content = message.get("content")
    return [{"type": kind, "text": content}] if isinstance(content, str) else objects(message, "content")


def properties(schema: object) -> Json:
    """The parameters in a tool's JSON schema."""
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}
