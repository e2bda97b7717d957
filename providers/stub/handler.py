"""One HTTP connection of the stub: which dialect a request is in, and how its answer is sent."""

from __future__ import annotations

import json
import select
import socket
from http.server import BaseHTTPRequestHandler
from typing import Protocol, cast

from providers.stub import anthropic, chat, gemini, responses
from providers.stub.body import as_object, read_bytes
from providers.stub.dialect import Asked, Dialect, Json
from providers.stub.models import listed
from providers.stub.script import Malformed
from providers.stub.seen import Kind, Ledger, Seen

DIALECTS: tuple[Dialect, ...] = (anthropic, chat, responses, gemini)

_TELEMETRY = ("event", "telemetry", "metrics", "otlp")
_TRY_AGAIN = (429, 503, 529)
_LOOK_S = 0.2
"""How often a hanging answer looks whether its client is still there."""


class HasLedger(Protocol):
    """A server whose handlers write to a ledger."""

    ledger: Ledger


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    server_version = "stub-model"

    def do_GET(self) -> None:
        if self._is_proxied():
            self._refuse()
        elif self.headers.get("upgrade"):
            self._record("unknown")
            self._send_json(anthropic.error(426, "the stub speaks plain HTTP"), 426)
        elif self._bare_path().endswith("/models"):
            self._record("models")
            self._send_json(listed(self.path))
        else:
            self._not_found()

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_CONNECT(self) -> None:
        self._refuse()

    def do_POST(self) -> None:
        path = self._bare_path()
        dialect = next((each for each in DIALECTS if each.takes(path)), None)
        try:
            raw = read_bytes(self.headers, self.rfile)  # type: ignore[arg-type]
            if self._is_proxied():
                self._refuse()
            elif dialect:
                self._answer(dialect, dialect.understand(self.path, as_object(raw), _tokens(raw)))
            else:
                self._answer_other(path, raw)
        except Malformed as error:
            self._record("malformed", dialect.NAME if dialect else "")
            self.close_connection = True
            self._send_json((dialect or chat).error(400, str(error)), 400)

    def do_PUT(self) -> None:
        self.do_POST()

    def do_PATCH(self) -> None:
        self.do_POST()

    def _answer(self, dialect: Dialect, asked: Asked) -> None:
        request = self._seen(dialect, asked)
        self._ledger.record(request)
        try:
            self._send_answer(dialect, asked)
        except ConnectionError:
            self._ledger.record_left(request)
            self.close_connection = True

    def _send_answer(self, dialect: Dialect, asked: Asked) -> None:
        script = asked.script
        if script.hangs:
            self._hang()
        elif status := script.error_status:
            self._send_json(dialect.error(status, f"stub error {status}"), status)
        elif asked.stream:
            self._send_events(list(dialect.stream(asked)), script.slow_s)
        else:
            self._ledger.stopping.wait(script.slow_s)
            self._send_json(dialect.answer(asked))

    def _answer_other(self, path: str, raw: bytes) -> None:
        if path.endswith(("/count_tokens", ":countTokens")):
            self._record("count_tokens")
            self._send_json({"totalTokens" if path.endswith("countTokens") else "input_tokens": _tokens(raw)})
        elif any(word in path for word in _TELEMETRY):
            self._record("unknown")
            self._send_json({})
        else:
            self._not_found()

    def _hang(self) -> None:
        """Wait until the client goes. Raises ConnectionError then."""
        stopping = self._ledger.stopping
        while not stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], _LOOK_S)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionAbortedError("the client went")
            if readable:  # it sends on without waiting for the answer: it is there
                stopping.wait(_LOOK_S)
        self.close_connection = True

    def _refuse(self) -> None:
        self._record("refused")
        self.close_connection = True
        self._send_json({"error": "the stub forwards nothing"}, 403)

    def _not_found(self) -> None:
        self._record("unknown")
        self._send_json(anthropic.error(404, f"the stub has no {self._bare_path()}"), 404)

    def _send_json(self, body: Json, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status in _TRY_AGAIN:
            self.send_header("retry-after", "1")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_events(self, events: list[str], over_s: float) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            self._send_chunk(event.encode())
            if over_s and self._ledger.stopping.wait(over_s / len(events)):
                break
        self._send_chunk(b"")

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    @property
    def _ledger(self) -> Ledger:
        return cast(HasLedger, self.server).ledger

    def _bare_path(self) -> str:
        return self.path.partition("?")[0]

    def _is_proxied(self) -> bool:
        return self.path.startswith(("http://", "https://"))

    def _record(self, kind: Kind, dialect: str = "") -> None:
        self._ledger.record(Seen(self.command, self.path, kind, dialect))

    def _seen(self, dialect: Dialect, asked: Asked) -> Seen:
        script = asked.script
        return Seen(
            self.command,
            self.path,
            "prompt",
            dialect.NAME,
            asked.model,
            script.prompt,
            script.directives,
            script.has_result,
            tuple(script.tools),
            asked.stream,
        )

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: the ledger keeps the requests."""


def _tokens(raw: bytes) -> int:
    return max(1, len(raw) // 4)
