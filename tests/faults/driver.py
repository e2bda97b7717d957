"""The fault driver: draws a schedule from a seed, plays it, and checks every invariant each time the dust settles."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from store.errors import PamError
from store.records import Event, Run
from tests.faults import invariants
from tests.faults.deeds import ask_to_stop, start
from tests.faults.faults import FAULTS
from tests.faults.settle import emptied, settle
from tests.faults.steps import Step
from tests.faults.world import World, make_world

BURSTS = (0.1, 0.3, 0.6)
"""How often a fault follows the one before without waiting for the dust; a seed has one of these."""
RESTART_EVERY = 10
NOT_STATE = ("worker.", "host.", "run.output_appended", "run.orphan_")
"""Topics that say how the executor is, or what time alone brings; not what became of the work."""

Say = Callable[[str], None]


class FaultFound(AssertionError):
    """An invariant is broken; the text holds the seed, the schedule so far and the evidence."""


def schedule(seed: int, rounds: int) -> list[Step]:
    """The steps of a seed; it always begins with a few runs to break."""
    rng = random.Random(seed)
    names, weights = list(FAULTS), [weight for _, weight in FAULTS.values()]
    burst = rng.choice(BURSTS)
    steps = []
    for number in range(1, rounds + 1):
        fault = "start" if number <= 3 else rng.choices(names, weights)[0]
        steps.append(Step(number, fault, rng.random(), rng.random(), settle=rng.random() >= burst))
    return steps


@dataclass
class Play:
    """One seed's play in its world."""

    world: World
    seed: int
    steps: list[Step]
    say: Say
    done: list[str]
    began: float

    def all(self) -> None:
        """Every step, then the end of everything. Raises FaultFound."""
        try:
            settle(self.world)
            self.world.join_ours()
            for step in self.steps:
                self._step(step)
            self._rest()
            self._restart_changes_nothing()
            self._end_everything()
        except FaultFound:
            raise
        except (AssertionError, OSError, PamError, subprocess.SubprocessError) as error:
            raise self._found([f"{type(error).__name__}: {error}"]) from error

    def _step(self, step: Step) -> None:
        fault, _ = FAULTS[step.fault]
        told = fault(self.world, step)
        if told is None:
            told = f"({step.fault} finds nothing) {start(self.world, step)}"
        self._tell(f"{step.number:3d} {told}")
        if step.settle:
            self._rest()
            if step.number % RESTART_EVERY == 0:
                self._restart_changes_nothing()

    def _rest(self) -> None:
        deaths = self.world.tmux_deaths
        settle(self.world)
        if deaths:
            self.world.tmux_deaths = 0
            self.world.join_ours()
        found = invariants.broken(self.world)
        if found:
            raise self._found(found)

    def _restart_changes_nothing(self) -> None:
        """A new executor over the same facts writes no row and no event of its own."""
        executor = self.world.executor
        assert executor is not None
        before = self._state()
        executor.stop()
        settle(self.world)
        after = self._state()
        self._tell("    restarted")
        if after != before:
            raise self._found(["a restart changed something", *_differences(before, after)])

    def _state(self) -> tuple[list[Run], list[Event]]:
        events = [event for event in self.world.read_events() if not event.topic.startswith(NOT_STATE)]
        return self.world.all_runs(), events

    def _end_everything(self) -> None:
        """Stop what lives; in the end there is nothing of ours but a server and its hub."""
        for run in self.world.all_runs():
            if run.live:
                ask_to_stop(self.world, run)
        self._rest()
        emptied(self.world)
        self._rest()
        executor = self.world.executor
        assert executor is not None
        executor.stop()
        sight = invariants.look(self.world)
        found = list(invariants.control_clients_belong_to_somebody(sight))
        found += [f"left: {one}" for one in sight.everybody if one.wrapper_of(self.world.home.path)]
        if found:
            raise self._found(found)
        self._tell("    ended")

    def _tell(self, line: str) -> None:
        stamped = f"{time.monotonic() - self.began:7.2f} {line}"
        self.done.append(stamped)
        self.say(stamped)

    def _found(self, broken: list[str]) -> FaultFound:
        head = f"seed {self.seed}: broken after {len(self.done)} lines of the schedule"
        evidence = [
            f"  {event.seq} {event.at:%H:%M:%S.%f} {event.topic} {event.payload}" for event in _of(broken, self.world)
        ]
        told = [head, *self.done, "broken:", *(f"  {one}" for one in broken), "journal:", *evidence, *_logs(self.world)]
        return FaultFound("\n".join(told))


def play(directory: Path, seed: int, rounds: int, *, say: Say = lambda _: None) -> None:
    """Play a seed in a world below ``directory``. Raises FaultFound."""
    with make_world(directory) as world:
        Play(world, seed, schedule(seed, rounds), say, [], time.monotonic()).all()


def _of(broken: list[str], world: World) -> list[Event]:
    """Events of the runs that the evidence names; all of the last ones when it names none."""
    text = "\n".join(broken)
    named = [run_id for run_id in world.stories if run_id in text]
    events = world.read_events()
    return [event for event in events if event.payload.get("run_id") in named] if named else events[-20:]


def _logs(world: World) -> list[str]:
    rows = []
    for one in world.past[-2:]:
        text = one.log.read_text(errors="replace") if one.log.exists() else ""
        rows += [f"{one.log.name} ({one.said}):", *(f"  {row}" for row in text.splitlines()[-40:])]
    return rows


def _differences(before: tuple[list[Run], list[Event]], after: tuple[list[Run], list[Event]]) -> list[str]:
    rows = [f"was {old}\n  is {new}" for old, new in zip(before[0], after[0], strict=False) if old != new]
    return rows + [f"new {event.topic} {event.payload}" for event in after[1][len(before[1]) :]]
