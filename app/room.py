"""Opens the control room on a home: store, executor where nobody else is it, live screens, and the App over them."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial

from app.control_room import ControlRoom
from app.settings import Settings
from app.store_model import StoreModel, Surroundings
from executor.background import LoopThread
from executor.capture import PaneSource
from executor.service import ExecutorBusy, host_executor
from providers import catalog
from store import hosts
from store.database import Store, open_store
from store.errors import TmuxUnavailable

log = logging.getLogger("pam.room")

ACTOR = "operator"


def open_room(settings: Settings, *, project_id: str | None = None) -> int:
    """Show the control room until the operator leaves; the exit code of the process.

    Raises StoreUnavailable, StoreNewer, or ConfigError before anything is drawn.
    """
    store = open_store(settings.home.database)
    try:
        hosts.ensure_local(store, actor=ACTOR)
        with control_room(store, settings, project_id=project_id) as room:
            show(room)
            return room.return_code or 0
    finally:
        store.close()


def show(room: ControlRoom) -> None:
    """Run the control room; TERM and HUP leave it as its own key does, so that the terminal is given back."""

    async def shown() -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, room.exit)
        await room.run_async()

    asyncio.run(shown())


@contextmanager
def control_room(store: Store, settings: Settings, *, project_id: str | None = None) -> Iterator[ControlRoom]:
    """The App with everything behind it running; all of it is gone after the block, except the agents."""
    around = Surroundings(
        home=settings.home,
        settings=settings.executor,
        catalog=partial(catalog.load, settings.home.path, operator_file=settings.catalog_path),
        default_provider=settings.default_provider or "",
    )
    with ExitStack() as behind:
        notice = _host(behind, store, settings)
        panes = PaneSource(settings.executor, settings.home.path)
        behind.enter_context(_running(panes))
        model = StoreModel(store, around, panes)
        behind.callback(model.close)
        yield ControlRoom(model, theme=settings.theme, keymap=settings.keys, project=project_id, notice=notice)


def _host(behind: ExitStack, store: Store, settings: Settings) -> str:
    """Be the executor where nobody else is; a sentence for the operator when nobody can be."""
    hosting = host_executor(
        store,
        settings.home,
        settings.executor,
        hosted_by="control-room",
        catalog_path=settings.catalog_path,
        auto_mark_done=settings.auto_mark_done,
        events_days=settings.events_days,
    )
    try:
        behind.enter_context(hosting)
    except ExecutorBusy as busy:
        log.info("%s", busy)
    except TmuxUnavailable as error:
        log.warning("%s", error)
        return f"No agent can be started: {error}"
    return ""


@contextmanager
def _running(panes: PaneSource) -> Iterator[None]:
    async def serve(started: Future[None]) -> None:
        started.set_result(None)
        await panes.run()

    thread = LoopThread("panes", serve)
    thread.start()
    try:
        yield
    finally:
        thread.stop()
