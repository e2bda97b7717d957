"""Keeps a fault that repeats from filling the log: the first records of it are written, the rest is counted (FR-17)."""

from __future__ import annotations

import copy
import logging
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from app.log_lines import message_of

WINDOW_S = 60.0
ALIKE = 30
"""Warnings and errors of one kind, which differ only in what they name, within a window."""
MOST_WINDOWS = 1000


@dataclass(slots=True)
class _Window:
    until: float
    room: int
    held: int = 0
    last: logging.LogRecord | None = None


class Burst:
    """Says of each record whether it is written, and afterwards how many were not.

    Two records are the same when they say the same; then one a minute is written. They are of a kind when the same
    line of the program wrote them.
    """

    def __init__(self) -> None:
        self._windows: dict[Hashable, _Window] = {}
        """By key; all last equally long, so the first is the first to end."""

    def admits(self, record: logging.LogRecord, now: float) -> bool:
        """Whether this record is written; ``now`` in seconds of any clock that only goes forward."""
        same = self._window((record.name, record.levelno, message_of(record)[:1000], _raised(record)), 1, now)
        if not _let_in(same, record):
            return False
        if record.levelno < logging.WARNING:
            return True
        kind = self._window((record.name, record.levelno, record.pathname, record.lineno), ALIKE, now)
        return _let_in(kind, record)

    def due(self, now: float | None) -> Iterator[logging.LogRecord]:
        """The summaries of the windows that have ended by ``now``; of all with None."""
        while self._windows:
            key, window = next(iter(self._windows.items()))
            if now is not None and now < window.until and len(self._windows) <= MOST_WINDOWS:
                return
            del self._windows[key]
            if window.last is not None:
                yield _summary(window.last, window.held)

    def _window(self, key: Hashable, room: int, now: float) -> _Window:
        return self._windows.setdefault(key, _Window(now + WINDOW_S, room))


def _let_in(window: _Window, record: logging.LogRecord) -> bool:
    if window.room:
        window.room -= 1
        return True
    window.held += 1
    window.last = record
    return False


def _raised(record: logging.LogRecord) -> Hashable:
    if not record.exc_info or record.exc_info[1] is None:
        return None
    return type(record.exc_info[1]).__name__, str(record.exc_info[1])[:1000]


def _summary(last: logging.LogRecord, held: int) -> logging.LogRecord:
    summary = copy.copy(last)
    summary.msg = f"{message_of(last)} ({held} more like this within {WINDOW_S:.0f} s)"
    summary.args, summary.exc_info, summary.exc_text, summary.stack_info = None, None, None, None
    return summary
