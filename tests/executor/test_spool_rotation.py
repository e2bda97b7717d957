"""Spool generations: no line lost, none told twice, whenever the executor dies; old files go once nobody needs them."""

from __future__ import annotations

import asyncio
import fcntl
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor.hosts import local_files
from executor.wrapper import pam_signal
from tests.executor.spooling import Agent, Scene, die
from tests.support.stage import Stage

SMALL = 600
"""Bytes; two or three lines fill a generation."""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A spool whose generations are small."""
    made = Scene(tmp_path / "home", spool_max_bytes=SMALL)
    yield made
    made.close()


def fill(agent: Agent) -> None:
    """Say more than fits into a generation."""
    for _ in range(4):
        agent.says("progress", message="x" * 100)


async def test_a_full_generation_is_followed_by_the_next(scene: Scene) -> None:
    """PAM-SIG-012: who has the old one keeps writing there and is heard; who comes gets the new one."""
    old = scene.agent()
    await scene.drain()
    assert scene.station.generation == "1"
    fill(old)
    await scene.drain()
    assert scene.station.generation == "2"
    new = scene.agent()
    assert (old.path.name, new.path.name) == ("1.jsonl", "2.jsonl")
    for each in (old, new, old):
        each.says("progress", message="on")
    await scene.drain()
    assert (scene.heard(old), scene.heard(new)) == (old.said, new.said)
    assert scene.files() == ["1.jsonl", "2.jsonl"]


async def test_an_old_generation_goes_when_its_last_run_has_ended(scene: Scene) -> None:
    first, second = scene.agent(), scene.agent()
    fill(first)
    await scene.drain()
    first.ends()
    await scene.drain()
    assert scene.files() == ["1.jsonl"]
    second.ends()
    await scene.drain()
    assert scene.files() == []
    assert scene.cursors() == {"2": 0}


async def test_a_word_after_the_end_makes_the_old_generation_come_back_and_is_heard(scene: Scene) -> None:
    """PAM-SIG-019: what an agent left behind may speak when its file is gone."""
    agent = scene.agent()
    fill(agent)
    agent.ends()
    await scene.drain()
    assert scene.files() == []
    agent.says("completed", result="success")
    assert scene.files() == ["1.jsonl"]
    await scene.drain()
    assert scene.heard(agent) == agent.said
    assert scene.files() == []


async def test_the_next_executor_goes_on_with_the_newest_generation(scene: Scene) -> None:
    old = scene.agent()
    fill(old)
    await scene.drain()
    await scene.restart()
    assert scene.station.generation == "2"
    old.ends()
    await scene.drain()
    assert (scene.heard(old), scene.files()) == (old.said, [])


async def test_a_lost_store_does_not_bring_old_generations_back_to_life(scene: Scene) -> None:
    """New agents get the newest file there is, though no cursor tells of it."""
    (scene.spool / "7.jsonl").write_bytes(b"")
    (scene.spool / "notes.jsonl").write_bytes(b"")
    (scene.spool / "08.jsonl").write_bytes(b"")
    await scene.restart()
    assert scene.station.generation == "7"


async def test_a_generation_that_ends_in_a_torn_line_goes_as_well(scene: Scene) -> None:
    agent = scene.agent()
    fill(agent)
    agent.ends()
    agent.breaks_off()
    await scene.drain()
    assert scene.files() == []


async def test_a_line_that_comes_while_its_generation_is_let_go_is_not_lost(scene: Scene) -> None:
    """Between the last look and the removal: the size tells, and the writers' lock orders it."""
    agent = scene.agent()
    agent.ends()
    await scene.drain()
    size = agent.path.stat().st_size
    agent.says("completed", result="success")
    assert not await scene.link.drop_spool("1", size)
    await scene.drain()
    assert scene.heard(agent) == agent.said


async def test_a_spool_that_was_emptied_by_hand_is_read_from_its_start(scene: Scene) -> None:
    """The cursor stands behind the end of the file; a cursor that is believed would swallow what comes."""
    first = scene.agent()
    await scene.drain()
    first.path.unlink()
    first.says("progress", message="x")
    await scene.drain()
    assert scene.heard(first) == first.said
    first.path.write_bytes(b"")
    await scene.drain()
    assert scene.cursors() == {"1": 0}


