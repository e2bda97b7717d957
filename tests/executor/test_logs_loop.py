"""Raw logs over real tmux: capped, opened again when their pipe died, counted at the end, gone with the run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from executor.hosts.local import LocalLink
from executor.ledger import Ledger
from executor.supervision import logs as logs_module
from executor.supervision.ingest import Ingest
from executor.supervision.logs import LogKeeper
from executor.supervision.station import Station
from store import hosts, items, output, runs
from store.records import Event, Run
from tests.support.stage import ACTOR, Stage
from tests.support.tmux_server import eventually
from tests.support.waiting import until

TOPIC = "run.output_appended"


@pytest.fixture
def quick(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage whose logs are small and looked after ten times a second."""
    monkeypatch.setattr(logs_module, "LAST_WORDS_S", 0.05)
    stage.settings = replace(stage.settings, log_max_bytes=20_000, log_check_s=0.1)
    return stage


@asynccontextmanager
async def keeper(stage: Stage) -> AsyncIterator[tuple[LogKeeper, LocalLink]]:
    """The loop's parts, called by the test, beside no executor."""
    link = LocalLink(stage.settings, stage.home.path)
    await link.connect()
    ledger = Ledger(stage.store)
    try:
        host = await ledger.call(hosts.ensure_local, actor=ACTOR)
        yield LogKeeper(Station(link, host.id, ledger, stage.settings)), link
    finally:
        await link.close()
        ledger.close()


def log_of(stage: Stage, run: Run) -> Path:
    """The raw log of a run."""
    return stage.home.path / "runs" / f"{run.id}.log"


def older(log: Path) -> Path:
    """What was rotated away."""
    return log.with_name(log.name + ".1")


def kept(log: Path) -> bytes:
    """Both parts of a log."""
    return b"".join(part.read_bytes() for part in (older(log), log) if part.exists())


def told(stage: Stage, run: Run) -> list[Event]:
    """What the journal says about the run's output."""
    return [event for event in stage.events(run) if event.topic == TOPIC]


def writer_of(log: Path) -> psutil.Process:
    """The process at the other end of the pane's pipe."""

    def find() -> psutil.Process | None:
        for each in psutil.process_iter():
            try:
                if each.name() == "dd" and any(file.path == str(log) for file in each.open_files()):
                    return each
            except psutil.Error:
                continue
        return None

    found = until(find, 5, "the log's writer")
    assert found is not None
    return found


ROTATED = """
log="$PAM_HOME/runs/$PAM_RUN.log.1"
say() { i=$1; while [ $i -le $2 ]; do echo line-$i; i=$((i+1)); done; }
say 1 3000
until [ -e "$log" ]; do sleep 0.02; done
say 3001 6000
until grep -q line-4000 "$log"; do sleep 0.02; done
say 6001 6010
"""


def test_a_long_log_is_capped_while_it_grows(quick: Stage) -> None:
    """PAM-OBS-007, rulings X-37: two files, whose end is complete; the beginning is dropped."""
    with quick.executor():
        run = quick.until_ended(quick.shell(ROTATED))
        log = log_of(quick, run)
        until(lambda: b"line-6010" in kept(log), 5, "the last line")
    numbers = [int(word[5:]) for word in kept(log).decode().split() if word.startswith("line-")]
    assert numbers == list(range(numbers[0], 6011))
    assert numbers[0] > 1
    assert (log.stat().st_mode | older(log).stat().st_mode) & 0o777 == 0o600


async def test_a_log_that_was_taken_away_is_begun_anew(quick: Stage) -> None:
    """Somebody moved it away: its writer would fill the old file, and the log stay away."""
    with quick.executor():
        run = quick.until_status(quick.shell("echo one; read line; echo two; sleep 1000"), "running")
    log = log_of(quick, run)
    await eventually(lambda: "one" in log.read_text())
    log.rename(older(log))
    async with keeper(quick) as (logs, link):
        await logs.look()
        assert not log.exists()  # a writer that rotates it is between two files as well
        await logs.look()
        await link.send_keys(run.session_name, ["Enter"])
        await eventually(lambda: log.exists() and "two" in log.read_text())
    assert "interrupted" in log.read_text()
    assert "two" not in older(log).read_text()


async def test_a_log_that_is_removed_does_not_come_back_with_the_end(quick: Stage) -> None:
    """PAM-OBS-014: its writer has nothing more to write."""
    with quick.executor():
        run = quick.until_status(quick.shell("echo one; sleep 1000"), "running")
    log = log_of(quick, run)
    await eventually(lambda: "one" in log.read_text())
    writer = writer_of(log).parent()
    assert writer is not None
    log.unlink()
    quick.sandbox.tmux("kill-session", "-t", f"={run.session_name}:")
    await eventually(lambda: not writer.is_running() or writer.status() == psutil.STATUS_ZOMBIE)
    assert not log.exists()


