"""All tiles in one widget: only lines that are another than before are drawn again, those of all tiles in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from screens.ansi import RowRenderer
from screens.desk import Clock
from screens.model import RunView
from screens.widgets.spans import Span
from screens.widgets.tile import Brush, Sight, Tile
from screens.widgets.toned import Toned
from themes import terminal_colours


class TileWall(Toned):
    """Shows runs at places; what is seen of their screens comes with ``see``."""

    class Resized(Message):
        """There is another amount of room."""

    @dataclass
    class Chosen(Message):
        """A tile was clicked; ``again`` where it had the cursor and was clicked twice."""

        run_id: str
        again: bool

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="tiles")
        self._clock = clock
        self._tiles: dict[str, Tile] = {}
        self._drawing: RowRenderer | None = None

    @property
    def tiles(self) -> Mapping[str, Tile]:
        """Those that are shown, by the id of their run."""
        return self._tiles

    def show(self, views: Sequence[RunView], places: Sequence[Region], cursor: str) -> None:
        """Show these runs at these places; ``cursor`` is the id of the chosen one. What was seen of a run stays."""
        brush = self._brush()
        before, self._tiles = self._tiles, {}
        for view, place in zip(views, places, strict=True):
            run_id = view.run.id
            old = before.pop(run_id, None)
            tile = Tile(view, place, run_id == cursor, _first_sight(view, old))
            if old is not None and (old.view, old.place, old.cursor) == (view, place, tile.cursor):
                tile = old
            else:
                tile.draw(brush)
                self.refresh(*{tile.place, old.place if old else tile.place})
            self._tiles[run_id] = tile
        if before:
            self.refresh(*(gone.place for gone in before.values()))

    def see(self, sights: Mapping[str, Sight]) -> None:
        """Take what is seen of several screens now."""
        brush = self._brush()
        changed: list[Region] = []
        for run_id, sight in sights.items():
            if run_id in self._tiles:
                changed += self._tiles[run_id].see(sight, brush)
        if changed:
            self.refresh(*changed)

    def tick(self) -> None:
        """A minute has passed: ages are drawn anew."""
        brush = self._brush()
        for tile in self._tiles.values():
            tile.draw(brush)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, end = self.size.width, 0
        empty = self.style_of("page")(Span(""))
        segments: list[Segment] = []
        # A row of tiles stands from left to right, as the runs were given.
        for tile in self._tiles.values():
            place = tile.place
            if place.y <= y < place.bottom and place.x >= end:
                segments += [Segment(" " * (place.x - end), empty), *tile.lines[y - place.y]]
                end = place.right
        segments.append(Segment(" " * max(width - end, 0), empty))
        return Strip(segments, max(width, end)).crop(0, width)

    def on_resize(self) -> None:
        self.post_message(self.Resized())

    def on_click(self, event: events.Click) -> None:
        event.stop()
        for run_id, tile in self._tiles.items():
            if tile.place.contains(event.x, event.y):
                self.post_message(self.Chosen(run_id, tile.cursor and event.chain > 1))

    def forget_styles(self) -> None:
        super().forget_styles()
        self._drawing = None
        if self.is_attached:
            self.tick()

    def _brush(self) -> Brush:
        if self._drawing is None:
            self._drawing = RowRenderer(terminal_colours(self.app.theme))
        return Brush(self.style_of, self._drawing, self._clock())


def _first_sight(view: RunView, old: Tile | None) -> Sight:
    """What is shown of a run before its screen was seen."""
    if view.run.status in ("pending", "spawning"):
        return "The session is not up yet."
    return old.sight if old is not None and old.view.run.attempt == view.run.attempt else ""
