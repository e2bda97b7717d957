"""What is used of libghostty-vt, the native engine that the pinned ``pyghostty`` brings, in its own types.

``ctypes`` and not pyghostty's binding: that parses 3,500 lines of declarations at each start, ten times as long as all
the rest of a helper's start. A test compares every layout and number here with pyghostty's.
"""

from __future__ import annotations

import ctypes
import importlib.util
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_int,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    sizeof,
)
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

OPT_WRITE_PTY: Final = 1
OPT_BELL: Final = 2
OPT_COLOR_FOREGROUND: Final = 11
OPT_COLOR_BACKGROUND: Final = 12
OPT_DEFAULT_CURSOR_STYLE: Final = 22
OPT_CLIPBOARD_WRITE: Final = 26
OPT_SCROLLBACK_MAX_LINES: Final = 28
OPT_MODE_DEFAULT: Final = 33

DATA_ACTIVE_SCREEN: Final = 6
DATA_KITTY_KEYBOARD_FLAGS: Final = 8
DATA_TITLE: Final = 12
DATA_MODE: Final = 37

STATE_ROW_ITERATOR: Final = 4
STATE_CURSOR: Final = 18
ROW_RAW: Final = 2
ROW_CELLS_RAW: Final = 5
ROW_HAS_LINKS: Final = 5
CURSOR_HOLLOW: Final = 3

FORMAT_VT: Final = 1
FORMAT_HTML: Final = 2
POINT_VIEWPORT: Final = 1
SCROLL_BOTTOM: Final = 1
SCROLL_DELTA: Final = 2
OUT_OF_SPACE: Final = -3
CLIPBOARD_DONE: Final = 0

WritePty = CFUNCTYPE(None, c_void_p, c_void_p, POINTER(c_uint8), c_size_t)
Bell = CFUNCTYPE(None, c_void_p, c_void_p)


class Sized(Structure):
    """A structure that says its own size first, as the library asks."""

    size: int

    def __init__(self, **values: object) -> None:
        super().__init__(**values)
        self.size = sizeof(self)


class String(Structure):
    """Bytes the library owns; gone with the call."""

    _fields_: ClassVar = [("ptr", c_void_p), ("len", c_size_t)]
    ptr: int | None
    len: int

    def read(self) -> bytes:
        """A copy of them."""
        return ctypes.string_at(self.ptr, self.len) if self.ptr and self.len else b""


class Rgb(Structure):
    """A colour."""

    _fields_: ClassVar = [("r", c_uint8), ("g", c_uint8), ("b", c_uint8)]


class GridRef(Sized):
    """A cell, until the terminal changes."""

    _fields_: ClassVar = [("size", c_size_t), ("node", c_void_p), ("x", c_uint16), ("y", c_uint16)]


class Selection(Sized):
    """From one cell to another, both included."""

    _fields_: ClassVar = [("size", c_size_t), ("start", GridRef), ("end", GridRef), ("rectangle", c_bool)]
    start: GridRef
    end: GridRef


class PointValue(Structure):
    """Stands for the union of the real type, with the same call convention."""

    _fields_: ClassVar = [("x", c_uint16), ("y", c_uint32), ("pad", c_uint64)]


class Point(Structure):
    """A place, by coordinates."""

    _fields_: ClassVar = [("tag", c_int), ("value", PointValue)]


class ScrollBy(Structure):
    """Which part of the scrollback to look at; ``value`` stands for the union of the real type."""

    _fields_: ClassVar = [("tag", c_int), ("value", ctypes.c_ssize_t), ("pad", c_uint64)]


class ScreenExtra(Sized):
    """What else of a screen to write; nothing."""

    _fields_: ClassVar = [
        ("size", c_size_t),
        *((name, c_bool) for name in ("cursor", "style", "hyperlink", "protection", "kitty_keyboard", "charsets")),
    ]


class TerminalExtra(Sized):
    """What else of a terminal to write; nothing."""

    _fields_: ClassVar = [
        ("size", c_size_t),
        *((name, c_bool) for name in ("palette", "modes", "scrolling_region", "tabstops", "pwd", "keyboard")),
        ("screen", ScreenExtra),
    ]
    screen: ScreenExtra


class FormatterOptions(Sized):
    """How and what to write."""

    _fields_: ClassVar = [
        ("size", c_size_t),
        ("emit", c_int),
        ("unwrap", c_bool),
        ("trim", c_bool),
        ("extra", TerminalExtra),
        ("selection", POINTER(Selection)),
    ]
    extra: TerminalExtra
    selection: Any


