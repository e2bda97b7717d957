"""Lines of Textual's own text fields, confined like all others: what stands in a field may have come from an agent.

The field keeps the text as it is, for its owner to change; only what is drawn of it is reduced.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip
from textual.widgets import TextArea

from screens.confine import confined


class TextField(TextArea):
    """A text of several lines to write in."""

    def render_line(self, y: int) -> Strip:
        return confined_strip(super().render_line(y))


def confined_strip(strip: Strip) -> Strip:
    """The strip without what acts on a terminal, and as wide as it was; the same one where there is none of it."""
    safe = [Segment(confined(text), style) for text, style, control in strip if not control]
    if [segment.text for segment in safe] == [segment.text for segment in strip]:
        return strip
    return Strip(safe).adjust_cell_length(strip.cell_length, safe[-1].style if safe else None)
