"""The executor over real tmux: what a run goes through, and what no fault may change."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from executor import lock
from executor.lock import ExecutorBusy
from store import hosts, journal, runs, spool
from store.errors import IllegalTransition, TmuxUnavailable
from tests.support.stage import ACTOR, Stage, end_process, make_stage
from tests.support.tmux_server import DECOY, SOCKET, TmuxSandbox
from tests.support.waiting import until

WHOLE = ["run.created", "run.spawning", "run.started", "run.finished"]


def test_a_run_goes_from_pending_to_exited_with_its_events_in_order(stage: Stage) -> None:
    """PAM-TEST-006, PAM-RUN-001, 002, 007, PAM-EVT-024."""
    with stage.executor():
        run = stage.until_ended(stage.shell("echo hello from the agent"))
        assert "hello from the agent" in stage.pane(run)
        assert stage.sandbox.sessions() == {"pam-hub", run.session_name}
    assert (run.status, run.exit_code, run.attempt) == ("exited", 0, 1)
    assert stage.topics(run) == WHOLE
    assert all(event.payload["attempt"] == 1 and event.payload["run_id"] == run.id for event in stage.events(run))
    assert run.started_at is not None
    assert run.finished_at is not None
    assert run.started_at <= run.finished_at


@pytest.mark.parametrize(("script", "status", "code"), [("exit 7", "failed", 7), ("kill -9 $$", "failed", -9)])
def test_a_bad_end_is_failed_with_its_code(stage: Stage, script: str, status: str, code: int) -> None:
    """PAM-RUN-008, PAM-EVT-025: run.finished, never run.failed beside it."""
    with stage.executor():
        run = stage.until_ended(stage.shell(script))
    assert (run.status, run.exit_code, run.failure_reason) == (status, code, None)
    assert stage.topics(run) == WHOLE


def test_the_raw_log_holds_the_output_from_its_first_byte(stage: Stage) -> None:
    """PAM-OBS-007: exact even for an agent that ends at once."""
    with stage.executor():
        run = stage.until_ended(stage.shell("i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo line-$i; done"))
        until(lambda: "line-500" in stage.log(run), 5, "the log to be written")
    assert [line for line in stage.log(run).split() if line.startswith("line-")] == [f"line-{n}" for n in range(1, 501)]


def test_agents_go_on_when_the_executor_stops_and_are_found_by_the_next(stage: Stage) -> None:
    """PAM-LIVE-011, FR-34: re-adopted without a status change, nothing doubled."""
    gate = stage.cwd / "gate"
    with stage.executor():
        run = stage.until_status(stage.shell(f"while [ ! -e {gate} ]; do sleep 0.05; done; exit 4"), "running")
    assert stage.sandbox.sessions() == {"pam-hub", run.session_name}
    with stage.executor():
        assert stage.run(run).status == "running"
        gate.touch()
        ended = stage.until_ended(run)
    assert (ended.status, ended.exit_code) == ("failed", 4)
    assert stage.topics(run) == WHOLE


def test_an_executor_killed_in_mid_run_loses_and_doubles_nothing(stage: Stage) -> None:
    """PAM-TEST-007: kill -9, then a new one."""
    gate = stage.cwd / "gate"
    starts = stage.cwd / "starts"
    first = stage.executor_process()
    run = stage.until_status(stage.shell(f"echo x >> {starts}; while [ ! -e {gate} ]; do sleep 0.05; done"), "running")
    end_process(first, signal.SIGKILL)
    assert not lock.state(stage.home).running
    second = stage.executor_process()
    gate.touch()
    ended = stage.until_ended(run)
    end_process(second, signal.SIGTERM)
    assert (ended.status, ended.exit_code, ended.attempt) == ("exited", 0, 1)
    assert stage.topics(run) == WHOLE
    assert starts.read_text() == "x\n"


def test_what_ended_while_nobody_looked_is_told_from_the_spool(stage: Stage) -> None:
    """PAM-TEST-008: the record converges without manual repair."""
    gate = stage.cwd / "gate"
    with stage.executor():
        run = stage.until_status(stage.shell(f"while [ ! -e {gate} ]; do sleep 0.05; done; exit 5"), "running")
    gate.touch()
    spool = stage.home.path / "spool" / "1.jsonl"
    until(lambda: '"finished"' in spool.read_text(), 10, "the wrapper's report")
    assert stage.run(run).status == "running"
    with stage.executor():
        assert stage.until_ended(run).exit_code == 5
    assert stage.topics(run) == WHOLE


def test_a_spool_read_again_from_its_start_changes_nothing(stage: Stage) -> None:
    """PAM-TEST-009: at least once in, exactly once applied."""
    with stage.executor():
        run = stage.until_ended(stage.start("demo", prompt="[[steps 2]] [[pace 0.05]]"))
    before = [event for event in journal.read(stage.store) if event.topic != "run.output_appended"]
    host = hosts.get(stage.store, "local")
    spool.advance(stage.store, host.id, "1", 0, actor="executor")
    with stage.executor():
        probe = stage.until_ended(stage.shell("true"))
    after = [event for event in journal.read(stage.store) if event.payload.get("run_id") != probe.id]
    assert [event for event in after if event.topic != "run.output_appended"] == before
    assert stage.run(run).status == "exited"


def test_a_stop_ends_the_whole_tree_and_is_journaled_once(stage: Stage) -> None:
    """PAM-RUN-009, PAM-RST-004, FR-32."""
    with stage.executor():
        run = stage.until_status(stage.shell("sleep 1000 & setsid sleep 1000 & echo $$ > pids; wait"), "running")
        until(lambda: (stage.cwd / "pids").exists(), 5, "the agent to begin")
        runs.request_stop(stage.store, run.id, actor=ACTOR)
        stopped = stage.until_ended(run)
        until(lambda: "run.stopped" in stage.topics(run), 10, lambda: stage.topics(run))
        assert run.session_name not in stage.sandbox.sessions()
    assert stopped.status == "stopped"
    assert sorted(stage.topics(run)[3:]) == ["run.finished", "run.stop_requested", "run.stopped"]
    assert not [one for one in psutil.process_iter() if _environment(one).get("PAM_RUN") == run.id]


def test_an_agent_that_ignores_term_is_killed_after_the_grace(stage: Stage) -> None:
    with stage.executor():
        run = stage.until_status(stage.shell("trap '' TERM; echo ready > up; while :; do sleep 0.1; done"), "running")
        until(lambda: (stage.cwd / "up").exists(), 5, "the trap")
        runs.request_stop(stage.store, run.id, actor=ACTOR)
        ended = stage.until_ended(run)
    assert (ended.status, ended.exit_code) == ("stopped", -9)


def test_a_stop_asked_for_while_nobody_executes_is_carried_out_later(stage: Stage) -> None:
    """Rulings X-56: the intent outlives the executor."""
    with stage.executor():
        run = stage.until_status(stage.shell("sleep 1000"), "running")
    runs.request_stop(stage.store, run.id, actor=ACTOR)
    assert stage.run(run).status == "running"
    with stage.executor():
        assert stage.until_ended(run).status == "stopped"
    with pytest.raises(IllegalTransition):
        runs.request_stop(stage.store, run.id, actor=ACTOR)


def test_a_stopped_run_is_not_started_again_by_the_next_executor(stage: Stage) -> None:
    """FR-28: the wish persists."""
    run = stage.shell("true")
    runs.request_stop(stage.store, run.id, actor=ACTOR)
    with stage.executor():
        probe = stage.until_ended(stage.shell("true"))
        assert stage.sandbox.sessions() == {"pam-hub", probe.session_name}
    assert stage.run(run).status == "stopped"


def test_a_missing_program_fails_the_run_with_the_reason(stage: Stage) -> None:
    """PAM-RUN-003, PAM-PROV-012."""
    with stage.executor():
        run = stage.until_ended(stage.start("shell", "no-such-program-of-mine"))
    assert (run.status, run.failure_reason) == ("failed", "spawn_failed")
    (failed,) = [event for event in stage.events(run) if event.topic == "run.failed"]
    assert "no-such-program-of-mine" in str(failed.payload["detail"])


def test_a_working_directory_that_is_not_there_fails_the_run_with_the_reason(stage: Stage) -> None:
    with stage.executor():
        run = stage.until_ended(stage.shell("true", cwd="/no/such/directory"))
    assert (run.status, run.failure_reason) == ("failed", "spawn_failed")
    said = str([event.payload for event in stage.events(run)])
    assert "/no/such/directory" in said
    assert not {"run.finished", "run.failed"} <= set(stage.topics(run))  # PAM-EVT-026


def test_a_typo_in_the_catalog_stops_new_runs_with_its_line_and_nothing_else(stage: Stage) -> None:
    gate = stage.cwd / "gate"
    with stage.executor():
        going = stage.until_status(stage.shell(f"while [ ! -e {gate} ]; do sleep 0.05; done"), "running")
    stage.home.providers.write_text("[shell]\nargvv = ['{args}']\n")
    with stage.executor():
        run = stage.until_ended(stage.shell("true"))
        gate.touch()
        assert stage.until_ended(going).status == "exited"
    assert (run.status, run.failure_reason) == ("failed", "spawn_failed")
    (failed,) = [event for event in stage.events(run) if event.topic == "run.failed"]
    assert "providers.toml:2" in str(failed.payload["detail"])


def test_a_wrapper_killed_outright_is_reported_lost_and_leaves_nothing(stage: Stage) -> None:
    """PAM-LIVE-006, FR-20: the truth is the wrapper, not the session."""
    with stage.executor():
        run = stage.until_status(stage.shell("trap '' HUP; setsid sleep 1000 & sleep 1000"), "running")
        assert run.wrapper_pid is not None
        os.kill(run.wrapper_pid, signal.SIGKILL)
        ended = stage.until_ended(run)
    assert (ended.status, ended.failure_reason) == ("failed", "session_lost")
    assert stage.topics(run)[-1] == "run.failed"
    assert not [one for one in psutil.process_iter() if _environment(one).get("PAM_RUN") == run.id]


def test_a_killed_tmux_server_is_noticed_and_new_runs_go_on_a_new_one(stage: Stage) -> None:
    """FR-67: survive server death, say so."""
    with stage.executor():
        run = stage.until_status(stage.shell("sleep 1000"), "running")
        os.kill(stage.sandbox.server_pid(), signal.SIGKILL)
        ended = stage.until_ended(run)
        again = stage.until_ended(stage.shell("echo again"))
    assert ended.status == "failed"
    assert again.status == "exited"


def test_whatever_holds_the_session_name_is_ended_before_the_run_starts(stage: Stage) -> None:
    """PAM-RST-005, FR-29: the name is the lock."""
    run = stage.shell("echo the real one")
    stage.sandbox.tmux("new-session", "-d", "-s", run.session_name, "sleep 1000")
    with stage.executor():
        ended = stage.until_ended(run)
        assert "the real one" in stage.pane(run)
    assert ended.status == "exited"


def test_decoys_on_both_sockets_survive_everything(stage: Stage) -> None:
    """PAM-TEST-011, PAM-TMUX-018, 021."""
    with stage.executor():
        stage.sandbox.start_decoys()
        run = stage.until_status(stage.shell("sleep 1000"), "running")
        runs.request_stop(stage.store, run.id, actor=ACTOR)
        stage.until_ended(run)
        until(lambda: "run.stopped" in stage.topics(run), 10, "the stop to be verified")
    with stage.executor():
        stage.until_ended(stage.shell("exit 1"))
    assert DECOY in stage.sandbox.sessions(SOCKET)
    assert stage.sandbox.sessions("default") == {DECOY}


def test_many_runs_at_once_are_each_started_exactly_once(stage: Stage) -> None:
    """FR-29: looking at what lives while sessions are being made never makes one twice."""
    stage.settings = replace(stage.settings, liveness_s=0.02)
    with stage.executor():
        started = [stage.shell(f"echo x >> started-{number}; sleep 0.2") for number in range(12)]
        ended = [stage.until_ended(run) for run in started]
    assert {run.status for run in ended} == {"exited"}
    assert [(stage.cwd / f"started-{number}").read_text() for number in range(12)] == ["x\n"] * 12
    assert all(stage.topics(run) == WHOLE for run in ended)


def test_there_is_one_executor_for_a_home(stage: Stage) -> None:
    with stage.executor():
        state = lock.state(stage.home)
        assert (state.running, state.pid, state.hosted_by) == (True, os.getpid(), "command")
        with pytest.raises(ExecutorBusy), stage.executor():
            pytest.fail("a second executor came up")
    assert not lock.state(stage.home).running


def test_a_run_that_no_host_takes_fails_after_the_dispatch_timeout(stage: Stage) -> None:
    """PAM-RUN-004, 005, PAM-RUN-019: a disabled host gets nothing."""
    stage.settings = replace(stage.settings, dispatch_timeout_s=0.2)
    with stage.executor():
        hosts.disable(stage.store, "local", actor=ACTOR)
        run = stage.until_ended(stage.shell("true"))
    assert (run.status, run.failure_reason) == ("failed", "no_eligible_host")


def test_a_pinned_run_waits_for_its_host(stage: Stage) -> None:
    """Rulings X-10."""
    other = hosts.add(stage.store, "far", "linux", ssh_target="far.example", actor=ACTOR)
    with stage.executor():
        pinned = stage.shell("true", pinned_host_id=other.id)
        stage.until_ended(stage.shell("true"))
        assert stage.run(pinned).status == "pending"


def test_the_agent_is_told_who_it_is_and_nothing_of_our_tmux(stage: Stage) -> None:
    """FR-18: identity by environment; PAM-WRAP-003."""
    with stage.executor():
        run = stage.until_ended(stage.shell("env > env.txt"))
    seen = dict(line.split("=", 1) for line in (stage.cwd / "env.txt").read_text().splitlines() if "=" in line)
    assert (seen["PAM_RUN"], seen["PAM_ATTEMPT"], seen["PAM_TASK"]) == (run.id, "1", stage.task.id)
    assert seen["HOME"] == os.environ["HOME"]


def test_a_home_with_spaces_and_other_letters_works(tmux_sandbox: TmuxSandbox, tmp_path: Path) -> None:
    stage = make_stage(tmux_sandbox, tmp_path / "päm höme 家" / "x y", tmp_path / "wörk 'n' \"stuff\"")
    stage.environ = {"LANG": "C", "LC_ALL": "C"}
    with stage.executor():
        run = stage.until_ended(stage.start("demo", prompt="Grüße an 世界 [[steps 2]] [[pace 0.05]] [[edit nötes.md]]"))
        assert "世界" in stage.pane(run)
    assert run.status == "exited", stage.events(run)
    assert (stage.cwd / "nötes.md").exists()
    stage.store.close()


def test_without_tmux_the_executor_does_not_come_up_and_says_what_to_do(stage: Stage) -> None:
    stage.settings = replace(stage.settings, tmux_bin="no-tmux-here")
    with pytest.raises(TmuxUnavailable, match="not installed"), stage.executor():
        pytest.fail("it came up without tmux")
    assert not lock.state(stage.home).running


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except psutil.Error:
        return {}
