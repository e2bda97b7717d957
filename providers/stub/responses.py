"""The OpenAI Responses dialect: ``POST /v1/responses``; codex speaks it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from providers.stub.answering import fresh_id, server_event, words
from providers.stub.dialect import Asked, Json
from providers.stub.openai_error import error as error  # the two OpenAI dialects word errors alike
from providers.stub.request import objects, parts, properties, required_objects, understood
from providers.stub.script import TOOL_RESULT

NAME = "responses"


def takes(path: str) -> bool:
    """Whether the path is the one of responses."""
    return path.endswith("/responses")


def understand(path: str, body: Json, input_tokens: int) -> Asked:  # noqa: ARG001
    """The script in the last text that the user wrote; what a CLI adds in the user's name is left out."""
    tools = {
        str(tool.get("name") or tool.get("type")): properties(tool.get("parameters")) for tool in objects(body, "tools")
    }
    return understood(body, _user_texts(body), tools, input_tokens)


def answer(asked: Asked) -> Json:
    """A whole response."""
    return _response(asked, fresh_id("resp_"), _item(asked))


def stream(asked: Asked) -> Iterator[str]:
    """A response in numbered events."""
    item = _item(asked)
    whole = _response(asked, fresh_id("resp_"), item)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events = [
        ("response.created", {"response": begun}),
        *(_call_events(item) if item["type"] == "function_call" else _text_events(item, asked.script.answer)),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]
    for number, (name, data) in enumerate(events):
        yield server_event({"type": name, "sequence_number": number, **data}, name)


def _user_texts(body: Json) -> Iterator[str | None]:
    given = body.get("input")
    if isinstance(given, str):
        yield given
        return
    for item in required_objects(body, "input"):
        kind = str(item.get("type", "message"))
        if kind.endswith("_output"):
            yield TOOL_RESULT
        elif kind == "message" and item.get("role") == "user":
            yield from (str(part.get("text", "")) for part in parts(item, "input_text"))


def _response(asked: Asked, response_id: str, item: Json) -> dict[str, object]:
    return {
        "id": response_id,
        "object": "response",
        "created_at": int(time.time()),
        "model": asked.model,
        "status": "completed",
        "output": [item],
        "usage": _usage(asked),
        "error": None,
        "incomplete_details": None,
    }


def _usage(asked: Asked) -> Json:
    return {
        "input_tokens": asked.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": asked.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": asked.input_tokens + asked.output_tokens,
    }


def _item(asked: Asked) -> dict[str, object]:
    call = asked.script.tool_call
    if call is None:
        said = {"type": "output_text", "text": asked.script.answer, "annotations": []}
        head = {"type": "message", "id": fresh_id("msg_"), "role": "assistant"}
        return {**head, "status": "completed", "content": [said]}
    named = {"type": "function_call", "id": fresh_id("fc_"), "call_id": fresh_id("call_"), "name": call.name}
    return {**named, "arguments": json.dumps(call.arguments), "status": "completed"}


def _call_events(item: Json) -> Iterator[tuple[str, Json]]:
    at = {"item_id": item["id"], "output_index": 0}
    begun = {**item, "status": "in_progress", "arguments": ""}
    yield "response.output_item.added", {"output_index": 0, "item": begun}
    yield "response.function_call_arguments.delta", {**at, "delta": item["arguments"]}
    yield "response.function_call_arguments.done", {**at, "arguments": item["arguments"]}


def _text_events(item: Json, text: str) -> Iterator[tuple[str, Json]]:
    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "annotations": []}
    begun = {**item, "status": "in_progress", "content": []}
    yield "response.output_item.added", {"output_index": 0, "item": begun}
    yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
    for word in words(text):
        yield "response.output_text.delta", {**at, "delta": word}
    yield "response.output_text.done", {**at, "text": text}
    yield "response.content_part.done", {**at, "part": {**part, "text": text}}
