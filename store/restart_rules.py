"""When a failed run is started again and how long that takes; rules only, no row is touched here.

What happened *to* an agent is made up for by default (lost, or never started). What it did itself, a bad exit, and a
wait in vain for a host are opted into (rulings X-15). Exit 0 is an end and never a failure (PAM-RUN-012).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from store.records import FailureReason, RestartPolicy

Cause = FailureReason | Literal["exit"]
"""Why an attempt failed: a reason, or ``exit`` for a bad exit that its wrapper reported."""

Outcome = Literal["restart", "exhausted", "final"]
"""What follows a failure: the next attempt, none any more, or none because the policy does not cover it."""

LOSSES: tuple[FailureReason, ...] = ("spawn_failed", "session_lost", "host_lost")
WAITED_IN_VAIN: tuple[FailureReason, ...] = ("dispatch_timeout", "no_eligible_host")
"""The only reasons a run fails with before it had a host."""

RESTARTED_AFTER: Mapping[RestartPolicy, tuple[Cause, ...]] = {
    "never": (),
    "infrastructure": LOSSES,
    "on-failure": (*LOSSES, "exit"),
    "always": (*LOSSES, "exit", *WAITED_IN_VAIN),
}


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses before restarts, in seconds: each longer than the last by ``factor``, up to ``max_s`` (PAM-RST-003)."""

    initial_s: float = 10.0
    factor: float = 2.0
    max_s: float = 60.0

    def pause_s(self, attempt: int) -> float:
        """The pause after this attempt has failed."""
        pause = self.initial_s
        for _ in range(attempt - 1):
            if pause >= self.max_s or self.factor <= 1:
                break
            pause *= self.factor
        return min(pause, self.max_s)


def outcome(policy: RestartPolicy, cause: Cause, *, attempt: int, max_attempts: int) -> Outcome:
    """What follows. A run of one attempt has no restarts to exhaust, so its failure keeps its own name."""
    if cause not in RESTARTED_AFTER[policy]:
        return "final"
    if attempt < max_attempts:
        return "restart"
    return "exhausted" if max_attempts > 1 else "final"
