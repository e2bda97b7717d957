"""Aligned text: tables that fit the terminal, and facts with their names."""

from __future__ import annotations

from collections.abc import Sequence

from app.cli.output import clean, clean_line, painted, paints, terminal_width

GAP = "  "
NARROWEST = 12
"""The widest column is never cut below this."""


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> str:
    """Rows under their titles; in a terminal that is too narrow the widest column is cut. ``empty`` stands for none."""
    if not rows:
        return empty
    # By columns: most hold plain text, which a whole column at once can be checked for and filled up with.
    columns = [_cleaned(column) for column in zip(*rows, strict=True)]
    widths = [max(width_of(title), _widest(column)) for title, column in zip(titles, columns, strict=True)]
    _fit(widths, terminal_width())
    filled = [_filled(title, column, width) for title, column, width in zip(titles, columns, widths, strict=True)]
    return "\n".join([line.rstrip() for line in map(GAP.join, zip(*filled, strict=True))])


def facts(pairs: Sequence[tuple[str, str | None]]) -> str:
    """``name  value`` lines, aligned; pairs without a value are left out, further lines of a value indented."""
    shown = [(name, clean(value)) for name, value in pairs if value]
    if not shown:
        return ""
    margin = max(len(name) for name, _ in shown)
    indent = "\n" + " " * margin + GAP
    return "\n".join(f"{name:<{margin}}{GAP}{painted(value, value.replace(chr(10), indent))}" for name, value in shown)


def section(title: str, body: str) -> str:
    """A titled part of a page; nothing when it has no body."""
    return f"\n\n{title}\n{body}" if body else ""


def width_of(text: str) -> int:
    """Columns that ``text`` takes in a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` columns, with an ellipsis where something is missing."""
    if width_of(text) <= width:
        return text
    kept = text[: max(width - 1, 0)]
    while kept and width_of(kept) > width - 1:
        kept = kept[:-1]
    return kept + "…" if width > 0 else ""


def padded(text: str, width: int) -> str:
    """``text`` cut or filled up to exactly ``width`` columns."""
    text = cut(text, width)
    return text + " " * (width - width_of(text))


def _is_plain(column: Sequence[str]) -> bool:
    together = "".join(column)
    return together.isascii() and together.isprintable()


def _cleaned(column: Sequence[str]) -> Sequence[str]:
    return column if _is_plain(column) else [_cell(text) for text in column]


def _widest(column: Sequence[str]) -> int:
    return max(map(len if _is_plain(column) else width_of, column))


def _cell(text: str) -> str:
    """``text`` on one line; what it is indented by stays."""
    words = text.lstrip(" ")
    return text[: len(text) - len(words)] + clean_line(words)


def _filled(title: str, column: Sequence[str], width: int) -> list[str]:
    """The column with its title, every cell as wide as the widest."""
    if _is_plain(column) and _widest(column) <= width:
        cells = [text.ljust(width) for text in column]
    else:
        cells = [padded(text, width) for text in column]
    if paints():
        cells = [painted(text, cell) for text, cell in zip(column, cells, strict=True)]
    return [padded(title, width), *cells]


def _fit(widths: list[int], limit: int | None) -> None:
    if limit is None:
        return
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - limit
    while excess > 0 and max(widths) > NARROWEST:
        widest = widths.index(max(widths))
        second = max([NARROWEST, *(width for index, width in enumerate(widths) if index != widest)])
        step = max(1, min(excess, widths[widest] - second))
        widths[widest] -= step
        excess -= step
