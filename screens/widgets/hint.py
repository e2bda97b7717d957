"""What is said in the middle of a list that has nothing to show."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size
from textual.strip import Strip

from screens.widgets.spans import Span, StyleOf, line


def hint_line(hint: Sequence[str], y: int, size: Size, style_of: StyleOf) -> Strip | None:
    """Line ``y`` of a window of this size that has the lines of a hint in its middle; None above and below them."""
    place = y - max((size.height - len(hint)) // 2 - 1, 0)
    return centred(hint[place], size.width, style_of) if 0 <= place < len(hint) else None


def centred(text: str, width: int, style_of: StyleOf) -> Strip:
    """A line with a text in its middle."""
    return line([Span(" " * max((width - len(text)) // 2, 1) + text, "soft")], [], width, style_of)
