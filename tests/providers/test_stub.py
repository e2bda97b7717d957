"""The stub model speaks as the real APIs do, so that a real CLI cannot tell, and lets nothing out."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.stub import StubModel
from providers.stub.script import Malformed, read_directives
from tests.support.model_apis import APIS, Answer, Api, Json, Read, read_completion, read_content, read_response
from tests.support.waiting import until

every_api = pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
plain_and_stream = pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
ENDINGS = {
    "anthropic": ("end_turn", "tool_use"),
    "chat": ("stop", "tool_calls"),
    "responses": ("completed", "completed"),
    "gemini": ("STOP", "STOP"),
}


@pytest.fixture
def stub() -> Iterator[StubModel]:
    with StubModel() as server:
        yield server


def send(
    stub: StubModel,
    path: str,
    data: bytes | None = None,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Status and body of a request."""
    connection = http.client.HTTPConnection(urlsplit(stub.url).netloc, timeout=20)
    connection.request(method, path, data, dict(headers or {}))
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def ask(stub: StubModel, api: Api, prompt: str, stream: bool = False, **more: bool) -> Answer:
    """What a client of the API gets as answer."""
    status, text = send(stub, api.path(stream), json.dumps(api.body(prompt, stream, **more)).encode())
    assert status == 200, text
    return api.read_stream(events_in(text)) if stream else api.read(json.loads(text))


def events_in(text: str) -> list[Json]:
    """The data of server-sent events; an event's name is its type where it has one."""
    found: list[Json] = []
    for event in text.strip().split("\n\n"):
        *name, data = event.split("\n")
        if data != "data: [DONE]":
            found.append(json.loads(data.removeprefix("data: ")))
            assert name == ([f"event: {found[-1]['type']}"] if name else [])
    return found


@every_api
@plain_and_stream
def test_a_prompt_is_answered_with_usage(stub: StubModel, api: Api, stream: bool) -> None:
    said = ask(stub, api, "hello [[say well met, “friend”]]", stream)
    assert (said.text, said.call, said.ending) == ("well met, “friend”", None, ENDINGS[api.name][0])
    assert said.tokens[0] > 10 and said.tokens[1] == len("well met, “friend”") // 4 + 1
    assert ask(stub, api, "hello", stream).text == "STUB-OK: hello"


@every_api
@plain_and_stream
def test_a_tool_is_called_before_the_answer_and_not_again_after_its_result(
    stub: StubModel, api: Api, stream: bool
) -> None:
    prompt = "[[write /x/notes.md some text]] [[say WRITTEN]]"
    asked = ask(stub, api, prompt, stream, tools=True)
    assert asked.call == ("Write", {"file_path": "/x/notes.md", "content": "some text"})
    assert asked.ending == ENDINGS[api.name][1]
    done = ask(stub, api, prompt, stream, tools=True, result=True)
    assert (done.text, done.call, done.ending) == ("WRITTEN", None, ENDINGS[api.name][0])
    assert [request.has_result for request in stub.seen] == [False, True]
    assert stub.seen[0].tools == ("Write", "Bash")


@every_api
@plain_and_stream
def test_a_command_and_a_named_tool_are_called(stub: StubModel, api: Api, stream: bool) -> None:
    assert ask(stub, api, "[[bash make test]]", stream, tools=True).call == ("Bash", {"command": "make test"})
    named = '[[tool exit_plan_mode {"plan": "[1] {go}", "steps": [[1]]}]]'
    assert ask(stub, api, named, stream, tools=True).call == (
        "exit_plan_mode",
        {"plan": "[1] {go}", "steps": [[1]]},
    )
    assert ask(stub, api, "[[bash make test]]", stream).call is None, "without tools, as a title is made"


@pytest.mark.parametrize("command", [{"type": "string"}, {"type": "array"}])
def test_a_sandboxed_shell_is_asked_to_be_left_where_it_can_be(stub: StubModel, command: Json) -> None:
    schema = {"properties": {"cmd": command, "sandbox_permissions": {}, "justification": {}, "workdir": {}}}
    body = Api("responses").body("[[permit id]]")
    body["tools"] = [
        {"type": "function", "name": "exec_command", "parameters": schema},
        {"type": "custom", "name": "x"},
    ]
    _, text = send(stub, "/v1/responses", json.dumps(body).encode())
    assert read_response(json.loads(text)).call == (
        "exec_command",
        {
            "cmd": "id" if command["type"] == "string" else ["/bin/sh", "-c", "id"],
            "sandbox_permissions": "require_escalated",
            "justification": "The stub was told to ask.",
        },
    )


@every_api
@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_an_error_is_given_when_asked_for(stub: StubModel, api: Api, status: int) -> None:
    body = json.dumps(api.body(f"[[err {status}]]", stream=True)).encode()
    got, text = send(stub, api.path(True), body)
    error = Read(json.loads(text))["error"]
    assert (got, error.text("message")) == (status, f"stub error {status}")
    if status == 401:
        kind = error.text("status" if api.name == "gemini" else "type")
        assert kind == ("UNAUTHENTICATED" if api.name == "gemini" else "authentication_error")


