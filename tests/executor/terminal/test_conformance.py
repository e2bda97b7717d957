"""What stands in our terminal is what tmux says stands in the pane, cell by cell, whatever the program draws.

tmux's own capture is the truth. It is read twice: style by style, where nothing is left out, and as the control room
draws it. What the capture of tmux 3.3a can't say is told where the two are compared: what was erased in a colour behind
the last cell that was written to, and whether an underline's colour is of the palette. It has no word for hyperlinks.
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from executor.hosts.local import LocalLink
from executor.terminal.link import Terminals, available
from providers.agents import demo
from tests.executor.terminal.cells import Look, cells
from tests.executor.terminal.scenes import Scene, scene
from tests.support.tmux_server import TmuxSandbox

pytestmark = pytest.mark.skipif(not available(), reason="no engine for this machine")

DRAWINGS = {
    "colours": r"""
for code in (*range(30, 38), *range(90, 98)): w(f"\x1b[{code}m{code} \x1b[{code + 10}mx\x1b[0m ")
w("\r\n")
for n in range(256): w(f"\x1b[48;5;{n}m \x1b[38;5;{255 - n}m.\x1b[0m")
w("\r\n")
for style in ("1", "2", "3", "4", "7", "9", "1;3;4;7", "4:3", "21"): w(f"\x1b[{style}mstyle {style}\x1b[0m ")
""",
    "underlines": r"""
for style in (4, "4:1", "4:2", 21, "4:3", "4:4", "4:5", "4:0", 9, 53, "4:3;9;53", 5, 8, "1;2;3"):
    for colour in ("", ";58:2::200:30:40", ";58;2;1;2;3", ";58:5:9", ";58;5;200", ";31;44;58:5:244", ";58:5:3;59"):
        w(f"\x1b[{style}{colour}mstyle\x1b[0m {style} ")
    w("\r\n")
w("\x1b[4:3;58:5:9mx\x1b[59my\x1b[24mz\x1b[9;53ma\x1b[29mb\x1b[55mc\x1b[4:4md\x1b[4:0me\r\n")
""",
    "gaps": r"""
for y, style in enumerate(("4", "44", "4:3;58:5:9", "9", "53", "7", "38;2;1;2;3;48;5;200", "1;3")):
    w(f"\x1b[{y + 1};3H\x1b[{style}mone\x1b[0m\x1b[{y + 1};20H\x1b[{style}mtwo\x1b[{y + 1};40Hthree\x1b[0m")
    w(f"\x1b[{y + 1};60H\x1b[{style}m你好🙂é\x1b[{y + 1};75H\x1b[3Xfour\x1b[0m\x1b[{y + 1};90Hplain")
w("\x1b[12;1H\x1b[44m  \x1b[0m\x1b[5Xx\x1b[41m\x1b[12;30H\x1b[1K\x1b[0m\x1b[12;40Hy")
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
os.write(1, b"\\x1b]2;drawn\\x07")
os.read(0, 1)
"""


async def painted(drawing: str, link: LocalLink, tmux_sandbox: TmuxSandbox, terminals: Terminals) -> Scene:
    """The scene of a drawing, once its program has written all of it."""
    code = PROGRAM.format(drawing=drawing)
    shown = await scene(link, tmux_sandbox, terminals, sys.executable, "-c", code)
    await shown.until(lambda: shown.ask("#{pane_title}") == "drawn")
    return shown


@pytest.mark.parametrize("name", DRAWINGS)
async def test_a_drawing_is_the_panes(
    name: str, link: LocalLink, tmux_sandbox: TmuxSandbox, terminals: Terminals
) -> None:
    shown = await painted(DRAWINGS[name], link, tmux_sandbox, terminals)
    await shown.same()


async def test_every_kind_of_line_was_there_to_be_compared(
    link: LocalLink, tmux_sandbox: TmuxSandbox, terminals: Terminals
) -> None:
    """Or the comparison would be of two screens that had both lost them."""
    shown = await painted(DRAWINGS["underlines"], link, tmux_sandbox, terminals)
    await shown.same()
    for rows in (shown.ours(), shown.theirs()):
        looks = {look for row in rows for _, look in cells(row)}
        assert {look.underline for look in looks} == {0, 1, 2, 3, 4, 5}
        assert {(200, 30, 40), (1, 2, 3), (255, 0, 0), (255, 0, 215)} < {look.underline_colour for look in looks}
        assert Look(attributes=frozenset({9, 53}), underline=3) in looks
        assert Look(fore=1, back=4, underline=5, underline_colour=(128, 128, 128)) in looks


WRONG_BY_TMUX = {
    # tmux 3.3a writes the character, and then erases its row: "日", CR, CSI K, CSI 2 C, "本".
    "a wide character that is wrapped to a new row": """
