"""Clients of the model APIs as small as tests need them: requests as a CLI sends them, answers as it reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

Json = dict[str, object]

PARAMETERS = {"properties": {"file_path": {"type": "string"}, "content": {}, "command": {}}}


@dataclass(frozen=True)
class Api:
    """A dialect as its clients use it: where they ask, what they send, and where in an answer they look."""

    name: str

    def path(self, stream: bool) -> str:
        """Where an answer is asked for."""
        gemini = "/v1beta/models/gemini-2.5-pro:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")
        paths = {"anthropic": "/v1/messages?beta=true", "chat": "/v1/chat/completions", "responses": "/v1/responses"}
        return paths.get(self.name, gemini)

    def body(self, prompt: str, stream: bool = False, tools: bool = False, result: bool = False) -> Json:
        """A request; with ``result`` the tool that was called has ended."""
        turns = [self.user(prompt), *([self._result()] if result else [])]
        key = {"gemini": "contents", "responses": "input"}.get(self.name, "messages")
        model = {} if self.name == "gemini" else {"model": "stub-model", "stream": stream}
        return {**model, key: turns, **({"tools": self._tools()} if tools else {})}

    def user(self, prompt: str) -> Json:
        """A turn of the user."""
        if self.name == "gemini":
            return {"role": "user", "parts": [{"text": prompt}]}
        if self.name == "responses":
            return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}
        return {"role": "user", "content": prompt}

    def _result(self) -> Json:
        results: dict[str, Json] = {
            "anthropic": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "ok"}]},
            "chat": {"role": "tool", "tool_call_id": "x", "content": "ok"},
            "responses": {"type": "function_call_output", "call_id": "x", "output": "ok"},
            "gemini": {"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {}}}]},
        }
        return results[self.name]

    def _tools(self) -> list[Json]:
        names = ("Write", "Bash")
        if self.name == "gemini":
            return [{"functionDeclarations": [{"name": name, "parametersJsonSchema": PARAMETERS} for name in names]}]
        function: list[Json] = [{"type": "function", "name": name, "parameters": PARAMETERS} for name in names]
        tools: dict[str, list[Json]] = {
            "anthropic": [{"name": name, "input_schema": PARAMETERS} for name in names],
            "chat": [{"type": "function", "function": each} for each in function],
            "responses": function,
        }
        return tools[self.name]

    def read(self, answer: object) -> Answer:
        """The text, the tool call, the ending and the usage of an answer that did not stream."""
        return {"anthropic": read_message, "chat": read_completion, "responses": read_response}.get(
            self.name, read_content
        )(answer)

    def read_stream(self, events: list[Json]) -> Answer:
        """The same out of a stream, put together as a client does."""
        return {
            "anthropic": read_message_events,
            "chat": read_completion_chunks,
            "responses": read_response_events,
        }.get(self.name, read_content_chunks)(events)


@dataclass(frozen=True)
class Answer:
    """What a client gets out of an answer."""

    text: str
    call: tuple[str, object] | None
    ending: str
    tokens: tuple[int, int]


class Read:
    """Walks JSON by keys and indices: ``Read(x)["a", 0].value``."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __getitem__(self, path: tuple[str | int, ...] | str | int) -> Read:
        found = self.value
        for key in path if isinstance(path, tuple) else (path,):
            found = cast("list[object]", found)[key] if isinstance(key, int) else cast("Json", found)[key]
        return Read(found)

    def number(self, *path: str | int) -> int:
        return cast("int", self[path].value)

    def text(self, *path: str | int) -> str:
        return str(self[path].value)

    def list(self, *path: str | int) -> list[Json]:
        return cast("list[Json]", self[path].value)


def read_message(answer: object) -> Answer:
    read = Read(answer)
    blocks = read.list("content")
    calls = [(str(block["name"]), block["input"]) for block in blocks if block["type"] == "tool_use"]
    text = "".join(str(block["text"]) for block in blocks if block["type"] == "text")
    tokens = read.number("usage", "input_tokens"), read.number("usage", "output_tokens")
    return Answer(text, calls[0] if calls else None, read.text("stop_reason"), tokens)


def read_message_events(events: list[Json]) -> Answer:
    assert (events[0]["type"], events[-1]["type"]) == ("message_start", "message_stop")
    deltas = [Read(event["delta"]).value for event in events if event["type"] == "content_block_delta"]
    text = "".join(str(cast("Json", delta).get("text", "")) for delta in deltas)
    arguments = "".join(str(cast("Json", delta).get("partial_json", "")) for delta in deltas)
    starts = [Read(event)["content_block"].value for event in events if event["type"] == "content_block_start"]
    names = [str(cast("Json", block)["name"]) for block in starts if cast("Json", block)["type"] == "tool_use"]
    last = Read(events[-2])
    tokens = Read(events[0]).number("message", "usage", "input_tokens"), last.number("usage", "output_tokens")
    call = (names[0], json.loads(arguments)) if names else None
    return Answer(text, call, last.text("delta", "stop_reason"), tokens)


def read_completion(answer: object) -> Answer:
    read, choice = Read(answer), Read(answer)["choices", 0]
    message = cast("Json", choice["message"].value)
    tokens = read.number("usage", "prompt_tokens"), read.number("usage", "completion_tokens")
    return Answer(str(message["content"] or ""), function_call(message), choice.text("finish_reason"), tokens)


def read_completion_chunks(events: list[Json]) -> Answer:
    choices = [choice for event in events for choice in Read(event).list("choices")]
    deltas = [cast("Json", choice["delta"]) for choice in choices]
    calls = [function_call(delta) for delta in deltas if "tool_calls" in delta]
    text = "".join(str(delta.get("content") or "") for delta in deltas)
    usage = Read(events[-1])["usage"]
    tokens = usage.number("prompt_tokens"), usage.number("completion_tokens")
    return Answer(text, calls[0] if calls else None, str(choices[-1]["finish_reason"]), tokens)


def function_call(message: Json) -> tuple[str, object] | None:
    if not message.get("tool_calls"):
        return None
    function = Read(message)["tool_calls", 0, "function"]
    return function.text("name"), json.loads(function.text("arguments"))


def read_response(answer: object) -> Answer:
    read, item = Read(answer), Read(answer)["output", 0]
    tokens = read.number("usage", "input_tokens"), read.number("usage", "output_tokens")
    if item.text("type") == "function_call":
        return Answer("", (item.text("name"), json.loads(item.text("arguments"))), read.text("status"), tokens)
    return Answer(item.text("content", 0, "text"), None, read.text("status"), tokens)


def read_response_events(events: list[Json]) -> Answer:
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert (events[0]["type"], events[-1]["type"]) == ("response.created", "response.completed")
    whole = read_response(events[-1]["response"])
    text = "".join(str(event["delta"]) for event in events if event["type"] == "response.output_text.delta")
    assert text == whole.text
    return whole


def read_content(answer: object) -> Answer:
    return read_content_chunks([cast("Json", answer)])


def read_content_chunks(events: list[Json]) -> Answer:
    parts = [part for event in events for part in Read(event).list("candidates", 0, "content", "parts")]
    calls = [Read(part["functionCall"]) for part in parts if "functionCall" in part]
    usage = Read(events[-1])["usageMetadata"]
    return Answer(
        "".join(str(part.get("text", "")) for part in parts),
        (calls[0].text("name"), calls[0]["args"].value) if calls else None,
        Read(events[-1]).text("candidates", 0, "finishReason"),
        (usage.number("promptTokenCount"), usage.number("candidatesTokenCount")),
    )


APIS = tuple(Api(name) for name in ("anthropic", "chat", "responses", "gemini"))
