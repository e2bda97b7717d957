"""Every agent CLI for real, in one conversation each: what its own hooks say is what pam shows (PAM-COMP-001, 007)."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.records import Run
from tests.support.real_agent import RealAgent, at_work
from tests.support.stage import Stage

pytestmark = [pytest.mark.real_cli, pytest.mark.timeout(600)]

AGENTS = ("claude", "codex", "gemini", "opencode", "qwen", "copilot", "kimi")


@pytest.mark.parametrize("name", AGENTS)
def test_a_conversation_from_its_first_prompt_until_it_is_resumed(
    name: str, stage: Stage, own_home: Path, repository: Path
) -> None:
    with at_work(name, stage, own_home, repository) as agent:
        run = agent.start("hello [[say ANSWER-ONE]]")
        agent.until_rest(run, turns=1)
        agent.until_heard(run, kind="completed", source=f"{agent.ways.ends}:{name}")
        conversation = stage.run(run).conversation_id
        assert conversation

        _a_prompt_of_two_lines_is_taken_up(agent, run)
        _a_permission_is_asked_for_and_given(agent, run)
        _a_failed_turn_says_why(agent, run)
        _an_interrupt_is_noticed(agent, run)

        agent.type(run, agent.ways.leave)
        assert stage.until_status(run, "exited", "failed", timeout=60).exit_code == 0

        resumed = agent.resume(run, "and on [[say ANSWER-LAST]]")
        agent.until_rest(resumed, turns=1)
        assert stage.run(resumed).conversation_id == conversation
        assert "ANSWER-LAST" in stage.pane(resumed)
        agent.type(resumed, agent.ways.leave)
        stage.until_status(resumed, "exited", timeout=60)


def _a_prompt_of_two_lines_is_taken_up(agent: RealAgent, run: Run) -> None:
    agent.tell(run, "second\n  and its second line [[say ANSWER-TWO]]")
    agent.until_rest(run, turns=2)
    assert any("second" in prompt and "and its second line" in prompt for prompt in agent.stub.prompts())


def _a_permission_is_asked_for_and_given(agent: RealAgent, run: Run) -> None:
    made = agent.repository / "made-by-agent"
    agent.tell(run, f"[[permit touch {made}]] [[say ANSWER-THREE]]")
    asking = agent.until_activity(run, "waiting", str(made))
    assert asking.activity_source == "hook"
    assert not made.exists()
    agent.allow(run, made.exists)
    agent.until_rest(run, turns=3)


def _a_failed_turn_says_why(agent: RealAgent, run: Run) -> None:
    agent.tell(run, "[[err 400]]")
    agent.until(run, lambda: any("400" in str(one.get("note", "")) for one in agent.said(run)))
    agent.until_activity(run, "idle")


def _an_interrupt_is_noticed(agent: RealAgent, run: Run) -> None:
    agent.tell(run, "[[slow 60]] [[say longwinded words that nobody waits for]]")
    agent.until_activity(run, "working")
    agent.until(run, lambda: agent.stage.pane(run).count("longwinded") == 2)  # in the prompt, and in the answer
    agent.press(run, *agent.ways.interrupt)
    agent.until_activity(run, "idle")
    if agent.ways.clear:
        agent.press(run, *agent.ways.clear)
