"""Text reads on its ground in every theme: WCAG AA, measured on what is really drawn (PAM-UI-012)."""

from __future__ import annotations

import pytest
from rich.color import Color, ColorSystem

from screens.dialogs import HelpKeys, NewItemDialog, ProjectPicker, StartRun
from screens.item import ItemScreen
from screens.wall import WallScreen
from tests.screens.contrast import AA, measured, ratio
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import sample
from themes import FEW_COLOURS, PALETTES, terminal_colours

AAA = 7.0
GRAPHIC = 3.0
"""For what is no text: a border that shows the focus."""


def test_the_ratio_is_that_of_the_standard() -> None:
    assert ratio(Color.parse("#000000"), Color.parse("#ffffff")) == pytest.approx(21)
    assert ratio(Color.parse("#777777"), Color.parse("#ffffff")) == pytest.approx(4.48, abs=0.01)


TEXTS = ("ink", "soft", "accent", "working", "waiting", "idle", "pending", "good", "bad", "label", "person", "kind")
GROUNDS = ("page", "column", "card", "card_cursor", "card_rest", "bar")


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", TEXTS)
def test_every_text_colour_reads_on_every_ground(theme: str, text: str, ground: str) -> None:
    palette = PALETTES[theme]
    found = ratio(Color.parse(getattr(palette, text)), Color.parse(getattr(palette, ground)))
    assert found >= (AAA if theme == "pam-contrast" else AA), f"{text} on {ground}: {found:.2f}"


@pytest.mark.parametrize("theme", PALETTES)
def test_accents_and_borders_stand_out(theme: str) -> None:
    palette = PALETTES[theme]
    assert ratio(Color.parse(palette.on_accent), Color.parse(palette.accent)) >= AA
    for ground in (palette.page, palette.column, palette.card):
        assert ratio(Color.parse(palette.rule_strong), Color.parse(ground)) >= GRAPHIC


@pytest.mark.parametrize("theme", FEW_COLOURS)
def test_where_there_are_256_colours_they_read_as_well_and_keep_their_hue(theme: str) -> None:
    """What a terminal makes of them counts, which is what Rich reduces them to."""
    palette = FEW_COLOURS[theme]
    for ground in GROUNDS:
        below = reduced(getattr(palette, ground))
        for text in TEXTS:
            found = ratio(reduced(getattr(palette, text)), below)
            assert found >= (AAA if theme == "pam-contrast" else AA), f"{text} on {ground}: {found:.2f}"
        grey = len(set(below.triplet or ())) == 1
        assert grey or ground == "card_cursor", f"{ground} is no shade of grey any more: {below.triplet}"
    assert ratio(reduced(palette.on_accent), reduced(palette.accent)) >= AA
    for ground in (palette.page, palette.column, palette.card):
        assert ratio(reduced(palette.rule_strong), reduced(ground)) >= GRAPHIC


def reduced(colour: str) -> Color:
    """The colour as a terminal of 256 shows it."""
    return Color.from_triplet(Color.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor())


@pytest.mark.parametrize("theme", PALETTES)
def test_an_agents_colours_read_on_its_ground(theme: str) -> None:
    colours = terminal_colours(theme)
    ground = Color.parse(colours.background)
    assert ratio(Color.parse(colours.foreground), ground) >= AAA
    for number, colour in enumerate(colours.palette):
        least = 1.5 if number == 0 else AA
        assert ratio(Color.parse(colour), ground) >= least, f"colour {number}"


async def board(driver: Driver) -> None:
    await driver.press("j", "k")


async def filtered(driver: Driver) -> None:
    await driver.press("slash")
    await driver.write("nothing like it")


async def told(driver: Driver) -> None:
    await driver.press("h", "j", "s")
    await driver.said("this is an epic")


async def run_screen(driver: Driver) -> None:
    await driver.open_run()


async def events(driver: Driver) -> None:
    await driver.open_run()
    await driver.press(*["right_square_bracket"] * 3)


async def item_screen(driver: Driver) -> None:
    await driver.press("o")
    await driver.at(ItemScreen)
    await driver.until(lambda: "Three tests" in driver.text())


async def start(driver: Driver) -> None:
    await driver.press("s")
    await driver.at(StartRun)
    await driver.press("left")


async def new(driver: Driver) -> None:
    await driver.press("n")
    await driver.at(NewItemDialog)
    await driver.write("x #label @who ^nowhere")
    await driver.press("tab")


async def stop(driver: Driver) -> None:
    await driver.press("x")
    await driver.until(lambda: "Stop the run" in driver.text())
    await driver.press("right")


async def projects(driver: Driver) -> None:
    await driver.press("p")
    await driver.at(ProjectPicker)


async def help_keys(driver: Driver) -> None:
    await driver.press("question_mark")
    await driver.at(HelpKeys)


async def palette(driver: Driver) -> None:
    await driver.press("ctrl+p")
    await driver.until(lambda: "Make an item from one line" in driver.text())


SCENES = (board, filtered, told, run_screen, events, item_screen, start, new, stop, projects, help_keys, palette)

NARROW_SCENES = (board, run_screen, new)


@pytest.mark.parametrize("size", [(80, 24), (160, 45)], ids=["80x24", "160x45"])
@pytest.mark.parametrize("theme", PALETTES)
async def test_whatever_is_drawn_reads(theme: str, size: tuple[int, int]) -> None:
    """Every cell with a letter in it, on every screen and in every dialog, but what agents draw themselves."""
    for scene in SCENES if size[0] > 80 else NARROW_SCENES:
        async with driving(sample(), size=size, theme=theme) as driver:
            await scene(driver)
            await driver.drawn()
            read, dim = measured(driver)
            assert not dim, f"{scene.__name__}: {dim}"
            assert read > 5, f"{scene.__name__}: nearly nothing was measured"


@pytest.mark.parametrize("theme", PALETTES)
async def test_the_frames_of_tiles_read(theme: str) -> None:
    """With nothing of an agent's in them."""
    model = sample()
    model.screens = {}
    async with driving(model, theme=theme) as driver:
        await driver.press("3")
        await driver.until(lambda: isinstance(driver.room.screen, WallScreen) and "waiting" in driver.text())
        await driver.drawn()
        read, dim = measured(driver, but=())
        assert not dim
        assert read > 20
