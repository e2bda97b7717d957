"""Following real transcripts: growing, torn, cut, replaced, huge; and what of their words is still news."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from executor.hosts.local import LocalLink
from executor.ledger import Ledger
from executor.settings import ExecutorSettings
from executor.supervision import transcripts as transcripts_module
from executor.supervision.ingest import Ingest
from executor.supervision.station import Station
from executor.supervision.transcripts import Transcripts, is_news
from providers.catalog import Catalog, load
from providers.recipes.recipe import Said
from providers.transcripts.kimi import wire_path
from providers.transcripts.reader import Spoken
from store import hosts, items, journal, projects, runs, usage
from store.database import Store, open_store
from store.records import Activity, Run, Signal, Usage
from store.signals import ingest

ACTOR = "operator"
INTERRUPTED = "[Request interrupted by user]"


class Scene:
    """A store in memory, this machine as host, and a follower of its transcripts."""

    def __init__(self, store: Store, home: Path, catalog: Catalog) -> None:
        self.store, self.home, self.catalog = store, home, catalog
        self.ledger = Ledger(store)
        self.link = LocalLink(ExecutorSettings(), home / "pam")
        self.host = hosts.ensure_local(store, actor="executor")
        hosts.heartbeat(store, "local", "instance", actor="executor")
        self.station = Station(self.link, self.host.id, self.ledger, ExecutorSettings())
        self.edge = Ingest(self.station, auto_mark_done=False)
        project = projects.add(store, "Apollo", actor=ACTOR)
        self.task = items.create(store, project.id, "Land", actor=ACTOR)
        self.said: list[tuple[str, Said]] = []
        self._seq = 0

    @property
    def file(self) -> Path:
        """Where the agent of most tests writes."""
        return self.home / ".claude" / "projects" / "w" / "a.jsonl"

    def run(self, provider: str = "claude", transcript: Path | None = None, **options: str) -> Run:
        """A running agent that has named its transcript, if it has one."""
        run = runs.start(self.store, self.task.id, provider, "/srv/w", actor=ACTOR, **options)  # type: ignore[arg-type]
        assert runs.claim(self.store, run.id, hosts.get(self.store, "local"), actor="executor") is not None
        assert ingest(self.store, Signal(run.id, 1, "started", "wrapper", payload={"pid": 7})).applied
        if transcript is not None:
            runs.set_transcript(self.store, run.id, 1, str(transcript), actor="executor")
        return runs.get(self.store, run.id)

    def says(self, run: Run, activity: Activity) -> None:
        """A hook speaks."""
        self._seq += 1
        payload = {"activity": activity}
        assert ingest(self.store, Signal(run.id, 1, "progress", "hook:claude", seq=self._seq, payload=payload)).applied

    def end(self, run: Run) -> None:
        """The agent exits."""
        assert ingest(self.store, Signal(run.id, 1, "finished", "wrapper", payload={"exit_code": 0})).applied

    def write(self, *lines: bytes, to: Path | None = None) -> None:
        """The agent's CLI appends to its file."""
        path = to or self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(b"".join(lines))

    def follower(self) -> Transcripts:
        """A new executor's."""
        return Transcripts(self.station, lambda: self.catalog, {"HOME": str(self.home)}, say=self._hear)

    @asynccontextmanager
    async def following(self) -> AsyncIterator[Transcripts]:
        """A follower at work."""
        made = self.follower()
        task = asyncio.create_task(made.loop())
        try:
            yield made
        finally:
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

    def usage(self, run: Run) -> Usage | None:
        """What is known of the run."""
        return usage.of_run(self.store, run.id)

    def sent(self, run: Run) -> int | None:
        """Its input."""
        found = self.usage(run)
        return found.input_tokens if found else None

    async def _hear(self, run: Run, said: Said, *, holds: Callable[[Run], bool]) -> bool:
        counted = await self.edge.say(run, said, holds=holds)
        if counted:
            self.said.append((run.id, said))
        return counted


