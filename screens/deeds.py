"""What can be done with an item or a run from any place: start, stop, attach, copy, edit, go to who waits."""

from __future__ import annotations

from screens.dialogs import Confirm, EditLine, HelpKeys, NewProject, ProjectPicker, StartRun
from screens.keys_in_order import room_of
from screens.messages import GoHome, Gone, OpenDrawer, OpenItem, OpenPlace, OpenProject, OpenRun, QuitRoom, TakeTerminal
from screens.taking_over import take_over
from screens.waiting import WaitingScreen
from screens.widgets.spans import quoted
from store.errors import LeaseHeld, NotFound
from store.records import Item, Run


class DeedsScreen(WaitingScreen):
    """A place whose keys act on the item and the run that ``here`` names."""

    deleted = ""
    """What was shown here and is no more; the place closes as soon as it is the one in sight."""

    def gone(self, error: NotFound) -> None:
        if self.header.crumbs:
            self.deleted = self.header.crumbs[-1]
            self.uncovered()
        else:
            super().gone(error)

    def uncovered(self) -> None:
        if self.deleted and self.is_active:
            self.post_message(Gone(self, f"{quoted(self.deleted)} was deleted."))

    def action_start(self) -> None:
        if card := self.here().card:
            self.ask(self._start(card.item))

    def action_stop(self) -> None:
        here = self.here()
        if here.run and here.card:
            self.ask(self._stop(here.run, here.card.item))

    def action_attach(self) -> None:
        if run := self.here().run:
            self.request(OpenRun(run.id, attach=True))

    def action_edit(self) -> None:
        if card := self.here().card:
            self.ask(self._edit(card.item))

    def action_open_item(self) -> None:
        if card := self.here().card:
            self.request(OpenItem(card.item.id))

    def action_copy(self) -> None:
        here = self.here()
        noun, subject = ("run", here.run) if self.PLACE == "run" else ("item", here.card and here.card.item)
        if subject:
            self.app.copy_to_clipboard(subject.id)
            self.say(f"Copied the {noun}'s id: {subject.id}", "good")

    def action_project(self) -> None:
        self.ask(self._choose_project())

    def action_help(self) -> None:
        room_of(self).hold_keys()
        self.app.push_screen(HelpKeys(self.PLACE, self.desk.keymap))

    def action_palette(self) -> None:
        self.app.action_command_palette()

    def action_theme(self) -> None:
        room_of(self).hold_keys()
        self.app.action_change_theme()

    def action_home(self) -> None:
        self.request(GoHome())

    def action_place(self, name: str) -> None:
        self.request(OpenPlace(name))

    def action_drawer(self) -> None:
        self.request(OpenDrawer())

    def action_quit(self) -> None:
        self.request(QuitRoom())

    def action_back(self) -> None:
        self.dismiss()

    async def _start(self, item: Item) -> None:
        choices = None
        with self.trying("Reading what can be started…"):
            choices = await self.model.start_choices(item.id)
        if choices is None:
            return
        run = await self.app.push_screen_wait(StartRun(item, choices, self.model.start_run))
        if run is not None:
            facts = self.header.facts
            if facts.executor == "down":
                why = facts.trouble or "No executor runs: `pam up` starts one."
                self.say(f"{run.session_name} is pending. {why}", "waiting")
            else:
                self.say(f"Asked for {run.session_name}; its card says how it goes.", "good")

    async def _stop(self, run: Run, item: Item) -> None:
        if not run.live:
            with self.trying():
                await self.model.stop_run(run.id)
                self.say(f"{run.session_name} stays failed; its restart is called off.", "good")
            return
        sure = await self.app.push_screen_wait(
            Confirm(
                f"Stop {run.provider} on {quoted(item.title, 30)}?",
                "The agent is asked to end; after 10 s it is killed. Its log and what it wrote stay.",
                yes="Stop the run",
                no="Let it run",
            )
        )
        if sure:
            with self.trying("Asking for the stop…"):
                await self.model.stop_run(run.id)
                self.say(f"Asked {run.session_name} to stop.", "good")

    async def _take_terminal(self, run: Run) -> None:
        """Attach on all of the operator's terminal; while another types, to look on or to take it over."""
        with self.trying("Looking for the session…"):
            try:
                argv = await self.model.attach_command(run.id)
            except LeaseHeld as held:
                taken = await self.app.push_screen_wait(take_over(held, no="Look on"))
                if taken is None:
                    return
                argv = await self.model.attach_command(run.id, force=taken, read_only=not taken)
            self.request(TakeTerminal(tuple(argv)))

    async def _edit(self, item: Item) -> None:
        async def save(title: str) -> None:
            await self.model.edit_item(item.id, title=title)

        if await self.app.push_screen_wait(EditLine("Title", item.title, save)):
            self.say("Saved.", "good")

    async def _choose_project(self) -> None:
        projects, offered = None, None
        with self.trying("Reading the projects…"):
            projects = await self.model.projects()
            offered = None if projects else await self.model.first_start()
        if projects is None:
            return
        first = NewProject(self.desk, "", offered)  # with nothing to choose from, there is nothing to ask first
        chosen = await self.app.push_screen_wait(ProjectPicker(self.desk, projects) if projects else first)
        if chosen is not None:
            self.request(OpenProject(chosen.id))