for n in range(rows + 5): w("x" * (columns - 1) + "日本\\r\\n")
""",
    # tmux 3.3a leaves the other half to the client: that clears it in this colour, or in none as in the pane.
    "one half of a wide character overwritten in a colour": r"""
w("日本\b\b\x1b[41mx\x1b[0m\r\n")
""",
}


@pytest.mark.parametrize("name", WRONG_BY_TMUX)
async def test_what_tmux_draws_wrong_is_the_panes_once_it_draws_anew(
    name: str, link: LocalLink, tmux_sandbox: TmuxSandbox, terminals: Terminals
) -> None:
    """Plain ``tmux attach`` shows the same until then."""
    shown = await painted(WRONG_BY_TMUX[name], link, tmux_sandbox, terminals)
    tmux_sandbox.tmux("refresh-client", "-t", shown.ask("#{@pam-writer}"))
    await shown.same()


PROGRAMS = {
    "vim": (
        ("vim", "-u", "NONE", "-n", "-c", "syntax on", "-c", "set number", str(DEMO)),
        [("", "The demo agent"), ("\x06", "import codecs"), ("/def live\r", "def live"), ("ihello\x1b", "hellodef")],
    ),
    "less": (
        ("less", "-R", str(DEMO)),
        [("", "The demo agent"), (" ", "import codecs"), ("/def live\r", "def live")],
    ),
    # Nothing moves by itself for ten seconds, and what then does moves in both.
    "htop": (("htop", "-d", "100"), [("", "F10Quit"), ("\x1bOQ", "Categories"), ("\x1b[B", "Meters")]),
    "top": (("top", "-d", "100"), [("", "PID"), ("1", "Cpu0")]),
    "demo": ((sys.executable, str(DEMO), "Upgrade the ORM [[steps 2]] [[pace 0.1]]"), [("", "✓ Done")]),
}


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_program_is_the_panes(
    name: str, link: LocalLink, tmux_sandbox: TmuxSandbox, terminals: Terminals
) -> None:
    """After each key that has shown its effect."""
    argv, keys = PROGRAMS[name]
    if shutil.which(argv[0]) is None:
        pytest.skip(f"no {argv[0]} here")
    shown = await scene(link, tmux_sandbox, terminals, *argv)
    for key, effect in keys:
        shown.terminal.write(key.encode())
        await shown.until(partial(shown.shows, effect))
        await shown.same()


SIZES = ((60, 20), (1, 1), (120, 40), (3, 50), (80, 24))
WRITER = """
import itertools
for n in itertools.count():
    os.write(1, (f"\\x1b[3{n % 8}m{n} " * 40 + "\\r\\n").encode())
    if os.get_terminal_size() == (80, 24): break
for n in range(50): w(f"\\x1b[4{n % 8}m{n:4} after 日本 " * 9 + "\\x1b[0m\\r\\n")
"""


async def test_a_resize_in_mid_output_is_the_panes(
    link: LocalLink, tmux_sandbox: TmuxSandbox, terminals: Terminals
) -> None:
    """The program writes without pause until it has its last size."""
    shown = await scene(link, tmux_sandbox, terminals, sys.executable, "-c", PROGRAM.format(drawing=WRITER))
    for size in SIZES:
        await shown.resize(*size)
    await shown.until(lambda: shown.ask("#{pane_title}") == "drawn")
    await shown.same()
