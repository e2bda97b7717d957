"""The operator's own cursor, lent to the program that he types into, as tmux does it.

Its form, its blinking and its colour are then those of his terminal. Whatever is painted moves it about, so it is
hidden meanwhile, and put behind each painting where it belongs by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, runtime_checkable

HIDE: Final = "\x1b[?25l"
SHOW: Final = "\x1b[?25h"
_FORMS: Final = {
    "blinking block": 1,
    "block": 2,
    "blinking underline": 3,
    "underline": 4,
    "blinking bar": 5,
    "bar": 6,
}
"""As DECSCUSR counts them; 0 is what the operator's terminal has by itself."""


class Place(NamedTuple):
    """A cell of the operator's screen, and the form the program asked for."""

    x: int
    y: int
    shape: str


Where = Callable[[], Place | None]
"""Where it belongs now; None while the operator does not type there, or something else stands before it."""


class LentCursor:
    """One terminal's cursor: hidden, but while one of those it is lent to says where it belongs."""

    def __init__(self, *, forms: bool = True) -> None:
        """``forms``: whether the terminal knows more than one."""
        self._forms = forms
        self._lent: list[Where] = []
        self._shown = False
        self._form = 0

    def lend(self, where: Where) -> None:
        """Ask ``where`` at each painting from now on."""
        self._lent.append(where)

    def take_back(self, where: Where) -> None:
        """Ask no more."""
        self._lent.remove(where)

    def behind(self, painting: str) -> str:
        """What to write: a painting ends by placing the cursor, anything else does not move it."""
        if not painting.endswith("H"):
            return painting
        place = next(filter(None, (where() for where in self._lent)), None)
        if place is None:
            return self.put_away() + painting
        hide, self._shown = HIDE if self._shown else "", True
        return f"{hide}{painting}\x1b[{place.y + 1};{place.x + 1}H{self._formed(place.shape)}{SHOW}"

    def put_away(self) -> str:
        """What to write for it to be hidden, and as it was found."""
        if not self._shown:
            return ""
        self._shown = False
        return HIDE + self._formed("default")

    def _formed(self, shape: str) -> str:
        form = _FORMS.get(shape, 0) if self._forms else 0
        if form == self._form:
            return ""
        self._form = form
        return f"\x1b[{form} q"


@runtime_checkable
class Lender(Protocol):
    """A driver that lends its terminal's cursor."""

    cursor: LentCursor
