"""What every place of the control room has: the top line, the bottom line, keys that give reasons, the journal.

A key runs ``do`` with the name of an action. When the action can't act here, its reason is said; otherwise the screen's
method is called. Verbs run in workers, so no key ever waits for the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from screens import actions
from screens.actions import BY_ID, Here
from screens.bursts import Bursts
from screens.desk import Desk
from screens.keys_in_order import room_of
from screens.layouts import keep_told
from screens.messages import Drawn
from screens.session import Facts
from screens.widgets.footer import FooterLine, Hint
from screens.widgets.header import HeaderBar
from store.errors import NotFound, PamError
from store.records import Event

PATIENCE: Final = 0.3
"""Seconds after which work says that it is under way."""
NARROW: Final = 100
"""Cells below which the board shows one column at a time."""
TALL: Final = 34
"""Lines from which there is room for more than the work itself."""


class PlaceScreen(Screen[None]):
    """A screen with a header, a footer and named actions."""

    PLACE: ClassVar[actions.Place] = "everywhere"
    BINDINGS: ClassVar[list[BindingType]] = []

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """As Textual has it, but for painting the whole screen anew whenever the keys go elsewhere."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        keep_told(self)
        self.desk = desk
        self.model = desk.model
        self.header = HeaderBar(desk.clock)
        self.footer = FooterLine()
        self.turn = asyncio.Lock()
        """Held by a verb that depends on the one before, such as two moves of a card."""
        self._bursts = Bursts(self._tell)
        self._opened = False

    def compose(self) -> ComposeResult:
        yield self.header
        yield from self.compose_place()
        yield self.footer

    def compose_place(self) -> Iterator[Widget]:
        """What stands between header and footer."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.run_worker(self._bursts.run(), group="journal")
        self.go(self._open())
        self.set_timer(60 - self.desk.clock().second, self._first_minute)

    def on_screen_suspend(self) -> None:
        self.note()
        if not self.app.screen.is_modal:
            self.covered()

    def on_screen_resume(self) -> None:
        self.uncovered()
        self.go(self._look_up())

    def here(self) -> Here:
        """What the keys would act on now."""
        return Here(self.PLACE)

    async def load(self) -> None:
        """Read everything that is shown."""

    async def arrive(self) -> None:
        """What is done first, before anything that the operator has typed meanwhile."""

    async def changed(self, events: Sequence[Event]) -> None:
        """Read again what these events may have changed."""

    def remembers(self) -> Facts:
        """What this place would like to be told again when it is opened the next time, be it after a restart."""
        return {}

    def restore(self, facts: Facts) -> None:
        """Be as ``facts`` say, of which any may be missing or wrong; everything has been read."""

    @property
    def subject(self) -> str:
        """Id of the item or run that the place is of; empty for one that is of none."""
        return ""

    @property
    def remembered_as(self) -> str:
        """Under which name; a place that there are several of names which one it is."""
        return self.PLACE

    def note(self) -> None:
        """Have the session keep what this place remembers; before it was read it knows nothing."""
        if self._opened:
            self.desk.session.note(self.remembered_as, self.remembers())

    def gone(self, error: NotFound) -> None:
        """What is shown here does not exist any more."""
        self.say(str(error), "bad")

    def tick(self) -> None:
        """A minute has passed: ages are drawn anew, and the executor is asked for, which writes no journal."""
        self.header.tick()
        self.go(self._tell(()))

    def covered(self) -> None:
        """Another place lies over this one: nothing that is drawn here is seen."""

    def uncovered(self) -> None:
        """This place is seen again."""

    def take(self, events: Sequence[Event]) -> None:
        """The journal moved; ``changed`` follows within a frame."""
        self._bursts.add(events)

    async def heed(self, sentence: str) -> None:
        """Who the executor is has changed: the top line shows it, the bottom line says it, if it is worth a word."""
        with self.trying():
            await self._read_header()
            if sentence:
                self.say(sentence, "bad" if self.header.facts.executor == "down" else "good")

    def say(self, sentence: str, tone: str = "soft") -> None:
        """Show a sentence in the footer."""
        self.footer.say(sentence, tone)

    def go(self, work: Coroutine[object, object, object]) -> None:
        """Do something without holding up the keys."""
        self.run_worker(work, group="verbs", exit_on_error=True)

    def ask(self, work: Coroutine[object, object, object]) -> None:
        """As ``go``, for work that opens a dialog: what is typed until then is typed into it."""
        room_of(self).hold_keys()
        self.go(self._ask(work))

    def request(self, message: Message) -> None:
        """Ask the control room for another place; what is typed until it is there is meant for it."""
        room_of(self).hold_keys(place=True)
        self.post_message(message)

    @contextmanager
    def trying(self, under_way: str = "") -> Iterator[None]:
        """Around verbs and reads: says after a moment that it is under way, and why it was refused."""
        slow = self.set_timer(PATIENCE, lambda: self.say(under_way)) if under_way else None
        try:
            yield
        except PamError as error:
            self.say(str(error), "bad")
        finally:
            if slow is not None:
                slow.stop()
                self.footer.unsay(under_way)

    def refresh_hints(self) -> None:
        """Bring the footer up to what can be pressed now. Where most keys can't act, those that can come first."""
        here = self.here()
        hints: list[Hint] = []
        for action in actions.at(self.PLACE):
            if not action.footer:
                continue
            keys = actions.keys_of(action, self.desk.keymap)[0]
            hint = Hint(keys, action.footer, f"screen.do('{action.id}')", not action.why_not(here))
            if hints and hints[-1].word == hint.word:
                hints[-1] = hints[-1]._replace(keys=f"{hints[-1].keys}/{keys}")
            else:
                hints.append(hint)
        idle = sum(not hint.enabled for hint in hints) * 2 > len(hints)
        hints.sort(key=lambda hint: 2 if hint.word == "help" else int(idle and not hint.enabled))
        self.footer.show(hints)

    async def action_do(self, name: str) -> None:
        """Run a named action, or say why it can't act."""
        action = BY_ID[name]
        if reason := action.why_not(self.here()):
            self.say(reason, "waiting")
            return
        self.footer.hush()
        await self.run_action(action.does)
        self.desk.session.touch()

    async def _open(self) -> None:
        with self.trying("Reading…"):
            await self._read_header()
            await self.load()
            self.restore(self.desk.session.of(self.remembered_as))
            self._opened = True
        self.refresh_hints()
        await self.arrive()
        room_of(self).release_keys(place=True)
        self.call_after_refresh(self.post_message, Drawn())

    async def _ask(self, work: Coroutine[object, object, object]) -> None:
        try:
            await work
        finally:
            room_of(self).release_keys()

    async def _tell(self, events: Sequence[Event]) -> None:
        with self.trying():
            await self._read_header()
            try:
                await self.changed(events)
            except NotFound as error:
                self.gone(error)
        self.refresh_hints()

    async def _look_up(self) -> None:
        """The top line may have changed without an event while this was covered: what is new was looked at."""
        with self.trying():
            await self._read_header()

    async def _read_header(self) -> None:
        self.header.facts = await self.model.header()

    def _first_minute(self) -> None:
        self.tick()
        self.set_interval(60, self.tick)
