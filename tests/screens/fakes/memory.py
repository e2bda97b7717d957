"""The fake model's memory: a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field

from store.errors import PamError
from tests.screens.fakes.core import FakeCore


@dataclass
class FakeMemory(FakeCore):
    """Implements ``screens.model.memory.MemoryModel``. ``remembered`` may be set before the control room starts."""

    remembered: dict[str, object] = field(default_factory=dict)
    refuse_memory: PamError | None = None
    """Not ``refuse``: the control room writes by itself, at any time."""

    async def recall(self, key: str) -> object | None:
        return self.remembered.get(key)

    async def remember(self, key: str, value: object) -> None:
        if self.refuse_memory is not None:
            error, self.refuse_memory = self.refuse_memory, None
            raise error
        self.remembered = {**self.remembered, key: value}
        if value is None:
            del self.remembered[key]
