"""The Anthropic Messages dialect: ``POST /v1/messages``."""

from __future__ import annotations

import json
from collections.abc import Iterator

from providers.stub.answering import fresh_id, server_event, words
from providers.stub.dialect import Asked, Json
from providers.stub.request import objects, parts, properties, required_objects, understood
from providers.stub.script import TOOL_RESULT

NAME = "anthropic"
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def takes(path: str) -> bool:
    """Whether the path is the one of messages."""
    return path.endswith("/messages")


def understand(path: str, body: Json, input_tokens: int) -> Asked:  # noqa: ARG001
    """The script in the last text that the user wrote."""
    tools = {str(tool.get("name")): properties(tool.get("input_schema")) for tool in objects(body, "tools")}
    return understood(body, _user_texts(body), tools, input_tokens)


def answer(asked: Asked) -> Json:
    """A whole message."""
    return {
        **_message(asked),
        "content": _blocks(asked),
        "stop_reason": _stop_reason(asked),
        "usage": _usage(asked, asked.output_tokens),
    }


def stream(asked: Asked) -> Iterator[str]:
    """A message in events."""
    yield _event("message_start", message=_message(asked))
    for index, block in enumerate(_blocks(asked)):
        empty = {**block, "input": {}} if block["type"] == "tool_use" else {**block, "text": ""}
        yield _event("content_block_start", index=index, content_block=empty)
        for delta in _deltas(block):
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": _stop_reason(asked), "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage={"output_tokens": asked.output_tokens})
    yield _event("message_stop")


def error(status: int, message: str) -> Json:
    """As the API words it."""
    return {"type": "error", "error": {"type": _ERROR_TYPES.get(status, "api_error"), "message": message}}


def _user_texts(body: Json) -> Iterator[str | None]:
    for message in required_objects(body, "messages"):
        if message.get("role") == "user":
            for block in parts(message, "text"):
                yield TOOL_RESULT if block.get("type") == "tool_result" else str(block.get("text", ""))


def _message(asked: Asked) -> dict[str, object]:
    return {
        "id": fresh_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(asked, 1),
    }


def _usage(asked: Asked, output_tokens: int) -> Json:
    cache = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": asked.input_tokens, "output_tokens": output_tokens, **cache}


def _stop_reason(asked: Asked) -> str:
    return "tool_use" if asked.script.tool_call else "end_turn"


def _blocks(asked: Asked) -> list[dict[str, object]]:
    call = asked.script.tool_call
    if call is None:
        return [{"type": "text", "text": asked.script.answer}]
    use: dict[str, object] = {"type": "tool_use", "id": fresh_id("toolu_"), "name": call.name, "input": call.arguments}
    return [{"type": "text", "text": "Calling a tool."}, use]


def _deltas(block: Json) -> Iterator[Json]:
    if block["type"] == "tool_use":
        yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return
    for word in words(str(block["text"])):
        yield {"type": "text_delta", "text": word}


def _event(name: str, **data: object) -> str:
    return server_event({"type": name, **data}, name)
