"""The line to a program's terminal, as the widget sees it; ``executor.terminal`` is at its other end."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Protocol


class Frame(Protocol):
    """What has changed on the program's screen since the frame before."""

    @property
    def rows(self) -> Sequence[tuple[int, str]]:
        """Rows by number from the top, each standing alone, as text with SGR styles."""
        ...

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of the screen."""
        ...

    @property
    def cursor(self) -> tuple[int, int, bool, str]:
        """Column, row, whether it shows, and ``block``, ``bar`` or ``underline``, with ``blinking`` before it if it
        does, or ``default``."""
        ...

    @property
    def modes(self) -> Set[str]:
        """What the program asked of its terminal: ``mouse_press``, ``paste``, ``focus``, ``alternate``…"""
        ...

    @property
    def kitty(self) -> int:
        """Flags of the kitty keyboard protocol it asked for."""
        ...

    @property
    def title(self) -> str:
        """What it calls its window."""
        ...


class Viewer(Protocol):
    """Who is told what happens at the other end, on the loop of the screens."""

    def drawn(self, frame: Frame) -> None:
        """The screen has changed."""
        ...

    def rang(self) -> None:
        """The program rang the bell."""
        ...

    def copied(self, text: str) -> None:
        """The program put a text into the clipboard."""
        ...

    def restarted(self) -> None:
        """The terminal was lost, and is opened anew; a whole screen follows."""
        ...

    def ended(self, status: int | None, why: str) -> None:
        """The program is over; nothing follows. ``why`` is a sentence when it could not be had."""
        ...


class Line(Protocol):
    """Nothing of this waits, but for ``close``."""

    def write(self, data: bytes) -> None:
        """Type bytes."""
        ...

    def resize(self, columns: int, rows: int) -> None:
        """Give the program another size."""
        ...

    def scroll(self, lines: int) -> None:
        """Look further up (negative) or down in what has scrolled away; 0 goes back."""
        ...

    async def close(self) -> None:
        """Hang up; returns when everything of it is gone."""
        ...


Dial = Callable[[int, int, Viewer], Line]
"""Opens a line for a screen of so many columns and rows."""
