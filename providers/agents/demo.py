"""The demo agent: a small interactive terminal program that behaves like an agent CLI and needs no account.

Run as ``python3 -I demo.py [WORDS] [--] PROMPT``; standard library only, Python 3.8 or newer, Linux and macOS. It works
through steps, reports what it does through ``$PAM_SIGNAL`` and ends with exit code 0. The prompt may ask for more, in
brackets or in plain words. Actions happen in the order in which they stand:

======================  =========================  =================================================================
``[[steps 5]]``         ``in 5 steps``             work through five steps
``[[ask Go on?]]``      ``ask "Go on?"``           ask on the terminal and wait; ``no`` leaves the rest undone
``[[edit notes.md]]``   ``edit notes.md``          append a line to a file below the current directory;
                                                   ``[[edit notes.md TEXT]]`` appends TEXT
``[[say TEXT]]``                                   say TEXT
``[[flood 1000]]``                                 write a thousand lines as fast as the terminal takes them
======================  =========================  =================================================================

Settings hold for the whole run:

======================  =========================  =================================================================
``[[pace 0.2]]``                                   seconds a step takes, 0.6 by default
``[[exit 3]]``          ``exit with code 3``       end with exit code 3
``[[stay]]``            ``stay open``              stay idle when done and take further prompts; ``/exit`` ends
``[[ignore-term]]``                                ignore SIGTERM and SIGHUP
======================  =========================  =================================================================

Ctrl-C asks first, a second one ends with 130. SIGTERM ends with 143, SIGHUP and a lost terminal with 129.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import termios
import time
import tty
import unicodedata
from pathlib import Path
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    Line = list[tuple[str, str]]  # styles (SGR parameters) with their texts
    Block = Callable[[int], list[Line]]  # lines for a width, so that a resize can draw them anew

PLAIN, BOLD, DIM, ACCENT, GOOD, BAD, ATTENTION = "", "1", "2", "1;38;5;80", "38;5;114", "38;5;203", "1;38;5;221"
BAR = ("38;5;73", "38;5;74", "38;5;75", "38;5;111", "38;5;147", "38;5;183")
TEXT_WIDTH, BAR_WIDTH = 96, 42
PACE_S, FRAME_S, REPORT_EVERY_S = 0.6, 0.08, 0.2
STEPS = (
    "Read the task",
    "Look around",
    "Find what has to change",
    "Make a plan",
    "Make the change",
    "Run the tests",
    "Read it once more",
    "Tidy up",
)


def main(words: list[str]) -> int:
    """Do what the prompt says; the exit code it names."""
    terminal = Terminal()
    try:
        return Agent(terminal).live(" ".join(word for word in words if word != "--").strip())
    except Ended as end:
        terminal.last_words(end.why)
        return end.code
    finally:
        terminal.restore()


class Ended(BaseException):
    """The agent ends here, from wherever it is."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code, self.why = code, why


# What the prompt says


class Script(NamedTuple):
    """A prompt taken apart."""

    text: str
    actions: list[tuple[str, str]]
    pace: float
    exit: int | None
    stay: bool
    ignore_term: bool


ACTIONS = ("steps", "ask", "edit", "say", "flood")
BRACKETS = re.compile(r"\[\[\s*(steps|ask|edit|say|flood|pace|exit|stay|ignore-term)\b\s*(.*?)\s*\]\]", re.DOTALL)
PLAIN_WORDS = (
    ("steps", re.compile(r"\bin (\d+) steps\b", re.IGNORECASE)),
    ("ask", re.compile(r"\bask(?: me)?:? [\"“](.+?)[\"”]", re.IGNORECASE | re.DOTALL)),
    ("edit", re.compile(r"\bedit ([\w./-]*\w\.\w+)", re.IGNORECASE)),
    ("exit", re.compile(r"\bexit (?:with )?(?:code )?(\d+)\b", re.IGNORECASE)),
    ("stay", re.compile(r"\bstay (open)\b", re.IGNORECASE)),
)


def understand(prompt: str) -> Script:
    """The directives of a prompt, in the order in which they stand."""
    found = [(match.start(), match[1], match[2]) for match in BRACKETS.finditer(prompt)]
    outside = BRACKETS.sub(lambda match: " " * len(match[0]), prompt)
    for name, pattern in PLAIN_WORDS:
        found += [(match.start(), name, match[1]) for match in pattern.finditer(outside)]
    said = {name: value for _, name, value in sorted(found)}
    return Script(
        text=re.sub(r"[ \t]+", " ", BRACKETS.sub("", prompt)).strip() or prompt,
        actions=[(name, value) for _, name, value in sorted(found) if name in ACTIONS] or [("steps", "5")],
        pace=number(said.get("pace", ""), PACE_S),
        exit=int(number(said["exit"], 0)) % 256 if "exit" in said else None,
        stay="stay" in said,
        ignore_term="ignore-term" in said,
    )


