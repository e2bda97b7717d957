"""Runs that wait for the operator: who is next, and what is asked answered, or a prompt given, without going there."""

from __future__ import annotations

from screens.chips import waits
from screens.dialogs import AnswerRun, PromptRun
from screens.messages import OpenRun
from screens.place import PlaceScreen
from screens.widgets.spans import quoted
from store.records import Run


class WaitingScreen(PlaceScreen):
    """A place from which one goes to who waits."""

    def action_waiting(self) -> None:
        self.ask(self._next_waiting())

    def action_answer(self) -> None:
        if run := self.here().run:
            self.ask(self._answer(run) if waits(run) else self._prompt(run))

    def go_to_waiting(self, run_id: str) -> None:
        """Show a run that waits; where one is shown already, this one takes its place."""
        self.request(OpenRun(run_id, instead=self.PLACE == "run"))

    async def _next_waiting(self) -> None:
        """The longest wait first; the one after it where the operator is at one that waits already."""
        with self.trying("Looking who waits…"):
            views = await self.model.waiting()
            if not views:
                self.say("Nobody waits for you.", "good")
                return
            ids = [view.run.id for view in views]
            run = self.here().run if self.PLACE in ("run", "wall") else None
            now = ids.index(run.id) if run and run.id in ids else -1
            if run and ids == [run.id]:
                self.say("Nobody else waits for you. Press w to answer.", "waiting")
                return
            self.go_to_waiting(ids[(now + 1) % len(ids)])

    async def _answer(self, run: Run) -> None:
        question = None
        with self.trying("Reading what it asks…"):
            question = await self.model.question(run.id)
        if question is None:
            return
        how = await self.app.push_screen_wait(AnswerRun(question, self.model))
        about = quoted(question.view.item.title)
        if how == "look" or (how == "attach" and self.PLACE != "run"):
            self.request(OpenRun(run.id, attach=how == "attach", instead=self.PLACE == "run"))
        elif how == "attach":
            await self.run_action("attach")
        elif how == "answered":
            self.say(f"Answered; {run.provider} goes on with {about}.", "good")
        elif how == "pressed":
            self.say(f"Answered. {run.provider} says that it goes on once it is done with what it asked for.", "good")

    async def _prompt(self, run: Run) -> None:
        view = None
        with self.trying("Reading the run…"):
            view = await self.model.run(run.id)
        if view is None:
            return
        told = await self.app.push_screen_wait(PromptRun(view, self.model))
        if told is None:
            return
        about = quoted(view.item.title)
        if told.status == "confirmed":
            self.say(f"{run.provider} has taken it up, for {about}.", "good")
        elif told.status == "unconfirmed":
            self.say(told.reason or f"It was typed; {run.provider} did not say that it took it up.", "waiting")
        elif told.status == "typed":
            self.say(f"It was typed into {run.provider}, for {about}.", "good")
        else:
            self.say(f"It is typed once {run.provider} takes prompts, for {about}.")
