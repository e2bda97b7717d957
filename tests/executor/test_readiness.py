"""The judgement whether a run may be typed into: pure, so every case is asked."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from executor.supervision.readiness import READY_WITHIN_S, Intake, Refuse, Verdict, Wait, intake_of, judge, reads_keys
from providers.catalog import Provider
from providers.provider import Hooks
from store.records import Delivery, Run, RunStatus

THEN = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
RUN = Run(
    **dict.fromkeys(Run.__slots__),  # type: ignore[arg-type]
)
RUN = replace(RUN, id="0011223344", status="running", attempt=1, activity="unknown", session_name="pam-00112233")
PROMPT = Delivery(
    **dict.fromkeys(Delivery.__slots__),  # type: ignore[arg-type]
)
PROMPT = replace(PROMPT, attempt=1, kind="prompt", status="queued", opening=False)
KEYS = replace(PROMPT, kind="keys")
PLAIN, HOOKED = Intake(ready_after_s=3), Intake(hooks=True)


def verdict(
    run: Run = RUN,
    delivery: Delivery = PROMPT,
    intake: Intake = PLAIN,
    *,
    holder: str | None = None,
    waited_s: float = 0,
    runs_for_s: float = 100,
) -> Verdict:
    """The judgement, on an agent that has run for long unless told otherwise."""
    return judge(run, delivery, intake, holder=holder, waited_s=waited_s, runs_for_s=runs_for_s)


@pytest.mark.parametrize("delivery", [PROMPT, KEYS])
@pytest.mark.parametrize(
    ("run", "holder", "says"),
    [
        (replace(RUN, attempt=2), None, "Attempt 1 ended before this was typed"),
        (replace(RUN, status="exited"), None, r"ended \(exited\)"),
        (replace(RUN, stop_requested_at=THEN), None, "being stopped"),
        (RUN, "me@desk", "me@desk types into this run"),
    ],
)
def test_what_cannot_be_typed_is_refused_with_the_reason(
    run: Run, holder: str | None, says: str, delivery: Delivery
) -> None:
    """Prompts and keys alike."""
    found = verdict(run, delivery, holder=holder)
    assert isinstance(found, Refuse)
    assert re.search(says, found.reason)


@pytest.mark.parametrize("status", ["pending", "spawning"])
def test_before_its_start_a_run_waits_for_an_event(status: RunStatus) -> None:
    """Nobody looks again and again."""
    assert verdict(replace(RUN, status=status)) == "later"


def test_a_prompt_waits_for_the_first_word_of_an_agent_with_hooks_and_not_for_ever() -> None:
    """Then it is perhaps at a dialog that has no hook."""
    assert verdict(intake=HOOKED, waited_s=1) == Wait(READY_WITHIN_S - 1)
    late = verdict(intake=HOOKED, waited_s=READY_WITHIN_S)
    assert isinstance(late, Refuse) and "perhaps it is at a dialog" in late.reason
    assert verdict(replace(RUN, activity="idle"), intake=HOOKED) == "go"
    assert verdict(replace(RUN, activity="working"), intake=HOOKED) == "go"


def test_hooks_that_first_speak_of_a_prompt_are_not_waited_for() -> None:
    """The seconds of the catalog count, as without hooks."""
    mute = replace(HOOKED, says_ready=False)
    assert verdict(intake=mute, runs_for_s=1) == Wait(2)
    assert verdict(intake=mute, runs_for_s=3) == "go"


def test_without_hooks_the_seconds_of_the_catalog_count_unless_the_agent_spoke() -> None:
    """An agent may say of its own accord what it does."""
    assert verdict(runs_for_s=1) == Wait(2)
    assert verdict(runs_for_s=3) == "go"
    assert verdict(replace(RUN, activity="idle"), runs_for_s=0) == "go"


def test_a_question_refuses_prompts_keeps_the_first_waiting_and_lets_keys_through() -> None:
    """Keys are how it is answered."""
    asks = replace(RUN, activity="waiting", activity_note="Bash: make")
    refused = verdict(asks)
    assert isinstance(refused, Refuse) and refused.reason.startswith("The agent asks: Bash: make. Answer it first:")
    assert isinstance(verdict(asks, replace(PROMPT, opening=True)), Wait)
    assert verdict(asks, KEYS) == "go"
    assert verdict(RUN, KEYS, HOOKED) == "go"


@pytest.mark.parametrize(
    ("hooks", "unproven", "speaks"),
    [
        (Hooks("claude", True), False, True),
        (Hooks("claude", False), False, False),
        (Hooks("claude", False), True, True),
        (Hooks("nobody knows it", True), True, False),
        (Hooks(), True, False),
    ],
)
def test_hooks_speak_where_they_are_given(hooks: Hooks, unproven: bool, speaks: bool) -> None:
    """PAM-PROV-013: proven ones, and others only where the operator wants them."""
    provider = Provider("x", "X", ("x",), "paste", "raw_mode", (), hooks=hooks, submit_delay_ms=50, second_enter=True)
    assert intake_of(provider, unproven_hooks=unproven) == Intake(hooks=speaks, submit_delay_s=0.05, second_enter=True)
    assert intake_of(None, unproven_hooks=True) == Intake()


def test_hooks_that_are_silent_until_the_first_prompt_are_not_waited_for() -> None:
    """As kimi's: it is given its time to draw, and from its first word on it is known."""
    silent = Intake(hooks=True, says_ready=False, ready_after_s=5)
    assert verdict(intake=silent, runs_for_s=1) == Wait(4)
    assert verdict(intake=silent, runs_for_s=5) == "go"
    assert isinstance(verdict(replace(RUN, activity="waiting"), intake=silent), Refuse)


def test_a_program_that_hides_the_cursor_is_not_typed_to_before() -> None:
    """What is typed while it starts is lost, or its Enter becomes a new line; no event tells when it has started."""
    hides = Intake(hooks=True, says_ready=False, hides_cursor=True)
    waits = reads_keys(RUN, hides, cursor_shown=True, waited_s=0)
    assert isinstance(waits, Wait) and waits.seconds < 1
    assert reads_keys(RUN, hides, cursor_shown=False, waited_s=0) == "go"
    assert reads_keys(replace(RUN, activity="idle"), hides, cursor_shown=True, waited_s=0) == "go"
    assert reads_keys(RUN, HOOKED, cursor_shown=True, waited_s=0) == "go"
    assert isinstance(reads_keys(RUN, hides, cursor_shown=True, waited_s=READY_WITHIN_S), Refuse)
