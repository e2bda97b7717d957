"""A stub model server on loopback: real agent CLIs ask it instead of a paid API, and reach nothing else.

It speaks the dialects of ``_Handler.do_POST`` (Anthropic Messages; another vendor's dialect is a module beside
``stub_anthropic`` and a line there) and stands in as HTTP proxy: CONNECT and absolute addresses are recorded and
answered 403, nothing is forwarded. ``tests/support/stub_script.py`` lists the directives that a prompt may hold.

In a test: ``with StubModel() as stub: … stub.url … stub.seen``.
By hand, from the root of the repository: ``python -m tests.support.stub_model [PORT]``.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Literal, cast

from tests.support import stub_anthropic
from tests.support.stub_script import Script

Json = Mapping[str, object]
Kind = Literal["messages", "count_tokens", "models", "refused", "unknown"]

MODELS = ("stub-model", "claude-opus-5-5", "claude-sonnet-4-5")
_TELEMETRY = ("event", "telemetry", "metrics", "otlp")


@dataclass(frozen=True)
class Seen:
    """One request as the stub understood it. Headers are left out: they carry keys."""

    method: str
    path: str
    kind: Kind
    model: str = ""
    prompt: str = ""
    directives: Mapping[str, str] = field(default_factory=dict)
    stream: bool = False


class StubModel:
    """The server; it listens on a free port of 127.0.0.1 from ``__enter__`` to ``__exit__``."""

    def __init__(self, port: int = 0, *, echo: bool = False) -> None:
        self.stopping = threading.Event()
        self._echo = echo
        self._seen: list[Seen] = []
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="stub-model", daemon=True)

    @property
    def url(self) -> str:
        """Base address, without ``/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Every request so far, oldest first."""
        with self._lock:
            return tuple(self._seen)

    def prompts(self) -> list[str]:
        """The prompts of the message requests so far."""
        return [request.prompt for request in self.seen if request.kind == "messages"]

    def record(self, request: Seen) -> None:
        """Remember a request; with ``echo`` print it as a line of JSON."""
        with self._lock:
            self._seen.append(request)
            if self._echo:
                sys.stdout.write(json.dumps(asdict(request)) + "\n")
                sys.stdout.flush()

    def __enter__(self) -> StubModel:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], stub: StubModel) -> None:
        super().__init__(address, _Handler)
        self.stub = stub

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay quiet about clients that hang up in mid-answer; anything else is a fault of the stub."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "stub-model"

    def do_GET(self) -> None:
        if self._is_proxied():
            self._refuse()
        elif self._path().endswith("/models"):
            self._record("models")
            self._send_json(stub_anthropic.models(MODELS))
        else:
            self._not_found()

    def do_POST(self) -> None:
        raw = self._read_body()
        if self._is_proxied():
            self._refuse()
        elif self._path() == stub_anthropic.MESSAGES_PATH:
            self._answer_anthropic(_as_object(raw), input_tokens=max(1, len(raw) // 4))
        elif self._path().endswith("/count_tokens"):
            self._record("count_tokens")
            self._send_json({"input_tokens": len(raw) // 4})
        elif any(word in self._path() for word in _TELEMETRY):
            self._record("unknown")
            self._send_json({})
        else:
            self._not_found()

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_CONNECT(self) -> None:
        self._refuse()

    def _answer_anthropic(self, body: Json, input_tokens: int) -> None:
        script, model = stub_anthropic.understand(body), str(body.get("model", MODELS[0]))
        streaming = body.get("stream") is True
        self._record("messages", model, script, streaming)
        if status := script.error_status:
            self._send_json(stub_anthropic.error(status, f"stub error {status}"), status)
        elif streaming:
            self._send_events(list(stub_anthropic.stream(script, model, input_tokens)), script.slow_s)
        else:
            self._send_json(stub_anthropic.plain_answer(script, model, input_tokens))

    def _refuse(self) -> None:
        self._record("refused")
        self.close_connection = True
        self._send_json({"error": "the stub forwards nothing"}, 403)

    def _not_found(self) -> None:
        self._record("unknown")
        self._send_json(stub_anthropic.error(404, f"the stub has no {self._path()}"), 404)

    def _send_json(self, body: Json, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_events(self, events: list[tuple[str, Json]], over_s: float) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for name, data in events:
            self._send_chunk(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
            if over_s and self._stub.stopping.wait(over_s / len(events)):
                break
        self._send_chunk(b"")

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _read_body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            return b"".join(self._chunks())
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    @property
    def _stub(self) -> StubModel:
        return cast("_Server", self.server).stub

    def _path(self) -> str:
        return self.path.partition("?")[0]

    def _is_proxied(self) -> bool:
        return self.path.startswith(("http://", "https://"))

    def _record(self, kind: Kind, model: str = "", script: Script | None = None, stream: bool = False) -> None:
        prompt, directives = (script.prompt, script.directives) if script else ("", {})
        self._stub.record(Seen(self.command, self.path, kind, model, prompt, directives, stream))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: ``record`` keeps the requests."""


def _as_object(raw: bytes) -> Json:
    try:
        body = json.loads(raw or b"{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def main() -> None:
    """Serve until interrupted; print the address, then every request."""
    with StubModel(int(sys.argv[1]) if len(sys.argv) > 1 else 8399, echo=True) as stub:
        sys.stderr.write(f"stub model on {stub.url}\n")
        try:
            stub.stopping.wait()
        except KeyboardInterrupt:
            sys.stderr.write("\n")


if __name__ == "__main__":
    main()
