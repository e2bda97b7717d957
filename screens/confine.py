"""Text that comes from outside is confined: no control character, no mark that reorders, no cluster of unsure width.

Terminals disagree on the width of joined emoji, of variation selectors and of flags; a row that holds one can push a
border aside. Each such cluster is reduced to a form whose width every terminal and Rich agree on: a joined emoji to its
first picture, a flag to its two letters.
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST = 4096
"""Characters that are looked at of a text that is to be one line: many times the widest screen."""
_CONTROL = "\x00-\x1f\x7f-\x9f\u2028\u2029"
_REORDER = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\U0001d173-\U0001d17a"
)
_FLAG = "\U0001f1e6-\U0001f1ff"
_TONE = "\U0001f3fb-\U0001f3ff"
_PICTURE = "\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff"

_SUSPECT = re.compile(f"[{_CONTROL}{_REORDER}{_INVISIBLE}{_FLAG}{_TONE}\ud800-\udfff]")
_JOINED = re.compile(f"(?:\ufe0f?\u200d[{_PICTURE}\u2190-\u21ff])+")
_TONED = re.compile(f"(?<=[{_PICTURE}])[{_TONE}]")
_DROPPED = re.compile(f"[{_CONTROL}{_REORDER}{_INVISIBLE}]")
_FLAGS = re.compile(f"[{_FLAG}]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def confined(text: str) -> str:
    """``text`` with nothing left in it that a terminal could act on or measure differently; never raises."""
    if text.isascii() and text.isprintable():
        return text
    if not _SUSPECT.search(text):
        return text
    # What is dropped may have stood between a picture and its tone.
    text = _TONED.sub("", _DROPPED.sub("", _JOINED.sub("", text)))
    text = _FLAGS.sub(_letter, text)
    return _SURROGATES.sub("\ufffd", text)


def one_line(text: str) -> str:
    """``text`` confined to one line: all white space becomes single spaces; what is longer than any screen is cut."""
    return _one_line(text if len(text) <= LONGEST else text[:LONGEST] + "…")


@lru_cache(maxsize=8192)
def _one_line(text: str) -> str:
    said = " ".join(text.split())
    safe = confined(said)
    return said if safe == said else " ".join(safe.split())


def _letter(match: re.Match[str]) -> str:
    return chr(ord("A") + ord(match.group()) - 0x1F1E6)
