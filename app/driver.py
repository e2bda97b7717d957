"""The terminal may go away at any moment, with its window or with the line to it; the control room leaves then.

Textual's writing thread ends with its first error, and whatever is drawn next waits for it: a control room that nobody
sees would hang, and hold the executor's lock for ever.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, TextIO

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver


class RoomDriver(LinuxDriver):
    """Textual's driver, on a terminal that may be gone."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = Terminal(self._file, lambda: app.call_later(app.exit))  # type: ignore[assignment]


class Terminal(io.TextIOBase, TextIO):
    """Writes until the terminal is gone; says so once, and drops what is written after that."""

    def __init__(self, file: TextIO | None, when_gone: Callable[[], object]) -> None:
        self._out = file
        self._when_gone = when_gone

    def write(self, text: str) -> int:
        self._try(lambda out: out.write(text))
        return len(text)

    def flush(self) -> None:
        self._try(lambda out: out.flush())

    def isatty(self) -> bool:
        return True

    def _try(self, act: Callable[[TextIO], object]) -> None:
        if self._out is None:
            return
        try:
            act(self._out)
        except (OSError, ValueError):  # ValueError: closed
            self._out = None
            self._when_gone()
