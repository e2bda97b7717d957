"""The project as an outline: milestones, epics, tasks and subtasks, with what is done and who works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from screens import actions, session
from screens.actions import Here
from screens.board import BoardScreen
from screens.bursts import touched
from screens.desk import Desk
from screens.filters import Filter
from screens.messages import OpenItem, OpenPlace, OpenProject
from screens.session import Facts
from screens.tree_amounts import TreeAmounts
from screens.tree_branches import Branch
from screens.tree_state import TreeState
from screens.tree_targets import trouble
from screens.tree_walk import TreeWalk
from screens.widgets.filter_line import FilterLine
from screens.widgets.footer import Hint
from screens.widgets.item_side import ItemSide
from screens.widgets.outline import Outline, OutlineHead
from store.records import Event

BESIDE: Final = 120
"""Cells from which the side panel has room beside the outline."""
MANY: Final = 64
"""From this many touched ids on, the whole project is read at once."""
LARGE: Final = 2_000
"""Items from which a filter waits for a rest of the keys, TYPED seconds long."""
MOST_FOLDS: Final = 2_000
"""Folded items that are remembered."""
TYPED: Final = 0.06
REST: Final = 0.1
"""Seconds that the rows have to rest before it is read what they have used."""
_PICK_HINTS: Final = (
    Hint("↵", "hang it here", "screen.do('tree.open')", True),
    Hint("j/k", "go", "", True),
    Hint("/", "find", "screen.do('tree.filter')", True),
    Hint("esc", "leave it", "screen.do('tree.leave')", True),
)
_WALKS: Final = frozenset(
    (
        "down",
        "up",
        "page-down",
        "page-up",
        "first",
        "last",
        "out",
        "in",
        "fold",
        "fold-all",
        "filter",
        "filters",
        "leave",
    )
)
"""What can be pressed while a place to hang is picked, beside Enter."""


class TreeScreen(TreeWalk):
    """One for the whole control room; it shows the project of the board below it."""

    PLACE = "tree"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("tree")]
    AUTO_FOCUS = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.list = Vertical(id="tree-list")
        self.outline = Outline(desk.clock)
        self.side = ItemSide(desk.model)
        self.filter = FilterLine()
        self.amounts = TreeAmounts(desk.model)
        self._sided: bool | None = None
        """Whether the operator wants the side panel; None leaves it to the window."""
        self._resting: Timer | None = None
        self._typing: Timer | None = None

    def compose_place(self) -> Iterator[Widget]:
        yield Static(_WELCOME, id="welcome")
        with Horizontal(id="tree-body"):
            with self.list:
                yield OutlineHead()
                yield self.outline
            yield self.side
        yield self.filter

    def here(self) -> Here:
        state = self.state
        if state is None:
            return Here("tree")
        card = state.chosen
        return Here("tree", state.project, card, card.run if card else None, filtered=bool(self.filter.text))

    async def load(self) -> None:
        project_id = await self._project_id()
        self.set_class(project_id is None, "-empty")
        if project_id is None:
            return
        view = await self.model.board(project_id)
        archived = " (archived)" if view.project.status == "archived" else ""
        self.header.crumbs = (view.project.name + archived, "Tree")
        self.amounts.known.clear()
        if self.state is None:
            self.state = TreeState(view)
            self._begin_at_work(self.state)
            self.outline.focus()
        else:
            self.state.replace(view)
        self.paint(reveal=False)

    async def changed(self, events: Sequence[Event]) -> None:
        state, ids = self.state, touched(events)
        if state is None:
            await self.load()
            return
        whole = {"project.updated", "project.archived", "work_item.reparented"}
        wanted = state.concerned(ids) - {state.project.id}
        if len(wanted) > MANY or any(event.topic in whole for event in events):
            await self.load()
        elif wanted:
            changed = state.update(wanted, await self.model.cards(wanted))
            if self.amounts.forget(state, wanted) or changed:
                self.paint(reveal=False)
        if self.picking and state.card(self.picking) is None:
            self.stop_picking()
            self.say("The item that you were moving was deleted.", "waiting")

    def tick(self) -> None:
        super().tick()
        self.outline.redraw()
        self._look()

    def covered(self) -> None:
        self.side.close()

    def uncovered(self) -> None:
        super().uncovered()
        self._look()

    @property
    def remembered_as(self) -> str:
        return f"tree {self.state.project.id if self.state else ''}"

    def remembers(self) -> Facts:
        if self.state is None:
            return {}
        card = self.state.chosen
        return {
            "item": card.item.id if card else None,
            "folded": sorted(self.state.folded)[:MOST_FOLDS],
            "side": self._sided,
            "filter": self.filter.text,
        }

    def restore(self, facts: Facts) -> None:
        if self.state is None or not facts:
            return
        self.state.folded = {each for each in session.names(facts, "folded") if self.state.card(each)}
        self.state.settle()
        side = session.flag(facts, "side")
        if side is not None:
            self._sided = self.side.display = side
        self.filter.put(session.text(facts, "filter"))
        self.narrow()
        self.state.find(session.text(facts, "item"))
        self.paint()

    async def action_do(self, name: str) -> None:
        if self.picking and name.startswith("tree.") and name != "tree.open" and name[5:] not in _WALKS:
            self.say("You are moving an item: press enter where it should hang, or esc to leave it.", "waiting")
        elif self.picking and name.removeprefix("tree.") in ("open", *_WALKS):
            await self.run_action(actions.BY_ID[name].does)
        else:
            await super().action_do(name)

    # What happens

    def on_resize(self, event: events.Resize) -> None:
        beside = event.size.width >= BESIDE
        self.set_class(not beside, "-stacked")
        self.side.display = beside if self._sided is None else self._sided
        self.call_after_refresh(self._look)

    def on_outline_pressed(self, message: Outline.Pressed) -> None:
        if self.state is None:
            return
        self.put(message.place)
        if message.fold:
            self.action_fold()
        elif message.again:
            self.action_open()

    def on_outline_shaped(self, message: Outline.Shaped) -> None:
        self.list.set_class(message.columns, "-columns")

    def on_cursor_lines_scrolled(self) -> None:
        self._rest()

    def filter_typed(self) -> None:
        """What is typed shows at once; a large tree follows when the keys rest, so that none of them waits for it."""
        if self._typing is not None:
            self._typing.stop()
        if self.state is not None and self.state.count > LARGE:
            self._typing = self.set_timer(TYPED, self.narrow)
        else:
            self.narrow()

    def filter_left(self) -> None:
        self.narrow()
        self.outline.focus()

    def refresh_hints(self) -> None:
        if self.picking and not self.filter.typing:
            self.footer.show(_PICK_HINTS)
        else:
            super().refresh_hints()

    # What the keys do

    def action_open(self) -> None:
        if self.picking:
            self.pick()
        elif card := self.here().card:
            self.request(OpenItem(card.item.id))

    def action_leave(self) -> None:
        if self.picking:
            self.stop_picking()
        else:
            super().action_leave()

    def action_side(self) -> None:
        self._sided = not self.side.display
        self.side.display = self._sided
        if self._sided:
            self.call_after_refresh(self._look)
        else:
            self.side.close()

    # Below

    def paint(self, *, reveal: bool = True) -> None:
        """Draw everything; ``reveal`` brings the cursor into sight even where the wheel had left it."""
        state = self.state
        if state is None:
            return
        hint = ("Nothing matches the filter.", "esc clears it") if state.count else _NOTHING
        why = partial(trouble, state, self.picking) if self.picking else None
        self.outline.show(state, self.amounts.known, hint, why, reveal=reveal)
        self.list.border_title = self._title(state)
        self._look()
        self._rest()
        self.refresh_hints()

    def narrow(self) -> None:
        state, wanted = self.state, Filter.of(self.filter.text)
        if self._typing is not None:
            self._typing.stop()
            self._typing = None
        if state is not None and wanted != state.filter:
            state.narrow(wanted)
            self.narrowed(wanted)
            self.paint()

    def moved(self) -> None:
        """The cursor stands elsewhere, and nothing else has changed."""
        self.outline.follow()
        self._look()
        self._rest()
        if self.picking and self.state is not None:
            why = trouble(self.state, self.picking, self.state.rows[self.state.place].id)
            self.say(why or "enter hangs it here.", "waiting" if why else "good")
        self.refresh_hints()

    def _look(self) -> None:
        if self.side.display and self.is_current:
            card = self.state.chosen if self.state else None
            branch = self.state.branch(card.item.id) if self.state and card else Branch()
            self.side.look_at(card, branch, self.amounts.known.get(card.item.id) if card else None, self.desk.clock())

    def _title(self, state: TreeState) -> Content:
        waiting = sum(state.branch(root).waiting for root in state.children(""))
        count = f"{state.matches} of {state.count}" if state.filter.words else str(state.count)
        parts: list[str | tuple[str, str]] = [("TREE", "bold"), f" · {count}"]
        if waiting:
            parts.append((f" · ⚑ {waiting} waiting", "bold $waiting"))
        if self.picking:
            parts.append((" · pick where it hangs", "bold $accent"))
        return Content.assemble(*parts)

    def _rest(self) -> None:
        """Other rows are seen; what they have used is read when they have rested."""
        if self._resting is None:
            self._resting = self.set_timer(REST, self._rested)

    def _rested(self) -> None:
        self._resting = None
        self.go(self._tell_amounts())

    async def _tell_amounts(self) -> None:
        """Read what the branches that are seen have used, as far as it is not known."""
        state = self.state
        if state is None or not self.is_current:
            return
        seen = [row.id for row in self.outline.seen] if self.outline.tells_amounts else []
        if self.side.display and (card := state.chosen):
            seen.append(card.item.id)
        with self.trying():
            if await self.amounts.read(state, seen):
                self.outline.redraw()
                self._look()

    # The project

    @property
    def _board(self) -> BoardScreen | None:
        """The board that this place lies over."""
        return next((screen for screen in self.app.screen_stack if isinstance(screen, BoardScreen)), None)

    def _begin_at_work(self, state: TreeState) -> None:
        """Put the cursor on the card that the board had it on, else on who waits, else on who works."""
        board = self._board
        card = board.active.card if board else None
        if card is not None and state.find(card.item.id):
            return
        live = [card for card in state.cards() if card.run is not None and card.run.live]
        for found in sorted(live, key=lambda card: not card.waiting)[:1]:
            state.find(found.item.id)

    async def _project_id(self) -> str | None:
        if self.state is not None:
            return self.state.project.id
        if self._board is not None and self._board.project_id is not None:
            return self._board.project_id
        projects = await self.model.projects()
        return projects[0].project.id if projects else None

    def request(self, message: Message) -> None:
        """A project that is chosen here is shown here."""
        super().request(message)
        if isinstance(message, OpenProject):
            super().request(OpenPlace("tree"))


_NOTHING: Final = ("Nothing here yet.", "n makes an item: a milestone, an epic, a task")
_WELCOME = """[b $accent]pam[/]

No project yet.

Press [b $accent]p[/] to make one: a name, and the directory its agents work in.
Then [b $accent]n[/] makes a task, and [b $accent]s[/] starts an agent on it.
"""
