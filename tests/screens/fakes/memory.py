"""The fake model's memory: a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.screens.fakes.core import FakeCore


@dataclass
class FakeMemory(FakeCore):
    """Implements ``screens.model.memory.MemoryModel``. ``remembered`` may be set before the control room starts."""

    remembered: dict[str, object] = field(default_factory=dict)

    async def recall(self, key: str) -> object | None:
        return self.remembered.get(key)

    async def remember(self, key: str, value: object) -> None:
        if self.refuse is not None:
            error, self.refuse = self.refuse, None
            raise error
        self.remembered = {**self.remembered, key: value}
        if value is None:
            del self.remembered[key]
