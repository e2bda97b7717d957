"""The real claude CLI in a bare tmux, started by the shipped catalog's plan: the recipe without the executor."""

from __future__ import annotations

import shlex
import uuid
from pathlib import Path

import pytest

from providers.catalog import load
from providers.doctor import checks
from providers.launch import LaunchPlan, plan
from providers.stub import StubModel
from tests.support import real_clis
from tests.support.tmux_server import TmuxSandbox
from tests.support.waiting import until

pytestmark = [pytest.mark.real_cli, pytest.mark.timeout(400)]

ANSWER_S = 60


class Session:
    """A launch plan in a tmux session whose shell writes the exit code to a file."""

    def __init__(self, tmux: TmuxSandbox, launch: LaunchPlan, cwd: Path, name: str) -> None:
        self._tmux = tmux
        self._name = name
        self._exit_file = tmux.home / f"{name}.exit"
        variables = [f"{key}={value}" for key, value in {**launch.env, "TERM": "tmux-256color"}.items()]
        script = tmux.home / f"{name}.sh"
        script.write_text(f"{shlex.join(['env', '-i', *variables, *launch.argv])}\necho $? > {self._exit_file}\n")
        tmux.tmux(
            *("new-session", "-d", "-s", name, "-x", "120", "-y", "40", "-c", str(cwd)),
            *("/bin/sh", str(script)),
        )
        tmux.server_pid()

    def pane(self) -> str:
        return self._tmux.tmux("capture-pane", "-p", "-t", f"={self._name}:")

    def until_said(self, answer: str) -> None:
        """Until the agent's answer is on the pane, and not only the prompt that holds it too."""
        said = f"● {answer}"
        until(lambda: said in self.pane(), ANSWER_S, self.pane)

    def type(self, text: str) -> None:
        """Type, see it on the pane, then press Enter."""
        self._tmux.tmux("send-keys", "-t", f"={self._name}:", "-l", text)
        until(lambda: f"❯ {text}" in self.pane().replace("\xa0", " "), 10, self.pane)
        self._tmux.tmux("send-keys", "-t", f"={self._name}:", "Enter")

    def exit_code(self) -> int:
        """The agent's exit code, once it has ended."""
        text = until(lambda: self._exit_file.exists() and self._exit_file.read_text(), 30, self.pane)
        return int(text)


def launch(
    home: Path,
    cwd: Path,
    environ: dict[str, str],
    prompt: str,
    conversation_id: str,
    resume: bool = False,
    approvals: str | None = None,
) -> LaunchPlan:
    return plan(
        load(home).get("claude"),
        run_id=str(uuid.uuid4()),
        prompt=prompt,
        model=real_clis.MODELS["claude"],
        args=(),
        cwd=cwd,
        conversation_id=conversation_id,
        environ=environ,
        resume=resume,
        approvals=approvals,
    )


def test_claude_answers_the_prompt_it_was_started_with_and_goes_on_when_resumed(
    tmux_sandbox: TmuxSandbox, repository: Path, claude_environment: dict[str, str], stub: StubModel
) -> None:
    conversation = str(uuid.uuid4())
    prompt = "-- say hello to the\n\t“operator” [[say ANSWER ONE of the stub]]"
    first = launch(tmux_sandbox.home, repository, claude_environment, prompt, conversation)
    session = Session(tmux_sandbox, first, repository, "first")
    session.until_said("ANSWER ONE of the stub")
    session.type("/exit")
    assert session.exit_code() == 0
    assert prompt in stub.prompts(), "the prompt reaches the model as it was written"

    second = launch(tmux_sandbox.home, repository, claude_environment, "[[say ANSWER TWO]]", conversation, resume=True)
    session = Session(tmux_sandbox, second, repository, "second")
    session.until_said("ANSWER TWO")
    assert "ANSWER ONE of the stub" in session.pane()
    session.type("/exit")
    assert session.exit_code() == 0
    assert {request.model for request in stub.seen if request.prompt == "[[say ANSWER TWO]]"} == {
        real_clis.MODELS["claude"]
    }


def test_claude_edits_the_repository_and_ends_by_the_catalogs_quit_keys(
    tmux_sandbox: TmuxSandbox, repository: Path, claude_environment: dict[str, str]
) -> None:
    target = repository / "notes.md"
    prompt = f"[[write {target} written by a real agent]] [[say WRITTEN]]"
    started = launch(tmux_sandbox.home, repository, claude_environment, prompt, str(uuid.uuid4()), approvals="edits")
    session = Session(tmux_sandbox, started, repository, "edit")
    session.until_said("WRITTEN")
    assert target.read_text().strip() == "written by a real agent"
    for key in load(tmux_sandbox.home).get("claude").quit_keys:
        tmux_sandbox.tmux("send-keys", "-t", "=edit:", key)
    assert session.exit_code() == 0


def test_the_doctor_finds_the_pinned_version_in_the_catalogs_range(
    tmp_path: Path, claude_environment: dict[str, str]
) -> None:
    version, *others = checks(load(tmp_path), claude_environment, only="claude")
    assert version.state == "ok" and version.detail.startswith(real_clis.CLIS["claude"].version)
    assert [check for check in others if check.state == "problem"] == []
