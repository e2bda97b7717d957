"""The wrapper on real terminals with real agents: what it reports, what it passes on, what it leaves behind."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from ptyprocess import PtyProcess

from executor.processes import ProcessId, identify, liveness
from executor.wrapper import pam_exec
from tests.support.waiting import until

WRAPPER = Path(pam_exec.__file__)
RUN = "5f0c1f7e-8a54-4c5e-9a5e-0d3f5f4b7a11"
PYTHON = [sys.executable, "-I", "-S", "-E"]


class Stage:
    """One wrapper on one terminal."""

    def __init__(self, folder: Path, spec: dict[str, object], env: dict[str, str], python: str) -> None:
        self.spool = Path(str(spec["spool"])) if "spool" in spec else folder / "spool.jsonl"
        self.spec = folder / "spec.json"
        self.spec.write_bytes(os.fsencode(str(spec.get("content", json.dumps(spec)))))
        self.seen = b""
        self.pty = PtyProcess.spawn(
            [python, "-I", "-S", "-E", str(WRAPPER), str(self.spec)], env=env, dimensions=(24, 200)
        )

    def read_until(self, text: str, timeout: float = 15) -> str:
        """What the terminal shows up to the text, which is taken away."""
        deadline, wanted = time.monotonic() + timeout, text.encode()
        while wanted not in self.seen:
            ready = select.select([self.pty.fd], [], [], max(0.0, deadline - time.monotonic()))[0]
            assert ready, f"no {text!r} on the terminal, but {self.seen!r}"
            try:
                self.seen += os.read(self.pty.fd, 65536)
            except OSError:
                raise AssertionError(f"the terminal ended without {text!r}: {self.seen!r}") from None
        before, _, self.seen = self.seen.partition(wanted)
        return before.decode(errors="replace")

    def read_to_end(self) -> str:
        while True:
            assert select.select([self.pty.fd], [], [], 15)[0], f"the wrapper stays: {self.seen!r}"
            try:
                data = os.read(self.pty.fd, 65536)
            except OSError:
                break
            if not data:
                break
            self.seen += data
        return self.seen.decode(errors="replace")

    def type(self, keys: bytes) -> None:
        os.write(self.pty.fd, keys)

    def tell(self, number: int) -> None:
        os.kill(self.pty.pid, number)

    def exit_code(self) -> int:
        self.read_to_end()
        code: int = self.pty.wait()
        return code

    def lines(self) -> list[dict[str, Any]]:
        data = self.spool.read_text() if self.spool.exists() else ""
        return [json.loads(line) for line in data.splitlines()]

    def payload(self, kind: str) -> dict[str, Any]:
        (line,) = [line for line in self.lines() if line["kind"] == kind]
        found: dict[str, Any] = line["payload"]
        return found

    def clear(self) -> None:
        if self.pty.isalive():
            for child in psutil.Process(self.pty.pid).children(recursive=True):
                child.kill()
            self.pty.kill(signal.SIGKILL)
            self.pty.wait()
        self.pty.fileobj.close()


def agent_of(payload: dict[str, Any]) -> ProcessId:
    return ProcessId(payload["pid"], payload["pid_started"])


Staged = Callable[..., Stage]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Staged]:
    stages: list[Stage] = []

    def start(
        argv: list[str], pane_env: dict[str, str] | None = None, python: str = sys.executable, **changes: object
    ) -> Stage:
        spec: dict[str, object] = {
            "v": 1,
            "run": RUN,
            "attempt": 2,
            "task": "a-task",
            "argv": argv,
            "env": {},
            "unset": [],
            "cwd": str(tmp_path),
            "spool": str(tmp_path / "spool.jsonl"),
            "hold_open_s": 300,
            "grace_s": 5,
            "signal_cmd": "say it",
        }
        spec = {key: value for key, value in (spec | changes).items() if value is not ...}
        stages.append(Stage(tmp_path, spec, {"PATH": os.environ["PATH"]} | (pane_env or {}), python))
        return stages[-1]

    yield start
    for one in stages:
        one.clear()


def sh(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def py(script: str) -> list[str]:
    return [*PYTHON, "-c", script]


STUBBORN = "trap '' TERM HUP; echo ready; while :; do sleep 0.1; done"


# -- how it ends


def test_reports_start_and_end_of_a_clean_run(stage: Staged) -> None:
    """PAM-WRAP-004, 005, 006, 013; FR-20: who the agent is can be checked by pid and start time."""
    run = stage(sh("echo ready; read line; exit 0"), {"TMUX_PANE": "%7"})
    run.read_until("ready")
    started = until(run.lines, 5)[0]
    assert agent_of(started["payload"]) == identify(started["payload"]["pid"])
    wrapper = ProcessId(started["payload"]["wrapper_pid"], started["payload"]["wrapper_started"])
    assert wrapper == identify(run.pty.pid)
    assert started["payload"]["pane"] == "%7"
    assert psutil.Process(started["payload"]["pid"]).ppid() == run.pty.pid
    run.type(b"go\n")
    run.read_until("pam: sh ended with exit code 0 after ")
    run.read_until("this pane closes in 5 min")
    assert [(line["v"], line["run"], line["attempt"], line["kind"], line["source"]) for line in run.lines()] == [
        (1, RUN, 2, "started", "wrapper"),
        (1, RUN, 2, "finished", "wrapper"),
    ]
    finished = run.payload("finished")
    assert finished.pop("duration_s") >= 0
    assert finished == {"exit_code": 0, "signal": None, "stopping": False}
    assert run.spool.stat().st_mode & 0o777 == 0o600


def test_time_is_utc_with_microseconds(stage: Staged) -> None:
    """PAM-SIG-001, in a zone that is not UTC."""
    run = stage(sh("exit 0"), {"TZ": "Asia/Tokyo"}, hold_open_s=0)
    before = time.time()
    run.exit_code()
    at = run.lines()[-1]["at"]
    assert len(at) == len("2026-11-30T08:59:21.123456Z") and at.endswith("Z")
    assert abs(time.mktime(time.strptime(at[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone - before) < 60


def test_spec_is_gone_once_read(stage: Staged) -> None:
    """PAM-WRAP-001: the spec may carry keys."""
    run = stage(sh("echo ready; read line"))
    run.read_until("ready")
    assert not run.spec.exists()


def test_exit_code_is_reported_and_passed_on(stage: Staged) -> None:
    """FR-21: a code is a code, a signal is a signal."""
    run = stage(sh("exit 7"), hold_open_s=0)
    assert run.exit_code() == 7
    assert run.payload("finished")["exit_code"] == 7
    assert "sh ended with exit code 7" in run.seen.decode()


def test_death_by_signal_is_told_from_an_exit(stage: Staged) -> None:
    run = stage(sh("kill -KILL $$"), hold_open_s=0)
    assert run.exit_code() == 137
    assert run.payload("finished")["signal"] == 9
    assert run.payload("finished")["exit_code"] is None
    assert "sh was ended by SIGKILL" in run.seen.decode()


# -- never started


def test_missing_binary_is_127_with_a_sentence(stage: Staged) -> None:
    run = stage(["no-such-agent"], {"PATH": "/usr/bin:/bin"})
    run.read_until("\x1b[31mpam: no-such-agent was not started: ")
    run.read_until("is not on its PATH (/usr/bin:/bin); install it")
    run.read_until("this pane closes in 5 min")
    assert [line["kind"] for line in run.lines()] == ["finished"]
    assert run.payload("finished")["exit_code"] == 127
    assert "not on its PATH" in run.payload("finished")["spawn_error"]


@pytest.mark.parametrize(
    ("content", "mode", "code", "says"),
    [
        ("#!/bin/sh\n", 0o644, 126, "may not be executed"),
        ("#!/no/such/interpreter\n", 0o755, 126, "needs an interpreter that does not exist"),
        ("no program at all", 0o755, 126, "cannot be started (Exec format error)"),
        (None, 0, 127, "does not exist"),
    ],
)
def test_binary_that_cannot_run_says_why(
    stage: Staged, tmp_path: Path, content: str | None, mode: int, code: int, says: str
) -> None:
    binary = tmp_path / "agent"
    if content is not None:
        binary.write_text(content)
        binary.chmod(mode)
    run = stage([str(binary)], hold_open_s=0)
    assert run.exit_code() == code
    assert run.payload("finished")["exit_code"] == code
    assert says in run.payload("finished")["spawn_error"]


def test_binary_is_looked_up_on_the_path_of_the_agent(stage: Staged, tmp_path: Path) -> None:
    """A file of that name without the execute bit does not hide the program behind it."""
    for folder, mode in (("first", 0o644), ("second", 0o755)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent").write_text("#!/bin/sh\nexit 3\n")
        (tmp_path / folder / "agent").chmod(mode)
    run = stage(["agent"], hold_open_s=0, env={"PATH": f"{tmp_path}/first:{tmp_path}/second:/bin"})
    assert run.exit_code() == 3


def test_missing_cwd_is_a_spawn_error(stage: Staged, tmp_path: Path) -> None:
    run = stage(sh("true"), cwd=str(tmp_path / "gone"), hold_open_s=0)
    assert run.exit_code() == 126
    assert f"{tmp_path}/gone does not exist; create it" in run.payload("finished")["spawn_error"]
    assert "\x1b[31mpam: sh was not started" in run.seen.decode()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"argv": []}, "argv is empty"),
        ({"argv": ["sh", 3]}, "argv holds something that is not text"),
        ({"argv": ["sh", "a\0b"]}, "argv holds something that is not text without NUL"),
        ({"argv": "sh"}, "argv is not a list"),
        ({"env": {"A=B": "c"}}, "env is not a table"),
        ({"cwd": ...}, "cwd holds something"),
        ({"hold_open_s": "long"}, "hold_open_s is not a number of seconds"),
        ({"v": 2}, "it is of another version"),
    ],
)
def test_malformed_spec_of_a_known_run_is_reported(stage: Staged, change: dict[str, Any], says: str) -> None:
    run = stage(**({"argv": ["sh"]} | change))
    run.read_until(f"pam: the agent was not started: its spec is unusable: {says}")
    assert says in run.payload("finished")["spawn_error"]
    run.tell(signal.SIGTERM)
    assert run.exit_code() == 126


def test_spec_without_a_run_is_shown_on_the_pane(stage: Staged) -> None:
    run = stage(["sh"], run=...)
    run.read_until("its spec is unusable: run, attempt or spool is missing")
    assert not run.spool.exists()


@pytest.mark.parametrize("content", ["", '{"v":1,', "[]", '{"v":1} more', "\udcff"])
def test_spec_that_is_no_json_object_is_shown_on_the_pane(stage: Staged, content: str) -> None:
    run = stage([], content=content)
    run.read_until("spec.json does not hold a JSON object · this pane closes in 5 min")


# -- signals


def test_term_goes_to_the_agent_and_its_answer_counts(stage: Staged) -> None:
    run = stage(sh("trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"))
    run.read_until("ready")
    run.tell(signal.SIGTERM)
    assert run.exit_code() == 5  # no hold-open: somebody wants it ended
    finished = run.payload("finished")
    assert (finished["exit_code"], finished["stopping"]) == (5, True)


def test_stubborn_agent_is_killed_after_the_grace(stage: Staged) -> None:
    """PAM-RST-004."""
    run = stage(sh(STUBBORN), grace_s=0.3)
    run.read_until("ready")
    asked = time.monotonic()
    run.tell(signal.SIGTERM)
    assert run.exit_code() == 137
    assert 0.3 <= time.monotonic() - asked < 5
    finished = run.payload("finished")
    assert (finished["exit_code"], finished["signal"], finished["stopping"]) == (None, 9, True)


def test_usr1_is_passed_on(stage: Staged) -> None:
    run = stage(sh("trap 'echo got usr1' USR1; echo ready; while :; do sleep 0.05; done"))
    run.read_until("ready")
    run.tell(signal.SIGUSR1)
    run.read_until("got usr1")


def test_ctrl_c_reaches_the_agent_alone(stage: Staged) -> None:
    run = stage(sh("trap 'echo got int' INT; echo ready; read line; read line; echo still $line"))
    run.read_until("ready")
    run.type(b"\x03")
    run.read_until("got int")
    run.type(b"here\nhere\n")
    run.read_until("still")
    run.read_until("ended with exit code 0")


def test_ctrl_z_does_not_wedge_the_pane(stage: Staged) -> None:
    run = stage(sh("echo ready; read line; echo got $line; exit 8"))
    run.read_until("ready")
    run.type(b"\x1a")
    run.read_until("^Z")
    run.type(b"what comes after\n")
    run.read_until("got what comes after")
    run.read_until("ended with exit code 8")


def test_agent_that_stops_itself_is_resumed(stage: Staged) -> None:
    run = stage(sh("kill -STOP $$; echo resumed; exit 4"), hold_open_s=0)
    assert run.exit_code() == 4
    assert "resumed" in run.seen.decode()


def test_closed_terminal_ends_the_stubborn_too(stage: Staged) -> None:
    """FR-32: what kill-session does, hangs the terminal up; the wrapper goes on where the kernel stops."""
    run = stage(sh(STUBBORN), grace_s=0.2)
    run.read_until("ready")
    agent = agent_of(until(run.lines, 5)[0]["payload"])
    run.pty.fileobj.close()
    until(lambda: len(run.lines()) == 2, 10, "the end")
    assert run.payload("finished")["stopping"] is True
    assert liveness(agent) == "dead"
    run.pty.wait()


# -- what the agent leaves behind


def test_leftovers_of_the_group_are_ended(stage: Staged) -> None:
    run = stage(sh("sleep 600 & echo left $! end; exit 0"))
    run.read_until("left ")
    left = identify(int(run.read_until(" end")))
    run.read_until("ended with exit code 0")
    assert left is None or liveness(left) == "dead"


def test_end_is_reported_before_stubborn_leftovers_are_killed(stage: Staged) -> None:
    """The board does not wait for the tidying up."""
    run = stage(sh("(trap '' TERM; echo armed; while :; do sleep 0.1; done) & read line; echo left $! end; exit 0"))
    run.read_until("armed")
    run.type(b"\n")
    run.read_until("left ")
    left = identify(int(run.read_until(" end")))
    assert left is not None
    until(lambda: len(run.lines()) == 2, 5, "the end")
    assert liveness(left) == "alive"
    run.read_until("ended with exit code 0")
    assert liveness(left) == "dead"


def test_terminal_is_put_right(stage: Staged) -> None:
    """Whatever the agent did to the terminal, the next reader finds it sane."""
    undo = r"\x1b[?1049h\x1b[?1000h\x1b[?25lraw"
    run = stage(
        py(f"import os,tty; print('ready'); input(); tty.setraw(0); os.write(1, b'{undo}'); os.kill(os.getpid(), 9)")
    )
    run.read_until("ready")
    terminal = os.open(psutil.Process(run.pty.pid).terminal() or "", os.O_RDWR | os.O_NOCTTY)
    try:
        before = termios.tcgetattr(terminal)
        run.type(b"\n")
        run.read_until("raw")
        shown = run.read_until("was ended by SIGKILL")
        for mode in ("\x1b[?47l", "\x1b[?1000l", "\x1b[?2004l", "\x1b[?25h", "\x1b[<99u"):
            assert mode in shown
        run.tell(signal.SIGTERM)
        run.pty.wait()
        assert termios.tcgetattr(terminal) == before
    finally:
        os.close(terminal)


# -- holding the pane open


def test_hold_open_ends_by_itself(stage: Staged) -> None:
    run = stage(sh("exit 0"), hold_open_s=0.2)
    assert run.exit_code() == 0


def test_hold_open_swallows_keys_and_ends_at_once_on_term(stage: Staged) -> None:
    """PAM-WRAP-008."""
    run = stage(sh("exit 0"))
    run.read_until("this pane closes in 5 min")
    run.type(b"typed to nobody\x03\x1a\x1c")
    run.tell(signal.SIGTERM)
    assert run.exit_code() == 0
    assert "typed" not in run.seen.decode()


# -- the spool


def test_torn_last_line_stays_one_bad_line(stage: Staged, tmp_path: Path) -> None:
    (tmp_path / "spool.jsonl").write_text('{"v":1,"ru')
    run = stage(sh("exit 0"), hold_open_s=0)
    run.exit_code()
    torn, started, finished = run.spool.read_text().splitlines()
    assert torn == '{"v":1,"ru'
    assert json.loads(started)["kind"] == "started"
    assert json.loads(finished)["kind"] == "finished"


def test_held_lock_delays_lines_but_not_the_agent(stage: Staged, tmp_path: Path) -> None:
    """Somebody stopped with the lock in hand: signals still work, the lines come in order once it is free."""
    with (tmp_path / "spool.jsonl").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run = stage(sh("echo ready; read line; exit 6"))
        run.read_until("ready")
        run.type(b"\n")
        run.read_until("ended with exit code 6")
        assert run.lines() == []
    until(lambda: len(run.lines()) == 2, 5, "both lines")
    assert [line["kind"] for line in run.lines()] == ["started", "finished"]


def test_spool_that_cannot_be_opened_is_retried_until_it_can(stage: Staged, tmp_path: Path) -> None:
    """PAM-SIG-012: signals are not dropped, and the operator sees why one waits."""
    run = stage(sh("exit 3"), spool=str(tmp_path / "later" / "spool.jsonl"))
    run.read_until("ended with exit code 3")
    run.read_until("this end is not saved yet (No such file or directory)")
    (tmp_path / "later").mkdir()
    run.read_until("this end is saved now")
    assert [line["kind"] for line in run.lines()] == ["started", "finished"]


def test_stopped_wrapper_does_not_wait_for_ever_for_a_broken_spool(stage: Staged, tmp_path: Path) -> None:
    run = stage(sh("exit 3"), spool=str(tmp_path / "never" / "spool.jsonl"))
    run.read_until("this end is not saved yet")
    run.tell(signal.SIGTERM)
    assert run.exit_code() == 3


def test_full_disk_keeps_the_agent_and_its_end(stage: Staged, tmp_path: Path) -> None:
    """No torn line is left, and room made later is used."""
    spool = tmp_path / "small" / "spool.jsonl"
    spool.parent.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(spool.parent)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(mount, check=False).returncode:
        pytest.skip("mounting a small file system takes root")
    try:
        filler = spool.parent / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
            while True:
                file.write(b"x" * 4096)
        run = stage(sh("echo ready; read line; exit 3"), spool=str(spool))
        run.read_until("ready")
        run.type(b"\n")
        run.read_until("this end is not saved yet (No space left on device)")
        assert run.lines() == []
        filler.unlink()
        run.read_until("this end is saved now")
        assert [line["kind"] for line in run.lines()] == ["started", "finished"]
        run.clear()
    finally:
        subprocess.run(["umount", str(spool.parent)], check=True)


def test_line_that_fits_in_part_is_taken_back(stage: Staged, tmp_path: Path) -> None:
    """A short write is the other face of a full disk; here a limit on the size of files makes it."""
    whole = b'{"kind":"before"}\n' * 100
    (tmp_path / "spool.jsonl").write_bytes(whole)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 10, limit[1]))
    try:
        run = stage([shutil.which("true") or "true"], hold_open_s=0.1, grace_s=0.1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert run.exit_code() == 0
    assert "not saved yet (File too large)" in run.seen.decode()
    assert (tmp_path / "spool.jsonl").read_bytes() == whole


# -- surroundings


def test_environment_is_the_panes_with_the_specs_on_top(stage: Staged, tmp_path: Path) -> None:
    """PAM-WRAP-003, 007."""
    run = stage(
        py("import json,os; print('@' + json.dumps(dict(os.environ)) + '@')"),
        {"KEPT": "pane", "CHANGED": "pane", "DROPPED": "pane", "BOTH": "pane", "OLDPWD": "/", "PWD": "/"},
        env={"CHANGED": "spec", "BOTH": "spec"},
        unset=["DROPPED", "BOTH", "NEVER_THERE"],
    )
    run.read_until("@")
    env = json.loads(run.read_until("@").replace("\r\n", ""))
    env.pop("LC_CTYPE", None)
    assert env == {
        "PATH": os.environ["PATH"],
        "KEPT": "pane",
        "CHANGED": "spec",
        "BOTH": "spec",
        "PWD": str(tmp_path),
        "PAM_RUN": RUN,
        "PAM_ATTEMPT": "2",
        "PAM_TASK": "a-task",
        "PAM_SPOOL": str(run.spool),
        "PAM_SIGNAL": "say it",
    }


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {"LC_ALL": "POSIX"}, {"LC_ALL": "no_SUCH.ISO-8859-1"}])
def test_names_outside_ascii_survive_any_locale(stage: Staged, tmp_path: Path, locale: dict[str, str]) -> None:
    """Also a folder whose name is not even UTF-8; pam writes it with surrogates."""
    folder = os.fsencode(tmp_path) + b"/gr\xc3\xbc\xc3\x9fe \xe2\x88\x9e \xff"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    script = (
        "import os,sys; print(*(os.fsencode(x).hex() for x in (os.getcwd(), sys.argv[1], os.environ['V'])), sep='@')"
    )
    run = stage([*py(script), "süß"], locale, cwd=os.fsdecode(folder), env={"V": "ö"}, hold_open_s=0)
    assert run.exit_code() == 0
    cwd, argument, value = run.seen.decode().splitlines()[0].split("@")
    assert bytes.fromhex(cwd) == folder
    assert bytes.fromhex(argument).decode() == "süß"
    assert bytes.fromhex(value).decode() == "ö"


def test_name_of_the_agent_cannot_steer_the_terminal(stage: Staged) -> None:
    run = stage(["\x1b[2Jevil\nname"], hold_open_s=0)
    run.exit_code()
    assert b"?[2Jevil?name was not started" in run.seen


def python_of(version: str) -> str:
    pyenv = Path(sys.base_prefix).parent  # where several Pythons stand side by side
    folders = [*pyenv.glob(f"{version}.*/bin"), *map(Path, os.get_exec_path())]
    for python in (folder / f"python{version}" for folder in folders):
        if python.exists() and not subprocess.run([python, "-ISEc", ""], capture_output=True, check=False).returncode:
            return str(python)
    pytest.skip(f"no Python {version} here")


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13"])
def test_runs_on_every_python_a_host_may_have(stage: Staged, version: str) -> None:
    python = python_of(version)
    run = stage(sh("exit 9"), python=python, hold_open_s=0)
    assert run.exit_code() == 9
    assert [line["kind"] for line in run.lines()] == ["started", "finished"]


@pytest.mark.skipif(shutil.which("ps") is None, reason="no ps here")
def test_start_of_a_process_is_read_from_ps_where_there_is_no_proc() -> None:
    """The macOS way to count, tried on whatever ps is here."""
    ps = ["ps", "-o", "lstart=", "-p", str(os.getpid())]
    shown = subprocess.run(
        ps, capture_output=True, text=True, check=True, env=os.environ | {"LC_ALL": "C", "TZ": "UTC0"}
    )
    assert abs(pam_exec.epoch_seconds(shown.stdout) - psutil.Process().create_time()) < 3


@pytest.mark.parametrize(
    ("length", "words"),
    [(0.42, "0.4s"), (3, "3s"), (59.9, "59s"), (300, "5 min"), (723, "12m 3s"), (3600, "1h 0m"), (7510, "2h 5m")],
)
def test_time_spans_are_said_as_a_person_would(length: float, words: str) -> None:
    assert pam_exec.span(length) == words


# -- in tmux


def test_kill_session_ends_the_agent_and_records_it(tmp_path: Path) -> None:
    """FR-32 in real tmux: kill-session alone never escalates, the wrapper does."""
    with tmux_pane(tmp_path, sh(STUBBORN), grace_s=0.2) as pane:
        until(lambda: "ready" in pane.text(), 10, pane.text)
        started = until(pane.lines, 5)[0]["payload"]
        assert started["pane"] == pane("display-message", "-p", "-t", "=pam-test:", "#{pane_id}").strip()
        pane("kill-session", "-t", "=pam-test")
        until(lambda: len(pane.lines()) == 2, 10, "the end")
        assert pane.lines()[1]["payload"]["stopping"] is True
        assert liveness(agent_of(started)) == "dead"


def test_tmux_pane_is_sane_after_a_crash_in_full_screen(tmp_path: Path) -> None:
    """No stray characters of the clean-up either."""
    modes = r"\x1b[?1049h\x1b[?1000h\x1b[?2004h\x1b[?1h\x1b[?25l\x1b[3;5r\x1b[>1u"
    script = f"import os; print('before', flush=True); os.write(1, b'{modes}'); os.kill(os.getpid(), 9)"
    with tmux_pane(tmp_path, py(script)) as pane:
        until(lambda: "closes in 5 min" in pane.text(), 10, pane.text)
        flags = "#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{keypad_cursor_flag} #{scroll_region_upper}"
        assert pane("display-message", "-p", "-t", "=pam-test:", flags).split() == ["0", "0", "1", "0", "0"]
        first, *rest = [line for line in pane.text().splitlines() if line.strip()]
        assert first == "before"
        assert "".join(rest).startswith("pam: python")


class TmuxPane:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {"PATH": os.environ["PATH"], "TMUX_TMPDIR": str(folder), "TERM": "xterm-256color"}

    def __call__(self, *words: str) -> str:
        tmux = ["tmux", "-L", "pam-wrapper-test", "-f", "/dev/null", "-u", *words]
        return subprocess.run(tmux, capture_output=True, text=True, check=True, env=self.env, timeout=20).stdout

    def text(self) -> str:
        return self("capture-pane", "-p", "-t", "=pam-test:")

    def lines(self) -> list[dict[str, Any]]:
        spool = self.folder / "spool.jsonl"
        return [json.loads(line) for line in spool.read_text().splitlines()] if spool.exists() else []


@contextmanager
def tmux_pane(folder: Path, argv: list[str], **changes: object) -> Iterator[TmuxPane]:
    if not shutil.which("tmux"):
        pytest.skip("no tmux here")
    spec = {"v": 1, "run": RUN, "attempt": 1, "argv": argv, "cwd": str(folder), "spool": str(folder / "spool.jsonl")}
    (folder / "spec.json").write_text(json.dumps(spec | changes))
    pane = TmuxPane(folder)
    command = [*PYTHON, str(WRAPPER), str(folder / "spec.json")]
    pane(
        "new-session", "-d", "-s", "hub", ";", "new-session", "-d", "-x", "120", "-y", "20", "-s", "pam-test", *command
    )
    try:
        yield pane
    finally:
        pane("kill-server")


def test_the_last_line_calls_the_agent_by_the_name_it_was_given(stage: Staged) -> None:
    """An agent behind an interpreter is not called ``python3``."""
    run = stage(sh("exit 0"), name="démo")
    run.read_until("pam: démo ended with exit code 0 after ")
