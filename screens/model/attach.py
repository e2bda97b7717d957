"""What it takes to type into an agent, or into a shell beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from screens.terminal.line import Dial


class Attachment(Protocol):
    """The right to type into a run, and the line to its session; held until closed or taken away."""

    @property
    def holder(self) -> str:
        """What others are told of who types."""
        ...

    @property
    def dial(self) -> Dial:
        """Opens the line."""
        ...

    async def history(self) -> Sequence[str]:
        """What has scrolled off the run's screen, with the screen at its end, as rows with SGR styles."""
        ...

    async def look(self) -> None:
        """See whether the right is still held, as somebody may have taken it."""
        ...

    async def lost(self) -> str:
        """Returns when the right is gone, with a sentence that says why; never while it is held."""
        ...

    async def close(self) -> None:
        """Give the right up."""
        ...


class AttachModel(Protocol):
    """Reads and verbs of an attached terminal."""

    def warm_terminal(self) -> None:
        """Have a terminal ready, as one is about to be asked for."""

    async def attach(self, run_id: str, *, force: bool = False) -> Attachment | None:
        """The right to type into the run; None where this machine has no terminal of ours.

        Raises LeaseHeld while another has it and ``force`` does not take it away, and Conflict without a session.
        """

    async def attach_command(self, run_id: str, *, force: bool = False, read_only: bool = False) -> Sequence[str]:
        """A program that has all of the operator's terminal, for where this machine has no terminal of ours.

        It takes the right to type for as long as it runs. Raises LeaseHeld while another has that and neither
        ``force`` takes it away nor ``read_only`` does without, and Conflict without a session.
        """
        ...

    async def shell(self, directory: str | None = None) -> Dial | None:
        """A shell of the operator's in a directory, else in his home; None where there is no terminal of ours.

        Raises NotFound where there is no such directory, and Conflict where it can't be entered.
        """
