"""The screen of one terminal: bytes of a program go in, rows as text with SGR styles come out.

Each row stands alone. Grapheme clusters are on from the start, or joined emoji would stand apart from tmux's idea of
their width.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from executor.terminal import ghostty, links
from executor.terminal.gaps import mended
from executor.terminal.ghostty import library

SCROLLBACK: Final = 5_000
"""Lines; far fewer make the engine slow, as it then recycles its pages."""
GRAPHEME_CLUSTERS: Final = 2027
SYNCHRONIZED: Final = 2026
_MODES: Final = {
    "app_cursor": 1,
    "app_keypad": 66,
    "mouse_press": 1000,
    "mouse_drag": 1002,
    "mouse_any": 1003,
    "focus": 1004,
    "mouse_sgr": 1006,
    "paste": 2004,
}
_SHAPES: Final = ("bar", "block", "underline", "default")


class Cursor(NamedTuple):
    """The cursor, in cells from the top left."""

    x: int = 0
    y: int = 0
    visible: bool = True
    shape: str = "default"
    """``block``, ``bar`` or ``underline``, with ``blinking`` before it; ``default`` until a program asks for one."""


class Engine:
    """Not for two threads. Raises EngineMissing where there is none for this machine."""

    def __init__(
        self,
        columns: int,
        rows: int,
        *,
        reply: Callable[[bytes], object],
        bell: Callable[[], object] = lambda: None,
        copy: Callable[[str], object] = lambda _: None,
        colours: tuple[str, str] | None = None,
    ) -> None:
        """``reply``: what the terminal answers its program; ``copy``: what the program puts into the clipboard;
        ``colours``: of text and ground as ``#rrggbb``, for programs that ask."""
        self._calls = library()
        self.columns, self.rows = columns, rows
        self._handle = ctypes.c_void_p()
        self._check(self._calls.terminal_new(None, ctypes.byref(self._handle), columns, rows))
        self._state, self._iterator = ctypes.c_void_p(), ctypes.c_void_p()
        self._check(self._calls.render_state_new(None, ctypes.byref(self._state)))
        self._check(self._calls.render_state_row_iterator_new(None, ctypes.byref(self._iterator)))
        self._buffer = ctypes.create_string_buffer(1 << 16)
        self._replies = ghostty.WritePty(lambda _t, _u, data, size: _none(reply(ctypes.string_at(data, size))))
        self._linked = False
        self._seam = b""
        self._bells = ghostty.Bell(lambda _t, _u: _none(bell()))
        self._copies = ghostty.Clipboard(lambda _t, _u, write: _copied(write, copy))
        self._set_up(colours)

    def close(self) -> None:
        """Free what the library holds."""
        self._calls.render_state_row_iterator_free(self._iterator)
        self._calls.render_state_free(self._state)
        self._calls.terminal_free(self._handle)

    def feed(self, data: bytes) -> None:
        """Draw what the program wrote."""
        if not self._linked:
            self._linked = links.MARK in data or links.MARK in self._seam + data[: len(links.MARK)]
            self._seam = (self._seam + data[-len(links.MARK) :])[-len(links.MARK) :]
        self._calls.terminal_vt_write(self._handle, data, len(data))

    def resize(self, columns: int, rows: int) -> None:
        """Another size, in cells; each at least 1."""
        self.columns, self.rows = columns, rows
        self._check(self._calls.terminal_resize(self._handle, columns, rows, 8, 16))

    def scroll(self, lines: int) -> None:
        """Look further up (negative) or down in what has scrolled away; 0 goes back to the bottom."""
        tag = ghostty.SCROLL_DELTA if lines else ghostty.SCROLL_BOTTOM
        self._calls.terminal_scroll_viewport(self._handle, ghostty.ScrollBy(tag, lines, 0))

    def screen(self) -> list[str]:
        """The rows that are looked at, ``rows`` of them."""
        drawn = self._formatted().split("\r\n")[: self.rows]
        drawn += [""] * (self.rows - len(drawn))
        if any(not row or "\x1b" in row for row in drawn):
            self._mend(drawn)
        if self._linked:
            self._trace_links(drawn)
        return drawn

    def cursor(self) -> Cursor:
        """The cursor; invisible while something else than the bottom is looked at."""
        self._check(self._calls.render_state_update(self._state, self._handle))
        at = ghostty.CursorState()
        self._check(self._calls.render_state_get(self._state, ghostty.STATE_CURSOR, ctypes.byref(at)))
        shape = _SHAPES[at.visual_style] if 0 <= at.visual_style < len(_SHAPES) else "default"
        if at.blinking and shape != "default":
            shape = f"blinking {shape}"
        return Cursor(at.viewport_x, at.viewport_y, bool(at.visible and at.viewport_has_value), shape)

    def modes(self) -> list[str]:
        """What the program has asked of its terminal: some of ``app_cursor``, ``mouse_any``, ``paste``…, sorted."""
        found = [name for name, number in _MODES.items() if self.mode(number)]
        if self._get(ghostty.DATA_ACTIVE_SCREEN, ctypes.c_int()).value:
            found.append("alternate")
        return sorted(found)

    def mode(self, number: int) -> bool:
        """Whether a private mode is set."""
        config: ghostty.ModeConfig = self._get(ghostty.DATA_MODE, ghostty.ModeConfig(number, False))
        return bool(config.value)

    def kitty_flags(self) -> int:
        """Flags of the kitty keyboard protocol that the program has asked for."""
        return int(self._get(ghostty.DATA_KITTY_KEYBOARD_FLAGS, ctypes.c_uint8()).value)

    def title(self) -> str:
        """What the program calls its window."""
        found: ghostty.String = self._get(ghostty.DATA_TITLE, ghostty.String())
        return found.read().decode("utf-8", "replace")

    def _set_up(self, colours: tuple[str, str] | None) -> None:
        self._set(ghostty.OPT_SCROLLBACK_MAX_LINES, ctypes.byref(ctypes.c_size_t(SCROLLBACK)))
        self._set(ghostty.OPT_MODE_DEFAULT, ctypes.byref(ghostty.ModeConfig(GRAPHEME_CLUSTERS, True)))
        # No program can ask for a hollow one, so that is what tells that none has asked.
        self._set(ghostty.OPT_DEFAULT_CURSOR_STYLE, ctypes.byref(ctypes.c_int(ghostty.CURSOR_HOLLOW)))
        self.feed(b"\x1b[?%dh" % GRAPHEME_CLUSTERS)
        self._set(ghostty.OPT_WRITE_PTY, ctypes.cast(self._replies, ctypes.c_void_p))
        self._set(ghostty.OPT_BELL, ctypes.cast(self._bells, ctypes.c_void_p))
        self._set(ghostty.OPT_CLIPBOARD_WRITE, ctypes.cast(self._copies, ctypes.c_void_p))
        options = (ghostty.OPT_COLOR_FOREGROUND, ghostty.OPT_COLOR_BACKGROUND)
        for option, colour in zip(options, colours or (), strict=False):
            self._set(option, ctypes.byref(ghostty.Rgb(*bytes.fromhex(colour.removeprefix("#")))))

    def _formatted(self, emit: int = ghostty.FORMAT_VT, top: int = 0, bottom: int | None = None) -> str:
        """Rows by the library's own writer, which leaves out those that hold nothing but a ground."""
        selection = ghostty.Selection()
        last = self.rows - 1 if bottom is None else bottom
        for ref, x, y in ((selection.start, 0, top), (selection.end, self.columns - 1, last)):
            ref.size = ctypes.sizeof(ref)
            point = ghostty.Point(ghostty.POINT_VIEWPORT, ghostty.PointValue(x, y, 0))
            self._check(self._calls.terminal_grid_ref(self._handle, point, ctypes.byref(ref)))
        options = ghostty.FormatterOptions(emit=emit, selection=ctypes.pointer(selection))
        options.extra.size = ctypes.sizeof(options.extra)
        options.extra.screen.size = ctypes.sizeof(options.extra.screen)
        formatter = ctypes.c_void_p()
        self._check(self._calls.formatter_terminal_new(None, ctypes.byref(formatter), self._handle, options))
        try:
            return self._written(formatter)
        finally:
            self._calls.formatter_free(formatter)

    def _written(self, formatter: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        while True:
            room = len(self._buffer)
            result = self._calls.formatter_format_buf(formatter, self._buffer, room, ctypes.byref(size))
            if result != ghostty.OUT_OF_SPACE:
                break
            self._buffer = ctypes.create_string_buffer(max(size.value, room * 2))
        self._check(result)
        return ctypes.string_at(self._buffer, size.value).decode("utf-8", "replace")

    def _mend(self, drawn: list[str]) -> None:
        """Put right what the library's writer does to cells that hold no text."""
        calls, at = self._calls, ctypes.byref(self._iterator)
        self._check(calls.render_state_update(self._state, self._handle))
        self._check(calls.render_state_get(self._state, ghostty.STATE_ROW_ITERATOR, at))
        view = ghostty.CellsView()
        for y, row in enumerate(drawn):
            if not calls.render_state_row_iterator_next(self._iterator):
                return
            if row and "\x1b" not in row:
                continue
            self._check(calls.render_state_row_get(self._iterator, ghostty.ROW_CELLS_RAW, ctypes.byref(view)))
            if view.len:
                drawn[y] = mended(row, ctypes.string_at(view.ptr, view.len * ctypes.sizeof(ctypes.c_uint64)))

    def _trace_links(self, drawn: list[str]) -> None:
        """Put the links of a screen into its rows."""
        rows = self._rows_with_links()
        if rows:
            html = self._formatted(ghostty.FORMAT_HTML, rows[0], rows[-1])
            drawn[rows[0] : rows[-1] + 1] = links.linked(drawn[rows[0] : rows[-1] + 1], html)

    def _rows_with_links(self) -> list[int]:
        """Their numbers, from the top; a row may be among them that has lost its links."""
        calls, at = self._calls, ctypes.byref(self._iterator)
        self._check(calls.render_state_update(self._state, self._handle))
        self._check(calls.render_state_get(self._state, ghostty.STATE_ROW_ITERATOR, at))
        row, has = ctypes.c_uint64(), ctypes.c_bool()
        at_row, at_has = ctypes.byref(row), ctypes.byref(has)
        found = []
        for y in range(self.rows):
            if not calls.render_state_row_iterator_next(self._iterator):
                break
            refused = calls.render_state_row_get(self._iterator, ghostty.ROW_RAW, at_row)
            self._check(refused or calls.row_get(row, ghostty.ROW_HAS_LINKS, at_has))
            if has.value:
                found.append(y)
        return found

    def _get(self, key: int, out: Any) -> Any:
        self._check(self._calls.terminal_get(self._handle, key, ctypes.byref(out)))
        return out

    def _set(self, key: int, value: object) -> None:
        self._check(self._calls.terminal_set(self._handle, key, value))

    @staticmethod
    def _check(result: int) -> None:
        if result:
            raise RuntimeError(f"the terminal engine refused a call: {result}")


def _copied(write: Any, copy: Callable[[str], object]) -> None:
    """Hand a copy on, and tell the library that it is done."""
    asked = write.contents
    for content in asked.contents[: min(asked.contents_len, 1)]:
        copy(content.data.read().decode("utf-8", "replace"))
    if asked.reply:
        asked.reply(write, ctypes.byref(ghostty.ClipboardReply(result=ghostty.CLIPBOARD_DONE)))


def _none(_: object) -> None:
    """What a callback of the library has to return."""
