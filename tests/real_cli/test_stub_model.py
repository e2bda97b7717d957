"""The stub model speaks as the real API does, so that a real CLI cannot tell, and lets nothing out."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

from tests.support.stub_model import StubModel


def ask(stub: StubModel, path: str, body: object = None, method: str = "POST") -> tuple[int, str]:
    """Status and body of a request."""
    connection = http.client.HTTPConnection(urlsplit(stub.url).netloc, timeout=10)
    connection.request(method, path, None if body is None else json.dumps(body))
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def message(prompt: str, **more: object) -> dict[str, object]:
    return {"model": "claude-opus-5-5", "messages": [{"role": "user", "content": prompt}], **more}


def test_a_prompt_is_answered_plainly_with_usage(stub: StubModel) -> None:
    status, text = ask(stub, "/v1/messages", message("hello [[say well met]]"))
    answer = json.loads(text)
    assert (status, answer["content"], answer["stop_reason"]) == (
        200,
        [{"type": "text", "text": "well met"}],
        "end_turn",
    )
    assert answer["usage"]["input_tokens"] > 0 and answer["usage"]["output_tokens"] > 0
    assert json.loads(ask(stub, "/v1/messages", message("hello"))[1])["content"][0]["text"] == "STUB-OK: hello"


def test_a_stream_holds_the_same_answer_in_pieces(stub: StubModel) -> None:
    _, text = ask(stub, "/v1/messages?beta=true", message("[[say one two three]] [[slow 0.1]]", stream=True))
    events = [event.split("\n") for event in text.strip().split("\n\n")]
    names = [name.removeprefix("event: ") for name, _ in events]
    data = [json.loads(line.removeprefix("data: ")) for _, line in events]
    assert names == [each["type"] for each in data]
    assert (names[0], names[-1]) == ("message_start", "message_stop")
    assert "".join(each["delta"]["text"] for each in data if each["type"] == "content_block_delta") == "one two three"


def test_a_tool_is_called_before_the_answer_and_not_again_after_its_result(stub: StubModel) -> None:
    tools = [{"name": "Write", "input_schema": {"properties": {"file_path": {}, "content": {}}}}]
    asked = message("[[write /x/notes.md some text]]", tools=tools)
    call = json.loads(ask(stub, "/v1/messages", asked)[1])
    assert call["stop_reason"] == "tool_use"
    assert call["content"][1]["name"] == "Write"
    assert call["content"][1]["input"] == {"file_path": "/x/notes.md", "content": "some text"}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "ok"}]}
    asked["messages"] = [{"role": "user", "content": "[[write /x/notes.md some text]]"}, result]
    assert json.loads(ask(stub, "/v1/messages", asked)[1])["stop_reason"] == "end_turn"


def test_an_error_is_given_when_asked_for(stub: StubModel) -> None:
    status, text = ask(stub, "/v1/messages", message("[[err 529]]"))
    assert (status, json.loads(text)["error"]["type"]) == (529, "overloaded_error")


def test_tokens_are_counted_models_listed_and_the_rest_is_unknown(stub: StubModel) -> None:
    assert json.loads(ask(stub, "/v1/messages/count_tokens", message("hello"))[1])["input_tokens"] > 0
    assert "claude-opus-5-5" in ask(stub, "/v1/models", method="GET")[1]
    assert ask(stub, "/v1/responses", {})[0] == 404


@pytest.mark.parametrize(("method", "path"), [("GET", "http://example.invalid/x"), ("CONNECT", "example.invalid:443")])
def test_nothing_is_forwarded(stub: StubModel, method: str, path: str) -> None:
    assert ask(stub, path, method=method)[0] == 403
    assert [(request.kind, request.path) for request in stub.seen] == [("refused", path)]
