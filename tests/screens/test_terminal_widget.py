"""The terminal in a window: rows as they change, cursor, keys, marks, and what becomes of them when it is over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from textual.app import ComposeResult
from textual.pilot import Pilot

from executor.terminal.link import Frame
from screens.keys_in_order import KeysInOrder
from screens.terminal.line import Viewer
from screens.widgets.terminal import TerminalWidget


@dataclass
class FakeLine:
    """A line that writes down what it is told."""

    size: tuple[int, int]
    viewer: Viewer
    typed: bytes = b""
    sizes: list[tuple[int, int]] = field(default_factory=list)
    scrolled: list[int] = field(default_factory=list)
    closed: bool = False

    def write(self, data: bytes) -> None:
        self.typed += data

    def resize(self, columns: int, rows: int) -> None:
        self.sizes.append((columns, rows))

    def scroll(self, lines: int) -> None:
        self.scrolled.append(lines)

    async def close(self) -> None:
        self.closed = True

    def draw(
        self, *rows: str, cursor: tuple[int, int] = (0, 0), modes: Sequence[str] = (), shape: str = "block"
    ) -> None:
        """A whole screen."""
        shown = [(y, rows[y] if y < len(rows) else "") for y in range(self.size[1])]
        self.viewer.drawn(Frame(shown, self.size, (*cursor, True, shape), frozenset(modes)))


class Room(KeysInOrder):
    """An application with nothing but a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.terminal = TerminalWidget(id="it")
        self.lines: list[FakeLine] = []
        self.told: list[object] = []

    def compose(self) -> ComposeResult:
        yield self.terminal

    def dial(self, columns: int, rows: int, viewer: Viewer) -> FakeLine:
        self.lines.append(FakeLine((columns, rows), viewer))
        return self.lines[-1]

    def on_terminal_widget_left(self, message: TerminalWidget.Left) -> None:
        self.told.append(message)

    def on_terminal_widget_ended(self, message: TerminalWidget.Ended) -> None:
        self.told.append(message)

    def row(self, y: int) -> str:
        return self.terminal.render_line(y).text.rstrip()

    def reversed_at(self, y: int) -> list[int]:
        """Cells of a row that stand out."""
        cells = [style for text, style, _ in self.terminal.render_line(y) for _ in text]
        return [x for x, style in enumerate(cells) if style and style.reverse]


@asynccontextmanager
async def room(*, writes: bool = True) -> AsyncIterator[tuple[Room, FakeLine, Pilot[None]]]:
    app = Room()
    async with app.run_test(size=(40, 10)) as pilot:
        app.terminal.connect(app.dial, writes=writes)
        app.terminal.focus()
        await pilot.pause()
        yield app, app.lines[0], pilot


async def test_it_is_as_large_as_its_window() -> None:
    async with room() as (app, line, pilot):
        assert line.size == (40, 10)
        await pilot.resize_terminal(60, 20)
        assert line.sizes[-1] == (60, 20)
        assert len(app.lines) == 1


async def test_what_is_typed_before_it_has_a_size_comes_first() -> None:
    app = Room()
    async with app.run_test(size=(40, 10)) as pilot:
        app.terminal.display = False
        await pilot.pause()
        app.terminal.connect(app.dial)
        app.terminal.send(b"early ")
        assert not app.lines
        app.terminal.display = True
        await pilot.pause()
        app.terminal.send(b"and late")
        assert app.lines[0].typed == b"early and late"


async def test_rows_and_cursor_are_drawn() -> None:
    async with room() as (app, line, pilot):
        line.draw("one", "\x1b[31mtwo", cursor=(3, 0))
        assert (app.row(0), app.row(1)) == ("one", "two")
        assert (app.reversed_at(0), app.reversed_at(1)) == ([3], [])
        line.draw("one", "two", cursor=(1, 1), shape="underline")
        assert (app.reversed_at(0), app.reversed_at(1)) == ([], [])
        line.draw("one", "two", cursor=(1, 1))
        app.set_focus(None)
        await pilot.pause()
        assert app.reversed_at(1) == [], "somebody else has the keys"


async def test_the_cursor_is_drawn_in_every_shape_where_there_is_no_other() -> None:
    """In a browser, and on pictures."""
    async with room() as (app, line, _):
        for shape in ("default", "block", "blinking block", "a heart"):
            line.draw("ab", cursor=(1, 0), shape=shape)
            assert app.reversed_at(0) == [1], shape
        for shape, attribute in (("bar", "underline2"), ("blinking underline", "underline")):
            line.draw("ab", cursor=(1, 0), shape=shape)
            styles = [style for text, style, _ in app.terminal.render_line(0) for _ in text]
            assert [bool(style and getattr(style, attribute)) for style in styles[:3]] == [False, True, False]


async def test_links_are_drawn_as_such() -> None:
    async with room() as (app, line, _):
        line.draw("\x1b]8;;https://example.com\x1b\\here\x1b]8;;\x1b\\ not here", cursor=(0, 1))
        links = {text.strip(): style.link for text, style, _ in app.terminal.render_line(0) if style and text.strip()}
        assert links == {"here": "https://example.com", "not here": None}


async def test_a_smaller_screen_leaves_nothing_of_the_larger() -> None:
    async with room() as (app, line, _):
        line.draw(*(f"row {y}" for y in range(10)))
        line.viewer.drawn(Frame([(0, "alone")], (40, 1), (0, 0, False, "block")))
        assert [app.row(y) for y in range(3)] == ["alone", "", ""]