@pytest.fixture
async def scene(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    """With looks ten times as often."""
    monkeypatch.setattr(transcripts_module, "LOOK_S", 0.1)
    store = open_store(None)
    made = Scene(store, own_home, load(own_home))
    yield made
    made.ledger.close()
    store.close()


async def until(predicate: Callable[[], object], timeout: float = 10.0) -> None:
    """Until it is true; the follower works meanwhile."""
    async with asyncio.timeout(timeout):
        while not predicate():
            await asyncio.sleep(0.01)


def answer(id_: str, sent: int) -> bytes:
    """A line of claude's."""
    return _line(
        type="assistant", message={"id": id_, "model": "m", "usage": {"input_tokens": sent, "output_tokens": 1}}
    )


def interrupted(after_s: float = 0.0) -> bytes:
    """Another."""
    at = (datetime.now(UTC) + timedelta(seconds=after_s)).isoformat()
    return _line(type="user", timestamp=at, message={"content": INTERRUPTED})


def _line(**keys: object) -> bytes:
    return json.dumps(keys).encode() + b"\n"


# -- following --------------------------------------------------------------------------------------------------------


async def test_a_transcript_is_followed_as_it_grows(scene: Scene) -> None:
    """Lines count when they are whole; the file may not be there yet."""
    run = scene.run(transcript=scene.file)
    scene.says(run, "working")
    async with scene.following():
        await asyncio.sleep(0)
        scene.write(answer("a", 10))
        await until(lambda: scene.sent(run) == 10)
        torn = answer("b", 20)
        scene.write(answer("c", 1), torn[:40])
        await until(lambda: scene.sent(run) == 11)
        scene.write(torn[40:])
        await until(lambda: scene.sent(run) == 31)
    assert usage.offset_of(scene.store, run.id, 1, str(scene.file)) == scene.file.stat().st_size


async def test_the_file_of_an_agent_at_rest_is_looked_at_when_a_hook_has_spoken(scene: Scene) -> None:
    """And not before: nothing is to be expected of it."""
    scene.write(answer("a", 10))
    run = scene.run(transcript=scene.file)
    scene.says(run, "idle")
    other = scene.run(transcript=scene.home / "other.jsonl")
    scene.says(other, "working")
    async with scene.following() as follower:
        await until(lambda: scene.sent(run) == 10)
        scene.write(answer("b", 20))
        scene.write(answer("c", 5), to=scene.home / "other.jsonl")
        await until(lambda: scene.sent(other) == 5)
        assert scene.sent(run) == 10
        follower.look(run.id)
        await until(lambda: scene.sent(run) == 30)


async def test_a_run_that_names_its_file_later_is_followed_from_then_on(scene: Scene) -> None:
    """Its first hook tells."""
    run = scene.run()
    scene.says(run, "working")
    async with scene.following() as follower:
        scene.write(answer("a", 10))
        runs.set_transcript(scene.store, run.id, 1, str(scene.file), actor="executor")
        follower.look(run.id)
        await until(lambda: scene.sent(run) == 10)


async def test_another_conversation_is_another_file_and_both_count(scene: Scene) -> None:
    """``/clear``; the first one is read to its end before."""
    run = scene.run(transcript=scene.file)
    scene.says(run, "idle")
    second = scene.home / "second.jsonl"
    async with scene.following() as follower:
        scene.write(answer("a", 10))
        follower.look(run.id)
        await until(lambda: scene.sent(run) == 10)
        scene.write(answer("b", 20))
        scene.write(answer("c", 300), to=second)
        runs.set_transcript(scene.store, run.id, 1, str(second), actor="executor")
        follower.look(run.id)
        await until(lambda: scene.sent(run) == 330)


async def test_a_run_that_ended_is_read_to_its_end(scene: Scene) -> None:
    """claude writes its cost when it exits; so it does for one that ended while no executor was there."""
    run = scene.run(transcript=scene.file)
    scene.write(answer("a", 10), _line(type="cost-state", totalCostUSD=0.5, modelUsage={"m": {"inputTokens": 10}}))
    scene.write(interrupted())
    scene.end(run)
    async with scene.following():
        await until(lambda: usage.unread(scene.store, scene.host.id) == [])
    found = scene.usage(run)
    assert found is not None
    assert found.cost_usd == 0.5
    assert scene.said == []


async def test_a_file_that_was_cut_or_replaced_is_read_from_its_start(scene: Scene) -> None:
    """Totals are those of the file; what it repeats is not said again."""
    run = scene.run(transcript=scene.file)
    scene.says(run, "working")
    async with scene.following() as follower:
        scene.write(answer("a", 10), answer("b", 20))
        await until(lambda: scene.sent(run) == 30)
        scene.file.write_bytes(answer("c", 7))
        await until(lambda: scene.sent(run) == 7)
        draft = scene.file.with_name("draft")
        draft.write_bytes(answer("c", 7) + interrupted() + answer("d", 8) * 3)
        draft.replace(scene.file)
        follower.look(run.id)
        await until(lambda: scene.sent(run) == 15)
        assert scene.said == []
        scene.write(interrupted())
        await until(lambda: scene.said)


async def test_a_hundred_megabytes_are_read_in_pieces_and_endless_lines_passed_over(scene: Scene) -> None:
    """A transcript with pictures in it; the loop goes on meanwhile."""
    picture = b'{"usage":"' + b"x" * (3 << 20) + b'"}\n'
    filler = _line(type="user", message={"content": "y" * 5000})
    scene.write(answer("a", 10))
    for _ in range(10):
        scene.write(picture, filler * 1400, answer("b", 20))
    assert scene.file.stat().st_size > 100_000_000
    run = scene.run(transcript=scene.file)
    scene.says(run, "working")
    beats = 0
    async with scene.following():
        async with asyncio.timeout(20):
            while scene.sent(run) != 30:
                await asyncio.sleep(0.005)
                beats += 1
    assert beats > 2


async def test_the_transcript_that_kimi_does_not_name_is_found(scene: Scene) -> None:
    """Below its own directory, by session."""
    path = Path(wire_path(f"{scene.home}/.kimi-code", "/srv/w", "session_1"))
    scene.write(_line(type="usage.record", model="k", usage={"inputOther": 3, "output": 1}), to=path)
    kimi = replace(scene.catalog.providers["claude"], name="kimi", usage="kimi-wire")
    scene.catalog = Catalog({**scene.catalog.providers, "kimi": kimi})
    run = scene.run("kimi", conversation_id="session_1")
    async with scene.following():
        await until(lambda: scene.sent(run) == 3)
    assert runs.get(scene.store, run.id).transcript == str(path)


async def test_a_provider_without_transcripts_is_let_be(scene: Scene) -> None:
    """Nothing is opened, whatever a hook named."""
    scene.write(answer("a", 10))
    run = scene.run("shell", transcript=scene.file)
    other = scene.run(transcript=scene.file)
    async with scene.following():
        await until(lambda: scene.sent(other) == 10)
    assert scene.usage(run) is None


async def test_a_deleted_run_stops_nobody(scene: Scene) -> None:
    """Its file is forgotten, those of others are followed."""
    run, other = scene.run(transcript=scene.file), scene.run(transcript=scene.home / "o.jsonl")
    scene.says(run, "working")
    scene.says(other, "working")
    async with scene.following():
        scene.write(answer("a", 10))
        await until(lambda: scene.sent(run) == 10)
        with scene.store.write(ACTOR):
            scene.store._database.execute_sql("DELETE FROM runs WHERE id = ?", (run.id,))  # type: ignore[no-untyped-call]
        scene.write(answer("b", 20))
        scene.write(answer("c", 5), to=scene.home / "o.jsonl")
        await until(lambda: scene.sent(other) == 5)


async def test_the_journal_is_told_once_while_an_agent_works_and_again_when_it_rests(scene: Scene) -> None:
    """Otherwise a screen would show the figures of before its last answer."""
    run = scene.run(transcript=scene.file)
    scene.says(run, "working")

    def told() -> int:
        return len(journal.read(scene.store, topic=usage.TOPIC))

    async with scene.following() as follower:
        for count in range(1, 6):
            scene.write(answer(str(count), 10))
            await until(lambda sent=count * 10: scene.sent(run) == sent)  # type: ignore[misc]
        assert told() == 1
        scene.says(run, "idle")
        follower.look(run.id)
        await until(lambda: told() == 2)


# -- what is said -----------------------------------------------------------------------------------------------------


async def test_what_no_hook_says_is_passed_on_once(scene: Scene) -> None:
    """Also over an executor's end: how far the file was read is kept."""
    run = scene.run(transcript=scene.file)
    scene.says(run, "working")
    async with scene.following():
        scene.write(answer("a", 10), interrupted())
        await until(lambda: scene.said)
        read = partial(usage.offset_of, scene.store, run.id, run.attempt, str(scene.file))
        await until(lambda: read() == scene.file.stat().st_size)
    assert scene.said == [(run.id, Said(activity="idle", interrupted=True))]
    assert runs.get(scene.store, run.id).activity == "idle"
    scene.says(run, "working")
    async with scene.following() as follower:
        scene.write(answer("b", 20))
        await until(lambda: scene.sent(run) == 30)
        assert len(scene.said) == 1
        scene.write(interrupted(1))
        follower.look(run.id)
        await until(lambda: len(scene.said) == 2)


async def test_what_was_said_before_the_conversation_was_resumed_is_old(scene: Scene) -> None:
    """The file holds all of it."""
    scene.write(answer("a", 10), interrupted(-3600))
    run = scene.run(transcript=scene.file)
    scene.says(run, "working")
    async with scene.following():
        await until(lambda: scene.sent(run) == 10)
    assert scene.said == []


def spoken(said: Said, after_s: float | None) -> Spoken:
    """So many seconds after the hook was heard."""
    return Spoken(said, None if after_s is None else datetime(2026, 11, 30, 9, tzinfo=UTC) + timedelta(seconds=after_s))


FAILED = Said(activity="idle", failed="400")
STOPPED = Said(activity="idle", interrupted=True)
BEGAN = Said(activity="working")
ENDED = Said(activity="idle")


@pytest.fixture
def run_at_work() -> Iterator[Run]:
    """A run whose agent was heard of at nine."""
    store = open_store(None)
    project = projects.add(store, "Apollo", actor=ACTOR)
    task = items.create(store, project.id, "Land", actor=ACTOR)
    made = runs.start(store, task.id, "codex", "/srv", actor=ACTOR)
    heard = spoken(ENDED, 0).at
    assert heard is not None
    started = heard - timedelta(hours=1)
    yield replace(made, status="running", activity="working", activity_at=heard, started_at=started)
    store.close()


@pytest.mark.parametrize(
    ("activity", "said", "after_s", "news"),
    [
        ("working", FAILED, 5, True),
        ("working", FAILED, -0.2, True),  # it failed at once, before the hook of the prompt was heard
        ("working", FAILED, -5, False),  # the turn before
        ("working", FAILED, None, True),
        ("idle", FAILED, 0.1, True),  # a hook said that the turn is over, and not how
        ("working", STOPPED, 5, True),
        ("waiting", STOPPED, 5, True),
        ("working", STOPPED, -5, False),
        ("idle", STOPPED, 5, False),  # a hook said so
        ("working", ENDED, 5, True),
        ("working", ENDED, -0.2, False),  # the turn before
        ("unknown", BEGAN, 5, True),
        ("idle", BEGAN, 5, True),
        ("idle", BEGAN, -0.2, False),  # it has ended meanwhile
        ("waiting", BEGAN, 5, False),  # the question stands until a hook says otherwise
        ("working", BEGAN, 5, False),
    ],
)
def test_a_line_is_news_unless_a_hook_knew_better(
    run_at_work: Run, activity: Activity, said: Said, after_s: float | None, news: bool
) -> None:
    """A transcript is read a little later than a hook is heard."""
    run = replace(run_at_work, activity=activity, activity_source="hook")
    assert run.activity_at is not None
    assert is_news(run, spoken(said, after_s)) is news
    assert not is_news(replace(run, status="exited"), spoken(said, after_s))
    assert not is_news(replace(run, started_at=run.activity_at + timedelta(hours=1)), spoken(said, 5))
    assert is_news(replace(run, activity="unknown", activity_at=None), spoken(said, after_s))


@pytest.mark.parametrize(
    ("said", "after_s", "news"),
    [(STOPPED, -2, True), (FAILED, -2, True), (STOPPED, -60, False), (FAILED, -60, False), (ENDED, -2, False)],
)
def test_a_line_from_just_before_what_was_seen_on_the_screen_is_news(
    run_at_work: Run, said: Said, after_s: float, news: bool
) -> None:
    """That an agent works again is seen some looks later: by then its turn may be over, as the transcript says."""
    assert is_news(replace(run_at_work, activity_source="pane"), spoken(said, after_s)) is news


# -- what may be read -------------------------------------------------------------------------------------------------


async def test_only_a_file_of_the_users_below_the_home_is_read(scene: Scene, tmp_path: Path) -> None:
    """A payload could name anything (PAM-SEC)."""
    scene.write(b"hello")
    state = await scene.link.file_state(str(scene.file))
    assert state is not None
    assert state.size == 5
    assert await scene.link.read_file(str(scene.file), 1, 3) == b"ell"
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(b"secret")
    link, pipe = scene.home / "link.jsonl", scene.home / "pipe.jsonl"
    link.symlink_to(outside)
    os.mkfifo(pipe)
    relative = os.path.relpath(scene.file)
    climbing = f"{scene.home}/../{outside.name}"
    for path in (
        outside,
        link,
        pipe,
        climbing,
        relative,
        scene.home,
        scene.home / "none",
        "/proc/self/environ",
        "/dev/zero",
    ):
        assert await scene.link.file_state(str(path)) is None, path
        assert await scene.link.read_file(str(path), 0) == b"", path
    assert await scene.link.file_state("/a\0b") is None
    for below in (["/"], ["/proc"], ["relative"]):
        assert await scene.link.file_state("/proc/self/environ", below=below) is None
    assert await scene.link.read_file(str(outside), 0, below=[str(tmp_path)]) == b"secret"
    assert await scene.link.read_file(str(link), 0, below=[str(tmp_path)]) == b"secret"
