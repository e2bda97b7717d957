"""NO_COLOR: every place is drawn in greys, and what a colour says is said by a glyph and a word (screens.md, Rules)."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from app.control_room import ControlRoom
from screens.chips import state
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import FakeModel, clock, sample
from tests.screens.test_pictures import PICTURES, Compare

PLACES = (
    "board-full",
    "tree-full",
    "item-page",
    "run-full",
    "wall-full",
    "hosts-full",
    "providers-full",
    "activity-full",
)
SIZES = {"80x24": (80, 24), "120x35": (120, 35)}


@pytest.fixture(autouse=True)
def no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize("picture", PICTURES)
async def test_nothing_is_drawn_in_a_colour(picture: str) -> None:
    """Not even what an agent draws."""
    make, steps = PICTURES[picture]
    async with driving(make()) as driver:
        await steps(driver)
        for strip in driver.room.screen._compositor.render_strips():
            for segment in strip:
                style = segment.style
                for colour in (style.color, style.bgcolor) if style else ():
                    levels = set(colour.triplet or ()) if colour else set()
                    assert len(levels) < 2, f"{segment.text!r} is {colour}"


async def test_every_state_of_a_run_has_a_glyph_and_a_word_of_its_own() -> None:
    model: FakeModel = sample()
    said = {run.id: state(run) for run in model.runs.values()}
    words = {each.word for each in said.values()}
    glyphs = {each.glyph for each in said.values()}
    assert len({(each.glyph, each.word) for each in said.values()}) == len(words)
    assert len(glyphs) >= 5
    async with driving(model, size=(200, 60)) as driver:
        for each in ("waiting", "working", "idle"):
            (glyph,) = {one.glyph for one in said.values() if one.word == each}
            assert any(glyph in line and each in line for line in driver.text().splitlines()), each


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("picture", PLACES)
def test_it_looks_as_it_did(snap_compare: Compare, picture: str, size: str) -> None:
    make, steps = PICTURES[picture]
    model = make()
    room = ControlRoom(model, clock=clock)

    async def before(pilot: Pilot[None]) -> None:
        await steps(Driver(room, pilot, model))
        await pilot.pause(0.05)

    assert snap_compare(room, terminal_size=SIZES[size], run_before=before)
