"""The wall place's part of the fake model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from screens.model import RunView
from tests.screens.fakes.core import FakeCore


@dataclass
class FakeWall(FakeCore):
    """Implements ``screens.model.wall.WallModel``."""

    async def live_runs(self, run_ids: Collection[str] | None = None) -> Sequence[RunView]:
        self.reads.append(("live_runs", None if run_ids is None else frozenset(run_ids)))
        live = [run for run in self.runs.values() if run.live and (run_ids is None or run.id in run_ids)]
        return [await self.run(run.id) for run in live]
