"""A real spool, agents that write into it, and an ingest over a real store that may die at any step."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from executor.hosts.local import LocalLink
from executor.ledger import Ledger
from executor.settings import ExecutorSettings
from executor.supervision.generations import Generations
from executor.supervision.ingest import Ingest
from executor.supervision.station import Station
from executor.wrapper import pam_signal
from store import hosts, items, journal, projects, runs, spool
from store.database import Store, open_store
from store.records import Event, Run

P = ParamSpec("P")
T = TypeVar("T")
Said = tuple[object, object]
"""Kind and seq of a signal."""


class Died(Exception):
    """The executor was killed here."""


def die() -> None:
    """Be killed."""
    raise Died


class Fuse:
    """Counts the steps an executor takes to the outside, and does something at a given one."""

    def __init__(self) -> None:
        self._left = 0
        self._act: Callable[[], None] | None = None

    def light(self, steps: int, act: Callable[[], None]) -> None:
        """Do this after so many steps."""
        self._left, self._act = steps, act

    def out(self) -> None:
        """Do nothing any more."""
        self._act = None

    def burn(self) -> None:
        """One step more."""
        self._left -= 1
        if self._act is not None and self._left < 0:
            act, self._act = self._act, None
            act()


class FrailLedger(Ledger):
    """The store, with a death possible before and after each call."""

    def __init__(self, store: Store, fuse: Fuse) -> None:
        super().__init__(store)
        self._fuse = fuse

    async def call(self, verb: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._fuse.burn()
        answer = await super().call(verb, *args, **kwargs)
        self._fuse.burn()
        return answer


class FrailLink(LocalLink):
    """This machine's spool, likewise."""

    def __init__(self, settings: ExecutorSettings, home: Path, fuse: Fuse) -> None:
        super().__init__(settings, home)
        self._fuse = fuse

    async def spool_generations(self) -> Mapping[str, int]:
        self._fuse.burn()
        return await super().spool_generations()

    async def read_spool(self, generation: str, offset: int, limit: int = 1 << 20) -> bytes:
        self._fuse.burn()
        return await super().read_spool(generation, offset, limit)

    async def drop_spool(self, generation: str, size: int) -> bool:
        self._fuse.burn()
        gone = await super().drop_spool(generation, size)
        self._fuse.burn()
        return gone


class Agent:
    """One attempt that was given a generation and keeps to it, as wrapper and helper do."""

    def __init__(self, run: Run, path: Path) -> None:
        self.run = run
        self.path = path
        self.seq = 0
        self.said: list[Said] = []
        """What it said and must be found in the journal, in this order."""

    def says(self, kind: str, *, seq: int | None = None, at: str = "2026-11-30T09:00:00Z", **payload: object) -> None:
        """Append a line as the host-side programs do: whole, under the lock."""
        if kind == "progress" and seq is None:
            self.seq += 1
            seq = self.seq
        line = self.line(kind, seq=seq, at=at, **payload)
        pam_signal.append(str(self.path).encode(), lambda: line)
        self.said.append((kind, seq))

    def line(self, kind: str, *, seq: int | None = None, at: str = "2026-11-30T09:00:00Z", **payload: object) -> bytes:
        """The line itself."""
        source = "wrapper" if kind in ("started", "finished") else "agent"
        said: dict[str, object] = {"v": 1, "run": self.run.id, "attempt": self.run.attempt, "kind": kind}
        said |= {"source": source, "at": at, "payload": payload} | ({"seq": seq} if seq is not None else {})
        return json.dumps(said, separators=(",", ":")).encode() + b"\n"

    def breaks_off(self, length: int = 20) -> None:
        """Leave the first bytes of a line, as a writer does that is killed in the middle of it."""
        with self.path.open("ab") as file:
            file.write(self.line("progress", seq=999)[:length])

    def ends(self, code: int = 0) -> None:
        """Say that it ended."""
        self.says("finished", exit_code=code)


class Scene:
    """A home without tmux; ``close`` it."""

    def __init__(self, home: Path, *, spool_max_bytes: int = 8 << 20) -> None:
        self.home = home
        self.spool = home / "spool"
        self.spool.mkdir(parents=True, exist_ok=True)
        self.store = open_store(None)
        project = projects.add(self.store, "Checkout service", actor="operator")
        self.task = items.create(self.store, project.id, "Fix the flaky auth tests", actor="operator")
        hosts.ensure_local(self.store, actor="executor")
        self.host = hosts.heartbeat(self.store, "local", "instance-1", actor="executor")
        self.settings = ExecutorSettings(spool_max_bytes=spool_max_bytes)
        self.fuse = Fuse()
        self.ledger = FrailLedger(self.store, self.fuse)
        self.link = FrailLink(self.settings, home, self.fuse)
        self.agents: list[Agent] = []
        asyncio.run(self.restart())

    def close(self) -> None:
        """Let go of the store."""
        self.ledger.close()
        self.store.close()

    async def restart(self) -> None:
        """A new executor over what the one before left."""
        self.station = Station(self.link, self.host.id, self.ledger, self.settings)
        self.ingest = Ingest(self.station, auto_mark_done=False)
        await Generations(self.station).load()

    async def drain(self, *, at: int = 0, act: Callable[[], None] | None = None) -> None:
        """Ingest what there is; with ``act`` done at a step of it. Who dies there begins anew."""
        if act is not None:
            self.fuse.light(at, act)
        try:
            await self.ingest.drain()
        except Died:
            await self.restart()
        finally:
            self.fuse.out()

    def agent(self, *, started: bool = True) -> Agent:
        """A claimed run with an agent that writes where the executor tells new ones to."""
        run = runs.start(self.store, self.task.id, "shell", "/tmp", actor="operator")
        assert runs.claim(self.store, run.id, self.host, actor="executor") is not None
        made = Agent(run, self.spool / f"{self.station.generation}.jsonl")
        self.agents.append(made)
        if started:
            made.says("started", pid=4711, wrapper_pid=4710, wrapper_started=99)
        return made

    def events(self, agent: Agent, topic: str = "run.*") -> list[Event]:
        """What the journal says of the agent's run."""
        return [event for event in journal.read(self.store, topic=topic) if event.payload.get("run_id") == agent.run.id]

    def heard(self, agent: Agent) -> list[Said]:
        """What the journal holds of what the agent said, in its order."""
        own = {"run.started": "started", "run.finished": "finished"}
        return [
            (own.get(event.topic) or event.payload["kind"], event.payload.get("seq"))
            for event in self.events(agent)
            if event.topic in own or event.topic == "run.signal_received"
        ]

    def files(self) -> list[str]:
        """The generations on disk."""
        return sorted((path.name for path in self.spool.glob("*.jsonl")), key=lambda name: int(name[:-6]))

    def cursors(self) -> dict[str, int]:
        """What the store remembers of the spool."""
        return spool.cursors(self.store, self.host.id)

    def run(self, agent: Agent) -> Run:
        """The agent's run as it is now."""
        return runs.get(self.store, agent.run.id)
