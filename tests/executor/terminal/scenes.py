"""A pane of tmux's with a program in it, and our own terminal before it: what each of them shows."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from executor.hosts.link import Spawn
from executor.hosts.local import LocalLink
from executor.terminal.link import Frame, Program, Terminal, Terminals
from executor.tmux import oneshot
from tests.executor.terminal.cells import differences
from tests.executor.terminal.drawn import drawn_differences
from tests.support.tmux_server import TmuxSandbox, eventually, until_answer

RUN = "pam-0123abcd"
SIZE = (100, 30)
AGREE_S = 5.0
"""How long our terminal may take to show what the pane holds. Nothing new is drawn meanwhile."""


class Eyes:
    """Keeps the screen as it is told."""

    def __init__(self) -> None:
        self.rows: dict[int, str] = {}
        self.frame: Frame | None = None

    def drawn(self, frame: Frame) -> None:
        self.frame = frame
        self.rows.update(frame.rows)

    def rang(self) -> None: ...

    def copied(self, text: str) -> None: ...

    def restarted(self) -> None: ...

    def ended(self, status: int | None, why: str) -> None: ...


@dataclass
class Scene:
    """A pane, and our terminal before it."""

    sandbox: TmuxSandbox
    terminal: Terminal
    eyes: Eyes

    def ours(self) -> list[str]:
        """The rows of our terminal."""
        assert self.eyes.frame is not None
        return [self.eyes.rows.get(y, "") for y in range(self.eyes.frame.size[1])]

    def theirs(self) -> list[str]:
        """The rows of the pane, by tmux's own word."""
        rows = int(self.ask("#{pane_height}"))
        seen = list(oneshot.capture(self.sandbox.settings, RUN))
        return seen + [""] * (rows - len(seen))

    def text(self) -> str:
        """What can be read in the pane."""
        return self.sandbox.tmux("capture-pane", "-p", "-t", f"={RUN}:")

    def shows(self, text: str) -> bool:
        """Whether a text can be read in the pane."""
        return text in self.text()

    def ask(self, what: str) -> str:
        """A fact of the pane's."""
        return self.sandbox.tmux("display-message", "-p", "-t", f"={RUN}:", what)

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for the pane; what stands in it otherwise."""
        try:
            await eventually(holds, 30)
        except AssertionError:
            raise AssertionError(self.text()) from None

    async def until_read(self, written: int) -> None:
        """Wait until tmux has read so many bytes from the pane: it hands on to the log what it reads."""
        log = self.sandbox.home / "runs" / "x.log"
        await self.until(lambda: log.exists() and log.stat().st_size >= written)

    async def resize(self, columns: int, rows: int) -> None:
        """Give our terminal another size; the pane has it too then."""
        self.terminal.resize(columns, rows)
        await self.until(lambda: self.ask("#{pane_width}x#{pane_height}") == f"{columns}x{rows}")

    async def same(self) -> None:
        """Wait until both show the same; else say where they differ."""
        wrong: Sequence[str] = ()

        async def agree() -> bool:
            nonlocal wrong
            theirs = await asyncio.to_thread(self.theirs)
            wrong = differences(self.ours(), theirs) or drawn_differences(self.ours(), theirs)
            return not wrong

        try:
            await until_answer(agree, AGREE_S)
        except TimeoutError:
            raise AssertionError("\n".join(wrong[:12])) from None


async def scene(
    link: LocalLink, sandbox: TmuxSandbox, terminals: Terminals, *argv: str, size: tuple[int, int] = SIZE
) -> Scene:
    """A program in a pane that has our terminal's size from the start and follows it."""
    gate = sandbox.home / "gate"
    os.mkfifo(gate)
    script = 'read -r _ < "$1"; shift; exec "$@"'
    log = str(sandbox.home / "runs" / "x.log")
    await link.spawn(Spawn(RUN, ("sh", "-c", script, "sh", str(gate), *argv), str(sandbox.home), log))
    eyes = Eyes()
    env = oneshot.client_environment(os.environ) | {"TERM": "xterm-256color"}
    program = Program(tuple(oneshot.writer_argv(sandbox.settings, RUN)), env)
    made = Scene(sandbox, terminals.open(program, *size, eyes), eyes)
    await made.until(lambda: made.ask("#{pane_width}x#{pane_height}") == "{}x{}".format(*size))
    await asyncio.to_thread(gate.write_text, "go\n")
    return made
