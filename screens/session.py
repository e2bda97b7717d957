"""What comes back at the next start: where the operator was, and what was folded, filtered and chosen at each place.

A place says what it would like to be told again (``PlaceScreen.remembers``), and is told so when it is opened
(``PlaceScreen.restore``). The control room keeps it in a file that anybody may have written, so nothing is trusted to
have the shape it was written with.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

KEY: Final = "session"
"""Under this the model's memory keeps it."""
MOST_PLACES: Final = 40
"""Places that are remembered; each project has a board and a tree of its own, and the oldest ones go."""

Facts = Mapping[str, object]
"""What one place remembers: text, numbers, truth values, lists of text."""

log = logging.getLogger("pam.session")


class Session:
    """Lives as long as the control room; what it holds is written by whoever listens to ``touch``."""

    def __init__(self) -> None:
        self.place = ""
        """The place that was seen, by its name in ``PLACES``; empty for the board."""
        self.project = ""
        """Id of the project whose board was open."""
        self.over: list[tuple[str, str]] = []
        """What lay over that place, the uppermost last: ``item`` or ``run``, and its id."""
        self.heard: Callable[[], None] = _nobody
        """Called when something may be worth writing down."""
        self._places: dict[str, Facts] = {}

    def touch(self) -> None:
        """The operator has done something."""
        self.heard()

    def of(self, place: str) -> Facts:
        """What a place wanted to be told again; empty when it was never open."""
        return self._places.get(place, {})

    def note(self, place: str, facts: Facts) -> None:
        """Keep what a place would like to be told again."""
        self._places.pop(place, None)
        if facts:
            self._places[place] = facts
        while len(self._places) > MOST_PLACES:
            self._places.pop(next(iter(self._places)))

    def take(self, known: object) -> None:
        """Take what an earlier control room has left, as far as it can be understood."""
        if known is None:
            return
        if not isinstance(known, Mapping):
            log.warning("what was remembered of the last session is damaged; it begins anew")
            return
        self.place, self.project = text(known, "place"), text(known, "project")
        over = known.get("over")
        pairs = [names({"pair": pair}, "pair") for pair in over] if isinstance(over, list) else []
        self.over = [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]
        places = known.get("places")
        listed = places.items() if isinstance(places, Mapping) else ()
        self._places = {str(name): facts for name, facts in listed if isinstance(facts, Mapping)}

    def whole(self) -> dict[str, object]:
        """All of it, as ``take`` takes it."""
        return {
            "place": self.place,
            "project": self.project,
            "over": [list(pair) for pair in self.over],
            "places": {name: dict(facts) for name, facts in self._places.items()},
        }


def text(facts: Facts, key: str) -> str:
    """A text; empty when it is none."""
    value = facts.get(key)
    return value if isinstance(value, str) else ""


def flag(facts: Facts, key: str) -> bool | None:
    """A truth value; None when it is none."""
    value = facts.get(key)
    return value if isinstance(value, bool) else None


def names(facts: Facts, key: str) -> list[str]:
    """The texts of a list; empty when there are none."""
    value = facts.get(key)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _nobody() -> None:
    """Nobody listens."""