@every_api
def test_a_slow_answer_comes_in_pieces_over_its_time(stub: StubModel, api: Api) -> None:
    connection = http.client.HTTPConnection(urlsplit(stub.url).netloc, timeout=20)
    began = time.monotonic()
    connection.request("POST", api.path(True), json.dumps(api.body("[[slow 0.5]] [[say a b c d]]", stream=True)))
    response = connection.getresponse()
    first = response.read1()
    first_s = time.monotonic() - began
    rest = response.read()
    whole_s = time.monotonic() - began
    connection.close()
    assert first_s < 0.5 <= whole_s
    assert api.read_stream(events_in((first + rest).decode())).text == "a b c d"


@every_api
def test_a_slow_answer_that_does_not_stream_comes_late(stub: StubModel, api: Api) -> None:
    began = time.monotonic()
    assert ask(stub, api, "[[slow 0.3]] [[say late]]").text == "late"
    assert time.monotonic() - began >= 0.3


@every_api
@pytest.mark.parametrize("prompt", ["[[hang]]", "[[slow 2]] [[say " + "word " * 40 + "]]"], ids=["hang", "slow"])
def test_a_client_that_goes_away_is_noticed_and_the_next_is_answered(
    stub: StubModel, api: Api, prompt: str, capfd: pytest.CaptureFixture[str]
) -> None:
    client = open_request(stub, api.path(True), json.dumps(api.body(prompt, stream=True)).encode())
    until(lambda: stub.prompts() == [prompt], 10)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close sends a reset
    client.close()
    until(lambda: [request.prompt for request in stub.left] == [prompt], 10)
    assert ask(stub, api, "[[say here]]").text == "here"
    assert capfd.readouterr() == ("", "")


def open_request(stub: StubModel, path: str, data: bytes, length: int | None = None) -> socket.socket:
    """A connection on which a request was sent and no answer read."""
    split = urlsplit(stub.url)
    client = socket.create_connection((split.hostname, split.port), timeout=20)
    size = len(data) if length is None else length
    client.sendall(f"POST {path} HTTP/1.1\r\nhost: stub\r\ncontent-length: {size}\r\n\r\n".encode() + data)
    return client


def test_a_client_that_goes_in_the_middle_of_its_request_is_nothing_to_speak_of(
    stub: StubModel, capfd: pytest.CaptureFixture[str]
) -> None:
    open_request(stub, "/v1/messages", b'{"mod', length=900).close()
    assert ask(stub, APIS[0], "[[say here]]").text == "here"
    assert capfd.readouterr() == ("", "")


def test_the_server_ends_though_clients_hang_on_it() -> None:
    with StubModel() as stub:
        hanging = open_request(stub, "/v1/messages", json.dumps(APIS[0].body("[[hang]]")).encode())
        idle = open_request(stub, "/v1/messages", json.dumps(APIS[0].body("[[say one]]")).encode())
        until(lambda: len(stub.prompts()) == 2, 10)
        began = time.monotonic()
    assert time.monotonic() - began < 5
    while idle.recv(65536):
        pass
    hanging.close()
    idle.close()


@every_api
@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'"x"', b"{}", b"[" * 100_000],
    ids=["empty", "cut", "list", "null", "not-utf8", "string", "no-keys", "deep"],
)
def test_a_malformed_body_is_refused_in_the_apis_words(stub: StubModel, api: Api, data: bytes) -> None:
    status, text = send(stub, api.path(False), data)
    assert status == 400
    assert Read(json.loads(text)).text("error", "message")
    assert [(request.kind, request.dialect) for request in stub.seen] == [("malformed", api.name)]


@every_api
@pytest.mark.parametrize("turns", ["hello", {}, [], [1], [[]], [{"role": "user", "content": 5, "parts": 5}]])
def test_turns_that_are_none_are_refused(stub: StubModel, api: Api, turns: object) -> None:
    body = api.body("x")
    for key in {"messages", "input", "contents"} & set(body):
        body[key] = turns
    if (api.name, turns) == ("responses", "hello"):
        return  # there a plain text is an input
    assert send(stub, api.path(False), json.dumps(body).encode())[0] == 400


@pytest.mark.parametrize("directive", ["[[err 200]]", "[[err x]]", "[[slow down]]", "[[tool x {1}]]"])
def test_a_directive_with_a_wrong_value_is_said(stub: StubModel, directive: str) -> None:
    status, text = send(stub, "/v1/messages", json.dumps(APIS[0].body(directive)).encode())
    assert status == 400 and directive.removesuffix("]]") in Read(json.loads(text)).text("error", "message")


def test_a_body_comes_in_chunks_or_packed(stub: StubModel) -> None:
    data = json.dumps(APIS[0].body("[[say one]]")).encode()
    assert send(stub, "/v1/messages", gzip.compress(data), headers={"content-encoding": "gzip"})[0] == 200
    chunked = b"%x;x=y\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (5, data[:5], len(data) - 5, data[5:])
    assert send(stub, "/v1/messages", chunked, headers={"transfer-encoding": "chunked"})[0] == 200
    assert stub.prompts() == ["[[say one]]"] * 2


