"""What can be done with an item or a run from any place: start, stop, attach, copy, edit, go to who waits."""

from __future__ import annotations

from screens.dialogs import Confirm, EditLine, HelpKeys, ProjectPicker, StartRun
from screens.messages import GoHome, OpenItem, OpenProject, OpenRun, QuitRoom, TakeTerminal
from screens.place import PlaceScreen
from store.records import Item, Run


class DeedsScreen(PlaceScreen):
    """A place whose keys act on the item and the run that ``here`` names."""

    def action_start(self) -> None:
        if card := self.here().card:
            self.go(self._start(card.item))

    def action_stop(self) -> None:
        here = self.here()
        if here.run and here.card:
            self.go(self._stop(here.run, here.card.item))

    def action_attach(self) -> None:
        if run := self.here().run:
            self.go(self._take_terminal(run))

    def action_edit(self) -> None:
        if card := self.here().card:
            self.go(self._edit(card.item))

    def action_open_item(self) -> None:
        if card := self.here().card:
            self.post_message(OpenItem(card.item.id))

    def action_copy(self) -> None:
        here = self.here()
        noun, subject = ("run", here.run) if self.PLACE == "run" else ("item", here.card and here.card.item)
        if subject:
            self.app.copy_to_clipboard(subject.id)
            self.say(f"Copied the {noun}'s id: {subject.id}", "good")

    def action_waiting(self) -> None:
        self.go(self._next_waiting())

    def action_project(self) -> None:
        self.go(self._choose_project())

    def action_help(self) -> None:
        self.app.push_screen(HelpKeys(self.PLACE, self.desk.keymap))

    def action_palette(self) -> None:
        self.app.action_command_palette()

    def action_theme(self) -> None:
        self.app.action_change_theme()

    def action_home(self) -> None:
        self.post_message(GoHome())

    def action_quit(self) -> None:
        self.post_message(QuitRoom())

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
            if self.header.facts.executor == "down":
                self.say(f"{run.session_name} is pending. No executor runs: `pam up` starts one.", "waiting")
            else:
                self.say(f"{run.session_name} is pending; the executor takes it from here.", "good")

    async def _stop(self, run: Run, item: Item) -> None:
        if not run.live:
            with self.trying():
                await self.model.stop_run(run.id)
                self.say(f"{run.session_name} stays failed; its restart is called off.", "good")
            return
        sure = await self.app.push_screen_wait(
            Confirm(
                f"Stop {run.provider} on “{item.title}”?",
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
        with self.trying("Looking for the session…"):
            argv = await self.model.attach_command(run.id)
            self.post_message(TakeTerminal(tuple(argv)))

    async def _edit(self, item: Item) -> None:
        async def save(title: str) -> None:
            await self.model.edit_item(item.id, title=title)

        if await self.app.push_screen_wait(EditLine("Title", item.title, save)):
            self.say("Saved.", "good")

    async def _next_waiting(self) -> None:
        with self.trying("Looking who waits…"):
            views = await self.model.waiting()
            if not views:
                self.say("Nobody waits for you.", "good")
                return
            ids = [view.run.id for view in views]
            run = self.here().run
            now = ids.index(run.id) if run and self.PLACE == "run" and run.id in ids else -1
            self.post_message(OpenRun(ids[(now + 1) % len(ids)]))

    async def _choose_project(self) -> None:
        projects = None
        with self.trying("Reading the projects…"):
            projects = await self.model.projects()
        if projects is None:
            return
        chosen = await self.app.push_screen_wait(ProjectPicker(self.desk, projects))
        if chosen is not None:
            self.post_message(OpenProject(chosen.id))