class CursorState(Sized):
    """Where the cursor is in what is looked at, and how it looks."""

    _fields_: ClassVar = [
        ("size", c_size_t),
        ("viewport_has_value", c_bool),
        ("viewport_x", c_uint16),
        ("viewport_y", c_uint16),
        ("wide_tail", c_bool),
        ("visible", c_bool),
        ("blinking", c_bool),
        ("password_input", c_bool),
        ("visual_style", c_int),
    ]
    viewport_has_value: bool
    viewport_x: int
    viewport_y: int
    visible: bool
    blinking: bool
    visual_style: int


class ModeConfig(Structure):
    """A mode and whether it is set."""

    _fields_: ClassVar = [("mode", c_uint16), ("value", c_bool)]
    value: bool


class CellsView(Structure):
    """A row's cells, packed in 64 bits each."""

    _fields_: ClassVar = [("ptr", POINTER(c_uint64)), ("len", c_size_t)]
    ptr: Any
    len: int


class ClipboardContent(Structure):
    """One form of what is to be copied."""

    _fields_: ClassVar = [("mime", String), ("data", String)]
    data: String


class ClipboardReply(Sized):
    """What became of a copy."""

    _fields_: ClassVar = [("size", c_size_t), ("result", c_int), ("remember", c_bool)]


class ClipboardWrite(Structure):
    """The program asks for something to be copied."""

    contents: Any
    contents_len: int
    reply: Any


ClipboardAnswer = CFUNCTYPE(None, POINTER(ClipboardWrite), POINTER(ClipboardReply))
ClipboardWrite._fields_ = [
    ("size", c_size_t),
    ("location", c_int),
    ("contents", POINTER(ClipboardContent)),
    ("contents_len", c_size_t),
    ("name", String),
    ("granted", c_bool),
    ("can_remember", c_bool),
    ("ctx", c_void_p),
    ("reply", ClipboardAnswer),
]
Clipboard = CFUNCTYPE(None, c_void_p, c_void_p, POINTER(ClipboardWrite))

_CALLS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "terminal_new": (c_int, [c_void_p, POINTER(c_void_p), c_uint16, c_uint16]),
    "terminal_free": (None, [c_void_p]),
    "terminal_set": (c_int, [c_void_p, c_int, c_void_p]),
    "terminal_get": (c_int, [c_void_p, c_int, c_void_p]),
    "terminal_resize": (c_int, [c_void_p, c_uint16, c_uint16, c_uint32, c_uint32]),
    "terminal_vt_write": (None, [c_void_p, ctypes.c_char_p, c_size_t]),
    "terminal_scroll_viewport": (None, [c_void_p, ScrollBy]),
    "terminal_grid_ref": (c_int, [c_void_p, Point, POINTER(GridRef)]),
    "formatter_terminal_new": (c_int, [c_void_p, POINTER(c_void_p), c_void_p, FormatterOptions]),
    "formatter_format_buf": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)]),
    "formatter_free": (None, [c_void_p]),
    "render_state_new": (c_int, [c_void_p, POINTER(c_void_p)]),
    "render_state_free": (None, [c_void_p]),
    "render_state_update": (c_int, [c_void_p, c_void_p]),
    "render_state_get": (c_int, [c_void_p, c_int, c_void_p]),
    "render_state_row_iterator_new": (c_int, [c_void_p, POINTER(c_void_p)]),
    "render_state_row_iterator_free": (None, [c_void_p]),
    "render_state_row_iterator_next": (c_bool, [c_void_p]),
    "render_state_row_get": (c_int, [c_void_p, c_int, c_void_p]),
    "row_get": (c_int, [c_uint64, c_int, c_void_p]),
}


class EngineMissing(OSError):
    """There is no native engine for this machine."""


def library_path() -> Path | None:
    """The engine's library; None where pyghostty has no wheel."""
    found = importlib.util.find_spec("pyghostty")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for name in ("libghostty-vt.so", "libghostty-vt.dylib"):
            if (path := Path(folder) / "_lib" / name).exists():
                return path
    return None


@cache
def library() -> Any:
    """The engine's calls, without their prefix in the name. Raises EngineMissing."""
    path = library_path()
    if path is None:
        raise EngineMissing("pyghostty is not installed, or has nothing for this machine.")
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise EngineMissing(f"{path} cannot be loaded: {error}") from error
    for name, (result, arguments) in _CALLS.items():
        call = loaded[f"ghostty_{name}"]
        call.restype, call.argtypes = result, arguments
        setattr(loaded, name, call)
    return loaded
