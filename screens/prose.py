"""Markdown as lines of spans: what people write into a description, laid out for a width in a few milliseconds.

Headings, lists, quotes, code, tables as they stand, and what is emphasised in a line. Anything else is text. Nothing
in it can act on the terminal: each piece is confined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len

from screens.confine import confined
from screens.widgets.spans import Span, wrap

LONGEST: Final = 50_000
"""Characters that are laid out."""
MORE: Final = "… e opens all of it."
_AT_ONCE: Final = 1_000
"""Characters of a paragraph that are wrapped at a time."""
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*")
_RULE = re.compile(r"\s{0,3}(?:-\s*){3,}|\s{0,3}(?:\*\s*){3,}|\s{0,3}(?:_\s*){3,}")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])\s+(?:\[([ xX])\]\s+)?(.*)")
_QUOTE = re.compile(r"\s{0,3}>\s?(.*)")
_TABLE = re.compile(r"\s{0,3}\|.*")
_INLINE = re.compile(
    r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)"
    r"|\[(?P<text>[^\]\n]+)\]\((?P<url>[^)\s]*)[^)]*\)"
    r"|(?P<strong>\*\*|__)(?=\S)(?P<bold>.+?)(?<=\S)(?P=strong)"
    r"|(?<![\w*])(?P<light>[*_])(?=\S)(?P<em>[^*_]+?)(?<=\S)(?P=light)(?![\w*])"
)

Line = Sequence[Span]


@dataclass(slots=True)
class _Text:
    """A paragraph that grows: what stands before its first line, and before the others."""

    words: str
    head: tuple[Span, ...] = ()
    indent: int = 0
    bold: bool = False
    tone: str = "ink"


def laid_out(text: str, width: int) -> list[Line]:
    """The text in lines of at most ``width`` cells."""
    cut = text[:LONGEST] + (f"\n\n{MORE}" if len(text) > LONGEST else "")
    made: list[Line] = []
    for block in _blocks(cut.expandtabs(4).splitlines()):
        made += [(block,)] if isinstance(block, Span) else _wrapped(block, width)
    while made and not any(span.text.strip() for span in made[-1]):
        made.pop()
    return made


def _blocks(rows: Sequence[str]) -> Iterator[_Text | Span]:
    """Paragraphs, and lines that stand as they are."""
    fence = ""
    held: _Text | None = None
    for row in rows:
        opened = _FENCE.match(row)
        if fence or opened:
            if held:
                yield held
                held = None
            if opened and not fence:
                fence = opened[1]
            elif fence and opened and opened[1].startswith(fence):
                fence = ""
            else:
                yield Span(f"  {confined(row)}", "kind")
            continue
        begun = _begun(row)
        if begun is None and held is not None:
            held.words += " " + row.strip()
            continue
        if held:
            yield held
        held = None
        if isinstance(begun, _Text) and not begun.bold and begun.words:
            held = begun
        elif begun is not None:
            yield begun
        else:
            held = _Text(row.strip())
    if held:
        yield held


def _begun(row: str) -> _Text | Span | None:
    """What a row begins, or is; None where it goes on with the paragraph before it."""
    if not row.strip():
        return Span("")
    if found := _HEADING.fullmatch(row):
        return _Text(found[2], bold=True, tone="accent" if len(found[1]) < 3 else "ink")
    if _RULE.fullmatch(row):
        return Span("─" * 24, "rule")
    if found := _ITEM.fullmatch(row):
        return _item(*found.groups())
    if found := _QUOTE.fullmatch(row):
        return _Text(found[1], (Span("▎ ", "soft"),), 2, tone="soft")
    if _TABLE.fullmatch(row):
        return Span(confined(row.strip()))
    return None


def _item(space: str, bullet: str, ticked: str | None, words: str) -> _Text:
    mark = {None: "•" if bullet in "-*+" else bullet, " ": "☐"}.get(ticked, "☑")
    depth = min(len(space) // 2, 6) * 2
    return _Text(words, (Span(" " * depth), Span(f"{mark} ", "accent")), depth + cell_len(mark) + 1)


def _wrapped(block: _Text, width: int) -> Iterator[Line]:
    room = max(width - block.indent, 8)
    first = True
    for some in _pieces(block.words):
        spans = [*_inline(some, block)]
        plain, past = "".join(span.text for span in spans), 0
        for row in wrap(plain, room, len(plain) + 1):
            past = max(plain.find(row.removesuffix("…"), past), past)
            lead = block.head if first or block.tone == "soft" else (Span(" " * block.indent),)
            yield *lead, *_slice(spans, past, past + len(row))
            past, first = past + len(row), False


def _pieces(words: str) -> Iterator[str]:
    """A long paragraph in parts, cut at spaces."""
    while len(words) > _AT_ONCE:
        cut = words.rfind(" ", 1, _AT_ONCE)
        yield words[: cut if cut > 0 else _AT_ONCE]
        words = words[cut + 1 if cut > 0 else _AT_ONCE :]
    yield words


def _inline(words: str, block: _Text) -> Iterator[Span]:
    past = 0
    for found in _INLINE.finditer(words):
        yield Span(confined(words[past : found.start()]), block.tone, block.bold)
        if found["code"]:
            yield Span(confined(found["code"]), "kind", block.bold)
        elif found["text"]:
            yield Span(confined(found["text"]), "accent", block.bold)
            yield Span(f" ({confined(found['url'])})" if found["url"] else "", "soft")
        elif found["bold"]:
            yield Span(confined(found["bold"]), block.tone, True)
        else:
            yield Span(confined(found["em"]), "label", block.bold)
        past = found.end()
    yield Span(confined(words[past:]), block.tone, block.bold)


def _slice(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """Those characters of the spans."""
    past = 0
    for span in spans:
        cut = span.text[max(start - past, 0) : max(end - past, 0)]
        if cut:
            yield span._replace(text=cut)
        past += len(span.text)
