"""Cuts the byte stream of a tmux control-mode client into replies and notices.

A reply is what stands between ``%begin T N F`` and the ``%end`` or ``%error`` that repeats the same triple; only
that exact line ends it, because pane text may hold anything, ``%end`` included (FR-56). Everything else is a notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """One command's answer; ``ok`` is false for ``%error``, whose text is then in ``lines``."""

    ok: bool
    lines: tuple[bytes, ...]
    ours: bool
    """Whether it answers a command this client sent, rather than its own attach or a hook."""

    @property
    def text(self) -> str:
        """All lines as one string, for messages."""
        return b"\n".join(self.lines).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Attached:
    """The client has its session: from here on commands are answered."""


@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """Some session began or ended, anywhere on the server."""


@dataclass(frozen=True, slots=True)
class Exiting:
    """The server lets this client go; ``reason`` is empty when it was asked to."""

    reason: str


@dataclass(frozen=True, slots=True)
class OutOfStep:
    """The stream makes no sense any more; the client must be given up."""

    line: str


Notice = Attached | SessionsChanged | Exiting | OutOfStep


class Framer:
    """Takes bytes as they come, gives replies and notices in order."""

    def __init__(self) -> None:
        self._rest = b""
        self._open: bytes | None = None
        self._lines: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[Reply | Notice]:
        """Everything that ``data`` completes. An unfinished line waits for the next call."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            item = self._within(line) if self._open is not None else self._outside(line)
            if item is not None:
                yield item

    def _within(self, line: bytes) -> Reply | None:
        verb, _, triple = line.partition(b" ")
        if triple != self._open or verb not in (b"%end", b"%error"):
            self._lines.append(line)
            return None
        reply = Reply(verb == b"%end", tuple(self._lines), ours=triple.endswith(b" 1"))
        self._open = None
        self._lines = []
        return reply

    def _outside(self, line: bytes) -> Notice | None:
        verb, _, rest = line.partition(b" ")
        if verb == b"%begin":
            self._open = rest
            return None
        if verb in (b"%end", b"%error"):
            return OutOfStep(line.decode("utf-8", "replace"))
        return _notice(verb, rest)


def _notice(verb: bytes, rest: bytes) -> Notice | None:
    match verb:
        case b"%session-changed":
            return Attached()
        case b"%sessions-changed":
            return SessionsChanged()
        case b"%exit":
            return Exiting(rest.decode("utf-8", "replace"))
    return None
