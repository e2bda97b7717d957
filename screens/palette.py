"""The command palette: every action of where you are, every item and run of the board, by a few letters.

The palette reads markup, so what operators wrote is escaped before it gets there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.markup import escape
from textual.types import IgnoreReturnCallbackType

from screens import actions, chips
from screens.board import BoardScreen
from screens.confine import one_line
from screens.messages import OpenItem, OpenRun, ShowCard
from screens.model import CardView
from screens.place import PlaceScreen


class _Command(NamedTuple):
    words: str
    help: str
    run: IgnoreReturnCallbackType
    can: bool = True


class ActionCommands(Provider):
    """Actions with their keys; one that can't act now is found by its name, with its reason."""

    async def discover(self) -> Hits:
        for command in self._commands():
            if command.can:
                yield DiscoveryHit(command.words, command.run, help=escape(command.help))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in self._commands():
            if (score := matcher.match(command.words)) > 0:
                score = score if command.can else score / 2
                yield Hit(score, matcher.highlight(escape(command.words)), command.run, help=escape(command.help))

    def _commands(self) -> Iterator[_Command]:
        place = self.screen
        if not isinstance(place, PlaceScreen):
            return
        here = place.here()
        for action in actions.at(place.PLACE):
            if action.palette:
                keys = " or ".join(actions.keys_of(action, place.desk.keymap))
                reason = action.why_not(here)
                run = partial(place.action_do, action.id)
                yield _Command(action.title, reason or f"{action.tooltip}  ·  {keys}", run, not reason)


class CardCommands(Provider):
    """Items of the open project and their runs, by title, id, label or provider."""

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in self._commands():
            if (score := matcher.match(command.words)) > 0:
                yield Hit(score, matcher.highlight(escape(command.words)), command.run, help=escape(command.help))

    def _commands(self) -> Iterator[_Command]:
        board = next((screen for screen in self.app.screen_stack if isinstance(screen, BoardScreen)), None)
        if board is None or board.state is None:
            return
        for card in board.state.cards():
            item, run = card.item, card.run
            title, post = one_line(item.title), board.post_message
            yield _Command(title, self._about(card), partial(post, ShowCard(item)))
            if item.kind in ("milestone", "epic"):
                yield _Command(f"Open {item.kind} {title}", self._about(card), partial(post, OpenItem(item.id)))
            if run is not None and run.live:
                said = chips.chip(run, board.desk.clock())
                yield _Command(f"Run {run.session_name} {title}", said, partial(post, OpenRun(run.id)))

    def _about(self, card: CardView) -> str:
        item = card.item
        labels = " ".join(f"#{one_line(label)}" for label in item.labels)
        return f"{item.kind} in {item.status}  {labels}".rstrip()