def test_a_writer_that_waited_for_the_lock_begins_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other side of the removal: the helper has opened the file, and finds it gone once it has the lock."""
    path = tmp_path / "1.jsonl"
    path.write_bytes(b"old\n")
    take = fcntl.flock
    dropped: list[Path] = []

    def flock(descriptor: int, how: int) -> None:
        if not dropped:
            dropped.append(path)
            assert local_files.drop(path, 4)
        take(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    pam_signal.send("run", 1, str(path).encode(), "completed", "agent", {"result": "success"}, time.monotonic() + 1)
    assert dropped
    (line,) = path.read_bytes().splitlines()
    assert b'"kind":"completed"' in line


def test_nothing_is_read_that_a_writer_may_take_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk makes a writer take back what it began: until it lets go of the lock the reader waits, or says so."""
    monkeypatch.setattr(local_files, "_LOCK_PATIENCE_S", 0.05)
    path = tmp_path / "1.jsonl"
    with path.open("wb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        writer.write(b'{"v":1}\n')
        writer.flush()
        with pytest.raises(BlockingIOError):
            local_files.read(path, 0, 100)
        with pytest.raises(BlockingIOError):
            local_files.drop(path, 8)
        writer.truncate(0)
    assert local_files.read(path, 0, 100) == b""


@pytest.mark.parametrize("dies", [True, False])
def test_at_every_step_of_a_removal_the_executor_may_die_and_a_late_word_come(tmp_path: Path, dies: bool) -> None:
    """Issue 3: each step in turn, from the last line of a generation to its removal."""
    for step in range(24):
        scene = Scene(tmp_path / str(step), spool_max_bytes=SMALL)
        agent, other = scene.agent(), scene.agent()
        fill(agent)
        asyncio.run(scene.drain())
        agent.ends()
        other.ends()

        def meanwhile(agent: Agent = agent) -> None:
            agent.says("completed", result="success", reason="x" * 3000)
            if dies:
                die()

        asyncio.run(scene.drain(at=step, act=meanwhile))
        asyncio.run(_settle(scene))
        scene.close()


async def _settle(scene: Scene) -> None:
    """Two looks more, and everything was told once, in order, and no file is left but the newest."""
    for _ in range(2):
        await scene.drain()
    for agent in scene.agents:
        assert scene.heard(agent) == agent.said
        assert scene.run(agent).status == "exited"
    assert scene.files() in ([], [f"{scene.station.generation}.jsonl"])
    assert list(scene.cursors()) in ([], [scene.station.generation])


moves = st.lists(
    st.one_of(
        st.tuples(st.just("start"), st.just(0)),
        st.tuples(st.sampled_from(["speak", "speak", "speak", "end", "late", "break"]), st.integers(0, 5)),
        st.tuples(st.just("drain"), st.just(0)),
        st.tuples(st.sampled_from(["die", "barge"]), st.integers(0, 30)),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    min_size=5,
    max_size=60,
)


@settings(max_examples=100)
@given(moves)
def test_whatever_happens_each_line_is_told_once_and_in_order(schedule: list[tuple[str, int]]) -> None:
    """Issue 3: restart-safe at every step; nothing lost, nothing doubled, no file left behind."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder) / "home", spool_max_bytes=SMALL)
        try:
            asyncio.run(_play(scene, schedule))
        finally:
            scene.close()


async def _play(scene: Scene, schedule: list[tuple[str, int]]) -> None:
    living: list[Agent] = []
    ended: list[Agent] = []
    for what, number in schedule:
        if what == "start":
            living.append(scene.agent())
        elif what == "drain":
            await scene.drain()
        elif what == "die":
            await scene.drain(at=number, act=die)
        elif what == "barge" and (living or ended):
            # A line comes in the middle of it: of an agent that lives, or of one that ended.
            agent = ended.pop() if ended and (number % 2 or not living) else living[-1]
            word = "progress" if agent in living else "completed"
            await scene.drain(at=number, act=partial(agent.says, word, message="x" * 80))
        elif what == "restart":
            await scene.restart()
        elif what == "late" and ended:
            late = ended.pop(number % len(ended))
            late.says("completed", result="success")
        elif what in ("speak", "end", "break") and living:
            _act(what, living, ended, number % len(living))
    for agent in living:
        agent.ends()
    await _settle(scene)


def _act(what: str, living: list[Agent], ended: list[Agent], index: int) -> None:
    agent = living[index]
    if what == "speak":
        agent.says("progress", message="x" * 80)
    elif what == "break":
        agent.breaks_off()
    else:
        agent.ends()
        ended.append(living.pop(index))


def test_a_running_executor_turns_the_spool_over(stage: Stage) -> None:
    """The whole way: wrapper and helper write where the spec says, old files go, every run is told."""
    stage.settings = replace(stage.settings, spool_max_bytes=SMALL)
    gate = stage.cwd / "gate"
    with stage.executor():
        long = stage.until_status(
            stage.shell(f"while [ ! -e {gate} ]; do sleep 0.05; done; $PAM_SIGNAL completed"), "running"
        )
        for _ in range(3):
            stage.until_ended(stage.shell("$PAM_SIGNAL progress --message one; $PAM_SIGNAL progress --message two"))
        spool = stage.home.path / "spool"
        files = {path.name for path in spool.glob("*.jsonl")}
        assert "1.jsonl" in files
        assert len(files) > 1
        gate.touch()
        assert stage.until_ended(long).exit_code == 0
    with stage.executor():
        stage.until_ended(stage.shell("true"))
    assert "1.jsonl" not in {path.name for path in spool.glob("*.jsonl")}
    assert [event.payload["kind"] for event in stage.events(long) if event.topic == "run.signal_received"] == [
        "completed"
    ]
