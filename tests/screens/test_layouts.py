"""What Textual lays out and draws: widgets are told of their size, and places that nobody sees cost nothing."""

from __future__ import annotations

from textual import events
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from screens.board import BoardScreen
from screens.dialogs import HelpKeys
from screens.layouts import keep_told
from tests.screens.driving import driving
from tests.screens.fake_model import sample, uid


class Told(Widget):
    """Keeps what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[tuple[int, int]] = []
        self.shown = 0

    def on_resize(self, event: events.Resize) -> None:
        self.sizes.append(event.size)

    def on_show(self) -> None:
        self.shown += 1


class Place(Screen[None]):
    """A widget that is not shown at first."""

    def __init__(self) -> None:
        super().__init__()
        keep_told(self)
        self.told = Told()

    def compose(self) -> ComposeResult:
        self.told.display = False
        yield self.told
        yield Widget()


async def test_who_is_shown_is_told_though_somebody_asked_where_he_is_before() -> None:
    app, place = App[None](), Place()
    async with app.run_test(size=(40, 10)) as pilot:
        await app.push_screen(place)
        await pilot.pause()
        place.told.display = True
        place._compositor.update_widgets({place.told})  # as for whoever wants to be drawn
        assert place.told.region.height == 10
        await pilot.pause()
        assert place.told.sizes
        assert place.told.shown == 1


async def test_a_place_that_is_covered_is_not_drawn_and_one_behind_a_dialog_is() -> None:
    model = sample()
    async with driving(model) as driver:
        board = driver.room.screen
        run = await driver.open_run()
        await driver.until(lambda: run.view is not None)
        await driver.until(lambda: model.watched == [run.run_id])
        assert not board.is_current
        model.happen(("work_item.updated", {"item_id": uid(1), "fields": ["title"]}))
        await driver.drawn()
        assert model.watched == [run.run_id]
        await driver.press("question_mark")
        await driver.at(HelpKeys)
        assert run.is_current
        await driver.press("escape", "q")
        await driver.at(BoardScreen)
        assert board.is_current
