"""FR-36: whether logging out ends the agents, read from files as systemd writes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from executor.login_scope import login_scope

SESSION = "0::/user.slice/user-1000.slice/session-3.scope\n"
SESSION_V1 = "12:pids:/user.slice\n1:name=systemd:/user.slice/user-1000.slice/session-c2.scope\n"
MANAGER = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope\n"
SERVICE = "0::/system.slice/docker-0123.scope\n"


class Machine:
    """A root directory with what systemd keeps in it."""

    def __init__(self, root: Path, cgroup: str) -> None:
        self.root = root
        self.write("proc/77/cgroup", cgroup)

    def write(self, path: str, text: str = "") -> None:
        """One of its files."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def outcome(self, user: str = "ada") -> str:
        """What logging out does."""
        return login_scope(77, user, root=self.root).outcome


@pytest.mark.parametrize("cgroup", [SESSION, SESSION_V1])
@pytest.mark.parametrize(
    ("settings", "outcome"),
    [
        ("[Login]\nKillUserProcesses=yes\n", "ends"),
        ("[Login]\n#KillUserProcesses=yes\n", "ends"),
        ("[Login]\n#KillUserProcesses=no\n", "stays"),
        ("[Login]\n#KillUserProcesses=no\nKillUserProcesses = yes\n", "ends"),
        ("[Login]\nKillUserProcesses=yes\nKillExcludeUsers=root ada\n", "stays"),
        ("[Login]\nKillUserProcesses=yes\nKillOnlyUsers=bob\n", "stays"),
        ("[Login]\n", "unknown"),
    ],
)
def test_a_login_is_judged_by_the_settings_of_its_manager(
    tmp_path: Path, cgroup: str, settings: str, outcome: str
) -> None:
    machine = Machine(tmp_path, cgroup)
    machine.write("etc/systemd/logind.conf", settings)
    assert machine.outcome() == outcome


def test_additions_count_before_the_main_file_and_etc_hides_its_namesakes(tmp_path: Path) -> None:
    machine = Machine(tmp_path, SESSION)
    machine.write("usr/lib/systemd/logind.conf", "[Login]\n#KillUserProcesses=no\n")
    machine.write("usr/lib/systemd/logind.conf.d/10-a.conf", "[Login]\nKillUserProcesses=yes\n")
    assert machine.outcome() == "ends"
    machine.write("etc/systemd/logind.conf.d/10-a.conf", "[Login]\n")
    assert machine.outcome() == "stays"


def test_root_is_spared_unless_the_settings_say_otherwise(tmp_path: Path) -> None:
    machine = Machine(tmp_path, SESSION)
    machine.write("etc/systemd/logind.conf", "KillUserProcesses=yes\n")
    assert machine.outcome("root") == "stays"
    machine.write("etc/systemd/logind.conf", "KillUserProcesses=yes\nKillExcludeUsers=\n")
    assert machine.outcome("root") == "ends"


def test_a_user_manager_ends_with_the_last_login_unless_it_lingers(tmp_path: Path) -> None:
    machine = Machine(tmp_path, MANAGER)
    assert machine.outcome() == "ends"
    assert "enable-linger" in login_scope(77, "ada", root=tmp_path).fix
    machine.write("var/lib/systemd/linger/ada")
    assert machine.outcome() == "stays"


def test_elsewhere_nothing_is_claimed(tmp_path: Path) -> None:
    assert Machine(tmp_path, SERVICE).outcome() == "stays"
    assert login_scope(78, "ada", root=tmp_path).outcome == "unknown"
    assert login_scope(os.getpid(), "ada").outcome in ("stays", "ends", "unknown")
