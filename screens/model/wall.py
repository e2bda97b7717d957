"""What the wall place asks for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from screens.model.views import RunView


class WallModel(Protocol):
    """Reads of the wall place."""

    async def live_runs(self, run_ids: Collection[str] | None = None) -> Sequence[RunView]:
        """Runs of all projects that have not ended, in no order; ``run_ids`` narrows to those of them."""
