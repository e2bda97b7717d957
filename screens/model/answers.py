"""What a run asks, what may be typed into it from outside of its terminal, and what became of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from screens.model.views import RunView
from store.records import Delivery, Run

AskKind = Literal["permission", "question", "plan", "trust", ""]
ChoiceName = Literal["yes", "always", "no"]
Taken = Literal["answered", "pressed"]
"""Its agent went on; or its question is off the screen, and what was asked for takes longer to be heard of."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer that the run's provider has keys for."""

    name: ChoiceName
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What a run waits for."""

    view: RunView
    kind: AskKind = ""
    """Empty where only a sentence is known."""
    tool: str = ""
    detail: str = ""
    """The command, the file or the question, as asked; empty where the agent did not say."""
    choices: Sequence[Choice] = ()
    """Empty for a question that wants words."""


class AnswersModel(Protocol):
    """Questions, answers and prompts."""

    async def question(self, run_id: str) -> Question:
        """What a run asks now; raises NotFound, or Conflict when it does not wait."""

    async def answer(self, question: Question, *, keys: Sequence[str] = (), text: str = "") -> Taken:
        """Press keys, after ``text``, and see that the agent goes on; takes up to a dozen seconds.

        Raises PamError with the reason: the run waits no more or for something else, nobody can type now, the keys were
        refused; and Conflict when they were pressed and it waits all the same.
        """

    async def prompt(self, run: Run, text: str) -> Delivery:
        """Type a prompt into a run and submit it; what is known of it within a few seconds.

        An agent that is at work or not up yet may take it later. Raises PamError with the reason when nothing was typed
        and nothing will be.
        """