async def test_keys_and_pastes_reach_the_program_in_order() -> None:
    async with room() as (_, line, pilot):
        line.draw("", modes=["paste"])
        await pilot.press("a", "A", "ctrl+c", "up", "enter", "escape", "space", "f5", "shift+tab")
        assert line.typed == b"aA\x03\x1b[A\r\x1b \x1b[15~\x1b[Z"


async def test_the_keys_that_leave_are_told_and_typed_nowhere() -> None:
    for key in ("ctrl+right_square_bracket", "f12"):
        async with room() as (app, line, pilot):
            await pilot.press("x", key, "y")
            assert [type(told) for told in app.told] == [TerminalWidget.Left]
            assert line.typed == b"x"
            assert app.straight is None


async def test_the_terminals_own_bytes_are_taken_while_it_has_the_focus() -> None:
    async with room() as (app, line, pilot):
        assert app.straight is not None
        assert app.straight("é\x1b[1;5C", (1.0, 1.0)) == ""
        assert line.typed == "é\x1b[1;5C".encode()
        app.set_focus(None)
        await pilot.pause()
        assert app.straight is None


async def test_without_the_right_nothing_is_typed() -> None:
    """PAM-ATT-003."""
    async with room(writes=False) as (app, line, pilot):
        assert app.straight is None
        await pilot.press("a")
        app.terminal.send(b"b")
        assert line.typed == b""


async def test_a_right_that_is_lost_ends_the_typing_at_once() -> None:
    async with room() as (app, line, pilot):
        taken = app.straight
        assert taken is not None
        app.terminal.mute()
        assert taken("x", (1.0, 1.0)) == "x"
        await pilot.press("y")
        assert line.typed == b""
        assert app.straight is not None
        assert app.straight is not taken
        assert app.straight("a word that was meant for it", (1.0, 1.0)) == ""
        assert app.straight("\x1b", (1.0, 1.0)) == ""
        assert app.straight is None


async def test_what_is_marked_is_copied() -> None:
    async with room() as (app, line, pilot):
        line.draw("first row", "second row")
        await pilot.mouse_down("#it", offset=(6, 0))
        await pilot.hover("#it", offset=(5, 1))
        app.terminal._marked.reach(5, 1)  # type: ignore[union-attr]
        await pilot.mouse_up("#it", offset=(5, 1))
        assert app.clipboard == "row\nsecond"
        await pilot.press("x")
        assert app.reversed_at(1) == [], "typing unmarks"


async def test_a_program_that_asks_for_the_mouse_has_it() -> None:
    async with room() as (app, line, pilot):
        line.draw("", modes=["mouse_press", "mouse_sgr"])
        await pilot.mouse_down("#it", offset=(4, 2))
        await pilot.mouse_up("#it", offset=(4, 2))
        assert line.typed == b"\x1b[<0;5;3M\x1b[<0;5;3m"
        assert app.clipboard == ""


async def test_what_the_program_copies_is_copied() -> None:
    async with room() as (app, line, _):
        line.viewer.copied("by the program")
        assert app.clipboard == "by the program"


async def test_the_end_is_told_and_what_was_shown_stays() -> None:
    async with room() as (app, line, pilot):
        line.draw("last words", cursor=(2, 0))
        line.viewer.ended(3, "")
        await pilot.pause()
        (told,) = app.told
        assert isinstance(told, TerminalWidget.Ended)
        assert (told.status, app.row(0), app.reversed_at(0)) == (3, "last words", [])
        assert not app.terminal.connected
        await app.terminal.disconnect()
        assert line.closed


async def test_another_connection_begins_with_an_empty_screen() -> None:
    async with room() as (app, line, pilot):
        line.draw("of before")
        await app.terminal.disconnect()
        app.terminal.connect(app.dial)
        await pilot.pause()
        assert (app.row(0), len(app.lines)) == ("", 2)
        await pilot.press("z")
        assert (app.lines[0].typed, app.lines[1].typed) == (b"", b"z")


async def test_what_has_scrolled_away_is_looked_at_and_typing_comes_back() -> None:
    async with room() as (app, line, pilot):

        async def history() -> list[str]:
            return [f"line {number}" for number in range(50)]

        await app.terminal.disconnect()
        app.terminal.connect(app.dial, history=history)
        line = app.lines[-1]
        line.draw("here")
        await pilot.press("shift+pageup")
        await pilot.pause()
        assert (app.row(0), app.row(9)) == ("line 31", "line 40")
        line.draw("still here")
        assert app.row(0) == "line 31"
        await pilot.press("shift+pagedown")
        assert app.row(0) == "still here"
        await pilot.press("shift+pageup")
        await pilot.pause()
        await pilot.press("x")
        assert (app.row(0), line.typed) == ("still here", b"x")


async def test_a_terminal_with_a_past_of_its_own_looks_at_that() -> None:
    async with room() as (_, line, pilot):
        await pilot.press("shift+pageup")
        assert line.scrolled == [-9]


async def test_a_line_that_cannot_be_had_is_an_end() -> None:
    app = Room()

    def dial(columns: int, rows: int, viewer: Viewer) -> FakeLine:
        raise OSError("no more processes")

    async with app.run_test(size=(40, 10)) as pilot:
        app.terminal.connect(dial)
        await pilot.pause()
        (told,) = app.told
        assert isinstance(told, TerminalWidget.Ended)
        assert "no more processes" in told.why
