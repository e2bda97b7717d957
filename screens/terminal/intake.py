"""What the operator types into another terminal: keys go straight to its program, the rest to the screens.

Nothing is looked up, so nothing of it waits: bytes in one order come out in the same. Only the key that leaves, the
mouse elsewhere and answers to questions of our own are held back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence, Set
from typing import Final, Protocol

from screens.terminal import mouse, strokes
from screens.terminal.mouse import Report
from screens.terminal.strokes import Stroke
from screens.terminal.tokens import Token, Tokens, patience

PATIENCE: Final = 0.02
"""Seconds after which an Escape by itself is the key, not the beginning of another."""

_PAGES: Final = {"pageup": -1, "pagedown": 1}


class Desk(Protocol):
    """Whose keys these are: what the program asked for, where its screen is, and what to do."""

    @property
    def modes(self) -> Set[str]:
        """As its last frame said."""
        ...

    @property
    def kitty(self) -> int:
        """As its last frame said."""
        ...

    @property
    def corner(self) -> tuple[int, int, int, int]:
        """Left, top, width and height of its screen on the operator's."""
        ...

    def send(self, data: bytes) -> None:
        """To the program."""
        ...

    def page(self, step: int) -> bool:
        """Look a page up or down in what has scrolled away; whether there is such a thing."""
        ...

    def leave(self) -> None:
        """The operator goes; nothing more is to be taken."""
        ...


class Intake:
    """``take`` is given whatever the terminal sends, and gives back what is not for the program."""

    def __init__(self, desk: Desk, leave: Sequence[str]) -> None:
        """``leave``: keys that leave, as Textual or the configuration names them."""
        self._desk = desk
        self._leave = [strokes.named(name) for name in leave]
        self._tokens = Tokens()
        self._pressed = False
        """Whether a button went down on the program's screen and is still down."""
        self._timer: asyncio.TimerHandle | None = None
        self._open = True

    def take(self, data: str, cell: tuple[float, float]) -> str:
        """Pass on what is the program's; ``cell`` is how large a cell is in units of the mouse."""
        self._stop()
        others = ""
        for token in self._tokens.feed(data):
            others += self._pass_on(token, cell)
            if not self._open:
                return others + self._tokens.flush()
        if begun := self._tokens.waiting:
            self._timer = asyncio.get_running_loop().call_later(patience(begun, PATIENCE), self._flush)
        return others

    def stroke(self, stroke: Stroke) -> None:
        """A key that came by another way."""
        if self._leaves(stroke):
            self._go()
        elif not self._pages(stroke):
            self._desk.send(strokes.write(stroke, self._desk.modes, self._desk.kitty))

    def paste(self, text: str) -> None:
        """A paste."""
        self._desk.send(strokes.pasted(text, self._desk.modes))

    def mouse(self, report: Report) -> bool:
        """A report, in cells of the operator's screen; whether it was the program's."""
        left, top, width, height = self._desk.corner
        x, y = report.x - left, report.y - top
        inside = 0 <= x < width and 0 <= y < height
        if not (inside or self._pressed) or not mouse.wanted(report, self._desk.modes):
            return False
        if not report.moves and not report.wheel:
            self._pressed = not report.up
        self._desk.send(mouse.write(_at(report, x, y, width, height), self._desk.modes))
        return True

    def close(self) -> None:
        """Nothing more is the program's."""
        self._open = False
        self._stop()

    def _pass_on(self, token: Token, cell: tuple[float, float]) -> str:
        """What of it is not the program's."""
        kind, text = token
        if kind == "text":
            return self._text(text)
        if kind == "key":
            self._key(text)
        elif kind == "paste":
            self.paste(text)
        elif kind == "focus":
            if "focus" in self._desk.modes:
                self._desk.send(text.encode())
            return text
        elif kind == "report" or not self._moused(text, cell):
            return text
        return ""

    def _text(self, text: str) -> str:
        """Characters and control characters; gives back what comes behind the key that leaves."""
        for index, character in enumerate(text):
            if ord(character) < 32 and self._leaves(_read(character)):
                self._send_text(text[:index])
                self._go()
                return text[index + 1 :]
        self._send_text(text)
        return ""

    def _send_text(self, text: str) -> None:
        desk = self._desk
        if not desk.kitty:
            desk.send(text.encode("utf-8", "replace"))
            return
        desk.send(b"".join(strokes.write(_read(character), desk.modes, desk.kitty) for character in text))

    def _key(self, sequence: str) -> None:
        """As it came wherever the program understands it so; a kitty terminal's are written anew for others."""
        desk, stroke = self._desk, strokes.read(sequence)
        if stroke is not None and self._leaves(stroke):
            self._go()
            return
        if stroke is not None and self._pages(stroke):
            return
        plain = not desk.kitty and not _foreign(sequence) and not ("app_cursor" in desk.modes and len(sequence) == 3)
        if plain:
            desk.send(sequence.encode("utf-8", "replace"))
        elif stroke is not None:
            desk.send(strokes.write(stroke, desk.modes, desk.kitty))

    def _pages(self, stroke: Stroke) -> bool:
        """Shift with a page key looks back, as in every terminal."""
        step = _PAGES.get(stroke.key, 0) if stroke.modifiers == strokes.SHIFT else 0
        return bool(step) and self._desk.page(step)

    def _leaves(self, stroke: Stroke) -> bool:
        return any(map(stroke.is_key, self._leave))

    def _moused(self, text: str, cell: tuple[float, float]) -> bool:
        report = mouse.read(text, cell)
        return report is not None and self.mouse(report)

    def _flush(self) -> None:
        self._timer = None
        if rest := self._tokens.flush():
            self._key(rest)

    def _go(self) -> None:
        self.close()
        self._desk.leave()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _at(report: Report, x: int, y: int, width: int, height: int) -> Report:
    """The report at another cell, the nearest there is."""
    return report._replace(x=min(max(x, 0), width - 1), y=min(max(y, 0), height - 1))


def _foreign(sequence: str) -> bool:
    """Whether only a kitty terminal writes a key so."""
    return (sequence.startswith("\x1b[") and sequence.endswith("u")) or ":" in sequence or _locked(sequence)


def _locked(sequence: str) -> bool:
    """Whether caps lock or num lock stands in it, which old encodings don't know."""
    _, semicolon, rest = sequence[2:-1].partition(";")
    return bool(semicolon) and rest.isdigit() and int(rest) > 64


def _read(character: str) -> Stroke:
    stroke = strokes.read(character)
    return stroke if stroke is not None else Stroke(character, 0, character)
