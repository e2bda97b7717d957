"""The attached terminal's part of the fake model: this machine has no terminal of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from screens.model.attach import Attachment
from screens.terminal.line import Dial
from tests.screens.fakes.core import FakeCore


@dataclass
class FakeAttach(FakeCore):
    """Implements ``screens.model.attach.AttachModel``; a test gives it something to attach to."""

    attachment: Attachment | None = None
    shell_dial: Dial | None = None

    def warm_terminal(self) -> None:
        """Nothing to warm."""

    async def attach(self, run_id: str, *, force: bool = False) -> Attachment | None:
        await self._verb("attach", run_id, force)
        return self.attachment

    async def attach_command(self, run_id: str, *, force: bool = False, read_only: bool = False) -> Sequence[str]:
        await self._verb("attach_command", run_id, force, read_only)
        return ("true",)

    async def shell(self, directory: str | None = None) -> Dial | None:
        await self._verb("shell", directory)
        return self.shell_dial
