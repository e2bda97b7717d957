"""The screens' model over a stage's store and tmux server, as the control room has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from app.model import StoreModel, Surroundings
from app.seat import Seat
from executor.capture import PaneSource
from executor.service import host_executor
from providers import catalog
from tests.support.stage import Stage


@asynccontextmanager
async def model_of(stage: Stage) -> AsyncIterator[StoreModel]:
    """A model whose panes are captured; it hosts no executor itself."""
    around = Surroundings(stage.home, stage.home.config, stage.settings, lambda: catalog.load(stage.home.path))
    seat = Seat(stage.home, lambda: host_executor(stage.store, stage.home, stage.settings, hosted_by="control-room"))
    panes = PaneSource(stage.settings, stage.home.path)
    serving = asyncio.create_task(panes.run())
    model = StoreModel(stage.store, around, panes, seat)
    try:
        yield model
    finally:
        model.close()
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
