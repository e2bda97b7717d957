"""Reaches into Textual: lines of a widget, and its cursor, are on the terminal now.

Textual collects what is to be drawn until its next tick, up to 17 ms away, and then draws every widget that stands
behind a changed line anew: ten times the work of the line itself. There is no public way past either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from textual.app import App
from textual.errors import NoWidget
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.widget import Widget

from screens.terminal.cursor import Lender, LentCursor


def paint_now(widget: Widget, lines: Iterable[int]) -> None:
    """Draw lines of a widget's content, by number; as ``refresh`` where something stands over them."""
    rows = sorted(lines)
    if not rows:
        return
    width = widget.size.width
    if not _alone(widget, rows):
        widget.refresh(*(Region(0, y, width, 1) for y in rows))
        return
    widget._set_dirty(*(Region(0, y, width, 1) for y in rows))
    widget._repaint_regions.clear()
    _write(widget.app, "".join(_drawn(widget, rows)))


def point_now(widget: Widget) -> None:
    """Nothing has changed but where the cursor is."""
    if not widget.app._batch_count and not widget.app.is_headless:
        _write(widget.app, "")


def cursor_of(widget: Widget) -> LentCursor | None:
    """The cursor that can be had of the operator's terminal; None where it has to be drawn."""
    driver = widget.app._driver
    return driver.cursor if isinstance(driver, Lender) else None


def uncovered(widget: Widget, x: int, y: int) -> bool:
    """Whether a cell of the operator's screen shows this widget."""
    if not widget.screen.is_active:
        return False
    try:
        return widget.screen.get_widget_at(x, y)[0] is widget
    except NoWidget:
        return False


def _write(app: App[Any], drawn: str) -> None:
    """As Textual does, with the cursor behind it where an input method looks for it."""
    driver = app._driver
    if driver is None:
        return
    x, y = app.cursor_position
    app._begin_update()
    driver.write(f"{drawn}\x1b[{y + 1};{x + 1}H")
    app._end_update()
    driver.flush()


def _drawn(widget: Widget, rows: Iterable[int]) -> Iterator[str]:
    """The lines as they are written, without borders: those stand already."""
    left, top, _, _ = widget.content_region
    console, ground = widget.app.console, widget.background_colors[1]
    # Rows of a terminal have no colours but true ones.
    filters = [each for each in widget.app.get_line_filters() if not isinstance(each, ANSIToTruecolor)]
    for y in rows:
        strip = widget.render_line(y)
        for line_filter in filters:
            strip = strip.apply_filter(line_filter, ground)
        yield f"\x1b[{top + y + 1};{left + 1}H{strip.render(console)}"


def _alone(widget: Widget, rows: list[int]) -> bool:
    """Whether nothing stands over these lines, nothing is being laid out, and all of them are on the terminal."""
    screen, app = widget.screen, widget.app
    if not screen.is_active or app._batch_count or screen._layout_required or app.is_headless:
        return False
    region = widget.region
    if not screen.size.region.contains_region(region):
        return False
    layers, above = screen._compositor.layers_visible, region.y + widget.content_offset.y
    for y in (above + row for row in rows):
        for other, _, shown in layers[y] if y < len(layers) else ():
            if other is widget:
                break
            if shown.overlaps(region):
                return False
        else:
            return False
    return True
