"""A shell of the operator's own on a page: it is left and come back to, and it ends with the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.widget import Widget

from screens import actions
from screens.actions import BY_ID
from screens.confine import one_line
from screens.place import PlaceScreen
from screens.widgets.terminal import TerminalWidget

NO_TERMINAL: Final = "This machine has no terminal of pam's own; open a shell in another window."
LEFT: Final = "Back here; the shell goes on until you leave this page. {} goes back to it."


class Shelling:
    """One place's shell; ``shown`` is told when it comes into sight and when it goes out of it."""

    def __init__(self, place: PlaceScreen, terminal: TerminalWidget, shown: Callable[[bool], None]) -> None:
        self._place = place
        self._terminal = terminal
        self._shown = shown
        self._before: Widget | None = None
        """What had the keys on the page."""
        self.lives = False
        """Whether there is one, in sight or not."""

    async def open(self, directory: str | None = None, where: str = "") -> None:
        """Show the shell; where there is none, start one in ``directory``, else in the operator's home."""
        place = self._place
        if not self.lives:
            with place.trying("Starting a shell…"):
                dial = await place.model.shell(directory)
                if dial is None:
                    place.say(NO_TERMINAL, "bad")
                elif place.is_attached:
                    self.lives = True
                    self._terminal.connect(dial)
                    title = f"Shell {where or f'in {directory}'}, {self._terminal.way_out} comes back"
                    self._terminal.border_title = one_line(title)
        if self.lives:
            if place.focused is not self._terminal:
                self._before = place.focused
            self._shown(True)
            self._terminal.focus()

    def leave(self) -> None:
        """Back to the page; the shell goes on."""
        self._hide()
        key = actions.keys_of(BY_ID[f"{self._place.PLACE}.shell"], self._place.desk.keymap)[0]
        self._place.say(LEFT.format(key))

    async def end(self, why: str = "") -> None:
        """The shell is over."""
        self.lives = False
        await self._terminal.disconnect()
        if self._place.is_attached:
            self._hide()
            self._place.say(why or "The shell has ended.")

    def _hide(self) -> None:
        self._shown(False)
        if self._place.focused is self._terminal:
            self._place.set_focus(self._before)
