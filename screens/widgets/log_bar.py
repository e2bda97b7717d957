"""The line below a log: how much there is, what is seen of it, and how a search goes."""

from __future__ import annotations

from textual.reactive import reactive
from textual.strip import Strip

from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned


class LogBar(Toned):
    """``says`` on the left, ``finds`` on the right."""

    says: reactive[tuple[str, str]] = reactive(("", "soft"))
    """A sentence and its tone."""
    finds: reactive[str] = reactive("")

    def render_line(self, _: int) -> Strip:
        said, tone = self.says
        right = [Span(f"{self.finds} ", "accent", True)] if self.finds else []
        return line([Span(f" {said}", tone)], right, self.size.width, self.style_of("bar"))
