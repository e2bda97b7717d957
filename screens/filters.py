"""The line that narrows a board or a tree: ``kind:task status:doing @ann #api activity:waiting words``.

All words have to match. ``#api`` is a label, ``@ann`` an assignee, both by their beginning; ``@none`` is nobody's and
``#none`` has no label. ``field:value`` asks one field, ``field:this,that`` for either; fields are kind, status,
assignee, label, activity, provider, host. Any other word is part of the title, or the beginning of a name: of the kind,
a label, the id, the provider, the state. A minus in front turns a word around: ``-status:done``. Case does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from screens.model import CardView
from store.records import ITEM_STATUSES, KINDS, Run

NONE: Final = "none"
"""The value of a field that is empty: nobody's, without labels, without a run."""
ACTIVITIES: Final = (
    *("waiting", "working", "idle", "unknown", "pending", "spawning", "exited", "failed", "stopped", "live", NONE),
)
"""What a run can be found by; ``live`` is every run that has not ended."""

Test = Callable[[CardView], bool]


@dataclass(frozen=True, slots=True)
class Filter:
    """Words that all have to match."""

    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> Filter:
        """Read what was typed; never raises, and a word that is still being typed lets everything through."""
        return cls(tuple(text.casefold().split()))

    @property
    def trouble(self) -> str:
        """What in it can never match anything, as a sentence; empty when all of it can."""
        return next((said for said in map(_trouble, self.words) if said), "")

    def lets(self, card: CardView) -> bool:
        """Whether the card is shown."""
        return all(_test(word)(card) for word in self.words)

    def chosen(self, cards: Iterable[CardView]) -> list[CardView]:
        """Those of the cards that are shown, in their order."""
        found = list(cards)
        for word in self.words:
            found = list(filter(_test(word), found))
        return found


@lru_cache(maxsize=256)
def _test(word: str) -> Test:
    """What a word asks of a card."""
    if len(word) > 1 and word[0] == "-":
        positive = _test(word[1:])
        return positive if positive is _anything else lambda card: not positive(card)
    if len(word) > 1 and word[0] in _MARKS:
        return _field_test(_MARKS[word[0]], (word[1:],))
    field, colon, values = word.partition(":")
    if colon and field in _FIELDS:
        wanted = tuple(value for value in values.split(",") if value)
        return _field_test(field, wanted) if wanted else _anything
    return lambda card: _speaks_of(card, word)


def _field_test(field: str, wanted: tuple[str, ...]) -> Test:
    read = _FIELDS[field]

    def test(card: CardView) -> bool:
        values = read(card)
        return any(value.startswith(wanted) for value in values) if values else NONE in wanted

    return test


def _anything(_: CardView) -> bool:
    return True


def _speaks_of(card: CardView, word: str) -> bool:
    item, run = card.item, card.run
    if word in _folded(item.title) or item.kind.startswith(word) or item.id.startswith(word):
        return True
    if run is not None and (_folded(run.provider).startswith(word) or _state(run).startswith(word)):
        return True
    return card.project.startswith(word) or any(_folded(label).startswith(word) for label in item.labels)


def _state(run: Run) -> str:
    return run.activity if run.status == "running" else run.status


def _activity(card: CardView) -> tuple[str, ...]:
    if card.run is None:
        return (NONE,)
    return (_state(card.run), "live") if card.run.live else (_state(card.run),)


@lru_cache(maxsize=32_768)
def _folded(text: str) -> str:
    return text.casefold()


def _named(text: str | None) -> tuple[str, ...]:
    return (_folded(text),) if text else ()


_FIELDS: Final[Mapping[str, Callable[[CardView], tuple[str, ...]]]] = {
    "kind": lambda card: (card.item.kind,),
    "status": lambda card: (card.item.status,),
    "assignee": lambda card: _named(card.item.assignee),
    "label": lambda card: tuple(map(_folded, card.item.labels)),
    "activity": _activity,
    "provider": lambda card: _named(card.run.provider if card.run else None),
    "project": lambda card: _named(card.project),
    "host": lambda card: _named(card.run.host if card.run else None),
}
_MARKS: Final = {"#": "label", "@": "assignee"}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {"kind": KINDS, "status": ITEM_STATUSES, "activity": ACTIVITIES}


def _trouble(word: str) -> str:
    field, colon, values = word.removeprefix("-").partition(":")
    if not colon or field not in _CHOICES:
        return ""
    choices = _CHOICES[field]
    for value in values.split(","):
        if not any(choice.startswith(value) for choice in choices):
            return f"No {field} is called “{value}”: there is {', '.join(choices[:-1])} and {choices[-1]}."
    return ""
