"""A real agent CLI on the stage: started by pam's executor, watched by its own hooks, answered by the stub model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from providers.stub.server import StubModel
from store import deliveries
from store.records import Event, Run
from tests.support import real_clis
from tests.support.stage import ACTOR, Stage
from tests.support.waiting import until

PATIENCE_S = 90.0
"""opencode takes a dozen seconds for its first paint in a new home, on a machine that does nothing else."""

HAND_S = 0.2
"""Between the last letter of a line and Enter: gemini takes an Enter within 30 ms of a letter for part of a paste."""

ANSWERED_S = 3.0
"""How long an answer takes to have an effect."""


@dataclass(frozen=True, slots=True)
class Ways:
    """How one CLI is told what a person would tell it."""

    asks: str
    """What stands on the screen once the question can be answered; the hook comes before."""
    yes: tuple[str, ...] = ("Enter",)
    """Keys that answer a permission question with yes, once."""
    leave: str = "/exit"
    ends: str = "hook"
    """What says first that a turn has ended."""
    interrupt: tuple[str, ...] = ("Escape",)
    clear: tuple[str, ...] = ()
    """Keys that take out of the input what an interrupt puts back into it."""


WAYS: Mapping[str, Ways] = {
    "claude": Ways("Do you want to proceed?"),
    "codex": Ways("Yes, proceed"),
    "gemini": Ways("Allow once", leave="/quit"),
    "opencode": Ways("Allow once", interrupt=("Escape", "Escape")),
    "qwen": Ways("Yes, allow once", leave="/quit", clear=("C-u",)),
    "copilot": Ways("Yes", interrupt=("Escape", "Escape")),
    "kimi": Ways("Approve", ends="transcript"),
}


@dataclass
class RealAgent:
    """One CLI, at work for the stage's task in a repository."""

    name: str
    stage: Stage
    stub: StubModel
    repository: Path

    @property
    def ways(self) -> Ways:
        """How it is spoken to."""
        return WAYS[self.name]

    def start(self, prompt: str, **options: object) -> Run:
        """A run of the stage's task, asking before it acts."""
        given = {"cwd": self.repository, "prompt": prompt, "model": real_clis.MODELS[self.name], "approvals": "ask"}
        return self.stage.start(self.name, **{**given, **options})

    def said(self, run: Run) -> list[dict[str, object]]:
        """What its hooks and its transcript said, as it was journaled, in order."""
        heard = (event for event in self.stage.events(run) if event.topic == "run.signal_received")
        return [_facts(event) for event in heard]

    def until_activity(self, run: Run, activity: str, note: str = "") -> Run:
        """The run once its agent is at this, with this in the note of it."""

        def there() -> bool:
            now = self.stage.run(run)
            return now.activity == activity and note in (now.activity_note or "")

        self.until(run, there)
        return self.stage.run(run)

    def until_heard(self, run: Run, **facts: object) -> None:
        """Once one of its words says all of this."""
        self.until(run, lambda: any(facts.items() <= one.items() for one in self.said(run)))

    def until_rest(self, run: Run, turns: int) -> None:
        """Once so many turns have come to rest: idle after work."""

        def rested() -> bool:
            seen = [one["activity"] for one in self.said(run) if one.get("activity")]
            return list(pairwise(seen)).count(("working", "idle")) >= turns

        self.until(run, rested)

    def tell(self, run: Run, text: str) -> None:
        """Deliver a prompt, and wait until the agent has taken it up."""
        delivery = deliveries.queue_prompt(self.stage.store, run.id, text, actor=ACTOR)
        under_way = ("queued", "delivering", "typed")
        self.until(run, lambda: deliveries.get(self.stage.store, delivery.id).status not in under_way)
        told = deliveries.get(self.stage.store, delivery.id)
        assert told.status == "confirmed", (told, self.stage.pane(run))

    def resume(self, run: Run, prompt: str) -> Run:
        """A run that goes on with the conversation of one that has ended."""
        ended = self.stage.run(run)
        return self.start(prompt, conversation_id=ended.conversation_id, resumed_from=ended.id)

    def allow(self, run: Run, done: Callable[[], object]) -> None:
        """Answer a permission question with yes, and again while nothing is done: a fresh dialog takes no keys."""
        self.until(run, lambda: self.ways.asks in self.stage.pane(run))
        for _ in range(3):
            self.press(run, *self.ways.yes)
            with suppress(AssertionError):
                until(done, ANSWERED_S)
                return
        self.until(run, done)

    def press(self, run: Run, *keys: str) -> None:
        """Press keys in its terminal."""
        self.stage.sandbox.tmux("send-keys", "-t", f"={run.session_name}:", *keys)

    def type(self, run: Run, text: str) -> None:
        """Type a line as a person does: Enter once it stands there, and no faster than a hand."""
        before = self.stage.pane(run).count(text)
        self.stage.sandbox.tmux("send-keys", "-t", f"={run.session_name}:", "-l", text)
        self.until(run, lambda: self.stage.pane(run).count(text) > before)
        time.sleep(HAND_S)
        self.press(run, "Enter")

    def until(self, run: Run, holds: Callable[[], object]) -> None:
        """Until something holds; what was said and what is on the screen otherwise."""
        until(holds, PATIENCE_S, lambda: f"{self.stage.run(run)}\n{self.said(run)}\n{self.stage.pane(run)}")


@contextmanager
def at_work(name: str, stage: Stage, home: Path, repository: Path) -> Iterator[RealAgent]:
    """The CLI ``name``, with the home of an operator who has used it, and an executor beside a stub model."""
    real_clis.install(name)
    with StubModel() as stub:
        real_clis.answer_first_run_questions(name, home, stub_url=stub.url)
        scrubbed = real_clis.scrubbed_environment(name, home, stub.url)
        with stage.executor(environ=scrubbed):
            yield RealAgent(name, stage, stub, repository)


def _facts(event: Event) -> dict[str, object]:
    said = event.payload.get("said")
    facts = dict(said) if isinstance(said, dict) else {}
    return {"kind": event.payload["kind"], "source": event.payload["source"], **facts}
