"""What runs of the fake model ask, and answers that are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from screens.chips import waits
from screens.model.answers import AskKind, Choice, Question, Taken
from store.errors import Conflict
from store.records import Delivery, DeliveryStatus, Run
from tests.screens.fakes.core import NOW, FakeCore


@dataclass
class FakeAnswers(FakeCore):
    """Implements ``screens.model.answers.AnswersModel``."""

    asks: AskKind = "permission"
    taken: Taken = "answered"
    told: Delivery | None = None
    """What becomes of a prompt; one that is taken up else."""

    async def question(self, run_id: str) -> Question:
        view = await self.run(run_id)
        if not waits(view.run):
            raise Conflict(f"{view.run.session_name} asks nothing now.")
        choices = (Choice("yes", ("Enter",)), Choice("always", ("p",)), Choice("no", ("Escape",)))
        words = self.asks == "question"
        return Question(
            view, self.asks, "" if words else "Bash", view.run.activity_note or "", () if words else choices
        )

    async def answer(self, question: Question, *, keys: Sequence[str] = (), text: str = "") -> Taken:
        await self._verb("answer", question.view.run.id, tuple(keys), text)
        run = question.view.run
        self.runs[run.id] = replace(run, activity="working", activity_note=None)
        self.happen(("run.signal_received", {"run_id": run.id, "task_id": run.task_id, "attempt": run.attempt}))
        return self.taken

    async def prompt(self, run: Run, text: str) -> Delivery:
        await self._verb("prompt", run.id, text)
        return self.told or delivery("confirmed", run_id=run.id, text=text)


def delivery(status: DeliveryStatus, *, run_id: str = "", text: str = "", reason: str | None = None) -> Delivery:
    """A prompt that was given to a run's first attempt, and what became of it."""
    return Delivery(
        id=1,
        run_id=run_id,
        attempt=1,
        kind="prompt",
        status=status,
        opening=False,
        text=text,
        keys=(),
        reason=reason,
        awaited=True,
        actor="operator",
        created_at=NOW,
        typed_at=NOW,
        settled_at=NOW,
    )
