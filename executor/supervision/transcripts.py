"""Follows what agents' CLIs write of their conversations: what they use, and what none of their hooks says.

A file is looked at while its agent works or waits, when a hook has spoken, and when the run has ended. It is read from
its start, for its totals count from there; how far it was read is kept, so that nothing is said twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Protocol

from executor.ledger import ACTOR
from executor.supervision.station import Bell, Station
from providers.catalog import Catalog
from providers.provider import Provider
from providers.recipes.recipe import Said
from providers.transcripts.lines import LineCutter
from providers.transcripts.reader import Spoken, TranscriptReader
from providers.transcripts.readers import assumed_path, config_home, reader_for
from store import runs, usage
from store.database import Store
from store.errors import NotFound
from store.records import Run, Usage

log = logging.getLogger("pam.transcripts")


class Say(Protocol):
    """Takes what a transcript says of a run to the ingest edge, as ``Ingest.say`` does."""

    async def __call__(self, run: Run, said: Said, *, holds: Callable[[Run], bool]) -> bool:
        """Whether it counted: ``holds`` was true of the run when it came in."""
        ...


LOOK_S = 1.0
"""How often the file of an agent at work is looked at."""
LIST_S = 30.0
"""How often it is asked which agents live, beside what hooks tell."""
CHUNK = 1 << 20
INLINE = 1 << 16
"""Bytes that are parsed faster than a thread is reached."""
HEARD_WITHIN = timedelta(seconds=0.5)
"""A hook's word may take this long to be heard: what happened after it may bear an earlier time than its arrival."""
SEEN_WITHIN = timedelta(seconds=10)
"""A screen is looked at every second, and believed after some looks: its word is late by as much."""
CLOCKS = timedelta(seconds=1)
AT_WORK = ("working", "waiting")


@dataclass(slots=True)
class _File:
    """A transcript as far as it was read."""

    path: str
    reader: TranscriptReader
    below: tuple[str, ...]
    silent_until: int
    """What stands before this offset was said already."""
    identity: str | None = None
    cutter: LineCutter = field(default_factory=LineCutter)
    usage: Usage | None = None
    told: bool = True
    """Whether the journal knows of all the usage."""


@dataclass(slots=True)
class _Followed:
    run: Run
    file: _File | None = None


