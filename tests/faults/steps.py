"""A step of a schedule, and the runs it may choose its victim from."""

from __future__ import annotations

from dataclasses import dataclass

from store.records import Run
from tests.faults.world import World


@dataclass(frozen=True)
class Step:
    """One line of a schedule, drawn before anything happens: the same seed gives the same steps."""

    number: int
    fault: str
    where: float
    """Which of the possible victims, from 0 to 1."""
    what: float
    """Everything else that the fault may choose."""
    settle: bool
    """Whether the dust may settle before the next step."""

    def victim(self, found: list[Run]) -> Run | None:
        """One of them, None when there is none."""
        return found[int(self.where * len(found))] if found else None


def live(world: World) -> list[Run]:
    """Runs that have not ended."""
    return [run for run in world.all_runs() if run.live]


def standing(world: World) -> list[Run]:
    """Runs that run, and nothing was done yet that ends them."""
    return [
        run for run in live(world) if run.status == "running" and run.stop_requested_at is None and not due(world, run)
    ]


def due(world: World, run: Run) -> bool:
    """Whether this attempt has to end."""
    return run.attempt in world.stories[run.id].must
