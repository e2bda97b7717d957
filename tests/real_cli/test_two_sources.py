"""PAM-TEST-013: two providers complete one task, and `pam run show` says who said so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from store.records import Run
from tests.support.real_agent import at_work
from tests.support.stage import Stage

pytestmark = [pytest.mark.real_cli, pytest.mark.timeout(300)]


def test_a_hook_and_an_exit_complete_the_same_task(stage: Stage, own_home: Path, repository: Path) -> None:
    with at_work("claude", stage, own_home, repository) as agent:
        first = repository / "by-claude"
        run = agent.start(f"[[write {first} done]] [[say WRITTEN]]", approvals="edits")
        agent.until_heard(run, kind="completed", source="hook:claude")
        assert first.read_text().strip() == "done"

        second = repository / "by-shell"
        script = stage.until_ended(stage.shell(f"echo done > {second}"))
        assert second.read_text().strip() == "done"

        assert shown(stage, run) == ("success", "hook:claude")
        assert shown(stage, script) == ("exit code 0", "wrapper")
        assert stage.run(run).status == "running", "an agent that is done with its task goes on living"


def shown(stage: Stage, run: Run) -> tuple[str, str]:
    """Result and source of the completion, as the command line tells them."""
    command = [sys.executable, "-m", "pam_launch", "--home", str(stage.home.path), "--json", "run", "show", run.id]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    completion = json.loads(said.stdout)["run"]["completion"]
    return completion["result"], completion["source"]
