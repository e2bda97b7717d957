"""What ``pam run show`` says of what an agent takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.conftest import Answer, Pam
from tests.support.tmux_server import SOCKET, TmuxSandbox
from tests.support.waiting import until


def test_a_live_run_shows_what_it_takes_and_an_ended_one_does_not(
    pam: Pam, home: Path, tmux_sandbox: TmuxSandbox, script: Callable[..., Answer], tmp_path: Path
) -> None:
    """FR-70: measured by the very process that shows it, with an executor and without."""
    pam("init")
    (home / "config.toml").write_text(f'[tmux]\nsocket = "{SOCKET}"\n[executor]\ngrace_s = 2\n')
    pam.project("Checkout service", "--cwd", str(tmp_path))
    task = pam.task()["id"]
    busy = "touch ready; while :; do :; done"
    script("up", "--detach")
    start = ("run", "start", "--task", task, "--provider", "shell", "--json", "--", "sh", "-c", busy)
    run_id = script(*start).json["run"]["id"]

    def shown() -> Any:
        return pam.json("run", "show", run_id)["run"]

    until(lambda: shown()["status"] == "running" and (tmp_path / "ready").exists(), 20, shown)
    usage = shown()["usage"]
    assert list(usage) == ["cpu_percent", "rss_bytes", "processes"]
    assert usage["cpu_percent"] > 5
    assert usage["rss_bytes"] > 100_000
    assert usage["processes"] == 1
    assert "% of a core" in pam("run", "show", run_id).out
    script("down")
    assert shown()["usage"]["processes"] == 1
    script("run", "stop", run_id)
    script("up", "--detach")
    until(lambda: shown()["status"] == "stopped", 20, shown)
    script("down")
    assert shown()["usage"] is None
