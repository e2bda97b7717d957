"""What a terminal sends, cut into texts, keys, pastes and reports, each as it came.

A sequence may come in pieces. ``flush`` gives out what is left of one that does not go on: an Escape key, most often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

Kind = Literal["text", "key", "mouse", "paste", "focus", "report"]
"""``report``: an answer of the terminal to somebody's question."""

PASTE_BEGINS: Final = "\x1b[200~"
PASTE_ENDS: Final = "\x1b[201~"
TYPED: Final = 2
"""Characters that one key may begin with and be meant by themselves, as Escape or Alt with a bracket are."""
LATE: Final = 3.0
"""Seconds for which the rest of what nobody types may be on its way, over a line that stalls; its half is of no use."""
LONGEST: Final = 4096
"""Characters of a report; one that goes on is no report."""

_TOKEN = re.compile(
    r"(?P<mouse>\x1b\[<[0-9;-]*[Mm]|\x1b\[M...)"
    r"|(?P<focus>\x1b\[[IO])"
    r"|(?P<report>\x1b\[\?[0-9;:]*(?:\$y|[cunR])|\x1b\[>[0-9;]*c|\x1b\[[0-9;:]*\$y|\x1b\[[468][0-9;:]*t"
    r"|\x1b\[[0-9]+;[0-9]+R(?<!\x1b\[1;[2-9]R)|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\))"
    r"|(?P<key>\x1b\[\[[A-E]|\x1b\[[0-?]*[ -/]*[@-Z\\-~]|\x1bO[ -~]|\x1b[^\x1b\[OP\]X^_]|\x1b(?=\x1b))"
    r"|(?P<text>[^\x1b]+)",
    re.DOTALL,
)
_CUT = re.compile(r"\x1b(?:|\[<[0-9;-]*|\[[0-?]*[ -/]*|\[\[|\[M.{0,2}|O|[\]PX^_][^\x07\x1b]*\x1b?)\Z", re.DOTALL)


class Token(NamedTuple):
    """One thing that was sent; a paste's text is without its brackets."""

    kind: Kind
    text: str


def unfinished(text: str) -> str:
    """The beginning of a sequence with which ``text`` ends; empty where nothing more belongs to it."""
    begins = text.rfind("\x1b")
    return text[begins:] if 0 <= begins > len(text) - LONGEST and _CUT.match(text, begins) else ""


def patience(begun: str, key_s: float) -> float:
    """Seconds to wait for the rest of ``begun``: ``key_s`` where it may be a key by itself."""
    return key_s if len(begun) <= TYPED else LATE


class Tokens:
    """Keeps what is incomplete until more comes."""

    def __init__(self) -> None:
        self._rest = ""
        self._pasting = False

    @property
    def waiting(self) -> str:
        """What is kept of something incomplete, other than of a paste under way."""
        return "" if self._pasting else self._rest

    def feed(self, data: str) -> Iterator[Token]:
        """Whatever is complete with ``data``; what is not taken from the iterator is kept, too."""
        self._rest += data
        while token := self._next():
            yield token

    def flush(self) -> str:
        """What is kept, as it came; afterwards nothing is."""
        if self._pasting:
            return ""
        rest, self._rest = self._rest, ""
        return rest

    def _next(self) -> Token | None:
        if self._pasting:
            return self._paste()
        rest = self._rest
        if not rest:
            return None
        found = _TOKEN.match(rest)
        cut = _CUT.match(rest)
        if found is None or (cut is not None and cut.end() >= found.end()):
            if cut is not None and len(rest) < LONGEST:
                return None
            # Neither whole nor the beginning of anything: it goes through as it is.
            found_end = found.end() if found else 1
            self._rest = rest[found_end:]
            return Token("key", rest[:found_end])
        self._rest = rest[found.end() :]
        if found[0] == PASTE_BEGINS:
            self._pasting = True
            return self._paste()
        kind: Kind = found.lastgroup  # type: ignore[assignment]
        return Token(kind, found[0])

    def _paste(self) -> Token | None:
        text, end, after = self._rest.partition(PASTE_ENDS)
        if not end:
            return None
        self._pasting, self._rest = False, after
        return Token("paste", text)
