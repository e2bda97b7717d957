"""How an agent speaks for itself: the line of the documentation, wherever the home is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from store import projects
from tests.support.stage import make_stage
from tests.support.tmux_server import TmuxSandbox
from tests.support.waiting import until

PAGE = Path(__file__).parents[2] / "docs" / "getting-started.md"


@pytest.mark.parametrize("name", ["home", "Application Support", 'it\'s "mine" $HOME; höme'])
def test_the_documented_line_reaches_the_board(tmux_sandbox: TmuxSandbox, tmp_path: Path, name: str) -> None:
    """macOS keeps pam's home below `Application Support`, and its shell splits no variable into words."""
    (line,) = re.findall(r"^(.*\$PAM_SIGNAL .*)$", PAGE.read_text("utf-8"), flags=re.M)
    stage = make_stage(tmux_sandbox, tmp_path / name, tmp_path / "work")
    try:
        with stage.executor():
            run = stage.shell(f"{line}\nread -r _")
            until(lambda: stage.run(run).activity == "waiting", 20, lambda: stage.pane(run))
            assert stage.run(run).activity_note == "May I run the migration?"
            tmux_sandbox.tmux("send-keys", "-t", f"={run.session_name}:", "Enter")
            stage.until_ended(run)
    finally:
        assert projects.list_all(stage.store)
        stage.store.close()
