"""The control room's end of its helpers: a program is opened on one, and goes on on another when that dies.

A nursery is kept warm, so that neither the first attach nor one after a crash waits for Python to start. All of this
lives on one event loop.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from executor.terminal.births import Births
from executor.terminal.ghostty import library_path
from executor.terminal.pipe import Helper
from executor.terminal.protocol import INPUT, SEEN, Word, encode, encode_word

log = logging.getLogger("pam.terminal")

STARTS: Final = 3
"""Helpers in a row that may die before they have shown anything; after that the terminal is given up."""
_SEEN: Final = encode(SEEN, b"")
_COMMAND: Final = (sys.executable, "-I", "-m", "executor.terminal.nursery")


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, and where."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None = None
    colours: tuple[str, str] | None = None
    """Of text and ground, ``#rrggbb``, for programs that ask."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What has changed on the screen since the frame before."""

    rows: Sequence[tuple[int, str]]
    """Rows by number from the top, each standing alone, as text with SGR styles."""
    size: tuple[int, int]
    """Columns and rows of the screen."""
    cursor: tuple[int, int, bool, str]
    """Column, row, whether it shows, and ``block``, ``bar`` or ``underline``, with ``blinking`` before it if it does,
    or ``default``."""
    modes: frozenset[str] = frozenset()
    """What the program asked of its terminal: ``mouse_press``, ``mouse_any``, ``paste``, ``focus``, ``alternate``…"""
    kitty: int = 0
    """Flags of the kitty keyboard protocol it asked for."""
    title: str = ""


class Viewer(Protocol):
    """Who is told what happens, on the loop of the terminals."""

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
        """The helper died; the program is opened anew, and its whole screen follows."""
        ...

    def ended(self, status: int | None, why: str) -> None:
        """The program is over, by its exit code or minus a signal's number; ``why`` when it could not be had."""
        ...


def available() -> bool:
    """Whether there is an engine for this machine."""
    return library_path() is not None


class Terminals:
    """Opens programs on helpers."""

    def __init__(self, command: Sequence[str] = _COMMAND) -> None:
        """``command`` starts the nursery."""
        self._command = tuple(command)
        self._births: Births | None = None
        self._all: set[Helper] = set()

    def warm(self) -> None:
        """Have a nursery. Raises OSError when it can't be started."""
        self._nursery()

    def open(self, program: Program, columns: int, rows: int, viewer: Viewer) -> Terminal:
        """Run a program; ``viewer`` is told what happens, until ``close``. Raises OSError without a helper."""
        return Terminal(self, program, (columns, rows), viewer)

    async def close(self) -> None:
        """End every helper, and with it its program."""
        await asyncio.gather(*(helper.close() for helper in list(self._all)))
        if self._births is not None:
            await self._births.close()

    def drop(self) -> None:
        """As ``close``, once the loop is over."""
        for helper in list(self._all):
            helper.drop()
        if self._births is not None:
            self._births.drop()

    def take(self) -> Helper:
        """A helper for a program. Raises OSError."""
        try:
            return self._bear()
        except OSError:
            # The nursery has died, and nobody has heard of it so far.
            return self._bear()

    def _bear(self) -> Helper:
        helper = Helper(self._nursery(), self._all.discard)
        self._all.add(helper)
        return helper

    def _nursery(self) -> Births:
        if self._births is None or self._births.gone:
            self._births = Births(self._command)
        return self._births


class Terminal:
    """A program's terminal, as the screens have it."""

    def __init__(self, terminals: Terminals, program: Program, size: tuple[int, int], viewer: Viewer) -> None:
        self._terminals = terminals
        self._program = program
        self._size = size
        self._viewer = viewer
        self._fruitless = 0
        self._frame = Frame((), size, (0, 0, True, "block"))
        self._closed = False
        self.program_pid = 0
        """Of the program; 0 until it runs."""
        self._helper = self._open()

    @property
    def helper_pid(self) -> int:
        """Of the helper that has it now."""
        return self._helper.pid

    def write(self, data: bytes) -> None:
        """Type bytes."""
        self._helper.send(encode(INPUT, data))

    def resize(self, columns: int, rows: int) -> None:
        """Give the program another size."""
        self._size = (columns, rows)
        self._helper.send(encode_word("size", columns=columns, rows=rows))

    def scroll(self, lines: int) -> None:
        """Look further up or down in what has scrolled away; 0 goes back."""
        self._helper.send(encode_word("scroll", lines=lines))

    async def close(self) -> None:
        """Hang up on the program; returns when it and its helper are gone."""
        self._closed = True
        await self._helper.close()

    def _open(self) -> Helper:
        helper = self._terminals.take()
        helper.listen(self._hear, self._lost)
        columns, rows = self._size
        program = self._program
        helper.send(
            encode_word(
                "open",
                argv=list(program.argv),
                env=dict(program.env),
                cwd=program.cwd,
                colours=program.colours,
                columns=columns,
                rows=rows,
            )
        )
        return helper

    def _hear(self, word: Word) -> None:
        if self._closed:
            return
        say = word["say"]
        if say == "frame":
            self._fruitless = 0
            self._frame = _frame(word, self._frame)
            try:
                self._viewer.drawn(self._frame)
            finally:
                self._helper.send(_SEEN)
        elif say == "open":
            self.program_pid = _number(word["pid"])
        elif say == "bell":
            self._viewer.rang()
        elif say == "copy":
            self._viewer.copied(str(word["text"]))
        elif say == "end":
            status = word["status"]
            self._give_up(status if isinstance(status, int) else None, str(word["why"]))

    def _lost(self) -> None:
        """The helper is gone without a word of the program's end."""
        if self._closed:
            return
        self._fruitless += 1
        log.warning("a terminal's helper died (%d in a row)", self._fruitless)
        if self._fruitless > STARTS:
            self._give_up(None, "The terminal's helper keeps dying; logs/pam.log may say why.")
            return
        self._viewer.restarted()
        try:
            self._helper = self._open()
        except OSError as error:
            self._give_up(None, f"The terminal's helper can't be started: {error}")

    def _give_up(self, status: int | None, why: str) -> None:
        self._closed = True
        self._viewer.ended(status, why)


def _frame(word: Word, before: Frame) -> Frame:
    """The frame a word tells of; what it does not name is as before."""
    rows, size, cursor, modes = word["rows"], word.get("size"), word.get("cursor"), word.get("modes")
    assert isinstance(rows, list)
    return Frame(
        rows=[(y, row) for y, row in rows],
        size=(size[0], size[1]) if isinstance(size, list) else before.size,
        cursor=(cursor[0], cursor[1], cursor[2], cursor[3]) if isinstance(cursor, list) else before.cursor,
        modes=frozenset(modes) if isinstance(modes, list) else before.modes,
        kitty=_number(word["kitty"]) if "kitty" in word else before.kitty,
        title=str(word.get("title", before.title)),
    )


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
