"""Several cards at once: which are selected, and what a key does to each of them, with what could not be done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from screens import actions
from screens.actions import BY_ID
from screens.board_moves import BoardMoves
from screens.board_state import next_legal
from screens.dialogs import Confirm, StartRun
from screens.model import CardView, StartRequest
from screens.widgets.footer import Hint
from screens.widgets.spans import quoted
from store.errors import NotFound, PamError
from store.records import ITEM_STATUSES, Run

_HINTS = {
    "board.select": "select",
    "board.select-all": "all here",
    "board.move-left": "move",
    "board.move-right": "move",
    "board.start": "start",
    "board.stop": "stop",
    "board.delete": "delete",
    "board.unfilter": "let go",
    "everywhere.help": "help",
}


class BoardSeveral(BoardMoves):
    """While cards are selected, these keys act on all of them and not on the one under the cursor."""

    @property
    def chosen(self) -> Sequence[CardView]:
        """The cards that are selected."""
        return self.state.chosen() if self.state else ()

    def action_select(self) -> None:
        """Select the card, or let go of it, and go on to the next one."""
        if (card := self.active.card) is not None and self.state is not None:
            self.state.select(card.item.id)
            self._show_selected()
            self.active.go(self.active.cursor + 1)

    def action_select_all(self) -> None:
        """Every card that the column shows; where all of them are selected, none."""
        state = self.state
        if state is None:
            return
        shown = [card.item.id for card in state.shown(self.active.status)]
        left = [item_id for item_id in shown if item_id not in state.selected]
        for item_id in left or shown:
            state.select(item_id)
        self._show_selected()

    def let_go(self) -> bool:
        """Select nothing; whether anything was."""
        if self.state is None or not self.state.selected:
            return False
        self.state.selected.clear()
        self._show_selected()
        return True

    def refresh_hints(self) -> None:
        count = len(self.state.selected) if self.state else 0
        if not count or self.filter.typing:
            super().refresh_hints()
            return
        hints = [Hint(str(count), "selected", "", True)]
        for name, word in _HINTS.items():
            key = actions.keys_of(BY_ID[name], self.desk.keymap)[0]
            if hints[-1].word == word:
                hints[-1] = hints[-1]._replace(keys=f"{hints[-1].keys}/{key}")
            else:
                hints.append(Hint(key, word, f"screen.do('{name}')", not BY_ID[name].why_not(self.here())))
        self.footer.show(hints)

    def action_shift(self, step: int) -> None:
        if cards := self.chosen:
            self._shift_all(cards, step)
        else:
            super().action_shift(step)

    def action_stop(self) -> None:
        if cards := self.chosen:
            self.ask(self._stop_all(cards))
        else:
            super().action_stop()

    def action_start(self) -> None:
        if cards := self.chosen:
            self.ask(self._start_all(cards))
        else:
            super().action_start()

    def action_delete(self) -> None:
        if cards := self.chosen:
            self.ask(self._delete_all(cards))
        else:
            super().action_delete()

    def _show_selected(self) -> None:
        selected = frozenset(self.state.selected) if self.state else frozenset[str]()
        for column in self.columns.values():
            column.mark(selected)
        self.refresh_hints()

    def _shift_all(self, cards: Sequence[CardView], step: int) -> None:
        """Each goes to the nearest column that it may go to; all are drawn there before the store is asked."""
        state = self.state
        if state is None:
            return
        ways = {card.item.id: next_legal(card.item.status, step) for card in cards}
        going = [card for card in cards if ways[card.item.id]]
        if not going:
            self.say(f"None of the {len(cards)} may go {'left' if step < 0 else 'right'} from where it is.", "waiting")
            return
        for card in going:
            if target := ways[card.item.id]:
                state.move(card.item.id, target)
        self.paint(ITEM_STATUSES)

        async def move(card: CardView) -> None:
            target = ways[card.item.id]
            assert target is not None
            try:
                await self.model.move_item(card.item.id, target)
            finally:
                now = (await self.model.cards([card.item.id])).get(card.item.id)
                state.settle(card.item.id, target, now)

        stay = len(cards) - len(going)
        more = f" {stay} may not go there." if stay else ""
        self.go(self._each(going, move, "Moved {}.", "Moving", more))

    async def _stop_all(self, cards: Sequence[CardView]) -> None:
        live = [card for card in cards if card.run and card.run.live and not card.run.stop_requested_at]
        if not live:
            self.say(f"None of the {len(cards)} has an agent to stop.", "waiting")
            return
        sure = await self.app.push_screen_wait(
            Confirm(
                f"Stop {_counted(len(live), 'agent')}?",
                "Each is asked to end; after 10 s it is killed. Logs and what they wrote stay.",
                yes="Stop them" if len(live) > 1 else "Stop it",
                no="Let them run" if len(live) > 1 else "Let it run",
            )
        )

        async def stop(card: CardView) -> None:
            if card.run:
                await self.model.stop_run(card.run.id)

        if sure:
            await self._each(live, stop, "Asked {} to stop.", "Asking", noun="agent")
            self.let_go()

    async def _delete_all(self, cards: Sequence[CardView]) -> None:
        idle = [card for card in cards if not (card.run and card.run.live)]
        busy = len(cards) - len(idle)
        if not idle:
            self.say(f"Agents are at work on all {len(cards)}. Press x to stop them first.", "waiting")
            return
        runs = sum(card.run_count for card in idle)
        below = sum(card.children_total for card in idle)
        lost = [f"everything under them ({below} at least)"] * bool(below) + [_counted(runs, "run")] * bool(runs)
        gone = f"They go with {' and '.join(lost)}." if lost else "They are gone for good."
        stay = f" {_counted(busy, 'item')} with agents at work stay." if busy else ""
        sure = await self.app.push_screen_wait(
            Confirm(f"Delete {_counted(len(idle), 'item')}?", gone + stay, yes="Delete them", no="Keep them")
        )

        async def delete(card: CardView) -> None:
            try:
                await self.model.delete_item(card.item.id)
            except NotFound:
                return  # it went with one above it

        if sure:
            await self._each(idle, delete, "Deleted {}.", "Deleting")

    async def _start_all(self, cards: Sequence[CardView]) -> None:
        ready = [card for card in cards if card.item.kind in ("task", "subtask")]
        if not ready:
            self.say("Agents work on tasks and subtasks; none of what is selected is one.", "waiting")
            return
        choices = None
        with self.trying("Reading what can be started…"):
            choices = await self.model.start_choices(ready[0].item.id)
        if choices is None:
            return
        one = len(ready) == 1
        shared = choices if one else replace(choices, prompt="", cwd="", arguments="")
        asked: list[StartRequest] = []

        async def begin(request: StartRequest) -> Run:
            asked.append(request)
            return await self.model.start_run(request)

        if await self.app.push_screen_wait(StartRun(ready[0].item, shared, begin, of=len(ready))) is None:
            return
        request = asked[-1]

        async def start(card: CardView) -> None:
            if card is not ready[0]:  # the dialog has begun that one, and stayed where it could not
                await self.model.start_run(replace(request, item_id=card.item.id))

        left_out = len(cards) - len(ready)
        more = f" {left_out} can have none." if left_out else ""
        await self._each(ready, start, "Asked for {}.", "Asking for runs", more, noun="run")
        self.let_go()

    async def _each(
        self,
        cards: Sequence[CardView],
        verb: Callable[[CardView], Awaitable[None]],
        done: str,
        doing: str,
        more: str = "",
        *,
        noun: str = "item",
    ) -> None:
        """One after the other; then how many it was, and the first of those that were refused."""
        refused: list[tuple[CardView, PamError]] = []
        async with self.turn:
            for number, card in enumerate(cards, 1):
                with self.trying(f"{doing}: {number} of {len(cards)}…"):
                    try:
                        await verb(card)
                    except PamError as error:
                        refused.append((card, error))
        with self.trying():
            await self.load()
        came = _counted(len(cards) - len(refused), noun)
        if not refused:
            self.say(done.format(came) + more, "good")
            return
        first, why = refused[0]
        self.say(f"{done.format(came)} {len(refused)} not: {quoted(first.item.title, 24)}: {why}{more}", "bad")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
