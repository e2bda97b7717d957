"""The stub model server: real agent CLIs ask it instead of a paid API.

It speaks the dialects of the modules beside this one (Anthropic Messages, OpenAI Chat Completions and Responses,
Gemini) and stands in as HTTP proxy: CONNECT and absolute addresses are recorded and answered 403, nothing is forwarded.
``script.py`` lists the directives that a prompt may hold.

``with StubModel() as stub: … stub.url … stub.seen``. By hand: ``python -m providers.stub [PORT]``.
"""

from __future__ import annotations

import socket
import socketserver
import sys
import threading
from http.server import ThreadingHTTPServer
from types import TracebackType

from providers.stub.handler import Handler
from providers.stub.seen import Ledger, Seen

_LOOK_S = 0.05
"""How often the server looks whether it has to end."""


class StubModel:
    """The server; it listens on a port of 127.0.0.1, a free one with 0, from ``__enter__`` to ``__exit__``.

    Raises OSError where the port is taken.
    """

    def __init__(self, port: int = 0, *, echo: bool = False) -> None:
        self._ledger = Ledger(echo)
        self._server = _Server(("127.0.0.1", port), self._ledger)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_LOOK_S,), name="stub-model", daemon=True
        )

    @property
    def url(self) -> str:
        """Base address, without ``/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Every request so far, oldest first."""
        return self._ledger.seen()

    @property
    def left(self) -> tuple[Seen, ...]:
        """The requests whose client went before the answer was whole, as a CLI does that is interrupted."""
        return self._ledger.left()

    def prompts(self) -> list[str]:
        """The prompts so far, one for each request for an answer."""
        return [request.prompt for request in self.seen if request.kind == "prompt"]

    def wait(self) -> None:
        """Until the server ends."""
        self._ledger.stopping.wait()

    def __enter__(self) -> StubModel:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ledger.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], ledger: Ledger) -> None:
        self.ledger = ledger
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(address, Handler)

    def server_bind(self) -> None:
        """Bind without asking the machine's resolver for a name of the address, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: object, client_address: object) -> None:
        with self._lock:
            self._open.add(_as_socket(request))
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def shutdown_request(self, request: object) -> None:
        with self._lock:
            self._open.discard(_as_socket(request))
        super().shutdown_request(request)  # type: ignore[arg-type]

    def server_close(self) -> None:
        """Stop listening, and let go of the clients that keep their connection open."""
        super().server_close()
        with self._lock:
            for connection in self._open:
                _let_go(connection)

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay quiet about clients that hang up; anything else is a fault of the stub."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _as_socket(request: object) -> socket.socket:
    assert isinstance(request, socket.socket)
    return request


def _let_go(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the client went first
