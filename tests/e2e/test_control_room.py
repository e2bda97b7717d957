"""The whole path by keys, as the operator goes it: ``pam`` in a real terminal, real agents in real tmux sessions."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from executor import lock
from store import items, projects, runs
from store.database import Store, open_store
from store.home import Home
from store.records import Run
from tests.support.tmux_server import SOCKET, TmuxSandbox
from tests.support.waiting import until

PAM = Path(sys.executable).with_name("pam")
TERMINAL = "terminal"
"""Socket of the tmux server that plays the operator's terminal."""


TITLE = 'Migrate the table in 2 steps and ask "Delete two rows?"'
"""What the demo agent is told; it understands these words."""


class Terminal:
    """``pam`` on a screen of 160 × 45, with hands to press its keys."""

    def __init__(self, sandbox: TmuxSandbox, home: Home, directory: Path, *, socket: str = TERMINAL) -> None:
        self._sandbox = sandbox
        self._socket = socket
        environ = {
            **{name: os.environ[name] for name in ("PATH", "HOME", "TMUX_TMPDIR")},
            "PAM_HOME": str(home.path),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        words = ["env", "-i", *(f"{key}={value}" for key, value in environ.items()), str(PAM)]
        command = f"{shlex.join(words)}; echo pam ended with $?; exec cat"
        size = ("-x", "160", "-y", "45")
        sandbox.tmux("new-session", "-d", *size, "-s", TERMINAL, "-c", str(directory), command, socket=self._socket)

    def press(self, *keys: str) -> None:
        """Press keys by their tmux names."""
        self._sandbox.tmux("send-keys", "-t", f"={TERMINAL}:", *keys, socket=self._socket)

    def write(self, text: str) -> None:
        """Type a text."""
        self._sandbox.tmux("send-keys", "-t", f"={TERMINAL}:", "-l", "--", text, socket=self._socket)

    @property
    def screen(self) -> str:
        """What stands on it."""
        return self._sandbox.tmux("capture-pane", "-p", "-t", f"={TERMINAL}:", socket=self._socket)

    def shows(self, *texts: str, timeout: float = 20.0) -> str:
        """The screen, once it holds all of these texts."""
        until(lambda: all(text in self.screen for text in texts), timeout, lambda: f"{texts} in\n{self.screen}")
        return self.screen


@pytest.fixture
def home(tmp_path: Path, tmux_sandbox: TmuxSandbox) -> Home:
    made = Home(tmp_path / "home of pam")
    made.make()
    made.config.write_text(f'[tmux]\nsocket = "{SOCKET}"\n')
    return made


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    opened = open_store(home.database)
    yield opened
    opened.close()


def test_board_run_attach_answer_detach_done(
    tmux_sandbox: TmuxSandbox, home: Home, store: Store, tmp_path: Path
) -> None:
    """From an empty home to a task that is done, and nothing but keys."""
    work = tmp_path / "work"
    work.mkdir()
    terminal = Terminal(tmux_sandbox, home, work)
    terminal.shows("pam")
    terminal.press("p")
    _make_project(terminal, store, work)

    terminal.press("n")
    terminal.shows("New")
    terminal.write(f"{TITLE} #db @me")
    terminal.shows("@me")
    terminal.press("Enter")
    terminal.shows("TODO · 1", "#db", "@me")
    (item,) = items.list_all(store, None)
    assert (item.labels, item.assignee, item.status) == (("db",), "me", "todo")

    terminal.press("s")
    terminal.shows("Provider")
    run = _start_demo(terminal, store)
    terminal.shows("waiting (agent)", "Delete two rows?")
    assert tmux_sandbox.sessions() == {"pam-hub", run.session_name}

    terminal.press("Enter")
    terminal.shows("answer", "Not now")
    terminal.press("Escape")
    until(lambda: "Not now" not in terminal.screen, 10)
    terminal.press("a")
    until(lambda: _viewers(tmux_sandbox, run) == 1, 10, "the terminal to be handed over")
    terminal.write("yes")
    terminal.press("Enter")
    terminal.shows("ended with exit code 0")
    terminal.press("C-]")
    terminal.shows("Terminal", "exited 0")

    terminal.press("Escape")
    terminal.shows("TODO", "exited 0")
    terminal.press("L")
    terminal.press("L")
    until(lambda: items.get(store, item.id).status == "done", 10, lambda: terminal.screen)
    terminal.press("q")
    terminal.shows("pam ended with 0")
    assert runs.get(store, run.id).status == "exited"


def test_closing_pam_leaves_agents_at_work_and_opening_it_finds_them(
    tmux_sandbox: TmuxSandbox, home: Home, store: Store, tmp_path: Path
) -> None:
    project = projects.add(store, "Checkout", cwd=str(tmp_path), actor="operator")
    task = items.create(store, project.id, "Long work", actor="operator")
    terminal = Terminal(tmux_sandbox, home, tmp_path)
    terminal.shows("Long work")
    script = f"while [ ! -e {shlex.quote(str(tmp_path / 'gate'))} ]; do sleep 0.05; done"
    run = runs.start(store, task.id, "shell", str(tmp_path), args=("sh", "-c", script), actor="operator")
    terminal.shows("shell", "unknown")
    terminal.press("q")
    terminal.shows("1 agent goes on")
    terminal.press("y")
    terminal.shows("pam ended with 0")
    assert not lock.state(home).running
    assert runs.get(store, run.id).status == "running"
    assert run.session_name in tmux_sandbox.sessions()

    again = Terminal(tmux_sandbox, home, tmp_path, socket="another-terminal")
    again.shows("Long work", "shell", "unknown")
    (tmp_path / "gate").touch()
    again.shows("exited 0")


def test_a_room_that_is_killed_outright_harms_no_agent(
    tmux_sandbox: TmuxSandbox, home: Home, store: Store, tmp_path: Path
) -> None:
    """PAM-TEST-007 with the control room as the executor's host."""
    project = projects.add(store, "Checkout", cwd=str(tmp_path), actor="operator")
    task = items.create(store, project.id, "Long work", actor="operator")
    terminal = Terminal(tmux_sandbox, home, tmp_path)
    terminal.shows("Long work")
    run = runs.start(store, task.id, "shell", str(tmp_path), args=("sleep", "1000"), actor="operator")
    until(lambda: runs.get(store, run.id).status == "running", 20, lambda: terminal.screen)
    pid = lock.state(home).pid
    assert pid is not None
    os.kill(pid, 9)
    terminal.shows("pam ended with 137")
    assert run.session_name in tmux_sandbox.sessions()
    assert runs.get(store, run.id).status == "running"


def _make_project(terminal: Terminal, store: Store, work: Path) -> None:
    """What is typed takes the place of what is offered: the directory that pam was started in, and its name."""
    terminal.shows("New project", "Directory", f"/{work.name}")
    terminal.write("Checkout service")
    terminal.shows("Checkout service")
    terminal.press("Enter")
    until(lambda: projects.list_all(store), 10, lambda: terminal.screen)
    terminal.shows("Checkout service", "Nothing to do.")


def _start_demo(terminal: Terminal, store: Store) -> Run:
    """Take what the start dialog offers: the demo agent, told the task's title."""
    terminal.shows("ask", "Delete two rows?")
    terminal.press("Enter")
    until(lambda: runs.list_all(store), 10, lambda: terminal.screen)
    return runs.list_all(store)[0]


def _viewers(sandbox: TmuxSandbox, run: Run) -> int:
    return int(sandbox.tmux("display-message", "-p", "-t", f"={run.session_name}:", "#{session_attached}"))


def test_two_control_rooms_agree_and_the_one_left_last_says_what_comes_back(
    tmux_sandbox: TmuxSandbox, home: Home, store: Store, tmp_path: Path
) -> None:
    """What one does the other shows, by the journal; the session is the last one's."""
    project = projects.add(store, "Checkout", cwd=str(tmp_path), actor="operator")
    task = items.create(store, project.id, "Shared work", actor="operator")
    first = Terminal(tmux_sandbox, home, tmp_path)
    first.shows("Shared work")
    second = Terminal(tmux_sandbox, home, tmp_path, socket="terminal-2")
    second.shows("Shared work")
    first.press("L")
    second.shows("DOING · 1")
    second.press("/")
    second.write("shar")
    second.press("Enter")
    second.press("2")
    second.shows("Tree")
    first.press("6")
    first.shows("Activity", "moved from todo to doing")
    for left in (first, second):
        left.press("C-q")
        left.shows("pam ended with 0")
    assert items.get(store, task.id).status == "doing"
    again = Terminal(tmux_sandbox, home, tmp_path, socket="terminal-3")
    again.shows("Tree", "Shared work")
    again.press("1")
    again.shows("DOING · 1", "shar")
    again.press("C-q")
    again.shows("pam ended with 0")
