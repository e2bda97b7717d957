"""Reads a host's spool: bytes in, signals out; a line that cannot be one is told and passed over.

The contract of a line stands in ``docs/architecture.md``; version 1. Lines come from other processes, so nothing about
them is trusted: the ingest edge checks again what it needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from store.clock import from_text
from store.records import Signal

VERSION = 1
UNREADABLE = (ValueError, KeyError, TypeError, ArithmeticError, RecursionError)
"""What reading a line may raise, whatever stands in it: no JSON, no signal, no date that exists, too deep a nesting."""
LONGEST_LINE = 1 << 20
"""Bytes, and how much is read at once; nothing of ours writes near as much, so as much without a newline is rubbish."""


@dataclass(frozen=True, slots=True)
class Line:
    """One complete line: where the next one starts, what it says, and what was wrong with it."""

    end: int
    signal: Signal | None
    fault: str = ""


def lines(data: bytes, offset: int) -> Iterator[Line]:
    """The complete lines of ``data``, which starts at ``offset`` of the spool; a torn last line waits for its rest.

    ``LONGEST_LINE`` bytes without a newline are passed over, so that one endless line never stops those behind it.
    """
    start = 0
    while (stop := data.find(b"\n", start)) >= 0:
        raw = data[start:stop]
        start = stop + 1
        yield _line(raw, offset + start)
    if len(data) - start >= LONGEST_LINE:
        yield Line(offset + len(data), None, f"a line of {LONGEST_LINE} bytes or more")


def _line(raw: bytes, end: int) -> Line:
    if not raw.strip():
        return Line(end, None)
    try:
        return Line(end, _signal(json.loads(raw)))
    except UNREADABLE as error:
        return Line(end, _after_torn(raw), f"{type(error).__name__}: {error}")


def _after_torn(raw: bytes) -> Signal | None:
    """The whole record behind a torn one: a writer that died in mid-line leaves no newline before the next."""
    start = raw.rfind(b'{"v":')
    if start <= 0:
        return None
    try:
        return _signal(json.loads(raw[start:]))
    except UNREADABLE:
        return None


def _signal(said: object) -> Signal:
    if not isinstance(said, dict):
        raise TypeError("not an object")
    payload = said.get("payload") or {}
    if not isinstance(payload, dict):
        raise TypeError("the payload is no object")
    return Signal(
        run_id=str(said["run"]),
        attempt=said.get("attempt"),
        kind=str(said["kind"]),
        source=str(said.get("source") or "agent"),
        at=from_text(str(said["at"])) if said.get("at") else None,
        seq=said.get("seq"),
        payload=payload,
    )
