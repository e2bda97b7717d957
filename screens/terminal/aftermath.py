"""After a terminal was lost while the operator typed into it: what was still meant for it does nothing elsewhere.

Text of a sentence would otherwise be the control room's keys, and stop a run or start one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from screens.terminal import strokes
from screens.terminal.tokens import Token, Tokens

QUIET_S: Final = 0.7
"""Nobody types for so long: what comes then is meant for what is seen."""


class Aftermath:
    """``take`` is given whatever the terminal sends, and gives back what is no key; ``over`` is called at its end."""

    def __init__(
        self, leave: Sequence[str], over: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``leave``: keys that end it at once, as Textual or the configuration names them."""
        self._leave = [strokes.named(name) for name in (*leave, "escape")]
        self._over = over
        self._clock = clock
        self._last = clock()
        self._tokens = Tokens()

    def take(self, data: str, _: tuple[float, float]) -> str:
        """As ``Intake.take``."""
        before, self._last = self._last, self._clock()
        if self._last - before > QUIET_S:
            self._over()
            return self._tokens.flush() + data
        others = ""
        for token in self._tokens.feed(data):
            if token.kind in ("mouse", "focus", "report"):
                others += token.text
            elif self._leaves(token):
                self._over()
                return others + self._tokens.flush()
        if self._tokens.waiting and self._is_escape(data):
            self._over()
        return others

    def _leaves(self, token: Token) -> bool:
        stroke = strokes.read(token.text)
        return stroke is not None and any(map(stroke.is_key, self._leave))

    @staticmethod
    def _is_escape(data: str) -> bool:
        """The key by itself; the beginning of another comes with more of it."""
        return data == "\x1b"
