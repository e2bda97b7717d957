"""The operator's terminal: what it sends may go straight to an agent's, its cursor may be lent to one, and it may go
away at any moment.

Textual's writing thread ends with its first error, and whatever is drawn next waits for it: a control room that nobody
sees would hang, and hold the executor's lock for ever. So the control room leaves with its window, or the line to it.
"""

from __future__ import annotations

import asyncio
import io
import os
import select
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import Any, Final, TextIO

from textual import constants
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from screens.keys_in_order import KeysInOrder
from screens.terminal.cursor import LentCursor
from screens.terminal.tokens import patience, unfinished

LOOK_S: Final = 0.1
"""How long the reading thread may take to hear that it is to end."""


class RoomDriver(LinuxDriver):
    """Textual's driver, on a terminal that may be gone, and whose keys and cursor another may have."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = Terminal(self._file, self._gone)  # type: ignore[assignment]
        self._parser = XTermParser(debug)
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._tick: asyncio.TimerHandle | None = None
        self._begun = ""
        """The beginning of a sequence that the parser has, while the rest of it is to come."""
        self.cursor = LentCursor(forms=os.environ.get("TERM") != "linux")

    def write(self, data: str) -> None:
        super().write(self.cursor.behind(data))

    def stop_application_mode(self) -> None:
        """On every way out: a program has the terminal, the control room ends, or it has failed."""
        super().write(self.cursor.put_away())
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Reads; everything else is done on the app's loop, so that keys stay in order whoever has them."""
        self._parser = XTermParser(self._debug)
        poll = select.poll()
        poll.register(self.fileno, select.POLLIN)
        while not self.exit_event.is_set():
            if not poll.poll(LOOK_S * 1000):
                continue
            try:
                data = os.read(self.fileno, 1 << 16)
            except OSError:
                data = b""
            if not data:
                self._gone()
                return
            self._loop.call_soon_threadsafe(self._take, data)

    def _take(self, data: bytes) -> None:
        """Give it to whoever has the keys; the rest is Textual's."""
        text = self._decode(data)
        app = self._app
        taker = app.taker if isinstance(app, KeysInOrder) else None
        if taker is not None:
            text = taker(text, self._cell())
        if text:
            for message in self._parser.feed(text):
                self.process_message(message)
            self._begun = unfinished(self._begun + text)
        if self._tick is not None:
            self._tick.cancel()
        # Given up, half a report of the mouse would be read as keys, and they would act.
        self._tick = self._loop.call_later(patience(self._begun, constants.ESCAPE_DELAY * 1.1), self._look_again)

    def _look_again(self) -> None:
        """An Escape that nothing has followed is a key."""
        self._tick, self._begun = None, ""
        for message in self._parser.tick():
            self.process_message(message)

    def _cell(self) -> tuple[float, float]:
        """How large a cell is in units of the mouse: 1, or pixels where the terminal tells them."""
        parser = self._parser
        if not parser.mouse_pixels or parser.terminal_size is None or parser.terminal_pixel_size is None:
            return 1.0, 1.0
        (columns, rows), (width, height) = parser.terminal_size, parser.terminal_pixel_size
        return max(width / max(columns, 1), 1.0), max(height / max(rows, 1), 1.0)

    def _gone(self) -> None:
        self._app.call_later(self._app.exit)


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
