"""Waiting for an outcome with a deadline, so that no test sleeps for a guessed time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_INTERVAL_S = 0.02


def until(predicate: Callable[[], T], timeout: float, what: Callable[[], object] | str = "the awaited outcome") -> T:
    """The first true value of ``predicate``; AssertionError after ``timeout`` seconds.

    ``what`` names the outcome in that error; a callable is asked for it at the end, so that it can show the last state.
    """
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"after {timeout:g} s still waiting for: {what() if callable(what) else what}")
        pause.wait(_INTERVAL_S)