def number(text: str, default: float) -> float:
    """The number that ``text`` begins with."""
    found = re.match(r"\d+(?:\.\d+)?", text)
    return float(found[0]) if found else default


# What the agent does


class Agent:
    """Carries prompts out on a terminal and says so through ``$PAM_SIGNAL``."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.script = understand("")
        self.activity: tuple[str, ...] = ("--activity", "working")
        self.done = self.total = 0
        self.reported_at = 0.0
        self.ended_a_turn = self.confirming = False
        terminal.on_interrupt = self.confirm_stop

    def live(self, prompt: str) -> int:
        """From the first prompt to the exit code."""
        code, stay, following = 0, False, prompt or None
        self.terminal.add(lambda width: header(prompt, width))
        while True:
            self.script = understand(following or "")
            code = code if self.script.exit is None else self.script.exit
            stay = stay or self.script.stay
            if self.script.ignore_term:
                self.terminal.ignore_end()
            self.take_turn(code)
            following = self.wait_for_prompt() if stay else None
            if following is None:
                return code

    def take_turn(self, code: int) -> None:
        """Work a prompt off and say how it ended."""
        began, agreed = time.monotonic(), True
        self.done, self.total = 0, sum(max(1, units(action)) for action in self.script.actions)
        self.say_activity("working", "--message", "Reading the task", "--percent", "0")
        for name, value in self.script.actions:
            agreed = getattr(self, "do_" + name)(value) is not False
            if not agreed:
                break
        self.terminal.show(None)
        took = f"{time.monotonic() - began:.1f} s"
        if code:
            self.close_turn([(BAD, f"  ✗ Ends with exit code {code}"), (DIM, f" after {took}")])
            self.report_end("failed", "--error", f"the prompt asked for exit code {code}")
        elif agreed:
            self.close_turn([(GOOD, "  ✓ Done"), (DIM, f" in {took}")])
            self.report_end("completed", "--result", "success")
        else:
            self.close_turn([(ATTENTION, "  ✓ Left the rest undone"), (DIM, f", as you said, after {took}")])
            self.report_end("completed", "--result", "user_rejected", "--reason", "the question was answered with no")

    def close_turn(self, line: Line) -> None:
        self.terminal.add(lambda _: [[], line, []])

    def report_end(self, *words: str) -> None:
        if not self.ended_a_turn:
            report(*words)
        self.ended_a_turn = True

    def do_steps(self, value: str) -> None:
        """Work through steps, a frame at a time."""
        for step in range(units(("steps", value))):
            name = STEPS[step] if step < len(STEPS) else f"Step {step + 1}"
            self.say_progress(name)
            frames = max(1, int(self.script.pace / FRAME_S))
            for frame in range(frames):
                self.terminal.show(self.progress(name, frame / frames))
                self.terminal.pause(self.script.pace / frames)
            self.done += 1
            self.terminal.add(finished(name, f"{self.script.pace:.1f} s"))

    def do_ask(self, question: str) -> bool:
        """Ask and wait; whether the answer lets the agent go on."""
        question = question or "Go on?"
        self.say_activity("waiting", "--note", question)
        answer = self.terminal.read_line(lambda width: [[], *flagged(question, width)])
        self.terminal.add(
            lambda width: [[], *flagged(question, width), [(ACCENT, "  › "), (PLAIN, answer or "(nothing)")], []]
        )
        self.say_activity("working", "--message", f"Answered: {answer or 'nothing'}")
        self.done += 1
        return (answer or "no").strip().lower() not in ("n", "no")

    def do_edit(self, value: str) -> None:
        """Append a line to a file below the current directory."""
        name, _, text = value.partition(" ")
        line = text or f"- {self.script.text.splitlines()[0] if self.script.text else 'demo agent'}"
        here = Path.cwd().resolve()
        target = (here / (name or "notes.md")).resolve()
        self.done += 1
        if here not in target.parents:
            self.terminal.add(lambda _: [[(BAD, f"  ✗ {name} is not below the current directory; left alone")]])
            return
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            why = error.strerror
            self.terminal.add(lambda _: [[(BAD, f"  ✗ {name} cannot be written: {why}")]])
            return
        self.say_progress(f"Edited {name}")
        self.terminal.add(lambda _: [[(ACCENT, "  ✎ "), (BOLD, name)], [(DIM, "    + "), (GOOD, line)]])

    def do_say(self, text: str) -> None:
        """Say a text."""
        self.done += 1
        self.terminal.add(lambda width: [[(PLAIN, "  " + row)] for row in wrapped(text, width - 2)])

    def do_flood(self, value: str) -> None:
        """Write many lines at once."""
        count = int(number(value, 1000))
        self.terminal.show(None)
        for first in range(0, count, 200):
            rows = range(first + 1, min(first + 200, count) + 1)
            self.terminal.write(
                "".join(f"\x1b[{BAR[row % 6]}m  {row:>8}\x1b[0m  the quick brown fox\n" for row in rows)
            )
            self.terminal.keys(0)
        self.done += 1
        self.terminal.add(finished(f"Wrote {count:,} lines", ""))

    def wait_for_prompt(self) -> str | None:
        """The next prompt, or None when the operator is done."""
        self.say_activity("idle")
        hint: Line = [(DIM, "  Idle. Type the next task and press Enter; /exit or Ctrl-D ends.")]
        typed = self.terminal.read_line(lambda _: [hint])
        if typed is None or typed.strip() in ("/exit", "/quit", "exit"):
            return None
        self.terminal.add(lambda width: prompt_lines(typed, width))
        return typed

    def confirm_stop(self) -> None:
        """Ask whether Ctrl-C was meant; a second one is the answer."""
        if self.confirming:
            raise Ended(130, "Interrupted.")
        self.confirming = True
        before, activity = self.terminal.live, self.activity
        self.say_activity("waiting", "--note", "Stop here?")
        self.terminal.show(
            lambda _: [[], [(ATTENTION, "  ⚑ Stop here?"), (DIM, "  Ctrl-C again ends, any other key goes on")]]
        )
        while not self.terminal.keys(None):
            if self.terminal.closed:
                raise Ended(130, "Interrupted.")
        self.confirming = False
        self.terminal.show(before)
        self.say_activity(*activity[1:])

    def progress(self, name: str, part: float) -> Block:
        share = (self.done + part) / max(1, self.total)
        return lambda width: [[], [(ACCENT, "  ● "), (BOLD, name)], bar(share, self.done, self.total, width)]

    def say_progress(self, message: str) -> None:
        """Report a step, but not so often that reporting is the work."""
        if time.monotonic() - self.reported_at >= REPORT_EVERY_S:
            percent = str(100 * self.done // max(1, self.total))
            self.say_activity("working", "--message", message, "--percent", percent)

    def say_activity(self, activity: str, *words: str) -> None:
        self.activity = ("--activity", activity, *words)
        report("progress", *self.activity)
        self.reported_at = time.monotonic()


def units(action: tuple[str, str]) -> int:
    """How many units of the progress bar an action is."""
    return int(number(action[1], 5)) if action[0] == "steps" else 1


def report(*words: str) -> None:
    """Tell pam; without pam, or when that fails, the agent goes on all the same."""
    command, quiet = shlex.split(os.environ.get("PAM_SIGNAL", "")), subprocess.DEVNULL
    if not command:
        return
    # A Ctrl-C reaches every process of the terminal: the agent takes it afterwards, the report is not cut off.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        subprocess.run([*command, *words], stdin=quiet, stdout=quiet, stderr=quiet, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


# What it looks like


def header(prompt: str, width: int) -> list[Line]:
    """Who this is, where, and what it was asked."""
    here, home = str(Path.cwd()), os.environ.get("HOME", "/")
    where = "~" + here[len(home) :] if here.startswith(home + "/") else here
    attempt = os.environ.get("PAM_ATTEMPT", "")
    title: Line = [(ACCENT, "▌ demo agent"), (DIM, "  " + where + (f"  attempt {attempt}" if attempt else ""))]
    return [title, *prompt_lines(prompt or "(no prompt)", width)]


def prompt_lines(prompt: str, width: int) -> list[Line]:
    rows = wrapped(understand(prompt).text, width - 3)
    more: list[Line] = [[(ACCENT, "▌ "), (DIM, f"… {len(rows) - 8} more lines")]] if len(rows) > 8 else []
    shown: list[Line] = [[(ACCENT, "▌ "), (PLAIN, row)] for row in rows[:8]]
    return [*shown, *more, []]


def flagged(question: str, width: int) -> list[Line]:
    first, *rest = wrapped(question, width - 5)
    return [[(ATTENTION, "  ⚑ "), (BOLD, first)], *([(BOLD, "    " + row)] for row in rest)]


def finished(name: str, took: str) -> Block:
    return lambda _: [[(GOOD, "  ✓ "), (PLAIN, name.ljust(30)), (DIM, took)]]


def bar(share: float, done: int, total: int, width: int) -> Line:
    """A bar whose colour runs through a small gradient."""
    length = max(6, min(BAR_WIDTH, width - 26))
    full = int(share * length)
    cells: Line = [(BAR[place * len(BAR) // length], "▰") for place in range(full)]
    return [(PLAIN, "  "), *cells, (DIM, "▱" * (length - full)), (DIM, f"  {share:>4.0%}  {done} of {total}")]


def wrapped(text: str, width: int) -> list[str]:
    """Rows of at most ``width`` cells, broken at spaces where there are any."""
    width, rows = max(8, min(width, TEXT_WIDTH)), []
    for paragraph in text.expandtabs(4).splitlines() or [""]:
        row = ""
        for word in re.findall(r"\S+\s*", printable(paragraph)) or [""]:
            if row and cells(row + word.rstrip()) > width:
                rows.append(row.rstrip())
                row = ""
            while cells(word) > width:
                head = clipped(word, width)
                rows.append(head)
                word = word[len(head) :]
            row += word
        rows.append(row.rstrip())
    return rows


def printable(text: str) -> str:
    return "".join(char for char in text if char == " " or unicodedata.category(char) not in ("Cc", "Cs"))


def cells(text: str) -> int:
    """How many columns a terminal gives the text."""
    return sum(cell(char) for char in text)


def cell(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """As much of the text as fits into ``width`` columns."""
    for end, char in enumerate(text):
        width -= cell(char)
        if width < 0:
            return text[:end]
    return text


# The terminal


class Terminal:
    """Blocks that stay, one live block below them, and the keyboard; draws itself anew when the size changes."""

    def __init__(self) -> None:
        self.draws = os.isatty(1)
        self.coloured = self.draws and not os.environ.get("NO_COLOR")
        self.blocks: list[Block] = []
        self.live: Block | None = None
        self.live_rows = 0
        self.after_blank = False
        self.closed = self.gone = self.resized = self.interrupted = False
        self.on_interrupt: Callable[[], None] = lambda: None
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.saved = termios.tcgetattr(0) if os.isatty(0) else None
        if self.saved:
            tty.setcbreak(0, termios.TCSADRAIN)
        self.woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number_ in (signal.SIGWINCH, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number_, self.on_signal)
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # there is no shell to come back to
        if self.draws:
            self.write("\x1b[?25l")

    def on_signal(self, which: int, _frame: FrameType | None) -> None:
        if which == signal.SIGWINCH:
            self.resized = True
        elif which == signal.SIGINT:
            self.interrupted = True
        else:
            raise Ended(128 + which, f"Ended by {signal.Signals(which).name}.")

    def ignore_end(self) -> None:
        """Let SIGTERM and SIGHUP pass without effect from now on."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def add(self, block: Block) -> None:
        """Write a block that stays."""
        self.blocks.append(block)
        self.erase_live()
        self.write_lines(self.settled(block, self.size()[0]))
        self.draw_live()

    def settled(self, block: Block, width: int) -> list[Line]:
        """The lines of a block, so joined to those before it that no two blank lines meet."""
        lines = block(width)
        if self.after_blank and lines and not lines[0]:
            lines = lines[1:]
        self.after_blank = not lines[-1] if lines else self.after_blank
        return lines

    def show(self, live: Block | None) -> None:
        """Replace the live block."""
        self.erase_live()
        self.live = live
        self.draw_live()

    def erase_live(self) -> None:
        if self.live_rows:
            up = f"\x1b[{self.live_rows - 1}A" if self.live_rows > 1 else ""
            self.write(f"\r{up}\x1b[J")
            self.live_rows = 0

    def draw_live(self) -> None:
        if self.live and self.draws:
            width = self.size()[0]
            lines = self.live(width)
            lines = lines[1:] if self.after_blank and not lines[0] else lines
            self.write("\n".join(self.painted(line, width) for line in lines))
            self.live_rows = len(lines)

    def draw_all(self) -> None:
        """Draw the end of what there is for the size as it is now."""
        width, height = self.size()
        self.after_blank = False
        lines = [line for block in self.blocks for line in self.settled(block, width)]
        room = max(1, height - 1 - (len(self.live(width)) if self.live else 0))
        self.live_rows = 0
        self.write("\x1b[H\x1b[J")
        self.write_lines(lines[-room:])
        self.draw_live()

    def write_lines(self, lines: list[Line]) -> None:
        width = self.size()[0]
        self.write("".join(self.painted(line, width) + "\n" for line in lines))

    def painted(self, line: Line, width: int) -> str:
        left, out = width - 1, ""
        for style, text in line:
            piece = clipped(printable(text), left)
            left -= cells(piece)
            out += f"\x1b[{style}m{piece}\x1b[0m" if style and self.coloured else piece
        return out

    def size(self) -> tuple[int, int]:
        try:
            size = os.get_terminal_size(1)
        except OSError:
            return 80, 24
        return size.columns or 80, size.lines or 24

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        try:
            while data and not self.gone:
                data = data[os.write(1, data) :]
        except OSError:
            self.gone = True
            raise Ended(129, "The terminal is gone.") from None

    def pause(self, seconds: float) -> None:
        """Let time pass; keys pressed meanwhile are dropped."""
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            self.keys(max(0.0, left))
            if left <= 0:
                return

    def keys(self, timeout: float | None) -> str:
        """What is typed within ``timeout`` seconds; empty when a signal or the end of input came first."""
        sources = [self.woken] if self.closed else [self.woken, 0]
        ready = select.select(sources, [], [], timeout)[0]
        if self.woken in ready:
            os.read(self.woken, 512)
        if self.resized:
            self.resized = False
            if self.draws:
                self.draw_all()
        if self.interrupted:
            self.interrupted = False
            self.on_interrupt()
            return ""
        return self.typed() if 0 in ready else ""

    def typed(self) -> str:
        try:
            data = os.read(0, 4096)
        except OSError:
            data = b""
        self.closed = not data
        return self.decoder.decode(data)

    def read_line(self, above: Block) -> str | None:
        """A line the operator types under ``above``; None at the end of input."""
        editor = Editor()
        if self.draws:
            self.write("\x1b[?25h\x1b[?2004h")
        ended: str | None = None
        while ended is None:
            self.show(lambda width: [*above(width), [(ACCENT, "  › "), (PLAIN, editor.tail(width - 6))]])
            ended = next(filter(None, map(editor.feed, self.keys(None))), "eof" if self.closed else None)
        if self.draws:
            self.write("\x1b[?25l\x1b[?2004l")
        self.show(None)
        return editor.text if ended == "enter" else None

    def last_words(self, why: str) -> None:
        """Say why it ends here, where there is still a terminal."""
        self.ignore_end()
        with contextlib.suppress(Ended):
            self.show(None)
            self.add(lambda _: [[(BAD, f"  ✗ {why}")]])

    def restore(self) -> None:
        """Leave the terminal as it was found."""
        self.ignore_end()
        with contextlib.suppress(Ended, termios.error):
            if self.draws:
                self.write("\x1b[?25h\x1b[?2004l")
            if self.saved and not self.gone:
                termios.tcsetattr(0, termios.TCSADRAIN, self.saved)


class Editor:
    """The line being typed: text, backspace, Ctrl-U, and pastes that may hold newlines."""

    ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|[^\[O])", re.DOTALL)

    def __init__(self) -> None:
        self.text = self.escape = ""
        self.pasting = False

    def feed(self, char: str) -> str | None:
        """Take a character; ``enter`` or ``eof`` when it ends the line."""
        if self.escape or char == "\x1b":
            self.escape += char
            if self.ESCAPE.fullmatch(self.escape):
                self.pasting = self.escape == "\x1b[200~" or (self.pasting and self.escape != "\x1b[201~")
                self.escape = ""
        elif char in "\r\n" and not self.pasting:
            return "enter"
        elif char == "\x04" and not self.text:
            return "eof"
        elif char in "\x7f\b":
            self.text = self.text[:-1]
        elif char == "\x15":
            self.text = ""
        elif char in "\r\n\t" or char == printable(char):
            self.text += "\n" if char == "\r" else char
        return None

    def tail(self, width: int) -> str:
        """The end of the text that fits into ``width`` columns, newlines shown."""
        shown = self.text.replace("\n", "⏎").replace("\t", " ")
        while cells(shown) > width:
            shown = shown[1:]
        return shown


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