class Transcripts:
    """One host's transcripts."""

    def __init__(
        self, station: Station, catalog: Callable[[], Catalog], environ: Mapping[str, str], *, say: Say
    ) -> None:
        """``environ`` is what agents inherit."""
        self._station = station
        self._catalog = catalog
        self._environ = environ
        self._say = say
        self._ends = station.bell("run.finished", "run.failed", "run.stopped", told_only=True)
        self._told = Bell()
        self._due: set[str] = set()
        self._live: dict[str, _Followed] = {}
        self._reading = asyncio.Lock()

    def look(self, run_id: str) -> None:
        """Look at the transcript of this run at once: one of its hooks has spoken. Call it on the executor's loop."""
        self._due.add(run_id)
        self._told.ring()

    async def loop(self) -> None:
        """Follow the living and read the files of those who ended to their ends."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow())
            group.create_task(self._finish())

    async def _follow(self) -> None:
        clock = asyncio.get_running_loop().time
        list_at = clock()
        while True:
            due, self._due = self._due, set()
            if clock() >= list_at:
                due |= {run.id for run in await self._running()} | self._live.keys()
                list_at = clock() + LIST_S
            at_work = [run_id for run_id, each in self._live.items() if _at_work(each)]
            for run_id in {*due, *at_work}:
                await self._look_at(run_id, again=run_id in due)
            busy = any(_at_work(each) for each in self._live.values())
            await self._told.wait(LOOK_S if busy else LIST_S)

    async def _finish(self) -> None:
        while True:
            for run in await self._station.ledger.call(usage.unread, self._station.host_id):
                async with self._reading:
                    followed = self._live.pop(run.id, None) or _Followed(run)
                    await self._read(followed, run)
                    await self._station.ledger.call(_read_to_end, run.id, run.attempt)
            await self._ends.wait(LIST_S)

    async def _running(self) -> list[Run]:
        return await self._station.ledger.call(
            runs.list_all, statuses=("spawning", "running"), host_id=self._station.host_id
        )

    async def _look_at(self, run_id: str, *, again: bool) -> None:
        """Read what is new; ``again``: the run may have changed since it was last read."""
        async with self._reading:
            followed = self._live.get(run_id)
            run = followed.run if followed is not None and not again else await self._station.ledger.call(_run, run_id)
            if run is not None and run.live and run.host_id == self._station.host_id:
                await self._read(self._live.setdefault(run_id, _Followed(run)), run)
            elif run is None or (followed is not None and followed.file is None):
                self._live.pop(run_id, None)

    async def _read(self, followed: _Followed, run: Run) -> None:
        """Everything new in the file of the run as it is now, after the rest of the one before."""
        file, path = followed.file, run.transcript or await self._assumed(run)
        if file is not None and (file.path != path or followed.run.attempt != run.attempt):
            await self._read_on(file, followed.run)
            file = None
        if file is None and path is not None:
            file = await self._open(run, path)
        followed.run, followed.file = run, file
        if file is not None:
            await self._read_on(file, run)

    async def _assumed(self, run: Run) -> str | None:
        """The path of a transcript that no hook names, kept with the run once the file is there."""
        provider = self._provider(run)
        if provider is None:
            return None
        path = assumed_path(provider.usage, self._env(provider), run.cwd, run.conversation_id)
        if path is None or await self._station.link.file_state(path, below=self._below(provider)) is None:
            return None
        await self._station.ledger.call(runs.set_transcript, run.id, run.attempt, path, actor=ACTOR)
        return path

    async def _open(self, run: Run, path: str) -> _File | None:
        provider = self._provider(run)
        reader = reader_for(provider.usage) if provider is not None else None
        if provider is None or reader is None:
            return None
        said = await self._station.ledger.call(usage.offset_of, run.id, run.attempt, path)
        return _File(path, reader, self._below(provider), said)

    async def _read_on(self, file: _File, run: Run) -> None:
        state = await self._station.link.file_state(file.path, below=file.below)
        if state is None:
            return
        if state.size < file.cutter.offset or file.identity not in (None, state.identity):
            await self._begin_anew(file, run, state.size)
        file.identity = state.identity
        while file.cutter.offset < state.size:
            room = file.silent_until - file.cutter.offset
            data = await self._station.link.read_file(
                file.path, file.cutter.offset, min(CHUNK, room) if room > 0 else CHUNK, below=file.below
            )
            if not data:
                break
            await self._take(file, run, data)
        if not file.told:
            await self._record(file, run)

    async def _begin_anew(self, file: _File, run: Run, size: int) -> None:
        """The file was cut or replaced: its totals count from its start, and what it repeats is not said again."""
        provider = self._provider(run)
        reader = reader_for(provider.usage) if provider is not None else None
        log.info("The transcript of run %s is another one now; it is read again from its start", run.id)
        file.reader, file.cutter = reader or file.reader, LineCutter()
        file.silent_until = size

    async def _take(self, file: _File, run: Run, data: bytes) -> None:
        said_already = file.cutter.offset < file.silent_until
        lines = file.cutter.cut(data)
        read = file.reader.read
        news = read(lines) if len(data) < INLINE else await asyncio.to_thread(read, lines)
        spoken = () if said_already else news.spoken
        for each in spoken:
            await self._pass_on(run, each)
        if news.usage != file.usage or spoken:
            file.usage = news.usage
            await self._record(file, run)

    async def _record(self, file: _File, run: Run) -> None:
        record = usage.record_usage
        try:
            file.told = await self._station.ledger.call(
                record, run.id, run.attempt, file.usage, source=file.path, offset=file.cutter.done, actor=ACTOR
            )
        except NotFound:
            file.told = True  # deleted meanwhile

    async def _pass_on(self, run: Run, spoken: Spoken) -> None:
        if await self._say(run, spoken.said, holds=partial(is_news, spoken=spoken)):
            self.look(run.id)

    # -- providers ------------------------------------------------------------------------------------------------

    def _provider(self, run: Run) -> Provider | None:
        return self._catalog().providers.get(run.provider)

    def _env(self, provider: Provider) -> Mapping[str, str]:
        plain = {name: value for name, value in provider.env.items() if "{" not in value}
        return {**self._environ, **plain}

    def _below(self, provider: Provider) -> tuple[str, ...]:
        config = config_home(provider.usage, self._env(provider))
        return (config,) if config else ()


def is_news(run: Run, spoken: Spoken) -> bool:
    """Whether what a line says still holds for the run, and whether nobody has said it better.

    Hooks are heard at once and a transcript a little later, so a line may be older than what is known. A line that only
    says that a turn began or ended cleanly counts where no hook does.
    """
    said, at = spoken.said, spoken.at
    if run.status not in ("spawning", "running"):
        return False
    if at is not None and run.started_at is not None and at < run.started_at - CLOCKS:
        return False  # from before the conversation was resumed
    known_at = run.activity_at if at is not None else None
    late = SEEN_WITHIN if run.activity_source == "pane" else HEARD_WITHIN
    if said.failed:
        return known_at is None or at is None or at >= known_at - late
    if said.interrupted:
        return run.activity != "idle" and (known_at is None or at is None or at >= known_at - late)
    if run.activity in (said.activity, "waiting"):
        return False
    return known_at is None or at is None or at > known_at


def _at_work(followed: _Followed) -> bool:
    return followed.file is not None and (followed.run.activity in AT_WORK or not followed.file.told)


def _run(store: Store, run_id: str) -> Run | None:
    try:
        return runs.get(store, run_id)
    except NotFound:
        return None


def _read_to_end(store: Store, run_id: str, attempt: int) -> None:
    try:
        usage.read_to_end(store, run_id, attempt, actor=ACTOR)
    except NotFound:
        return  # deleted meanwhile
