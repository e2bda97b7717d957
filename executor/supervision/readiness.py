"""Whether a run may be typed into now: a pure judgement of what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from providers.provider import Provider
from providers.recipes.registry import recipe
from store.records import Delivery, Run

READY_WITHIN_S = 60.0
"""How long an agent that has hooks may take until it says anything."""

_PATIENT = 30.0
"""Between two looks at something that an event tells."""

_DRAWS_S = 0.3
"""Between two looks whether a program has begun to read: no event tells it."""


@dataclass(frozen=True, slots=True)
class Intake:
    """How a provider's program takes what is typed."""

    hooks: bool = False
    """Whether it says when it is ready, asks, and takes a prompt up."""
    says_ready: bool = True
    """With ``hooks``: whether they speak before the first prompt."""
    ready_after_s: float = 3.0
    hides_cursor: bool = False
    """Whether a cursor in sight shows that it does not read yet."""
    submit_delay_s: float = 0.3
    second_enter: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Not now; look again after ``seconds``, or when something is said about the run."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Refuse:
    """Not at all, and why."""

    reason: str


Verdict = Wait | Refuse | Literal["go", "later"]
"""``later``: the attempt does not run yet; its start is an event."""


def intake_of(provider: Provider | None, *, unproven_hooks: bool) -> Intake:
    """What the catalog says of a provider; one that is gone from it is taken to be without hooks."""
    if provider is None:
        return Intake()
    hooks = provider.hooks
    return Intake(
        hooks=(hooks.proven or unproven_hooks) and recipe(hooks.recipe) is not None,
        says_ready=hooks.ready,
        ready_after_s=provider.ready_after_s,
        hides_cursor=provider.hides_cursor,
        submit_delay_s=provider.submit_delay_ms / 1000,
        second_enter=provider.second_enter,
    )


def judge(
    run: Run, delivery: Delivery, intake: Intake, *, holder: str | None, waited_s: float, runs_for_s: float
) -> Verdict:
    """``holder`` types into the run by hand; the delivery has waited ``waited_s``, the agent has run ``runs_for_s``."""
    if gone := _gone(run, delivery):
        return Refuse(gone)
    if run.status != "running":
        return "later"
    if holder is not None:
        return Refuse(f"{holder} types into this run; both would be mixed up. Send it again afterwards.")
    return "go" if delivery.kind == "keys" else _for_prompt(run, delivery, intake, waited_s, runs_for_s)


def reads_keys(run: Run, intake: Intake, *, cursor_shown: bool, waited_s: float) -> Verdict:
    """Whether the program in the pane reads what is typed, as far as its pane shows; one that has spoken does."""
    if not intake.hides_cursor or not cursor_shown or run.activity != "unknown":
        return "go"
    if waited_s < READY_WITHIN_S:
        return Wait(_DRAWS_S)
    return Refuse(f"The agent does not read what is typed yet. Look: `pam run attach {run.id[:8]}`.")


def _gone(run: Run, delivery: Delivery) -> str:
    if run.attempt != delivery.attempt:
        return f"Attempt {delivery.attempt} ended before this was typed; the run is at attempt {run.attempt}."
    if not run.live:
        return f"The run ended ({run.status}) before this was typed."
    return "The run is being stopped." if run.stop_requested_at is not None else ""


def _for_prompt(run: Run, delivery: Delivery, intake: Intake, waited_s: float, runs_for_s: float) -> Verdict:
    short = run.id[:8]
    if run.activity == "waiting":
        if delivery.opening:
            return Wait(_PATIENT)  # the operator sees the question; the task must not get lost over it
        return Refuse(f"{question(run)} Answer it first: `pam run keys {short}`, or `pam run attach {short}`.")
    if run.activity != "unknown":
        return "go"
    if intake.hooks and intake.says_ready:
        if waited_s < READY_WITHIN_S:
            return Wait(READY_WITHIN_S - waited_s)
        return Refuse(
            f"The agent shows no sign of being ready; perhaps it is at a dialog. Look: `pam run attach {short}`."
        )
    return Wait(intake.ready_after_s - runs_for_s) if runs_for_s < intake.ready_after_s else "go"


def question(run: Run) -> str:
    """What the agent asks, as a sentence."""
    asked = run.activity_note
    if not asked:
        return "The agent asks something."
    return f"The agent asks: {asked}" + ("" if asked.endswith((".", "?", "!", "…")) else ".")
