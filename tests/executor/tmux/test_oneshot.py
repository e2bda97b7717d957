"""tmux before a control client: is it there, start it, never twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from executor.processes import ProcessId, identify, liveness
from executor.settings import ExecutorSettings
from executor.tmux import oneshot
from executor.tmux.commands import sessions
from executor.tmux.errors import TmuxSilent
from executor.tmux.panes import NO_SERVER, ServerIdentity
from store.errors import NotFound, TmuxUnavailable
from tests.support.tmux_server import DECOY, TmuxSandbox
from tests.support.waiting import until

RUN = "pam-00112233"


def ensure(
    sandbox: TmuxSandbox, known: ServerIdentity | None = None, process: ProcessId | None = None
) -> ServerIdentity:
    """``ensure_server`` as a link calls it."""
    alive = process if process is not None else ProcessId(2**22 + 1, 1)
    return oneshot.ensure_server(sandbox.settings, known=known, may_live=lambda: liveness(alive) != "dead")


def fake_tmux(directory: Path, script: str) -> ExecutorSettings:
    """Settings whose tmux is a shell script."""
    program = directory / "tmux"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return ExecutorSettings(tmux_bin=str(program), command_timeout_s=2)


def start_run(sandbox: TmuxSandbox, script: str) -> None:
    """A run's session beside the hub."""
    log = str(sandbox.home / "log")
    argv = ["sh", "-c", script]
    command = sessions.new_session(
        RUN, argv, cwd="/", env={}, log_path=log, log_max_bytes=1 << 20, title="t", size=(60, 10)
    )
    oneshot.run(sandbox.settings, command)


def test_a_missing_tmux_says_how_to_get_it() -> None:
    """The operator is told what to do."""
    with pytest.raises(TmuxUnavailable, match=r"not installed.*Install it \((apt-get|brew).*3\.2 or newer") as told:
        oneshot.find_tmux(ExecutorSettings(tmux_bin="no-such-tmux"))
    assert told.value.exit_code == 9


def test_a_tmux_that_is_too_old_is_refused(tmp_path: Path) -> None:
    """PAM-TMUX-020, at design's 3.2: the version found and the one needed are named."""
    settings = fake_tmux(tmp_path, "echo tmux 3.1c")
    with pytest.raises(TmuxUnavailable, match=r"tmux 3\.1c is too old: pam needs 3\.2 or newer"):
        oneshot.find_tmux(settings)
    with pytest.raises(TmuxUnavailable, match="too old"):
        oneshot.ensure_server(settings, known=None, may_live=lambda: False)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo hello", "printed 'hello', which is no tmux version"),
        ("exec sleep 60", "did not answer within 2 s"),
    ],
)
def test_something_else_named_tmux_is_told(tmp_path: Path, script: str, told: str) -> None:
    """Neither misread nor waited for without end."""
    with pytest.raises(TmuxUnavailable, match=told):
        oneshot.find_tmux(fake_tmux(tmp_path, script))


def test_a_program_that_cannot_run_is_told(tmp_path: Path) -> None:
    """A broken installation is a sentence, not a traceback."""
    program = tmp_path / "tmux"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    with pytest.raises(TmuxUnavailable, match="cannot be run"):
        oneshot.find_tmux(ExecutorSettings(tmux_bin=str(program)))


def test_starting_twice_is_one_server(tmux_sandbox: TmuxSandbox) -> None:
    """The hub is the only session, and a second start finds the first."""
    first = ensure(tmux_sandbox)
    assert ensure(tmux_sandbox) == first
    assert tmux_sandbox.sessions() == {"pam-hub"}
    assert first.pid == tmux_sandbox.server_pid()
    assert str(first.version) in subprocess.run(["tmux", "-V"], capture_output=True, encoding="ascii").stdout


def test_a_killed_hub_comes_back_in_the_same_server(tmux_sandbox: TmuxSandbox) -> None:
    """The server outlives its sessions, and other sessions their hub."""
    first = ensure(tmux_sandbox)
    start_run(tmux_sandbox, "exec sleep 1000")
    tmux_sandbox.tmux("kill-session", "-t", "=pam-hub")
    assert ensure(tmux_sandbox) == first
    assert tmux_sandbox.sessions() == {"pam-hub", RUN}
    tmux_sandbox.tmux("kill-session", "-t", "=pam-hub")
    tmux_sandbox.tmux("kill-session", "-t", f"={RUN}")
    assert ensure(tmux_sandbox) == first


