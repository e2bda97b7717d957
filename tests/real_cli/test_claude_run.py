"""The real claude CLI over pam's whole path: a run on the board, its answer in the peek, its exit on the card."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from app.control_room import ControlRoom
from app.room import control_room
from app.settings import Settings, load
from executor.tmux import oneshot
from providers.stub import StubModel
from screens.board import BoardScreen
from screens.widgets.pane import Pane
from store import moves, runs
from store.records import Run
from tests.support import real_clis
from tests.support.stage import ACTOR, Stage

pytestmark = [pytest.mark.real_cli, pytest.mark.timeout(400)]

ANSWER_S = 60.0
ANSWER = "the tests pass now"


@pytest.fixture
def settings(stage: Stage, claude_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The control room's settings; what the executor inherits is the scrubbed environment and nothing else."""
    scrubbed = {**claude_environment, "TMUX_TMPDIR": os.environ["TMUX_TMPDIR"], "PAM_HOME": str(stage.home.path)}
    for name in set(os.environ) - set(scrubbed) - {"PYTEST_CURRENT_TEST"}:
        monkeypatch.delenv(name)
    for name, value in scrubbed.items():
        monkeypatch.setenv(name, value)
    return load(stage.home, None, os.environ, {"tmux.socket": stage.settings.tmux_socket})


async def test_claude_works_on_a_task_seen_on_the_board(
    stage: Stage, settings: Settings, repository: object, stub: StubModel
) -> None:
    """The acceptance of the first whole path with a real agent (PAM-TEST-006, 012)."""
    moves.move(stage.store, stage.task.id, "doing", actor=ACTOR)
    prompt = f"Fix the flaky auth tests [[say {ANSWER}]]"
    with control_room(stage.store, settings, project_id=stage.task.project_id) as room:
        async with room.run_test(size=(160, 45)) as pilot:
            run = stage.start("claude", cwd=repository, prompt=prompt, model=real_clis.MODELS["claude"])
            await _until(pilot, lambda: f"● {ANSWER}" in _peek(room), lambda: (_peek(room), stage.topics(run)))
            assert stage.run(run).status == "running"
            shown = "\n".join(oneshot.capture(stage.settings, run.session_name))
            assert ANSWER in shown
            assert prompt in stub.prompts(), "the prompt travels by argument, as it was written"

            stage.sandbox.tmux("send-keys", "-t", f"={run.session_name}:", "-l", "/exit")
            await _until(pilot, lambda: "❯ /exit" in _peek(room).replace("\xa0", " "), lambda: _peek(room))
            stage.sandbox.tmux("send-keys", "-t", f"={run.session_name}:", "Enter")
            await _until(pilot, lambda: _on_card(room, run).status == "exited", lambda: stage.run(run))
            assert _on_card(room, run).exit_code == 0
    lived = [topic for topic in stage.topics(run) if not topic.startswith(("run.prompt_", "run.usage_"))]
    assert lived == ["run.created", "run.spawning", "run.started", "run.finished"]
    assert runs.get(stage.store, run.id).attempt == 1


async def _until(pilot: Pilot[None], holds: Callable[[], bool], what: Callable[[], object]) -> None:
    try:
        async with asyncio.timeout(ANSWER_S):
            while not holds():
                await pilot.pause(0.05)
    except TimeoutError:
        pytest.fail(f"still waiting: {what()}")


def _peek(room: ControlRoom) -> str:
    pane = room.screen.query_one("#peek-pane", Pane)
    return "\n".join(pane.render_line(row).text.rstrip() for row in range(pane.size.height))


def _on_card(room: ControlRoom, run: Run) -> Run:
    assert isinstance(room.screen, BoardScreen)
    assert room.screen.state is not None
    card = room.screen.state.card(run.task_id)
    assert card is not None
    assert card.run is not None
    return card.run