async def test_a_pipe_that_died_is_opened_again_and_told(quick: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """facts §4: logging stops without a word; the log itself says where something is missing."""
    with quick.executor():
        run = quick.until_status(
            quick.shell("echo one; read line; echo lost; read line; echo two; sleep 1000"), "running"
        )
    log = log_of(quick, run)
    await eventually(lambda: "one" in log.read_text())
    writer_of(log).kill()
    async with keeper(quick) as (logs, link):
        # tmux notices with the next output, which is lost.
        await link.send_keys(run.session_name, ["Enter"])
        await _until_pipeless(quick, run)
        await eventually(lambda: "lost" in quick.pane(run))
        await logs.look()
        await logs.look()
        await link.send_keys(run.session_name, ["Enter"])
        await eventually(lambda: "two" in log.read_text())
    text = log.read_text()
    assert text.index("one") < text.index("[pam: this log was interrupted") < text.index("two")
    assert text.count("interrupted") == 1
    assert "lost" not in text
    assert [record.levelname for record in caplog.records if run.id in record.message] == ["WARNING"]


async def test_a_pane_the_operator_split_off_is_left_alone(quick: Stage) -> None:
    """The pipe belongs to the agent's pane, whichever pane is the active one."""
    with quick.executor():
        run = quick.until_status(quick.shell("echo one; read line; echo two; sleep 1000"), "running")
    log = log_of(quick, run)
    await eventually(lambda: "one" in log.read_text())
    quick.sandbox.tmux("split-window", "-t", f"={run.session_name}:", "echo not the agent; sleep 1000")
    log.write_bytes(b"x" * 30_000)
    async with keeper(quick) as (logs, link):
        await logs.look()
        pane = quick.run(run).pane_id
        assert pane is not None
        await link.send_keys(pane, ["Enter"])
        await eventually(lambda: older(log).exists() and b"two" in kept(log))
    assert b"not the agent" not in kept(log)


def test_how_much_was_written_is_told_once_at_the_end(quick: Stage) -> None:
    """PAM-EVT-016: numbers, no text; and not again by the next executor."""
    with quick.executor():
        run = quick.until_ended(quick.shell("echo one; echo two"))
        (event,) = until(lambda: told(quick, run), 10, "the output to be told")
    assert set(event.payload) >= {"run_id", "attempt", "bytes", "lines", "rotated"}
    assert "one" not in str(event.payload)
    assert event.payload["rotated"] is False
    lines, size = event.payload["lines"], event.payload["bytes"]
    assert isinstance(lines, int) and isinstance(size, int)
    assert lines >= 2
    assert 0 < size <= log_of(quick, run).stat().st_size
    with quick.executor():
        quick.until_ended(quick.shell("true"))
    assert len(told(quick, run)) == 1


async def test_an_end_that_nobody_saw_is_told_by_the_next_executor(quick: Stage) -> None:
    with quick.executor():
        run = quick.until_status(quick.shell("echo one; read line"), "running")
    unread = quick.home.path / "specs" / f"{run.id}-1.json"
    unread.touch()
    quick.sandbox.tmux("send-keys", "-t", f"={run.session_name}:", "Enter")
    spool = quick.home.path / "spool" / "1.jsonl"
    await eventually(lambda: '"finished"' in spool.read_text())
    async with keeper(quick) as (logs, _):
        await logs.tell_ended()
        assert unread.exists()
        await Ingest(logs._station, auto_mark_done=False).drain()
        await logs.tell_ended()
        await logs.tell_ended()
    assert len(told(quick, run)) == 1
    assert not unread.exists()  # PAM-SEC-002: nobody took it, and it holds the agent's keys
    assert output.untold(quick.store, hosts.get(quick.store, "local").id) == []


def test_a_deleted_run_takes_its_log_along(quick: Stage) -> None:
    """PAM-OBS-014: and nobody else's."""
    other = items.create(quick.store, quick.task.project_id, "Another", actor=ACTOR)
    with quick.executor():
        gone, kept = quick.shell("echo one; $PAM_SIGNAL progress --message on"), quick.shell("echo two")
        kept = runs.start(quick.store, other.id, "shell", str(quick.cwd), args=("echo", "three"), actor=ACTOR)
        for run in (gone, kept):
            quick.until_ended(run)
        log = log_of(quick, gone)
        older(log).write_bytes(b"older\n")
        counter = quick.home.path / "spool" / "seq" / f"{gone.id}-1"
        assert counter.exists()
        _until_over(quick)
        items.delete(quick.store, quick.task.id, actor=ACTOR)
        until(lambda: not (log.exists() or older(log).exists() or counter.exists()), 10, "the log to go")
    assert log_of(quick, kept).exists()


async def test_what_was_deleted_while_nobody_executed_is_removed_later(quick: Stage) -> None:
    with quick.executor():
        run = quick.until_ended(quick.shell("echo one"))
    items.delete(quick.store, quick.task.id, actor=ACTOR)
    assert log_of(quick, run).exists()
    async with keeper(quick) as (logs, _):
        await logs.remove_deleted()
        assert not log_of(quick, run).exists()
        await logs.tell_ended()


def _until_over(stage: Stage) -> None:
    """Until no run lives, so that an item may be deleted."""
    until(lambda: not runs.live(stage.store), 20, "every run to end")


async def _until_pipeless(stage: Stage, run: Run) -> None:
    """Until tmux has noticed that the pipe's other end is gone."""
    ask = ("list-panes", "-a", "-F", "#{pane_pipe} #{session_name}")
    await eventually(lambda: f"0 {run.session_name}" in stage.sandbox.tmux(*ask))
