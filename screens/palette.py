"""The command palette: every action of where you are, every project, item and run there is, by a few letters.

The palette reads markup, so what operators wrote is escaped before it gets there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.markup import escape
from textual.types import IgnoreReturnCallbackType

from screens import actions, chips
from screens.board import BoardScreen
from screens.confine import one_line
from screens.desk import Desk
from screens.messages import OpenItem, OpenProject, OpenRun, ShowCard
from screens.model import CardView
from screens.place import PlaceScreen
from store.search import Hit as Found

MOST: Final = 30
"""Things that are offered for what was typed."""
BEST: Final = 0.9
"""What the best of them counts, where an action that is named in full counts 1; the others follow in their order."""


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
    """Projects, items and runs of the whole home, by any part of a title, a label, a description, a prompt."""

    async def search(self, query: str) -> Hits:
        place = self.screen
        if not isinstance(place, PlaceScreen):
            return
        matcher = self.matcher(query)
        with place.trying():
            for rank, found in enumerate(await place.model.search(query, MOST)):
                for command in self._commands(found):
                    words = matcher.highlight(escape(command.words))
                    yield Hit(BEST - rank / 1000, words, command.run, help=escape(command.help))

    def _commands(self, found: Found) -> Iterator[_Command]:
        post = self.app.post_message
        if found.item is None:
            about = f"project {found.project.slug}"
            yield _Command(one_line(found.title), about, partial(post, OpenProject(found.project.id)))
            return
        title, about = one_line(found.title), self._about(found)
        if found.run is not None:
            said = chips.chip(found.run, self._desk.clock())
            words = f"Run {found.run.session_name} {title}"
            yield _Command(words, _with(said, found.excerpt), partial(post, OpenRun(found.run.id)))
            return
        card = self._card(found.item.id)
        on_board = card is not None and found.item.kind not in ("milestone", "epic")
        opens = ShowCard(found.item) if on_board else OpenItem(found.item.id)
        yield _Command(title, _with(about, found.excerpt), partial(post, opens))
        if card is not None and card.run is not None and card.run.live:
            said = chips.chip(card.run, self._desk.clock())
            yield _Command(f"Run {card.run.session_name} {title}", said, partial(post, OpenRun(card.run.id)))

    @property
    def _desk(self) -> Desk:
        assert isinstance(self.screen, PlaceScreen)
        return self.screen.desk

    def _card(self, item_id: str) -> CardView | None:
        """The item's card, where the board below shows its project."""
        board = next((screen for screen in self.app.screen_stack if isinstance(screen, BoardScreen)), None)
        return board.state.card(item_id) if board is not None and board.state is not None else None

    def _about(self, found: Found) -> str:
        item = found.item
        if item is None:
            return ""
        labels = " ".join(f"#{one_line(label)}" for label in item.labels)
        elsewhere = "" if self._card(item.id) else f"  in {found.project.slug}"
        return f"{item.kind} in {item.status}  {labels}".rstrip() + elsewhere


def _with(said: str, excerpt: str) -> str:
    return f"{said}  ·  {one_line(excerpt)}" if excerpt else said
