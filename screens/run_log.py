"""The log of a run as a part of its page: read piece by piece while it is seen, searched off the keys' thread."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from textual.containers import Vertical
from textual.widget import Widget
from textual.worker import Worker

from screens.amounts import compact
from screens.model import ControlRoomModel
from screens.model.run import LogPiece
from screens.widgets.log_bar import LogBar
from screens.widgets.log_view import LogView
from screens.widgets.spans import quoted
from store.errors import PamError

REST: Final = 0.05
"""Seconds that the keys have to rest before it is searched."""


class RunLog(Vertical):
    """Lines, and a bar below them that says what is seen."""

    def __init__(self, model: ControlRoomModel, run_id: str) -> None:
        super().__init__(id="log")
        self.view = LogView(id="log-lines")
        self.bar = LogBar(id="log-bar")
        self._model = model
        self._run_id = run_id
        self._reading: Worker[None] | None = None
        self._skipped = 0
        self._more = True
        self._wanted = ""
        self._found: list[int] = []
        self._at = -1

    def compose(self) -> Iterator[Widget]:
        yield self.view
        yield self.bar

    @property
    def wanted(self) -> str:
        """What is looked for."""
        return self._wanted

    def open(self) -> None:
        """It is seen: read what there is, and what comes."""
        if self._reading is None:
            self.view.say("Reading…")
            # A function, not its coroutine: one that is cancelled before it begins would never be awaited.
            self._reading = self.run_worker(self._read, group="log", exclusive=True)

    def close(self) -> None:
        """It is seen no more; it is read anew when it is opened again."""
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def on_log_view_moved(self) -> None:
        self._tell()

    def find(self, text: str) -> None:
        """Mark a text wherever it stands, and show the one that is nearest above the end of the window."""
        self._wanted = text
        if text:
            self.run_worker(partial(self._search, text), group="find", exclusive=True)  # type: ignore[arg-type]
        else:
            self.workers.cancel_group(self, "find")
            self._found, self._at = [], -1
            self.view.mark(None)
            self._tell()

    def find_next(self, step: int) -> str:
        """Go to the next line that holds it (1) or the one before (-1), round the ends; says why where it can't."""
        if not self._found:
            return f"{quoted(self._wanted)} is not in what is shown of the log."
        here = self._at if self._at >= 0 else self.view.seen[0] - 1
        at = bisect_right(self._found, here) if step > 0 else bisect_left(self._found, here) - 1
        self._go(self._found[at % len(self._found)])
        return ""

    async def _read(self) -> None:
        self.view.clear()
        self._skipped, self._more, self._found, self._at = 0, True, [], -1
        try:
            async for piece in self._model.log(self._run_id):
                self._skipped += piece.skipped
                self._more = piece.more
                self._take(piece)
        except PamError as error:
            self.view.say(str(error))

    def _take(self, piece: LogPiece) -> None:
        view = self.view
        first = view.count - bool(view.rest)
        view.add(piece.lines, piece.rest)
        if not view.count:
            view.say("Nothing was written yet.", "What the agent writes appears here as it comes.")
        if self._wanted:
            self._found += _holding(piece.lines, _pattern(self._wanted), first)
            del self._found[: bisect_left(self._found, view.gone)]
        self._tell()

    async def _search(self, text: str) -> None:
        await asyncio.sleep(REST)
        lines, first, pattern = self.view.lines, self.view.gone, _pattern(text)
        count = len(lines)
        found = await asyncio.to_thread(_holding, lines[:count], pattern, first)
        found += _holding(self.view.lines[first + count - self.view.gone :], pattern, first + count)
        self._found, self._at = found, -1
        self.view.mark(pattern)
        if found:
            self._go(found[max(bisect_right(found, self.view.seen[1] - 1) - 1, 0)])
        self._tell()

    def _go(self, number: int) -> None:
        self._at = number
        self.view.show(number)
        self._tell()

    def _tell(self) -> None:
        view = self.view
        first, last = view.seen
        below = f", {view.count - last:,} lines below" if view.count > last else ""
        place = "follows its end" if view.following else f"G follows its end{below}"
        lines = f"{view.count:,} line{'' if view.count == 1 else 's'}"
        parts = [f"line {first:,} of {lines}" if not view.following else lines, place]
        if self._skipped or view.gone:
            left_out = f"{compact(self._skipped)} bytes" if self._skipped else f"{view.gone:,} lines"
            parts.append(f"{left_out} before it are left out, W writes all")
        if view.pan:
            parts.append(f"from column {view.pan + 1}")
        if self._more and view.count:
            parts.append("reading…")
        self.bar.says = (" · ".join(parts) if view.count else "", "soft" if view.following else "waiting")
        self.bar.finds = self._finds()

    def _finds(self) -> str:
        if not self._wanted:
            return ""
        if not self._found:
            return f"no {quoted(self._wanted, 24)}"
        at = f"{bisect_left(self._found, self._at) + 1:,} of " if self._at >= 0 else ""
        return f"{at}{len(self._found):,} lines with {quoted(self._wanted, 24)}"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text), re.IGNORECASE)


def _holding(lines: Sequence[str], pattern: re.Pattern[str], first: int) -> list[int]:
    """Numbers of the lines that hold it, the first line's being ``first``."""
    return [first + at for at, text in enumerate(lines) if pattern.search(text)]
