"""Opens the control room on a home: store, executor where nobody else is it, live screens, and the App over them."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial

from rich.console import Console
from textual.constants import COLOR_SYSTEM

import themes
from app.control_room import ControlRoom
from app.model import StoreModel, Surroundings
from app.seat import Seat
from app.settings import Settings
from executor.background import LoopThread
from executor.capture import PaneSource
from providers import catalog
from store import hosts
from store.database import Store, open_store
from store.errors import UsageError

ACTOR = "operator"


def open_room(settings: Settings, *, project_id: str | None = None) -> int:
    """Show the control room until the operator leaves; the exit code of the process.

    Raises UsageError, StoreUnavailable, StoreNewer, or ConfigError before anything is drawn.
    """
    if os.environ.get("TERM", "dumb") in ("", "dumb"):
        raise UsageError("The control room can't draw on this terminal: TERM says it is dumb. `pam -h` lists what can.")
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

    # What is loaded now stays: no collection needs to look at it. Small ones hold up no key for long.
    gc.freeze()
    gc.set_threshold(4_000, 20, 50)

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
        config=settings.config_path,
        settings=settings.executor,
        catalog=partial(catalog.load, settings.home.path, operator_file=settings.catalog_path),
        default_provider=settings.default_provider or "",
        catalog_file=settings.catalog_path,
    )
    with ExitStack() as behind:
        seat = _seat(store, settings)
        behind.callback(seat.close)
        seat.opening = True
        panes = PaneSource(settings.executor, settings.home.path)
        behind.enter_context(_running(panes))
        model = StoreModel(store, around, panes, seat)
        behind.callback(model.close)
        yield ControlRoom(
            model,
            theme=settings.theme,
            keymap=settings.keys,
            palettes=palettes(),
            project=project_id,
            notify=settings.notify,
        )


def palettes() -> Mapping[str, themes.Palette]:
    """Those for 256 colours where the terminal has no more, as Textual finds out."""
    few = COLOR_SYSTEM in ("auto", "256") and Console(force_terminal=True).color_system == "256"
    return themes.FEW_COLOURS if few else themes.PALETTES


def _seat(store: Store, settings: Settings) -> Seat:
    def host() -> AbstractContextManager[LoopThread]:
        from executor.service import host_executor  # much code, and the board is seen before it is needed

        return host_executor(
            store,
            settings.home,
            settings.executor,
            hosted_by="control-room",
            catalog_path=settings.catalog_path,
            auto_mark_done=settings.auto_mark_done,
            events_days=settings.events_days,
        )

    return Seat(settings.home, host)


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
