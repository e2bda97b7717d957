"""The machines that agents run on: whether they answer, what they carry, what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from screens import actions, hosts_rows
from screens.actions import Here
from screens.actions.hosts import ONE_MACHINE
from screens.confine import one_line
from screens.deeds import DeedsScreen
from screens.desk import Desk
from screens.dialogs import Confirm
from screens.dialogs.reconcile import ReconcilePlan
from screens.messages import OpenRun
from screens.model import CardView, RunView
from screens.model.hosts import HostView, Machine
from screens.shelling import Shelling
from screens.widgets.rows import Rows
from screens.widgets.sheet import Sheet
from screens.widgets.terminal import TerminalWidget
from store.records import Event, Host


class HostsScreen(DeedsScreen):
    """One for the whole control room."""

    PLACE = "hosts"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("hosts")]
    AUTO_FOCUS = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.table = Rows(hosts_rows.HOSTS, id="hosts", nothing="No host yet.")
        self.facts = Sheet(id="host-facts")
        self.lives = Rows(hosts_rows.RUNS, id="host-runs")
        self.shell = TerminalWidget(desk.keys("terminal.leave"), id="shell")
        self.shelling = Shelling(self, self.shell, self._shell_shown)
        self.views: Sequence[HostView] = ()
        self.machine = Machine()
        self._asked: dict[str, int] = {}
        """Requests to reconcile that are not answered yet, by host."""
        self._inside = False

    def compose_place(self) -> Iterator[Widget]:
        self.table.border_title = "Hosts"
        yield self.table
        with Horizontal(id="host-body"):
            yield self.facts
            yield self.lives
        yield self.shell

    def on_mount(self) -> None:
        self._enter(inside=False)

    def here(self) -> Here:
        host, run = self.chosen, self.run_chosen if self._inside else None
        card = CardView(run.item, run.run) if run else None
        busy = f"{host.host.name} is being reconciled already." if host and host.host.name in self._asked else ""
        return Here("hosts", run.project if run else None, card, run.run if run else None, host=host, busy=busy)

    @property
    def chosen(self) -> HostView | None:
        """The host under the cursor."""
        return next((view for view in self.views if view.host.id == self.table.key), None)

    @property
    def run_chosen(self) -> RunView | None:
        """The run under the cursor of the runs."""
        host = self.chosen
        return next((view for view in host.runs if view.run.id == self.lives.key), None) if host else None

    async def load(self) -> None:
        self.header.crumbs = ("all projects", "Hosts")
        self.views = await self.model.fleet()
        self.paint()
        self.machine = await self.model.machine()
        self.paint()

    async def changed(self, events: Sequence[Event]) -> None:
        for event in events:
            self._hear(event)
        runs = {str(event.payload["run_id"]) for event in events if event.payload.get("run_id")}
        if not events:
            await self.load()
        elif hosts_rows.wants_all(events):
            self.views = await self.model.fleet()
            self.paint()
        elif runs:
            self.views = hosts_rows.with_runs(self.views, runs, await self.model.live_runs(runs))
            self.paint()

    # What happens

    def on_rows_chosen(self, message: Rows.Chosen) -> None:
        self._enter(inside=message.rows is self.lives)
        if message.rows is self.table:
            self._paint_chosen(top=True)

    def on_rows_opened(self) -> None:
        self.action_enter()

    def on_terminal_widget_left(self) -> None:
        self.shelling.leave()

    def on_terminal_widget_ended(self, message: TerminalWidget.Ended) -> None:
        self.go(self.shelling.end(message.why))

    # What the keys do

    def action_enter(self) -> None:
        if self._inside and (view := self.run_chosen):
            self.request(OpenRun(view.run.id))
        else:
            self._enter(inside=True)

    def action_side(self) -> None:
        self._enter(inside=not self._inside)

    def action_go_in(self) -> None:
        self._enter(inside=True)

    def action_go_out(self) -> None:
        self._enter(inside=False)

    def action_leave(self) -> None:
        if self._inside:
            self._enter(inside=False)
        else:
            self.action_home()

    def action_step(self, step: int) -> None:
        rows = self.lives if self._inside else self.table
        rows.go(rows.cursor + step)

    def action_page(self, step: int) -> None:
        if self._inside:
            self.lives.page(step)
        else:
            self.facts.scroll_page(step)

    def action_edge(self, step: int) -> None:
        (self.lives if self._inside else self.table).edge(step)

    def action_copy(self) -> None:
        host, run = self.chosen, self.run_chosen if self._inside else None
        noun, id_ = ("run", run.run.id) if run else ("host", host.host.id if host else "")
        self.app.copy_to_clipboard(id_)
        self.say(f"Copied the {noun}'s id: {id_}", "good")

    def action_add(self) -> None:
        """Not in this version: the action's reason says so before this is reached."""
        self.say(ONE_MACHINE, "waiting")

    def action_shell(self) -> None:
        if view := self.chosen:
            self.ask(self.shelling.open(where=f"on {view.host.name}"))

    def action_able(self) -> None:
        if view := self.chosen:
            self.ask(self._able(view))

    def action_trust(self) -> None:
        if view := self.chosen:
            self.ask(self._trust(view.host))

    def action_reconcile(self) -> None:
        if view := self.chosen:
            self.ask(self._reconcile(view.host))

    # Below

    def paint(self) -> None:
        """Show what was read."""
        now = self.desk.clock()
        self.table.border_title = f"Hosts · {len(self.views)}"
        self.table.show([hosts_rows.host_line(view, self.machine, now) for view in self.views])
        self._paint_chosen()

    def _paint_chosen(self, *, top: bool = False) -> None:
        view, now = self.chosen, self.desk.clock()
        self.facts.border_title = one_line(view.host.name) if view else ""
        self.facts.show(list(hosts_rows.facts(view, self.machine, now)) if view else [], top=top)
        runs = view.runs if view else ()
        self.lives.border_title = f"Runs · {len(runs)}"
        self.lives.show([hosts_rows.run_line(each, now) for each in runs], "No run lives there.")
        if self._inside and not runs:
            self._enter(inside=False)
        self.refresh_hints()

    def _enter(self, *, inside: bool) -> None:
        """Give the keys to the hosts, or to the runs of the chosen one."""
        self._inside = inside and self.lives.count > 0
        self.table.set_class(not self._inside, "-active")
        self.lives.set_class(self._inside, "-active")
        self.table.refresh()
        self.lives.refresh()
        self.refresh_hints()

    def _shell_shown(self, shown: bool) -> None:
        self.set_class(shown, "-shell")

    async def _able(self, view: HostView) -> None:
        host = view.host
        if host.status == "disabled":
            with self.trying("Enabling…"):
                await self.model.enable_host(host.name)
                self.say(f"{host.name} is given work again.", "good")
            return
        count = len(view.runs)
        go_on = "" if not count else f"{count} run goes on there." if count == 1 else f"{count} runs go on there."
        sure = await self.app.push_screen_wait(_drain(host, go_on)) if count else True
        if sure:
            with self.trying("Disabling…"):
                await self.model.disable_host(host.name)
                self.say(f"{host.name} is given no new work; d enables it. {go_on}".strip(), "good")

    async def _trust(self, host: Host) -> None:
        sure = await self.app.push_screen_wait(
            Confirm(
                f"Trust the instance that answers as {host.name}?",
                "Another machine, or a copy of it, answered under this name. Look at the machine first.",
                yes="Trust it",
                no="Leave it suspect",
            )
        )
        if sure:
            with self.trying("Clearing…"):
                await self.model.trust_host(host.name)
                self.say(f"{host.name} is trusted and given work again.", "good")

    async def _reconcile(self, host: Host) -> None:
        plan = None
        with self.trying(f"Looking at {host.name}…"):
            plan = await self.model.reconcile_plan(host.name)
        if plan is None:
            return
        attended = self.header.facts.executor != "down"
        asked = await self.app.push_screen_wait(
            ReconcilePlan(host.name, plan, lambda: self.model.reconcile(host.name), attended=attended)
        )
        if asked is not None:
            self._asked[host.name] = asked
            self.say(f"Asked for it; the executor looks at {host.name} anew and mends what differs then.")
            self.refresh_hints()

    def _hear(self, event: Event) -> None:
        """Say what came of a reconcile that was asked for here."""
        name, answers = str(event.payload.get("host")), event.payload.get("answers")
        asked = self._asked.get(name)
        if event.topic != "host.reconciled" or asked is None or not isinstance(answers, int) or answers < asked:
            return
        del self._asked[name]
        steps = event.payload.get("plan")
        done = sum(bool(step.get("done")) for step in steps if isinstance(step, dict)) if isinstance(steps, list) else 0
        acted = f"{done} step{'' if done == 1 else 's'} done" if done else "nothing was to be done"
        self.say(f"{one_line(name)} is reconciled: {acted}.", "good")


def _drain(host: Host, go_on: str) -> Confirm:
    return Confirm(
        f"Disable {host.name}?",
        f"No new run goes there until you enable it. {go_on}",
        yes="Disable it",
        no="Leave it",
    )
