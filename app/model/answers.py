"""Answers to what agents ask, and prompts: typed by the executor, seen to be taken."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import cast, get_args

from app.model.access import ACTOR, Access, of_one_moment
from app.model.answering import Answering, settled
from app.model.wall import views_of
from executor import lock
from executor.tmux.commands.keying import check_keys, check_typed
from providers.catalog import Catalog
from providers.provider import Answers
from screens.chips import waits
from screens.model.answers import AskKind, Choice, ChoiceName, Question, Taken
from store import deliveries, journal, runs
from store.database import Store
from store.errors import Conflict, ExecutorNotRunning
from store.records import Delivery, Run

TAKEN_UP_S = 8.0
"""How long it is waited for a prompt to be taken up: the executor gives an agent that is at rest five seconds."""
SAID_LATELY = 30
"""Events of a run among which its question is."""
_WANTS_WORDS = ("question",)


class AnswersParts(Access):
    """Implements ``screens.model.answers.AnswersModel``."""

    async def question(self, run_id: str) -> Question:
        """As the protocol says."""
        catalog = await asyncio.to_thread(self._around.catalog)
        return await self._reads.call(_question, run_id, catalog)

    async def answer(self, question: Question, *, keys: Sequence[str] = (), text: str = "") -> Taken:
        """As the protocol says."""
        check_keys(keys)
        if text:
            check_typed(text)
        run = question.view.run
        await self._need_executor()
        catalog = await asyncio.to_thread(self._around.catalog)
        answers = _answers(catalog, run.provider)
        answering = Answering(self._reads, self._writes, self._panes, run, answers.shows)
        return await answering.carry_out(keys, text)

    async def prompt(self, run: Run, text: str) -> Delivery:
        """As the protocol says."""
        await self._need_executor()
        made = await self._writes.call(deliveries.queue_prompt, run.id, text, actor=ACTOR)
        delivery = await settled(self._reads, made, TAKEN_UP_S)
        if delivery.status == "refused":
            raise Conflict(f"Nothing was typed. {delivery.reason}")
        return delivery

    async def _need_executor(self) -> None:
        if not (await asyncio.to_thread(lock.state, self._around.home)).running:
            raise ExecutorNotRunning("No executor runs, so nothing was typed. `pam up --detach` starts one.")


@of_one_moment
def _question(store: Store, run_id: str, catalog: Catalog) -> Question:
    run = runs.get(store, run_id)
    if not waits(run):
        raise Conflict(f"{run.session_name} asks nothing now.")
    ask = _ask(store, run)
    kind, tool, detail = (str(ask.get(name) or "") for name in ("kind", "tool", "detail"))
    known = cast("AskKind", kind if kind in get_args(AskKind) else "")
    answers = _answers(catalog, run.provider)
    named: tuple[tuple[ChoiceName, tuple[str, ...]], ...] = (
        ("yes", answers.yes),
        ("always", answers.always),
        ("no", answers.no),
    )
    (view,) = views_of(store, [run])
    return Question(
        view=view,
        kind=known,
        tool=tool,
        detail=detail or run.activity_note or "",
        choices=() if known in _WANTS_WORDS else [Choice(name, keys) for name, keys in named if keys],
    )


def _answers(catalog: Catalog, provider: str) -> Answers:
    known = catalog.providers.get(provider)
    return known.answers if known else Answers()


def _ask(store: Store, run: Run) -> Mapping[str, object]:
    """What the hook said that made it wait, if it was a hook's word."""
    for event in reversed(journal.of_run(store, run.id, limit=SAID_LATELY)):
        said = event.payload.get("said")
        if isinstance(said, Mapping) and said.get("activity"):
            ask = said.get("ask")
            if said["activity"] != "waiting" or isinstance(ask, Mapping):
                return ask if isinstance(ask, Mapping) else {}
    return {}
