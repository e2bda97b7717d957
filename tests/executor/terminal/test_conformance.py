"""What stands in our terminal is what tmux says stands in the pane, cell by cell, whatever the program draws.

tmux's own capture is the truth, read by the renderer that draws both; it loses cells that were only erased in a colour
(facts of tmux 3.3a), so such a cell may have a ground here and none there.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from rich.style import Style

from executor.hosts.link import Spawn
from executor.hosts.local import LocalLink
from executor.terminal.link import Frame, Program, Terminal, Terminals, available
from executor.tmux import oneshot
from providers.agents import demo
from screens.ansi import RowRenderer
from tests.support.tmux_server import TmuxSandbox
from themes import terminal_colours

pytestmark = pytest.mark.skipif(not available(), reason="no engine for this machine")

RUN = "pam-0123abcd"
COLUMNS, ROWS = 100, 30
Cell = tuple[str, Style | None]

DRAWINGS = {
    "colours": r"""
for code in (*range(30, 38), *range(90, 98)): w(f"\x1b[{code}m{code} \x1b[{code + 10}mx\x1b[0m ")
w("\r\n")
for n in range(256): w(f"\x1b[48;5;{n}m \x1b[38;5;{255 - n}m.\x1b[0m")
w("\r\n")
for style in ("1", "2", "3", "4", "7", "9", "1;3;4;7", "4:3", "21"): w(f"\x1b[{style}mstyle {style}\x1b[0m ")
""",
    "gradient": r"""
for y in range(rows):
    w(f"\x1b[{y + 1};1H")
    for x in range(columns): w(f"\x1b[38;2;{x * 2};{y * 8};99;48;2;{y * 8};{x * 2};200m▀")
w("\x1b[0m")
""",
    "wide": r"""
for line in ("你好，世界 これは日本語です 한국어", "ｆｕｌｌ　ｗｉｄｔｈ", "áé combining e\u0301 a\u0308", "🙂🚀🎉",
             "❤ ✓ ☂ ★ ▲",
             "┌─┬─┐ │ │ └─┴─┘ ═╬═", "ไทย العربية עברית", "日" * 60):
    w(line + "\r\n")
w("日本\b\bx 語\x1b[3D!")
""",
    "erasing": r"""
for y in range(rows): w(f"\x1b[{y + 1};1H" + "#" * columns)
w("\x1b[5;10H\x1b[K\x1b[7;50H\x1b[1K\x1b[9;1H\x1b[2K\x1b[11;5H\x1b[10X\x1b[13;5H\x1b[10P\x1b[15;5H\x1b[10@")
w("\x1b[17;1H\x1b[2L\x1b[22;1H\x1b[2M\x1b[26;1H\x1b[J")
""",
    "regions": r"""
for y in range(rows): w(f"\x1b[{y + 1};1Hline {y}")
w("\x1b[5;15r\x1b[15;1H" + "\r\nscrolled" * 7 + "\x1b[5;1H\x1bM\x1bM\x1b[Sup\x1b[2T")
w("\x1b[r\x1b[20;30r\x1b[25;1H\x1b[3L\x1b[r")
""",
    "alternate": r"""
w("below\r\n" * 5 + "\x1b[?1049h\x1b[2J\x1b[H\x1b[44malternate\x1b[0m here")
""",
    "back": r"""
w("below\r\n" * 5 + "\x1b[?1049h\x1b[2J\x1b[Hgone\x1b[?1049lback")
""",
    "tabs": r"""
w("a\tb\tc\r\n\x1b[3g\x1b[10G\x1bH\x1b[30G\x1bH\rx\ty\tz\r\n" + "wrap" * 40 + "\r\n")
w("\x1b[?7l" + "nowrap" * 30 + "\x1b[?7h")
""",
    "drawing": r"""
w("\x1b(0lqqqwqqqk\r\nx   x   x\r\nmqqqvqqqj\x1b(B\r\n\x0e")
w("\x1b)0`afgjklmnopqrstuvwxyz{|}~\x0f plain\x1b[5bREP\x1b[3b")
""",
    "flood": r"""
for n in range(20000): w(f"\x1b[3{n % 8}mline {n} {'x' * (n % 90)}\x1b[0m\r\n")
""",
    "storm": r"""
for n in range(300):
    for y in range(rows): w(f"\x1b[{y + 1};1H\x1b[38;2;{n % 256};{y * 8};9m{str(n % 10) * columns}")
