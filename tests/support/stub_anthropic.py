"""The Anthropic Messages dialect of the stub model server: requests into scripts, scripts into answers."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import cast

from tests.support.stub_script import Script, ToolCall, read_directives, without_reminders

Json = Mapping[str, object]

MESSAGES_PATH = "/v1/messages"
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def understand(body: Json) -> Script:
    """The script in the last text that the user wrote."""
    prompt, has_result = "", False
    for block in _user_blocks(body):
        if block.get("type") == "tool_result":
            has_result = True
        elif text := without_reminders(str(block.get("text", ""))):
            prompt, has_result = text, False
    return Script(prompt, read_directives(prompt), has_result, _tools(body))


def plain_answer(script: Script, model: str, input_tokens: int) -> Json:
    """The answer as one JSON object, for a request that does not stream."""
    return {
        **_message(model, input_tokens),
        "content": _blocks(script),
        "stop_reason": _stop_reason(script),
        "usage": _usage(input_tokens, _output_tokens(script)),
    }


def stream(script: Script, model: str, input_tokens: int) -> Iterator[tuple[str, Json]]:
    """The answer as server-sent events; each is its name and its data."""
    yield "message_start", {"type": "message_start", "message": _message(model, input_tokens)}
    for index, block in enumerate(_blocks(script)):
        empty = {**block, "input": {}} if block["type"] == "tool_use" else {**block, "text": ""}
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in _deltas(block):
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    yield (
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": _stop_reason(script), "stop_sequence": None},
            "usage": {"output_tokens": _output_tokens(script)},
        },
    )
    yield "message_stop", {"type": "message_stop"}


def error(status: int, message: str) -> Json:
    """The body of an error answer."""
    return {"type": "error", "error": {"type": _ERROR_TYPES.get(status, "api_error"), "message": message}}


def models(names: tuple[str, ...]) -> Json:
    """The list of models."""
    data = [{"id": name, "type": "model", "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in names]
    return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _user_blocks(body: Json) -> Iterator[Json]:
    for message in cast("list[Json]", body.get("messages") or []):
        content = message.get("content")
        if message.get("role") != "user":
            continue
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else cast("list[Json]", content)


def _tools(body: Json) -> dict[str, frozenset[str]]:
    offered = cast("list[Json]", body.get("tools") or [])
    schemas = {str(tool.get("name")): cast("Json", tool.get("input_schema") or {}) for tool in offered}
    return {name: frozenset(cast("Json", schema.get("properties") or {})) for name, schema in schemas.items()}


def _message(model: str, input_tokens: int) -> dict[str, object]:
    return {
        "id": "msg_" + uuid.uuid4().hex[:24],
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(input_tokens, 1),
    }


def _usage(input_tokens: int, output_tokens: int) -> Json:
    cache = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": input_tokens, "output_tokens": output_tokens, **cache}


def _output_tokens(script: Script) -> int:
    return len(script.answer) // 4 + 1


def _stop_reason(script: Script) -> str:
    return "tool_use" if script.tool_call else "end_turn"


def _blocks(script: Script) -> list[dict[str, object]]:
    call = script.tool_call
    if call is None:
        return [{"type": "text", "text": script.answer}]
    return [{"type": "text", "text": "Calling a tool."}, _tool_use(call)]


def _tool_use(call: ToolCall) -> dict[str, object]:
    return {"type": "tool_use", "id": "toolu_" + uuid.uuid4().hex[:24], "name": call.name, "input": call.arguments}


def _deltas(block: Json) -> Iterator[Json]:
    if block["type"] == "tool_use":
        yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return
    for word in re.findall(r"\S+\s*|\s+", str(block["text"])):
        yield {"type": "text_delta", "text": word}
