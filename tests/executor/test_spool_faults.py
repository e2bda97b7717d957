"""What may stand in a spool or befall it, end to end: real lines on disk, the real reader, the real store."""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor.spool import LONGEST_LINE, lines
from executor.wrapper import pam_exec, pam_signal
from store import signals
from store.database import Store
from store.errors import StoreUnavailable
from store.records import Applied, Signal
from store.signals import ingest
from tests.executor.spooling import Scene
from tests.support.stage import Stage
from tests.support.waiting import until

HELPER = [sys.executable, "-I", "-S", "-E", pam_signal.__file__]

GARBAGE = [
    b"\x00" * 100,
    bytes(range(256)).replace(b"\n", b""),
    b"\xff\xfe\xfd",
    b"{",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"[1, 2]",
    b"null",
    b'"text"',
    b'{"v":1}',
    b'{"v":1,"run":null,"attempt":1,"kind":"finished","source":"wrapper"}',
    b'{"v":1,"run":"x","attempt":1,"kind":"progress","source":"agent","at":"yesterday","payload":{}}',
    b'{"v":1,"run":"x","attempt":1,"kind":"progress","source":"agent","at":"0001-01-01T00:00:00+23:59"}',
    b'{"v":1,"run":"x","attempt":1,"kind":"progress","seq":1,"source":"agent","payload":[]}',
    b'{"v":1,"run":"x","attempt":' + b"9" * 5000 + b',"kind":"progress","source":"agent"}',
    b'{"v":1,"run":"\\ud800","attempt":1,"kind":"progress","seq":1,"source":"agent","payload":{}}',
    b'{"v":1,"run":"x","attempt":NaN,"kind":"progress","seq":1e400,"source":"agent","payload":{}}',
]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A spool that is ingested when the test says so."""
    made = Scene(tmp_path / "home")
    yield made
    made.close()


async def test_a_torn_last_line_waits_and_costs_only_itself(scene: Scene) -> None:
    """A writer killed in mid-line: what it began is passed over once, with a word in the log."""
    agent = scene.agent()
    agent.breaks_off()
    await scene.drain()
    assert scene.heard(agent) == agent.said
    agent.says("progress", message="after it")
    agent.ends()
    await scene.drain()
    assert scene.heard(agent) == agent.said


@pytest.mark.parametrize("length", [1, 20, 60])
async def test_a_line_written_right_behind_a_torn_one_is_found_in_it(scene: Scene, length: int) -> None:
    """Where a writer puts no newline before its own line, both become one; the whole record at its end counts."""
    agent = scene.agent()
    agent.breaks_off(length)
    with agent.path.open("ab") as file:
        file.write(agent.line("finished", exit_code=3))
    await scene.drain()
    assert scene.run(agent).exit_code == 3


async def test_a_line_whose_sync_failed_is_written_twice_and_counts_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PAM-SIG-004, PAM-SIG-012: the wrapper cannot know whether it is on disk, so it writes again."""
    agent = scene.agent(started=False)
    wrapper = pam_exec.Spool()
    wrapper.address({"run": agent.run.id, "attempt": 1, "spool": str(agent.path)})
    sync = os.fsync
    failed: list[int] = []

    def fsync(descriptor: int) -> None:
        if len(failed) < 2:
            failed.append(descriptor)
            raise OSError(errno.EIO, "Input/output error")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    wrapper.put("started", {"pid": 1, "wrapper_pid": 2, "wrapper_started": 3})
    wrapper.put("finished", {"exit_code": 0, "signal": None})
    wrapper.flush(force=True)
    assert agent.path.read_bytes().count(b'"started"') == 3
    await scene.drain()
    assert scene.heard(agent) == [("started", None), ("finished", None)]


async def test_progress_that_overtook_another_is_applied_in_the_order_of_its_seq(scene: Scene) -> None:
    """PAM-SIG-005, 010."""
    agent = scene.agent()
    for seq in (2, 1, 5, 3, 5, 4):
        agent.says("progress", seq=seq, message=str(seq))
    await scene.drain()
    assert scene.heard(agent) == [("started", None), ("progress", 2), ("progress", 5)]
    assert scene.run(agent).last_progress_seq == 5