""",
}
DEMO = Path(demo.__file__)
PROGRAM = """
import os, shutil, sys, tty
tty.setraw(0)
columns, rows = shutil.get_terminal_size()
out = []
w = out.append
{drawing}
data = "".join(out).encode()
while data: data = data[os.write(1, data):]
w2 = os.write(1, b"\\x1b]2;drawn\\x07")
os.read(0, 1)
"""


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

    def ours(self) -> list[list[Cell]]:
        assert self.eyes.frame is not None
        return cells([self.eyes.rows.get(y, "") for y in range(self.eyes.frame.size[1])], self.eyes.frame.size[0])

    def theirs(self) -> list[list[Cell]]:
        columns, rows = map(int, self.ask("#{pane_width} #{pane_height}").split())
        seen = list(oneshot.capture(self.sandbox.settings, RUN))
        return cells(seen + [""] * (rows - len(seen)), columns)

    def ask(self, what: str) -> str:
        return self.sandbox.tmux("display-message", "-p", "-t", f"={RUN}:", what)

    async def same(self, ready: Callable[[], object]) -> None:
        """Wait until the program is ready, then until both screens are the same; else say where they differ."""
        async with asyncio.timeout(30):
            while not ready():
                await asyncio.sleep(0.02)
        for _ in range(150):
            await asyncio.sleep(0.02)
            wrong = differences(self.ours(), self.theirs())
            if not wrong:
                return
        raise AssertionError("\n".join(wrong[:12]))


@pytest_asyncio.fixture
async def terminals() -> AsyncIterator[Terminals]:
    made = Terminals()
    yield made
    await made.close()


@pytest_asyncio.fixture
async def link(tmux_sandbox: TmuxSandbox) -> AsyncIterator[LocalLink]:
    made = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
    await made.connect()
    yield made
    await made.close()


async def scene(link: LocalLink, sandbox: TmuxSandbox, terminals: Terminals, *argv: str) -> Scene:
    """A program in a pane that follows our terminal's size from the start."""
    gate = sandbox.home / "gate"
    script = f'while [ ! -e {gate} ]; do sleep 0.02; done; exec "$@"'
    log = str(sandbox.home / "runs" / "x.log")
    await link.spawn(Spawn(RUN, ("sh", "-c", script, "sh", *argv), str(sandbox.home), log))
    eyes = Eyes()
    env = oneshot.client_environment(os.environ) | {"TERM": "xterm-256color"}
    program = Program(tuple(oneshot.writer_argv(sandbox.settings, RUN)), env)
    made = Scene(sandbox, terminals.open(program, COLUMNS, ROWS, eyes), eyes)
    async with asyncio.timeout(10):
        while made.ask("#{pane_width}x#{pane_height}") != f"{COLUMNS}x{ROWS}":
            await asyncio.sleep(0.02)
    gate.touch()
    return made


@pytest.mark.parametrize("name", DRAWINGS)
async def test_a_drawing_is_the_panes(
    name: str, link: LocalLink, tmux_sandbox: TmuxSandbox, terminals: Terminals
) -> None:
    code = PROGRAM.format(drawing=DRAWINGS[name])
    shown = await scene(link, tmux_sandbox, terminals, sys.executable, "-c", code)
    await shown.same(lambda: shown.ask("#{pane_title}") == "drawn")


@pytest.mark.parametrize(
    ("argv", "keys", "ready"),
    [
        (
            ("vim", "-u", "NONE", "-c", "syntax on", "-c", "set number", __file__),
            [b"\x06", b"/def \r", b"ihello\x1b"],
            "",
        ),
        (("less", "-R", __file__), [b" ", b" ", b"/import\r"], ""),
        (("htop",), [b"\x1b[B"], "CPU"),
        (("top",), [b"1"], "PID"),
        ((sys.executable, str(DEMO), "Upgrade the ORM [[steps 2]] [[pace 0.1]]"), [], ""),
    ],
    ids=["vim", "less", "htop", "top", "demo"],
)
async def test_a_program_is_the_panes(
    argv: tuple[str, ...],
    keys: list[bytes],
    ready: str,
    link: LocalLink,
    tmux_sandbox: TmuxSandbox,
    terminals: Terminals,
) -> None:
    if shutil.which(argv[0]) is None:
        pytest.skip(f"no {argv[0]} here")
    shown = await scene(link, tmux_sandbox, terminals, *argv)
    for key in [b"", *keys]:
        shown.terminal.write(key)
        await asyncio.sleep(0.3)
    await shown.same(lambda: ready in "\n".join(shown.eyes.rows.values()))


async def test_a_resize_in_mid_output_is_the_panes(
    link: LocalLink, tmux_sandbox: TmuxSandbox, terminals: Terminals
) -> None:
    code = PROGRAM.format(
        drawing="import time\nfor n in range(200):\n"
        "    os.write(1, (f'{n} ' * 40 + '\\r\\n').encode())\n    time.sleep(0.005)"
    )
    shown = await scene(link, tmux_sandbox, terminals, sys.executable, "-c", code)
    for size in ((60, 20), (1, 1), (120, 40), (3, 50), (80, 24)):
        shown.terminal.resize(*size)
        await asyncio.sleep(0.15)
    await shown.same(lambda: shown.ask("#{pane_title}") == "drawn" and shown.ask("#{pane_width}") == "80")


def cells(rows: list[str] | tuple[str, ...], columns: int) -> list[list[Cell]]:
    """Character and style of each cell, as both are drawn."""
    renderer = RowRenderer(terminal_colours("pam-dark"))
    drawn = []
    for row in rows:
        strip = renderer.strips([row])[0].adjust_cell_length(columns, renderer.base)
        drawn.append([(character, style) for text, style, _ in strip for character in text])
    return drawn


def differences(ours: list[list[Cell]], theirs: list[list[Cell]]) -> list[str]:
    """Where they differ, in words."""
    if len(ours) != len(theirs):
        return [f"{len(ours)} rows, and {len(theirs)} in the pane"]
    found = []
    for y, (row, other) in enumerate(zip(ours, theirs, strict=True)):
        if "".join(text for text, _ in row) != "".join(text for text, _ in other):
            found.append(f"row {y}: {''.join(t for t, _ in row)!r}\n  pane: {''.join(t for t, _ in other)!r}")
            continue
        for x, ((text, style), (_, theirs_style)) in enumerate(zip(row, other, strict=True)):
            if style != theirs_style and not (text == " " and _erased(theirs_style)):
                found.append(f"row {y} cell {x} {text!r}: {style} and in the pane {theirs_style}")
                break
    return found


def _erased(style: Style | None) -> bool:
    """Whether a blank could be one whose ground tmux's capture has lost."""
    plain = RowRenderer(terminal_colours("pam-dark")).base
    return style is None or style.bgcolor == plain.bgcolor
