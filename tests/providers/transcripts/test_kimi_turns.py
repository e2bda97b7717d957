"""When a turn of kimi has ended: what its main agent wrote, its subagents and background tasks beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from providers.recipes.recipe import Said
from providers.transcripts.kimi import KimiWire

PROMPT = {"type": "turn.prompt", "agentId": "main", "time": 1_796_046_948_388}
ENDED = {"type": "turn.ended", "agentId": "main", "reason": "completed", "time": 1_796_046_948_512}
AGENT = {"taskId": "agent-8m4j2ms0", "kind": "agent", "description": "look around", "detached": True}
WORKING, RESTS = Said(activity="working"), Said(activity="idle", completed=True)
IN_BACKGROUND = Said(activity="working", note="in the background: look around")


def said(*lines: Mapping[str, object]) -> list[Said]:
    return list(KimiWire().read([json.dumps(line).encode() for line in lines]).said)


def test_a_turn_begins_with_its_prompt_and_its_end_is_a_clean_one() -> None:
    assert said(PROMPT, ENDED) == [WORKING, RESTS]


def test_an_end_with_work_in_the_background_is_not_the_end() -> None:
    started = {"type": "task.started", "info": AGENT}
    over = {"type": "task.terminated", "info": AGENT}
    assert said(PROMPT, started, ENDED, over, PROMPT, ENDED) == [WORKING, IN_BACKGROUND, WORKING, RESTS]


def test_a_subagent_in_the_turn_changes_nothing() -> None:
    subagent = {"type": "task.started", "info": {**AGENT, "detached": False}}
    assert said(PROMPT, {"type": "subagent.completed"}, subagent, ENDED) == [WORKING, RESTS]


@pytest.mark.parametrize(
    ("reason", "says"), [("failed", []), ("cancelled", [Said(activity="idle", interrupted=True)]), (None, []), ({}, [])]
)
def test_of_a_failure_the_hook_speaks(reason: object, says: list[Said]) -> None:
    assert said({**ENDED, "reason": reason}) == says


@pytest.mark.parametrize("info", [None, 7, {}, {"taskId": [], "detached": 1}, {"detached": True}])
def test_a_task_that_is_not_understood_is_no_error(info: object) -> None:
    assert len(said({"type": "task.started", "info": info}, {"type": "task.terminated", "info": info}, ENDED)) == 1