async def test_a_clock_that_goes_backwards_changes_no_order(scene: Scene) -> None:
    """PAM-SIG-005: seq orders, not time."""
    agent = scene.agent()
    for day in (30, 29, 1):
        agent.says("progress", at=f"2026-11-{day:02}T09:00:00Z", activity="working", note=f"day {day}")
    agent.says("finished", at="1970-01-01T00:00:00Z", exit_code=0)
    await scene.drain()
    assert scene.heard(agent) == agent.said
    run = scene.run(agent)
    assert (run.status, run.last_progress_seq) == ("exited", 3)
    assert run.started_at is not None and run.finished_at is not None
    assert run.started_at <= run.finished_at


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
async def test_garbage_costs_only_itself(scene: Scene, garbage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """FR-23: one bad record degrades one line; it is told once and never read again."""
    agent = scene.agent()
    with agent.path.open("ab") as file:
        file.write(garbage + b"\n\n\r\n")
    agent.ends()
    with caplog.at_level(logging.WARNING, "pam.ingest"):
        await scene.drain()
        assert len(caplog.records) == 1
        await scene.drain()
    assert len(caplog.records) == 1
    assert scene.heard(agent) == agent.said
    assert scene.cursors() == {"1": agent.path.stat().st_size}


@pytest.mark.parametrize("length", [LONGEST_LINE - 1, LONGEST_LINE, LONGEST_LINE + 1, 3 * LONGEST_LINE + 7])
async def test_an_endless_line_stops_nobody(scene: Scene, length: int) -> None:
    """As long as what is read at once, and longer: it is passed over in parts."""
    agent = scene.agent()
    with agent.path.open("ab") as file:
        file.write(b"x" * length)
    await scene.drain()
    with agent.path.open("ab") as file:
        file.write(b"\n")
    agent.ends()
    await scene.drain()
    assert scene.heard(agent) == agent.said


async def test_a_store_that_takes_nothing_loses_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database on a full disk in the middle of a batch: the lines stay in the spool and are read again."""
    agent = scene.agent()
    for number in range(4):
        agent.says("progress", message=str(number))
    calls: list[Signal] = []

    def full(store: Store, signal: Signal, *, auto_mark_done: bool) -> Applied:
        calls.append(signal)
        if len(calls) == 3:
            raise StoreUnavailable("The disk is full.")
        return ingest(store, signal, auto_mark_done=auto_mark_done)

    monkeypatch.setattr(signals, "ingest", full)
    with pytest.raises(StoreUnavailable):
        await scene.drain()
    assert scene.cursors() == {}
    await scene.drain()
    assert scene.heard(agent) == agent.said


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Scene]:
    """A scene whose spool is on a file system of 64 KiB."""
    disk = tmp_path / "home" / "spool"
    disk.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(mount, check=False).returncode:
        pytest.skip("mounting a small file system takes root")
    try:
        made = Scene(tmp_path / "home")
        yield made
        made.close()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def filled(disk: Path) -> Path:
    """A file that takes all the room."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(b"x" * 4096)
    return filler


async def test_what_was_said_on_a_full_disk_is_told_once_there_is_room(small: Scene) -> None:
    """PAM-SIG-012: the wrapper keeps its lines; the helper says that it could not."""
    agent = small.agent(started=False)
    environ = {"PAM_RUN": agent.run.id, "PAM_ATTEMPT": "1", "PAM_SPOOL": str(agent.path)}
    wrapper = pam_exec.Spool()
    wrapper.address({"run": agent.run.id, "attempt": 1, "spool": str(agent.path)})
    wrapper.put("started", {"pid": 1, "wrapper_pid": 2, "wrapper_started": 3})
    said = [*HELPER, "progress", "--message"]
    subprocess.run([*said, "before"], env=environ, check=True, timeout=20)
    with agent.path.open("ab") as file:
        file.write(b" " * (4095 - file.tell() % 4096) + b"\n")  # no room is left in the last page, too
    room = filled(small.spool)
    wrapper.put("finished", {"exit_code": 4, "signal": None})
    refused = subprocess.run([*said, "y" * 4000], env=environ, capture_output=True, check=True, timeout=20)
    assert b"No space left" in refused.stderr
    await small.drain()
    assert small.run(agent).status == "running"
    room.unlink()
    subprocess.run([*said, "after"], env=environ, check=True, timeout=20)
    wrapper.flush(force=True)
    await small.drain()
    assert small.run(agent).exit_code == 4
    assert [kind for kind, _ in small.heard(agent)] == ["started", "progress", "progress", "finished"]


async def test_what_a_full_disk_makes_a_writer_take_back_is_never_ingested(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two lines of which one fits: a reader that took the first would stand in the middle of what comes there next."""
    agent = scene.agent(started=False)
    other = scene.agent()
    wrapper = pam_exec.Spool()
    wrapper.address({"run": agent.run.id, "attempt": 1, "spool": str(agent.path)})
    write, seen = os.write, []

    def full(descriptor: int, data: bytes) -> int:
        if b'"finished"' not in data:
            raise OSError(errno.ENOSPC, "No space left on device")
        end = data.find(b"\n") + 10
        written = write(descriptor, data[:end])
        # Another process reads in this very moment; the lock keeps it out.
        code = "import sys; from pathlib import Path; from executor.hosts import local_files as files; "
        code += "files._LOCK_PATIENCE_S = 0.05; files.read(Path(sys.argv[1]), 0, 1 << 20)"
        reader = subprocess.run([sys.executable, "-c", code, str(agent.path)], capture_output=True, check=False)
        seen.append(b"BlockingIOError" in reader.stderr)
        monkeypatch.setattr(os, "write", _no_room)
        return written

    monkeypatch.setattr(os, "write", full)
    wrapper.put("started", {"pid": 1, "wrapper_pid": 2, "wrapper_started": 3})
    wrapper.put("finished", {"exit_code": 0, "signal": None})
    monkeypatch.setattr(os, "write", write)
    assert seen == [True]
    await scene.drain()
    assert scene.heard(agent) == []
    other.says("progress", message="in between")
    wrapper.flush(force=True)
    await scene.drain()
    assert scene.heard(agent) == [("started", None), ("finished", None)]
    assert scene.heard(other) == other.said


def _no_room(descriptor: int, data: bytes) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_running_executor_takes_it_all(stage: Stage) -> None:
    """The whole way: garbage, a torn line and lines told twice, between those of a run that lives."""
    gate = stage.cwd / "gate"
    with stage.executor():
        run = stage.until_status(
            stage.shell(f"while [ ! -e {gate} ]; do sleep 0.05; done; $PAM_SIGNAL progress --message on; exit 6"),
            "running",
        )
        file = stage.home.path / "spool" / "1.jsonl"
        told = file.read_bytes()
        with file.open("ab") as spool_file:
            spool_file.write(
                b"\n".join(each for each in GARBAGE) + b"\n" + told + b"y" * LONGEST_LINE + b'\n{"v":1,"run":'
            )
        gate.touch()
        assert stage.until_ended(run).exit_code == 6
    assert stage.topics(run) == ["run.created", "run.spawning", "run.started", "run.finished"]
    said = [event.payload["said"] for event in stage.events(run) if event.topic == "run.signal_received"]
    assert said == [{"message": "on"}]
    until(lambda: json.loads(file.read_bytes().splitlines()[-1])["kind"] == "finished", 5)


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=60), max_size=8), st.integers(1, 40))
def test_any_bytes_are_read_whole_whatever_the_reader_takes_at_once(parts: list[bytes], step: int) -> None:
    """The parser never raises, and where a read ends changes nothing of what is seen."""
    good = b'{"v":1,"run":"r","attempt":1,"kind":"progress","seq":1,"source":"agent","payload":{}}'
    data = b"\n".join([*parts, good, b""])
    whole = [(line.end, line.signal) for line in lines(data, 7)]
    assert whole[-1][0] == 7 + len(data)
    seen, offset, have = [], 0, 0
    while have < len(data):
        have += step
        for line in lines(data[offset:have], 7 + offset):
            seen.append((line.end, line.signal))
            offset = line.end - 7
    assert seen == whole
