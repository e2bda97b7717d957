"""A program's terminal in a window of ours: its rows as they change, its cursor, and the operator's keys.

Rows are drawn as those of every other agent's screen. Only those that differ are drawn again, at once: whoever sends
them sees to it that there are not too many.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from screens.ansi import RowRenderer
from screens.keys_in_order import KeysInOrder, Straight
from screens.terminal import strokes
from screens.terminal.aftermath import Aftermath
from screens.terminal.cursor import LentCursor, Place
from screens.terminal.intake import Intake
from screens.terminal.line import Dial, Frame, Line
from screens.terminal.marked import Marked
from screens.terminal.mouse import WHEEL, Report
from screens.terminal.past import Past
from screens.widgets.paint import cursor_of, paint_now, point_now, uncovered
from screens.widgets.restyle import inverted, restyled, with_cursor
from themes import terminal_colours

LEAVE: Final = ("ctrl+right_square_bracket", "f12")
WHEEL_LINES: Final = 3
History = Callable[[], Awaitable[Sequence[str]]]
"""Reads what has scrolled away, with the present at its end."""
REMEMBERED: Final = 256
"""Rows: those of a few screens. A flood's rows never come again, and many would keep the garbage collector busy."""


class TerminalWidget(Widget, can_focus=True):
    """``connect`` it to a program; while it has the focus it has every key but those that leave."""

    ALLOW_SELECT: ClassVar[bool] = False

    @dataclass
    class Left(Message):
        """The operator pressed a key that leaves; the line still stands."""

        terminal: TerminalWidget

    @dataclass
    class Ended(Message):
        """The program is over, or can't be had any more."""

        terminal: TerminalWidget
        status: int | None
        why: str

    def __init__(self, leave: Sequence[str] = LEAVE, *, id: str | None = None) -> None:  # noqa: A002
        """``leave``: the keys that leave, by Textual's names or as ``ctrl+]``."""
        super().__init__(id=id)
        self._leave = tuple(leave)
        self._renderer: RowRenderer | None = None
        self._line: Line | None = None
        self._dial: Dial | None = None
        self._writes = False
        self._intake: Intake | None = None
        self._early = bytearray()
        """What was typed before there is a line: it waits for the widget's size."""
        self._rows: list[str] = []
        self._strips: list[Strip] = []
        self._shown_cursor: tuple[int, int, str] | None = None
        self._cursor: tuple[int, int, bool, str] = (0, 0, False, "default")
        self._lent: LentCursor | None = None
        self._marked: Marked | None = None
        self._history: History | None = None
        self._past: Past | None = None
        self._ended = False
        self._width = 0
        self.modes: Set[str] = frozenset()
        """What the program asked of its terminal."""
        self.kitty = 0
        self.title = ""

    # The line

    @property
    def way_out(self) -> str:
        """The keys that leave, as the operator reads them."""
        return " or ".join(map(strokes.shown, self._leave))

    @property
    def connected(self) -> bool:
        """Whether a program is at the other end."""
        return self._line is not None and not self._ended

    def connect(self, dial: Dial, *, writes: bool = True, history: History | None = None) -> None:
        """Show a program, and with ``writes`` type into it; as large as the widget is, once it has a size.

        ``history`` is for a program that keeps its own, as tmux does; else the terminal's is looked at.
        """
        self._forget()
        self._dial, self._writes, self._ended, self._history = dial, writes, False, history
        self._call()
        if self.has_focus:
            self._take_keys()

    async def disconnect(self) -> None:
        """Hang up; what was shown stays. Returns when everything of the line is gone."""
        line, self._line, self._dial = self._line, None, None
        self._give_keys_back()
        if line is not None:
            await line.close()

    def mute(self) -> None:
        """From now on nothing that is typed goes to the program."""
        self._writes = False
        self._give_keys_back(lost=True)

    def drawn(self, frame: Frame) -> None:
        """The program's screen has changed."""
        if not self.is_attached:
            return
        self.modes, self.kitty, self.title, self._cursor = frame.modes, frame.kitty, frame.title, frame.cursor
        before, changed = self._shown_cursor, self._take_rows(frame.rows, frame.size[1]) | self._move_cursor()
        if self._past is not None:
            return
        rows = [y for y in changed if y < self.size.height]
        if rows:
            paint_now(self, rows)
        elif before != self._shown_cursor:
            point_now(self)

    def rang(self) -> None:
        """The program rang the bell."""
        self.app.bell()

    def copied(self, text: str) -> None:
        """The program put a text into the clipboard."""
        self.app.copy_to_clipboard(text)

    def restarted(self) -> None:
        """The line was lost; a whole screen follows. What is shown stays until then."""

    def ended(self, status: int | None, why: str) -> None:
        """The program is over."""
        self._ended = True
        self._give_keys_back(lost=True)
        self._cursor, self._shown_cursor = (0, 0, False, "default"), None
        self.refresh()
        self.post_message(self.Ended(self, status, why))

    # What the intake asks

    @property
    def corner(self) -> tuple[int, int, int, int]:
        """Left, top, width and height of its screen on the operator's."""
        region = self.content_region
        return region.x, region.y, region.width, region.height

    def send(self, data: bytes) -> None:
        """Type bytes, if that is allowed."""
        if not self._writes or not data:
            return
        if self._line is None:
            self._early += data if self._dial is not None else b""
            return
        if self._marked is not None or self._past is not None:
            self._be_here()
        self._line.write(data)

    def page(self, step: int) -> bool:
        """Look a page up or down in what has scrolled away; whether there is such a thing."""
        return self._look_back(step * max(self.size.height - 1, 1))

    def leave(self) -> None:
        """The operator goes."""
        self._give_keys_back()
        self.post_message(self.Left(self))

    # Drawing

    def render_line(self, y: int) -> Strip:
        width, base = self._width, self._drawing().base
        found = self._past.row(y) if self._past else self._strips[y] if y < len(self._strips) else None
        strip = (found or Strip.blank(width, base)).adjust_cell_length(width, base)
        cursor = self._shown_cursor
        if cursor is not None and self._lent is None and not self._past and cursor[1] == y:
            strip = restyled(strip, cursor[0], cursor[0] + 1, lambda style: with_cursor(style, cursor[2]))
        if self._marked is not None and (span := self._marked.span(y, width)):
            strip = restyled(strip, *span, inverted)
        return strip

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._renderer = None
        self._strips = []
        self._draw_all()

    def on_resize(self, _: events.Resize) -> None:
        self._width = self.size.width
        if self._line is None:
            self._call()
        elif self.size:
            self._line.resize(*self.size)
        self._draw_all()

    def on_mount(self) -> None:
        self._lent = cursor_of(self)
        if self._lent is not None:
            self._lent.lend(self._where)
        self._call()

    async def on_unmount(self) -> None:
        if self._lent is not None:
            self._lent.take_back(self._where)
        await self.disconnect()

    # Keys

    def on_focus(self) -> None:
        self._take_keys()
        self._draw_all()

    def on_blur(self) -> None:
        self._give_keys_back()
        self._draw_all()

    def on_key(self, event: events.Key) -> None:
        """Where the terminal's own bytes can't be had."""
        if self._intake is not None:
            event.stop()
            event.prevent_default()
            named = strokes.named(event.key)
            printable = event.character if event.is_printable and not named.modifiers & ~strokes.SHIFT else ""
            self._intake.stroke(strokes.Stroke(named.key, named.modifiers, printable or named.text))

    def on_paste(self, event: events.Paste) -> None:
        if self._intake is not None:
            event.stop()
            self._intake.paste(event.text)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        event.stop()
        if not self._moused(event, event.button - 1):
            self._unmark()
            self._marked = Marked(*self._cell(event))
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._marked is not None and event.button:
            self._marked.reach(*self._cell(event))
            self.refresh()
        else:
            self._moused(event, 32 + (event.button - 1 if event.button else 3))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()
        if self._marked is not None and not self._marked.empty:
            self.app.copy_to_clipboard(self._marked.text(self._texts(), self.size.width))
        elif not self._moused(event, event.button - 1, up=True):
            self._marked = None

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._turned(event, -1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._turned(event, 1)

    def _turned(self, event: events.MouseEvent, step: int) -> None:
        event.stop()
        if not self._moused(event, WHEEL + (step > 0)):
            self._look_back(step * WHEEL_LINES)

    def _moused(self, event: events.MouseEvent, code: int, *, up: bool = False) -> bool:
        """Whether the program asked for the mouse and has heard of this; with shift it is the operator's own."""
        if self._intake is None or event.shift:
            return False
        code += 8 * event.meta + 16 * event.ctrl
        return self._intake.mouse(Report(code, int(event.screen_x), int(event.screen_y), up))

    # Ours

    def _cell(self, event: events.MouseEvent) -> tuple[int, int]:
        left, top, width, height = self.corner
        x, y = int(event.screen_x) - left, int(event.screen_y) - top
        return min(max(x, 0), width - 1), min(max(y, 0), height - 1)

    def _call(self) -> None:
        if self._dial is not None and self._line is None and self.is_mounted and self.size:
            try:
                self._line = self._dial(self.size.width, self.size.height, self)
            except OSError as error:
                self.ended(None, f"No terminal can be had: {error}")
                return
            early, self._early = bytes(self._early), bytearray()
            self.send(early)

    def _look_back(self, lines: int) -> bool:
        if self._line is None or self._ended:
            return False
        if self._history is None:
            self._line.scroll(lines)
        elif self._past is not None:
            self._move_past(self._past, lines)
        elif lines < 0:
            self.run_worker(self._read_past(self._history, lines), group="past", exclusive=True)
        return True

    async def _read_past(self, history: History, lines: int) -> None:
        rows = await history()
        self._past = Past([self._drawing().strips([row])[0] for row in rows], self.size.height)
        self._move_past(self._past, lines)

    def _move_past(self, past: Past, lines: int) -> None:
        past.move(lines)
        if past.over:
            self._past = None
        self.refresh()

    def _be_here(self) -> None:
        """Nothing is marked, and the present is seen."""
        self._marked = self._past = None
        self.refresh()

    def _straight(self, text: str, cell: tuple[float, float]) -> str:
        """What the terminal sends, but for what is meant for a dialog over this screen."""
        return self._intake.take(text, cell) if self._intake is not None and self.screen.is_active else text

    def _forget(self) -> None:
        self._rows, self._strips, self._marked, self._past = [], [], None, None
        self._early.clear()
        self._cursor, self._shown_cursor = (0, 0, False, "default"), None
        self.modes, self.kitty = frozenset(), 0
        self.refresh()

    def _take_keys(self) -> None:
        if (self._writes and self.connected) or (self._dial is not None and self._writes and not self._ended):
            self._give_keys_back()
            self._intake = Intake(self, self._leave)
            app = self.app
            if isinstance(app, KeysInOrder):
                app.straight = self._straight

    def _give_keys_back(self, *, lost: bool = False) -> None:
        """To the control room; when the terminal was ``lost``, once nobody types any more."""
        intake, self._intake = self._intake, None
        if intake is not None:
            intake.close()
            app = self.app
            if isinstance(app, KeysInOrder) and app.straight == self._straight:
                app.straight = _aftermath(app, self._leave) if lost else None

    def _take_rows(self, rows: Sequence[tuple[int, str]], height: int) -> set[int]:
        """Draw the rows that came; the numbers of those that look different now."""
        renderer = self._drawing()
        changed = set(range(height, len(self._rows)))
        del self._rows[height:], self._strips[height:]
        blank = renderer.strips([""])[0]
        while len(self._rows) < height:
            self._rows.append("")
            self._strips.append(blank)
        for y, row in rows:
            if y < height and self._rows[y] != row:
                self._rows[y] = row
                strip = renderer.strips([row])[0]
                if strip is not self._strips[y]:
                    changed.add(y)
                self._strips[y] = strip
        if self._marked is not None and changed and self._past is None:
            self._unmark()
        return changed

    def _move_cursor(self) -> set[int]:
        x, y, visible, shape = self._cursor
        now = (x, y, shape) if visible and self.has_focus and self._writes and not self._ended else None
        before, self._shown_cursor = self._shown_cursor, now
        if now is not None:
            region = self.content_region
            # Where an input method shows what is being composed.
            self.app.cursor_position = Offset(region.x + x, region.y + y)
        if now == before or self._lent is not None:
            return set()
        return {place[1] for place in (before, now) if place is not None}

    def _where(self) -> Place | None:
        """Where the operator's own cursor belongs."""
        if self._shown_cursor is None or self._past is not None or not self._writes or not self.is_attached:
            return None
        x, y, shape = self._shown_cursor
        region = self.content_region
        place = Place(region.x + x, region.y + y, shape)
        return place if region.contains(place.x, place.y) and uncovered(self, place.x, place.y) else None

    def _draw_all(self) -> None:
        rows = list(enumerate(self._rows))
        self._rows = [""] * len(self._rows)
        self._strips = []
        self._rows.clear()
        self._take_rows(rows, len(rows))
        self._move_cursor()
        self.refresh()

    def _unmark(self) -> None:
        if self._marked is not None:
            self._marked = None
            self.refresh()

    def _texts(self) -> list[str]:
        return [self.render_line(y).text for y in range(self.size.height)]

    def _drawing(self) -> RowRenderer:
        if self._renderer is None:
            self._renderer = RowRenderer(
                terminal_colours(self.app.theme),
                remembers=REMEMBERED,
                links=True,
                underlines=self.app.console.color_system == "truecolor",
            )
        return self._renderer


def _aftermath(app: KeysInOrder, leave: Sequence[str]) -> Straight:
    def over() -> None:
        if app.straight == aftermath.take:
            app.straight = None

    aftermath = Aftermath(leave, over)
    return aftermath.take
