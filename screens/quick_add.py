"""The one line that makes an item: ``Rate limit the API #api @codex ^billing``.

Words with a mark in front are fields, everything else is the title. A mark that should stand in the title is doubled
(``##1`` is ``#1``), or stands alone.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

_MARKS = "#@^"


@dataclass(frozen=True, slots=True)
class QuickAdd:
    """The line, taken apart; ``parent`` is still what was typed."""

    title: str
    labels: tuple[str, ...] = ()
    assignee: str | None = None
    parent: str | None = None


def parse(line: str) -> QuickAdd:
    """Take the line apart; never raises. The last ``@`` and ``^`` count, labels keep their order, each once."""
    title: list[str] = []
    labels: dict[str, None] = {}
    assignee = parent = None
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
        else:
            parent = value
    return QuickAdd(" ".join(title), tuple(labels), assignee, parent)


def arguments(line: str) -> tuple[str, ...]:
    """A command line as arguments, by the shell's quoting rules; raises ValueError with what is wrong with it."""
    return tuple(shlex.split(line))
