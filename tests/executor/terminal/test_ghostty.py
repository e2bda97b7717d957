"""The types written down for the native engine are those of the pyghostty that is pinned."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from executor.terminal import ghostty

pyghostty = pytest.importorskip("pyghostty", reason="no engine for this machine")

STRUCTURES = {
    ghostty.String: "GhosttyString",
    ghostty.Rgb: "GhosttyColorRgb",
    ghostty.GridRef: "GhosttyGridRef",
    ghostty.Selection: "GhosttySelection",
    ghostty.Point: "GhosttyPointS",
    ghostty.ScreenExtra: "GhosttyFormatterScreenExtra",
    ghostty.TerminalExtra: "GhosttyFormatterTerminalExtra",
    ghostty.FormatterOptions: "GhosttyFormatterTerminalOptions",
    ghostty.CursorState: "GhosttyRenderStateCursor",
    ghostty.ModeConfig: "GhosttyTerminalModeConfig",
    ghostty.CellsView: "GhosttyCellsView",
    ghostty.ClipboardContent: "GhosttyClipboardContent",
    ghostty.ClipboardReply: "GhosttyClipboardWriteReply",
    ghostty.ClipboardWrite: "GhosttyClipboardWrite",
}
NUMBERS = {
    "OPT_WRITE_PTY": "TERMINAL_OPT_WRITE_PTY",
    "OPT_BELL": "TERMINAL_OPT_BELL",
    "OPT_COLOR_FOREGROUND": "TERMINAL_OPT_COLOR_FOREGROUND",
    "OPT_COLOR_BACKGROUND": "TERMINAL_OPT_COLOR_BACKGROUND",
    "OPT_DEFAULT_CURSOR_STYLE": "TERMINAL_OPT_DEFAULT_CURSOR_STYLE",
    "OPT_CLIPBOARD_WRITE": "TERMINAL_OPT_CLIPBOARD_WRITE",
    "OPT_SCROLLBACK_MAX_LINES": "TERMINAL_OPT_SCROLLBACK_MAX_LINES",
    "OPT_MODE_DEFAULT": "TERMINAL_OPT_MODE_DEFAULT",
    "DATA_ACTIVE_SCREEN": "TERMINAL_DATA_ACTIVE_SCREEN",
    "DATA_KITTY_KEYBOARD_FLAGS": "TERMINAL_DATA_KITTY_KEYBOARD_FLAGS",
    "DATA_TITLE": "TERMINAL_DATA_TITLE",
    "DATA_MODE": "TERMINAL_DATA_MODE",
    "STATE_ROW_ITERATOR": "RENDER_STATE_DATA_ROW_ITERATOR",
    "STATE_CURSOR": "RENDER_STATE_DATA_CURSOR",
    "ROW_RAW": "RENDER_STATE_ROW_DATA_RAW",
    "ROW_CELLS_RAW": "RENDER_STATE_ROW_DATA_CELLS_RAW",
    "ROW_HAS_LINKS": "ROW_DATA_HYPERLINK",
    "CURSOR_HOLLOW": "TERMINAL_CURSOR_STYLE_BLOCK_HOLLOW",
    "FORMAT_VT": "FORMATTER_FORMAT_VT",
    "FORMAT_HTML": "FORMATTER_FORMAT_HTML",
    "POINT_VIEWPORT": "POINT_TAG_VIEWPORT",
    "SCROLL_BOTTOM": "SCROLL_VIEWPORT_BOTTOM",
    "SCROLL_DELTA": "SCROLL_VIEWPORT_DELTA",
    "OUT_OF_SPACE": "OUT_OF_SPACE",
    "CLIPBOARD_DONE": "CLIPBOARD_WRITE_RESULT_SUCCESS",
}


@pytest.mark.parametrize("ours", STRUCTURES, ids=lambda ours: ours.__name__)
def test_a_structure_is_laid_out_as_the_librarys(ours: Any) -> None:
    theirs = pyghostty.ffi.typeof(STRUCTURES[ours])
    assert ctypes.sizeof(ours) == pyghostty.ffi.sizeof(theirs)
    places = {name: (field.offset, pyghostty.ffi.sizeof(field.type)) for name, field in theirs.fields}
    assert {name: (getattr(ours, name).offset, getattr(ours, name).size) for name, *_ in ours._fields_} == places


def test_what_stands_for_a_union_is_as_large() -> None:
    """They are passed by value."""
    assert ctypes.sizeof(ghostty.ScrollBy) == pyghostty.ffi.sizeof("GhosttyTerminalScrollViewport")
    assert ctypes.sizeof(ghostty.Point) == pyghostty.ffi.sizeof("GhosttyPoint")


@pytest.mark.parametrize("ours", NUMBERS)
def test_a_number_is_the_librarys(ours: str) -> None:
    assert getattr(ghostty, ours) == getattr(pyghostty.lib, f"GHOSTTY_{NUMBERS[ours]}")


def test_a_call_takes_what_the_librarys_takes() -> None:
    for name, (_, arguments) in ghostty._CALLS.items():
        theirs = pyghostty.ffi.typeof(getattr(pyghostty.lib, f"ghostty_{name}"))
        assert len(arguments) == len(theirs.args), name


def test_a_cell_is_packed_as_it_is_read() -> None:
    """``_grounds`` reads content tag and colour from these bits."""
    import json

    layout = json.loads(pyghostty.ffi.string(pyghostty.lib.ghostty_type_json()))["types"]["GhosttyCell"]["bits"]
    assert (layout["content_tag"]["lsb"], layout["content_tag"]["width"]) == (0, 2)
    assert (layout["content"]["lsb"], layout["content"]["width"]) == (2, 24)
    colour = layout["content"]["arms"]["BG_COLOR_RGB"]["bits"]
    assert [colour[name]["lsb"] for name in "rgb"] == [0, 8, 16]


def test_the_pin_is_exact() -> None:
    from importlib.metadata import requires

    (pin,) = [line for line in requires("project-agent-manager") or [] if line.startswith("pyghostty")]
    assert pin.split(";")[0].strip() == f"pyghostty=={pyghostty.__version__}"
