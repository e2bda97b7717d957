"""The Gemini dialect: ``POST /v1beta/models/MODEL:generateContent`` and ``:streamGenerateContent?alt=sse``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from providers.stub.answering import fresh_id, server_event, words
from providers.stub.dialect import Asked, Json
from providers.stub.request import objects, properties, required_objects
from providers.stub.script import TOOL_RESULT, Malformed, Script, Tools, script_of

NAME = "gemini"
_PATH = re.compile(r"/models/(?P<model>[^/:]+):(?P<verb>generateContent|streamGenerateContent)$")
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_VERDICT = {
    "reasoning": "stub",
    "next_speaker": "user",
    "model_choice": "flash",
    "complexity_reasoning": "stub",
    "complexity_score": 1,
}
"""What gemini's own questions between turns (who speaks next, which model) are answered with."""


def takes(path: str) -> bool:
    """Whether the path asks a model for content."""
    return _PATH.search(path) is not None


def understand(path: str, body: Json, input_tokens: int) -> Asked:
    """The script in the last text that the user wrote, or a verdict where the CLI wants one in JSON."""
    split = urlsplit(path)
    if (asks := _PATH.search(split.path)) is None:
        raise Malformed(f"{split.path} names no model")
    streams = asks["verb"] == "streamGenerateContent"
    if streams and parse_qs(split.query).get("alt") != ["sse"]:
        raise Malformed("the stub streams with ?alt=sse only")
    script = script_of(_user_texts(body), _tools(body))
    if _wants_json(body):
        script = Script(script.prompt, {"say": json.dumps(_VERDICT)})
    return Asked(script, asks["model"], streams, input_tokens)


def answer(asked: Asked) -> Json:
    """A whole answer."""
    return _chunk(asked, fresh_id("r"), _call_part(asked) or {"text": asked.script.answer}, "STOP")


def stream(asked: Asked) -> Iterator[str]:
    """The answer in chunks."""
    response_id = fresh_id("r")
    if call := _call_part(asked):
        yield server_event(_chunk(asked, response_id, call, "STOP"))
        return
    for word in words(asked.script.answer):
        yield server_event(_chunk(asked, response_id, {"text": word}))
    yield server_event(_chunk(asked, response_id, {"text": ""}, "STOP"))


def error(status: int, message: str) -> Json:
    """As the API words it."""
    return {"error": {"code": status, "message": message, "status": _STATUSES.get(status, "INTERNAL")}}


def _user_texts(body: Json) -> Iterator[str | None]:
    for content in required_objects(body, "contents"):
        for part in objects(content, "parts"):
            if "functionResponse" in part:
                yield TOOL_RESULT
            elif content.get("role", "user") == "user" and "text" in part:
                yield str(part["text"])


def _tools(body: Json) -> Tools:
    functions = [each for tool in objects(body, "tools") for each in objects(tool, "functionDeclarations")]
    return {
        str(each.get("name")): properties(each.get("parametersJsonSchema") or each.get("parameters"))
        for each in functions
    }


def _wants_json(body: Json) -> bool:
    config = body.get("generationConfig")
    return isinstance(config, dict) and config.get("responseMimeType") == "application/json"


def _call_part(asked: Asked) -> Json | None:
    call = asked.script.tool_call
    return {"functionCall": {"id": fresh_id("fc"), "name": call.name, "args": call.arguments}} if call else None


def _chunk(asked: Asked, response_id: str, part: Json, finish: str = "") -> Json:
    ending = {"finishReason": finish} if finish else {}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, **ending}
    usage = {
        "promptTokenCount": asked.input_tokens,
        "candidatesTokenCount": asked.output_tokens,
        "totalTokenCount": asked.input_tokens + asked.output_tokens,
    }
    head = {"modelVersion": asked.model, "responseId": response_id}
    return {**head, "candidates": [candidate], "usageMetadata": usage}
