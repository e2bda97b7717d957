"""Where the links of a screen are: the engine's writer tells them in HTML only, rows are told as text with SGR styles.

Both hold the same characters, so a link is put into a row where it stands in the other; where they differ, the row
stays without. Most rows are those of the frame before, and are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

MARK: Final = b"\x1b]8;"
"""What a program writes for a link to begin."""
_TAG = re.compile(r'<(?:a href="(?P<link>[^"]*)"|(?P<end>/a)|/?div[^>]*)>')
_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|(lt|gt|amp|quot));")
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_SGR = re.compile(r"(\x1b\[[0-9;:]*m)")
_SAFE = re.compile(r"[!-~]{1,2048}")
_END: Final = "\x1b]8;;\x1b\\"


class Span(NamedTuple):
    """Characters of a row, from the first to before the last, and where they lead."""

    start: int
    end: int
    link: str


def linked(rows: Sequence[str], html: str) -> list[str]:
    """Rows of text with SGR styles, with the links that they have in what the engine wrote of them as HTML."""
    drawn = list(rows)
    link = ""
    for y, line in enumerate(html.split("\n")[: len(drawn)]):
        text, spans, link = _traced(line, link)
        if spans:
            drawn[y] = _joined(drawn[y], text, spans)
    return drawn


@lru_cache(maxsize=1024)
def _traced(line: str, link: str) -> tuple[str, tuple[Span, ...], str]:
    """A line's text and links; ``link`` is the one that is open at its start, the last that at its end."""
    text, spans, end = "", list[Span](), 0
    for tag in _TAG.finditer(line):
        text = _with(text, _plain(line[end : tag.start()]), link, spans)
        end = tag.end()
        if tag["link"] is not None:
            link = _plain(tag["link"])
        elif tag["end"]:
            link = ""
    return _with(text, _plain(line[end:]), link, spans), tuple(spans), link


def _with(text: str, more: str, link: str, spans: list[Span]) -> str:
    """The text and what follows in it. Cells that nothing was written to come as blanks of the link before them."""
    told = more.rstrip(" ") if link else ""
    if told and _SAFE.fullmatch(link):
        start, end = len(text), len(text) + len(told)
        if spans and spans[-1].link == link and not text[spans[-1].end :].strip(" "):
            start = spans.pop().start
        spans.append(Span(start, end, link))
    return text + more


@lru_cache(maxsize=1024)
def _joined(row: str, text: str, spans: Sequence[Span]) -> str:
    """``row`` with the spans that were traced in ``text``."""
    pieces = _SGR.split(row)
    if "".join(pieces[::2]) != text:
        return row
    cuts = {span.start: f"\x1b]8;;{span.link}\x1b\\" for span in spans}
    for span in spans:
        cuts[span.end] = _END + cuts.get(span.end, "")
    at = 0
    for number in range(0, len(pieces), 2):
        piece = pieces[number]
        begun, parts = 0, list[str]()
        for place in sorted(place for place in cuts if place <= at + len(piece)):
            parts += (piece[begun : place - at], cuts.pop(place))
            begun = place - at
        pieces[number] = "".join((*parts, piece[begun:]))
        at += len(piece)
    return "".join(pieces)


def _plain(text: str) -> str:
    return _ENTITY.sub(lambda found: _NAMED[found[2]] if found[2] else chr(min(int(found[1]), 0x10FFFF)), text)
