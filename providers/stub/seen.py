"""What the stub remembers of the requests it got."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

Kind = Literal["prompt", "count_tokens", "models", "refused", "malformed", "unknown"]


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as the stub understood it. Headers are left out: they carry keys."""

    method: str
    path: str
    kind: Kind
    dialect: str = ""
    """"anthropic", "chat", "responses" or "gemini" where an answer was asked for."""
    model: str = ""
    prompt: str = ""
    directives: Mapping[str, str] = field(default_factory=dict)
    has_result: bool = False
    """Whether a tool's result came with it."""
    tools: tuple[str, ...] = ()
    """Names of the tools that the CLI offered."""
    stream: bool = False


class Ledger:
    """The requests of one server, written by its threads; ``stopping`` ends their waits."""

    def __init__(self, echo: bool = False) -> None:
        self.stopping = threading.Event()
        self._echo = echo
        self._seen: list[Seen] = []
        self._left: list[Seen] = []
        self._lock = threading.Lock()

    def record(self, request: Seen) -> None:
        """Remember a request; with ``echo`` print it as a line of JSON."""
        with self._lock:
            self._seen.append(request)
            if self._echo:
                sys.stdout.write(json.dumps(asdict(request)) + "\n")
                sys.stdout.flush()

    def record_left(self, request: Seen) -> None:
        """Remember that the client of a request went before its answer was whole."""
        with self._lock:
            self._left.append(request)

    def seen(self) -> tuple[Seen, ...]:
        """Every request so far, oldest first."""
        with self._lock:
            return tuple(self._seen)

    def left(self) -> tuple[Seen, ...]:
        """The requests whose client went before the answer was whole."""
        with self._lock:
            return tuple(self._left)
