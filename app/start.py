"""How a process of pam begins and ends: quickly, because most of them are short commands."""

from __future__ import annotations

import gc
import os
import sys
import threading
from typing import NoReturn

from app.deferred import defer_unused

INTERRUPTED = 130
"""Where nothing of pam could see to it yet; see docs/exit-codes.md."""


def start() -> NoReturn:
    """Run the command line and exit with its code."""
    # Rarer collections: a short command leaves nothing behind that is worth looking for.
    gc.set_threshold(20_000, 20, 50)
    defer_unused()
    try:
        from app.cli.main import run

        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    _leave(code)


def _leave(code: int) -> NoReturn:
    """Exit; where no thread was started without taking the interpreter apart, which costs 10 ms."""
    if threading.active_count() > 1:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 1
    os._exit(code)