def test_the_operators_configuration_is_not_read(tmux_sandbox: TmuxSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """PAM-TMUX-025, FR-52: hooks, prefix and options of ~/.tmux.conf have no say."""
    (tmux_sandbox.home / ".tmux.conf").write_text("set -g prefix C-a\nset -g detach-on-destroy off\nset -g @mine yes\n")
    monkeypatch.setenv("HOME", str(tmux_sandbox.home))
    ensure(tmux_sandbox)
    options = tmux_sandbox.tmux("show-options", "-g").splitlines()
    assert {"prefix None", "detach-on-destroy on", "status off", "history-limit 10000"} <= set(options)
    assert not any(option.startswith("@mine") for option in options)
    assert tmux_sandbox.tmux("show-options", "-gwv", "remain-on-exit") == "on"
    assert tmux_sandbox.tmux("show-options", "-sv", "exit-empty") == "off"
    assert tmux_sandbox.tmux("show-options", "-gv", "update-environment") == ""


def test_nothing_of_the_callers_environment_is_in_the_server(
    tmux_sandbox: TmuxSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys and the caller's tmux do not reach agents by way of the server, nor its argv or directory."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("TMUX", "/nowhere,1,0")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    server = ensure(tmux_sandbox)
    names = {line.split("=")[0] for line in tmux_sandbox.tmux("show-environment", "-g").splitlines()}
    assert names <= {*oneshot.server_environment(os.environ), "PWD", "SHLVL", "_", "OLDPWD"}
    assert "ANTHROPIC_API_KEY" not in names
    if sys.platform == "linux":
        assert Path(f"/proc/{server.pid}/cwd").readlink() == Path("/")


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, {}])
def test_glyphs_survive_any_locale(
    tmux_sandbox: TmuxSandbox, monkeypatch: pytest.MonkeyPatch, locale: dict[str, str]
) -> None:
    """FR-15: the same under LANG=C and with no locale at all, in listings, captures and the agent's own."""
    for name in ("LANG", "LC_ALL", "LC_CTYPE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    ensure(tmux_sandbox)
    start_run(
        tmux_sandbox, r"printf '\033]2;✻ título\033\\● ✻ 日本 %s\n' ${LC_ALL:-${LC_CTYPE:-$LANG}}; exec sleep 1000"
    )
    row = until(lambda: next(iter(oneshot.capture(tmux_sandbox.settings, RUN)), ""), 5)
    assert row.startswith("● ✻ 日本 ")
    assert "utf-8" in row.lower()
    (pane,) = oneshot.list_panes(tmux_sandbox.settings).panes
    assert pane.title == "✻ título"


def test_no_server_is_an_empty_listing(tmux_sandbox: TmuxSandbox) -> None:
    """PAM-TMUX-024: exactly ``no server running``, for a socket that nobody serves."""
    server = ensure(tmux_sandbox)
    tmux_sandbox.tmux("kill-server")
    until(lambda: identify(server.pid) is None, 5)
    assert oneshot.list_panes(tmux_sandbox.settings) == NO_SERVER


def test_a_server_that_does_not_answer_is_not_an_empty_listing(tmux_sandbox: TmuxSandbox) -> None:
    """PAM-TMUX-024, FR-22: any other failure is unknown."""
    settings = ExecutorSettings(tmux_socket=tmux_sandbox.settings.tmux_socket, command_timeout_s=0.3)
    with pytest.raises(oneshot.NoSocket):
        oneshot.list_panes(settings)
    ensure(tmux_sandbox)
    stopped = tmux_sandbox.stop_server()
    with pytest.raises(TmuxSilent):
        oneshot.list_panes(settings)
    with pytest.raises(TmuxUnavailable, match="did not answer"):
        oneshot.capture(settings, RUN)
    tmux_sandbox.continue_server(stopped)


def test_a_server_without_its_socket_is_asked_for_it(tmux_sandbox: TmuxSandbox) -> None:
    """FR-24: a cleaned socket directory must not lead to a second server beside the one with the agents."""
    server = ensure(tmux_sandbox)
    process = identify(server.pid)
    start_run(tmux_sandbox, "exec sleep 1000")
    sockets = tmux_sandbox.directory / f"tmux-{os.getuid()}"
    (sockets / tmux_sandbox.settings.tmux_socket).unlink()
    sockets.rmdir()
    assert ensure(tmux_sandbox, server, process) == server
    assert RUN in tmux_sandbox.sessions()


def test_a_living_server_that_cannot_be_reached_is_not_replaced(tmux_sandbox: TmuxSandbox) -> None:
    """The recorded process lives but gives no socket back: said, with its pid, and nothing started."""
    stranger = identify(os.getpid())
    assert stranger is not None
    known = ServerIdentity(stranger.pid, 1)
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with pytest.raises(TmuxUnavailable, match="No such file"):
            ensure(tmux_sandbox, known, stranger)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert tmux_sandbox.sessions() == set()


def test_another_server_on_our_socket_is_told(tmux_sandbox: TmuxSandbox) -> None:
    """The server with the sessions lives, somebody else's answers: the operator decides."""
    first = ensure(tmux_sandbox)
    process = identify(first.pid)
    (tmux_sandbox.directory / f"tmux-{os.getuid()}" / tmux_sandbox.settings.tmux_socket).unlink()
    tmux_sandbox.tmux("new-session", "-d", "-s", "usurper", "sleep 1000")
    second = tmux_sandbox.server_pid()
    with pytest.raises(TmuxUnavailable, match=f"kill -USR1 {first.pid}"):
        ensure(tmux_sandbox, first, process)
    os.kill(second, signal.SIGTERM)
    until(lambda: identify(second) is None, 5)
    os.kill(first.pid, signal.SIGUSR1)
    until(lambda: ensure(tmux_sandbox, first, process) == first, 5)


def test_a_new_server_right_after_the_old_one(tmux_sandbox: TmuxSandbox) -> None:
    """A server that is just leaving still takes connections; starting tries again."""
    seen = set()
    for _ in range(8):
        seen.add(str(ensure(tmux_sandbox)))
        tmux_sandbox.tmux("kill-server")
    assert len(seen) == 8


def test_decoys_survive_the_start_and_end_of_our_server(tmux_sandbox: TmuxSandbox) -> None:
    """PAM-TMUX-018, 021: nothing is done on the default socket."""
    ensure(tmux_sandbox)
    tmux_sandbox.start_decoys()
    ensure(tmux_sandbox)
    assert tmux_sandbox.sessions() == {"pam-hub", DECOY}
    oneshot.end_server(tmux_sandbox.settings)
    oneshot.end_server(tmux_sandbox.settings)
    assert tmux_sandbox.sessions("default") == {DECOY}


def test_capture_reads_the_exact_session(tmux_sandbox: TmuxSandbox) -> None:
    """PAM-TMUX-022: ``pam-0011`` is not ``pam-00112233``; a missing session is NotFound, as is a missing server."""
    with pytest.raises(NotFound, match="no tmux server"):
        oneshot.capture(tmux_sandbox.settings, RUN)
    ensure(tmux_sandbox)
    start_run(tmux_sandbox, r"seq 1 30; printf '\033[32m%%end 1 2 1\n'; exec sleep 1000")
    until(lambda: "\x1b[32m%end 1 2 1\x1b[0m" in oneshot.capture(tmux_sandbox.settings, RUN), 5)
    assert oneshot.capture(tmux_sandbox.settings, RUN, history=None)[:2] == ("1", "2")
    with pytest.raises(NotFound, match="no such session"):
        oneshot.capture(tmux_sandbox.settings, "pam-00112234")


def test_importing_the_one_shot_calls_does_not_load_libtmux() -> None:
    """libtmux costs 70 ms; ``pam task list`` must not pay for it."""
    script = (
        "import sys; import executor.tmux.oneshot; assert 'asyncio' not in sys.modules; "
        "import executor.capture, executor.hosts.local; assert 'libtmux' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(oneshot.__file__).parents[2])


def test_attach_is_exact_and_outside_any_tmux() -> None:
    """PAM-ATT-010; a reader has no say in the size (FR-46)."""
    settings = ExecutorSettings()
    writer = oneshot.attach_argv(settings, RUN, read_only=False)
    attach = ["tmux", "-u", "-L", "pam", "-N", "attach-session", "-t", f"={RUN}:"]
    hint = [";", "display-message", "-t", f"={RUN}:", "-d", "4000", "ctrl+] leaves; the agent goes on"]
    assert writer == [*attach, *hint]
    assert oneshot.attach_argv(settings, RUN, read_only=True) == [*attach, "-r", "-f", "ignore-size", *hint]
    assert oneshot.client_environment({"TMUX": "x", "TMUX_PANE": "%1", "TERM": "x"}) == {"TERM": "x"}
