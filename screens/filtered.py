"""A place with a line that narrows it: asked for by a key, at work while one types, cleared by Escape."""

from __future__ import annotations

from typing import ClassVar

from screens.deeds import DeedsScreen
from screens.widgets.filter_line import FilterLine
from screens.widgets.footer import Hint


class FilteredScreen(DeedsScreen):
    """Each place says what narrowing is there, and where the keys go when the line lets go of them."""

    CLEARS: ClassVar[str] = "leave"
    """Which of the place's actions Escape is."""

    filter: FilterLine

    def narrow(self) -> None:
        """Show what the filter line asks for."""
        raise NotImplementedError

    def filter_typed(self) -> None:
        """Another text is typed."""
        self.narrow()

    def filter_left(self) -> None:
        """The keys go back to the place."""
        self.set_focus(None)
        self.refresh_hints()

    def filter_hints(self) -> list[Hint]:
        """What can be pressed while one types."""
        clears = f"screen.do('{self.PLACE}.{self.CLEARS}')"
        return [Hint("↵", "keep", "", True), Hint("esc", "clear", clears, True)]

    # Textual calls a handler of each class that has one: these call what a place may have otherwise.

    def on_filter_line_changed(self) -> None:
        self.filter_typed()

    def on_filter_line_left(self) -> None:
        self.filter_left()

    def on_descendant_focus(self) -> None:
        self.refresh_hints()

    def refresh_hints(self) -> None:
        if self.filter.typing:
            self.footer.show(self.filter_hints())
        else:
            super().refresh_hints()

    def action_filter(self) -> None:
        self.filter.ask()

    def action_leave(self) -> None:
        """What narrows the place goes first."""
        if self.filter.text:
            self.filter.action_clear()
        else:
            self.action_back()

    def action_back(self) -> None:
        self.action_home()
