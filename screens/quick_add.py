"""The one line that makes an item: ``Rate limit the API #api @codex ^billing !epic``.

Words with a mark in front are fields, everything else is the title. A mark that should stand in the title is doubled
(``##1`` is ``#1``), or stands alone. Of a kind its first letter is enough; ``!`` before anything else is no mark.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from store.records import KINDS, Kind

_MARKS = "#@^!"


@dataclass(frozen=True, slots=True)
class QuickAdd:
    """The line, taken apart; ``parent`` is still what was typed."""

    title: str
    labels: tuple[str, ...] = ()
    assignee: str | None = None
    parent: str | None = None
    kind: Kind | None = None


def parse(line: str) -> QuickAdd:
    """Take the line apart; never raises. The last ``@``, ``^`` and ``!`` count, labels keep their order, each once."""
    title: list[str] = []
    labels: dict[str, None] = {}
    assignee = parent = None
    kind: Kind | None = None
    for word in line.split():
        mark, value = word[0], word[1:]
        if mark not in _MARKS or not value:
            title.append(word)
        elif value[0] == mark:
            title.append(value)
        elif mark == "#":
            labels[value] = None
        elif mark == "@":
            assignee = value
        elif mark == "^":
            parent = value
        elif named := _kind(value):
            kind = named
        else:
            title.append(word)
    return QuickAdd(" ".join(title), tuple(labels), assignee, parent, kind)


def _kind(value: str) -> Kind | None:
    """The kind that begins so."""
    return next((kind for kind in KINDS if kind.startswith(value.casefold())), None)


def arguments(line: str) -> tuple[str, ...]:
    """A command line as arguments, by the shell's quoting rules; raises ValueError with what is wrong with it."""
    return tuple(shlex.split(line))
