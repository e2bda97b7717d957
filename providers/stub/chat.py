"""The OpenAI Chat Completions dialect: ``POST /v1/chat/completions``; many CLIs speak it to other vendors too."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from providers.stub.answering import fresh_id, server_event, words
from providers.stub.dialect import Asked, Json
from providers.stub.openai_error import error as error  # the two OpenAI dialects word errors alike
from providers.stub.request import objects, parts, properties, required_objects, understood
from providers.stub.script import TOOL_RESULT, Tools

NAME = "chat"


def takes(path: str) -> bool:
    """Whether the path is the one of chat completions."""
    return path.endswith("/chat/completions")


def understand(path: str, body: Json, input_tokens: int) -> Asked:  # noqa: ARG001
    """The script in the last message that the user wrote."""
    return understood(body, _user_texts(body), _tools(body), input_tokens)


def answer(asked: Asked) -> Json:
    """A whole completion."""
    calls = _tool_calls(asked)
    message = {"role": "assistant", "content": None, "tool_calls": calls} if calls else _said(asked.script.answer)
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(asked)}
    return {**_head(asked, "chat.completion"), "choices": [choice], "usage": _usage(asked)}


def stream(asked: Asked) -> Iterator[str]:
    """A completion in chunks; the last one before the end holds the usage."""
    head, calls = _head(asked, "chat.completion.chunk"), _tool_calls(asked)
    deltas: list[Json] = (
        [{"tool_calls": calls}] if calls else [{"content": word} for word in words(asked.script.answer)]
    )
    for delta in (_said(""), *deltas):
        yield server_event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    ending = {"index": 0, "delta": {}, "finish_reason": _finish_reason(asked)}
    yield server_event({**head, "choices": [ending]})
    yield server_event({**head, "choices": [], "usage": _usage(asked)})
    yield "data: [DONE]\n\n"


def _user_texts(body: Json) -> Iterator[str | None]:
    for message in required_objects(body, "messages"):
        if message.get("role") == "tool":
            yield TOOL_RESULT
        elif message.get("role") == "user":
            # Paragraphs: qwen sends a prompt that failed again, as a part before the next one.
            yield "\n\n".join(str(part.get("text", "")) for part in parts(message, "text"))


def _tools(body: Json) -> Tools:
    functions = [function for tool in objects(body, "tools") if isinstance(function := tool.get("function"), dict)]
    return {str(function.get("name")): properties(function.get("parameters")) for function in functions}


def _head(asked: Asked, kind: str) -> dict[str, object]:
    return {"id": fresh_id("chatcmpl-"), "object": kind, "created": int(time.time()), "model": asked.model}


def _said(text: str) -> Json:
    return {"role": "assistant", "content": text}


def _tool_calls(asked: Asked) -> list[Json]:
    call = asked.script.tool_call
    if call is None:
        return []
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return [{"index": 0, "id": fresh_id("call_"), "type": "function", "function": function}]


def _finish_reason(asked: Asked) -> str:
    return "tool_calls" if asked.script.tool_call else "stop"


def _usage(asked: Asked) -> Json:
    return {
        "prompt_tokens": asked.input_tokens,
        "completion_tokens": asked.output_tokens,
        "total_tokens": asked.input_tokens + asked.output_tokens,
    }
