"""Tells an operator who looks elsewhere that an agent waits: once for each question, several at once as one.

Nobody is told while the terminal is known to have the keyboard, nor in quiet hours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from app.notice_settings import NoticeSettings
from screens.chips import FAILURES, note
from screens.confine import one_line
from screens.desk import Clock
from screens.model import RunView
from screens.widgets.spans import clip
from store.errors import PamError
from store.records import Event

TOGETHER_S: Final = 2.0
"""What begins within this time is told at once."""
WIDTH: Final = 120
"""Cells of a line, about what a desktop shows."""
_ENDS: Final = ("run.finished", "run.failed")


class Notice(NamedTuple):
    """What is told."""

    title: str
    body: str


class Reads(Protocol):
    """The part of the model that is asked here."""

    async def waiting(self) -> Sequence[RunView]:
        """As CoreModel says."""

    async def run(self, run_id: str) -> RunView:
        """As CoreModel says."""


Send = Callable[[Notice], Coroutine[object, object, None]]


class Notices:
    """``heed`` is told what happened, ``run`` tells the operator until it is cancelled."""

    def __init__(
        self, settings: NoticeSettings, model: Reads, clock: Clock, looks: Callable[[], bool], send: Send
    ) -> None:
        """``looks``: whether the operator is known to look at this terminal now."""
        self._settings = settings
        self._model = model
        self._clock = clock
        self._looks = looks
        self._send = send
        self._told: dict[str, tuple[int, str | None]] = {}
        """The question of each waiting run that was told, by the run's id."""
        self._began = False
        self._ended: list[str] = []
        self._news = asyncio.Event()

    def heed(self, events: Sequence[Event]) -> None:
        """Take what happened; returns at once."""
        if not self._settings.via:
            return
        for event in events:
            run_id, activity = str(event.payload.get("run_id", "")), _activity(event)
            if activity == "waiting":
                self._began = True
            elif activity:
                self._told.pop(run_id, None)  # it may ask the same again
            if event.topic in _ENDS and self._settings.on_end:
                self._ended.append(run_id)
        if self._began or self._ended:
            self._news.set()

    async def run(self) -> None:
        """Wait for news, and for what comes together with them."""
        while True:
            await self._news.wait()
            await asyncio.sleep(TOGETHER_S)
            self._news.clear()
            self._began, ended, self._ended = False, self._ended, []
            try:
                notices = [_asking(await self._new_questions()), _over(await self._views(ended))]
            except PamError:
                continue  # the header says what is wrong with the store
            if not self._looks() and not self._settings.hushed(self._clock().time()):
                for notice in notices:
                    if notice is not None:
                        await self._send(notice)

    async def _new_questions(self) -> list[RunView]:
        """Those that wait and were not told; told or not, they count as told from now on."""
        waiting = await self._model.waiting()
        asked = {view.run.id: (view.run.attempt, view.run.activity_note) for view in waiting}
        new = [view for view in waiting if self._told.get(view.run.id) != asked[view.run.id]]
        self._told = asked
        return new

    async def _views(self, run_ids: Collection[str]) -> list[RunView]:
        views = [await self._model.run(run_id) for run_id in dict.fromkeys(run_ids)]
        return [view for view in views if not view.run.live and view.run.retry_at is None]


def _activity(event: Event) -> str:
    """What a signal says that its run does; empty where it says nothing of it."""
    said = event.payload.get("said")
    if event.payload.get("kind") in ("completed", "failed"):
        return "idle"
    return str(said.get("activity") or "") if isinstance(said, Mapping) else ""


def _asking(views: Sequence[RunView]) -> Notice | None:
    match views:
        case []:
            return None
        case [view]:
            asked = note(view.run) or "It did not say what it wants."
            return _notice(f"{view.run.provider} waits for you", f"{view.item.title}: {asked}")
    return _notice(f"{len(views)} agents wait for you", _titles(views))


def _over(views: Sequence[RunView]) -> Notice | None:
    match views:
        case []:
            return None
        case [view]:
            run = view.run
            how = "ended" if run.status == "exited" else run.status
            why = f" ({FAILURES[run.failure_reason]})" if run.failure_reason else ""
            return _notice(f"{run.provider} {how}{why}", view.item.title)
    return _notice(f"{len(views)} agents ended", _titles(views))


def _titles(views: Sequence[RunView]) -> str:
    return " · ".join(view.item.title for view in views)


def _notice(title: str, body: str) -> Notice:
    return Notice(f"pam: {clip(one_line(title), WIDTH)}", clip(one_line(body), WIDTH))
