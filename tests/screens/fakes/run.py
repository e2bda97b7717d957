"""The run place's part of the fake model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from screens.model.run import LogPiece
from store.errors import Conflict
from store.records import Run
from tests.screens.fakes.core import FakeCore, run


@dataclass
class FakeRun(FakeCore):
    """Implements ``screens.model.run.RunModel``."""

    logs: dict[str, list[str]] = field(default_factory=dict)
    """Lines by run id."""
    skipped: int = 0
    files: dict[str, int] = field(default_factory=dict)
    """Exported logs: their path, and how many bytes."""
    _readers: dict[str, list[asyncio.Queue[LogPiece]]] = field(default_factory=dict)

    def write(self, run_id: str, lines: Sequence[str], rest: str = "") -> None:
        """The agent writes."""
        self.logs.setdefault(run_id, []).extend(lines)
        for reader in self._readers.get(run_id, ()):
            reader.put_nowait(LogPiece(tuple(lines), rest))

    @property
    def read_now(self) -> list[str]:
        """Runs whose log somebody reads."""
        return [run_id for run_id, readers in self._readers.items() if readers]

    async def log(self, run_id: str) -> AsyncIterator[LogPiece]:
        queue: asyncio.Queue[LogPiece] = asyncio.Queue()
        readers = self._readers.setdefault(run_id, [])
        readers.append(queue)
        try:
            yield LogPiece(tuple(self.logs.get(run_id, ())), skipped=self.skipped)
            while True:
                yield await queue.get()
        finally:
            readers.remove(queue)

    async def export_log(self, run_id: str, path: str) -> int:
        await self._verb("export_log", run_id, path)
        if path in self.files:
            raise Conflict(f"There is a file {path} already. Give another name.")
        self.files[path] = sum(len(line) + 1 for line in self.logs.get(run_id, ()))
        return self.files[path]

    async def resume_run(self, run_id: str, prompt: str = "") -> Run:
        await self._verb("resume_run", run_id, prompt)
        old = self.runs[run_id]
        made = replace(
            run(len(self.runs) + 7000, 1, old.provider, "pending", minutes=0),
            task_id=old.task_id,
            conversation_id=old.conversation_id,
            resumed_from=run_id,
        )
        self.runs[made.id] = made
        self.happen(("run.created", {"run_id": made.id, "task_id": made.task_id, "attempt": 1, "resumed_from": run_id}))
        return made
