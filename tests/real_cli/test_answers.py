"""The answers of the catalog, pressed as the control room presses them: every CLI takes them (PAM-COMP-007)."""

from __future__ import annotations

from pathlib import Path

import pytest

from screens.model.answers import ChoiceName
from store.records import Run
from tests.support.model import model_of
from tests.support.real_agent import RealAgent, at_work
from tests.support.stage import Stage

pytestmark = [pytest.mark.real_cli, pytest.mark.timeout(400)]

AGENTS = ("claude", "codex", "gemini", "opencode", "qwen", "copilot", "kimi")


@pytest.mark.parametrize("name", AGENTS)
async def test_what_is_refused_is_not_done_and_what_is_allowed_is(
    name: str, stage: Stage, own_home: Path, repository: Path
) -> None:
    with at_work(name, stage, own_home, repository) as agent:
        run = agent.start("hello [[say ANSWER-ONE]]")
        agent.until_rest(run, turns=1)
        refused = await _asked_for(agent, run, "refused", "no")
        agent.until_activity(run, "idle")
        allowed = await _asked_for(agent, run, "allowed", "yes")
        agent.until(run, allowed.exists)
        assert not refused.exists()


async def _asked_for(agent: RealAgent, run: Run, file: str, answer: ChoiceName) -> Path:
    made = agent.repository / file
    agent.tell(run, f"[[permit touch {made}]] [[say ANSWER-{file}]]")
    agent.until_activity(run, "waiting", str(made))
    async with model_of(agent.stage) as model:
        question = await model.question(run.id)
        assert str(made) in question.detail
        keys = next(choice.keys for choice in question.choices if choice.name == answer)
        assert await model.answer(question, keys=keys) == "answered"
    return made
