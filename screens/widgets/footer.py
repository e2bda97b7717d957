"""The bottom line: what can be pressed here; or, for a while, what just happened and why a key could not act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from textual.strip import Strip
from textual.timer import Timer

from screens.confine import one_line
from screens.widgets.spans import Span, line, wrap
from screens.widgets.toned import Toned

LINGER: Final = 8.0
"""Seconds that a sentence stays."""
MAX_LINES: Final = 3

_MARKS = {"bad": "✗ ", "good": "✓ ", "waiting": "⚑ ", "soft": "· "}


class Hint(NamedTuple):
    """A key and its word; ``enabled`` is whether it would act now."""

    keys: str
    word: str
    action: str
    enabled: bool


class FooterLine(Toned):
    """Hints, as many as fit; the last one, help, always does. A long sentence takes up to three lines."""

    def __init__(self) -> None:
        super().__init__()
        self._hints: Sequence[Hint] = ()
        self._said: tuple[str, str] | None = None
        self._lines: list[str] = []
        self._timer: Timer | None = None

    @property
    def said(self) -> str:
        """The sentence that is shown now, empty when hints are."""
        return self._said[0] if self._said else ""

    def show(self, hints: Sequence[Hint]) -> None:
        """Take new hints."""
        if hints != self._hints:
            self._hints = hints
            self.refresh()

    def say(self, sentence: str, tone: str) -> None:
        """Show a sentence until the next one, ``hush``, or LINGER seconds."""
        self.hush()
        self._said = (one_line(sentence), tone)
        self._timer = self.set_timer(LINGER, self.hush)
        self._lay_out()

    def hush(self) -> None:
        """Show the hints again."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._said is not None:
            self._said = None
            self._lay_out()

    def unsay(self, sentence: str) -> None:
        """Show the hints again where this is still said: it is true no more."""
        if sentence and self.said == sentence:
            self.hush()

    def on_resize(self) -> None:
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        width, style_of = self.size.width, self.style_of("bar")
        if self._said is None:
            return line(self._fitting(width), [], width, style_of)
        text = self._lines[y] if y < len(self._lines) else ""
        tone = self._said[1]
        mark = _MARKS.get(tone, "") if y == 0 else " " * len(_MARKS.get(tone, ""))
        return line([Span(" " + mark, tone, True), Span(text, tone)], [], width, style_of)

    def _lay_out(self) -> None:
        self._lines = wrap(self._said[0], max(self.size.width - 4, 1), MAX_LINES) if self._said else []
        self.styles.height = max(len(self._lines), 1)
        self.refresh()

    def _fitting(self, width: int) -> list[Span]:
        if not self._hints:
            return []
        *hints, last = self._hints
        room = width - _cells(last)
        spans: list[Span] = []
        for hint in hints:
            room -= _cells(hint)
            if room < 0:
                break
            spans += _spans(hint)
        return spans + _spans(last)


def _spans(hint: Hint) -> list[Span]:
    tone = "accent" if hint.enabled else "soft"
    return [
        Span(f" {hint.keys}", tone, hint.enabled, hint.action),
        Span(f" {hint.word} ", "ink" if hint.enabled else "soft", False, hint.action),
    ]


def _cells(hint: Hint) -> int:
    return cell_len(hint.keys) + cell_len(hint.word) + 3