@pytest.mark.parametrize(
    ("headers", "data"),
    [
        ({"content-encoding": "gzip"}, b"not packed"),
        ({"content-encoding": "zstd"}, b"{}"),
        ({"content-length": "-1"}, b""),
        ({"content-length": "ten"}, b""),
        ({"content-length": "99999999999"}, b""),
        ({"transfer-encoding": "chunked"}, b"zz\r\n"),
        ({"transfer-encoding": "chunked"}, b"fffffffff\r\n"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(stub: StubModel, headers: dict[str, str], data: bytes) -> None:
    assert send(stub, "/v1/messages", data, headers=headers)[0] == 400


def test_what_a_cli_adds_to_a_prompt_is_not_the_prompt(stub: StubModel) -> None:
    added = ["<system-reminder>[[say NO]]</system-reminder>", "# AGENTS.md instructions\n[[say NO]]"]
    body = {"model": "m", "input": [Api("responses").user(text) for text in ("[[say YES]]", *added)]}
    assert read_response(json.loads(send(stub, "/v1/responses", json.dumps(body).encode())[1])).text == "YES"


def test_the_last_prompt_counts_though_an_earlier_one_was_scripted(stub: StubModel) -> None:
    body = {"model": "m", "messages": [APIS[0].user("[[err 500]]"), APIS[0].user("[[say now]]")]}
    assert read_completion(json.loads(send(stub, "/v1/chat/completions", json.dumps(body).encode())[1])).text == "now"


def test_a_prompt_that_failed_does_not_script_the_one_it_is_sent_with_again(stub: StubModel) -> None:
    prompt = "[[err 400]]\n\nhi [[bash x]]\n\ntwo\n\nlines [[say one\n\ntwo]] [[slow 0]]"
    assert read_directives(prompt) == {"say": "one\n\ntwo", "slow": "0"}
    assert ask(stub, APIS[1], prompt).text == "one\n\ntwo"


def test_geminis_questions_between_turns_get_a_verdict(stub: StubModel) -> None:
    body = {
        **Api("gemini").body("[[say who speaks next?]]"),
        "generationConfig": {"responseMimeType": "application/json"},
    }
    _, text = send(stub, Api("gemini").path(False), json.dumps(body).encode())
    assert json.loads(read_content(json.loads(text)).text)["next_speaker"] == "user"
    assert send(stub, "/v1beta/models/m:streamGenerateContent", json.dumps(body).encode())[0] == 400


def test_tokens_are_counted_models_listed_and_the_rest_is_unknown(stub: StubModel) -> None:
    data = json.dumps(APIS[0].body("hello")).encode()
    assert json.loads(send(stub, "/v1/messages/count_tokens", data)[1])["input_tokens"] > 0
    assert json.loads(send(stub, "/v1beta/models/m:countTokens", data)[1])["totalTokens"] > 0
    assert "claude-opus-5-5" in send(stub, "/v1/models", method="GET")[1]
    assert "models/gemini-2.5-pro" in send(stub, "/v1beta/models", method="GET")[1]
    assert send(stub, "/v1/embeddings", b"{}")[0] == 404
    assert send(stub, "/api/event_logging/batch", b"[]") == (200, "{}")
    assert send(stub, "/v1/responses", method="GET", headers={"upgrade": "websocket"})[0] == 426
    kinds = [request.kind for request in stub.seen]
    assert kinds == ["count_tokens", "count_tokens", "models", "models", "unknown", "unknown", "unknown"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "http://example.invalid/x"),
        ("POST", "http://example.invalid/v1/messages"),
        ("HEAD", "https://example.invalid/"),
        ("CONNECT", "example.invalid:443"),
    ],
)
def test_nothing_is_forwarded(stub: StubModel, method: str, path: str) -> None:
    """PAM-SEC: a CLI under test reaches this machine and nothing else."""
    assert send(stub, path, method=method)[0] == 403
    assert [(request.kind, request.path) for request in stub.seen] == [("refused", path)]
    assert stub.prompts() == []


def test_it_listens_on_loopback_only_and_says_where_a_port_is_taken(stub: StubModel) -> None:
    assert urlsplit(stub.url).hostname == "127.0.0.1"
    port = urlsplit(stub.url).port
    assert port
    with pytest.raises(OSError, match="in use"):
        StubModel(port)


def test_importing_providers_does_not_load_the_stub() -> None:
    code = "import sys, providers.catalog, providers.doctor; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"providers.stub", "http.server"} & set(loaded)


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from('[]{} \n"sayerrslowtol0123456789'), max_size=60))
def test_any_prompt_is_read_or_refused(text: str) -> None:
    try:
        assert all(isinstance(value, str) for value in read_directives(text).values())
    except Malformed as error:
        assert "[[" in str(error)
