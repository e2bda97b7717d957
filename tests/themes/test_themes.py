"""Every theme draws, pam's own and Textual's, and each names every colour the stylesheet uses."""

from __future__ import annotations

import re

from textual.theme import BUILTIN_THEMES

from screens.board import BoardScreen
from screens.widgets.toned import GROUNDS, TONES
from store.errors import ConfigError
from tests.screens.driving import driving
from tests.screens.fake_model import sample
from themes import PALETTES, STYLESHEET, borrowed, pam_theme


def test_a_borrowed_theme_names_the_same_colours_as_ours() -> None:
    ours = set(PALETTES["pam-dark"].variables())
    for theme in BUILTIN_THEMES.values():
        assert set(borrowed(theme.to_color_system().generate())) == ours, theme.name


def test_the_stylesheet_uses_colours_that_exist() -> None:
    known = set(PALETTES["pam-dark"].variables())
    used = set(re.findall(r"\$([a-z-]+)", STYLESHEET.read_text()))
    assert used <= known


def test_every_tone_and_ground_is_a_colour_of_every_theme() -> None:
    for theme in BUILTIN_THEMES.values():
        colours = borrowed(theme.to_color_system().generate())
        assert {*TONES, *GROUNDS.values()} <= colours.keys(), theme.name
    for palette in PALETTES.values():
        assert {*TONES, *GROUNDS.values()} <= palette.variables().keys()


def test_pam_light_is_light_and_the_others_are_dark() -> None:
    assert {name: pam_theme(name, palette).dark for name, palette in PALETTES.items()} == {
        "pam-dark": True,
        "pam-light": False,
        "pam-contrast": True,
    }


async def test_our_themes_come_first_where_one_is_chosen() -> None:
    async with driving(sample()) as driver:
        assert {*list(driver.room.available_themes)[:3]} == {*PALETTES}


async def test_every_theme_draws_the_board() -> None:
    async with driving(sample()) as driver:
        for name in driver.room.available_themes:
            driver.room.theme = name
            await driver.pilot.pause()
            assert "Fix flaky auth tests" in driver.text(), name


async def test_an_unknown_theme_falls_back_to_the_default_and_says_so() -> None:
    async with driving(sample(), theme="no-such-theme") as driver:
        assert driver.room.theme == "pam-dark"
        await driver.said("There is no theme “no-such-theme”. Press T to choose one.")


async def test_a_theme_that_was_chosen_is_kept_for_the_next_start() -> None:
    model = sample()
    async with driving(model) as driver:
        driver.burst("T", *"pam-light", "enter")
        await driver.until(lambda: model.calls)
        assert (driver.room.theme, model.calls) == ("pam-light", [("remember_theme", "pam-light")])


async def test_a_theme_that_cannot_be_kept_says_why() -> None:
    model = sample()
    model.refuse = ConfigError("config.toml cannot be written: Read-only file system.")
    async with driving(model) as driver:
        driver.burst("T", *"pam-contrast", "enter")
        await driver.until(lambda: model.calls)
        await driver.at(BoardScreen)
        await driver.said("The next start won't have this theme: config.toml cannot be written")
        assert driver.room.theme == "pam-contrast"


async def test_no_color_leaves_glyphs_and_words(monkeypatch: object) -> None:
    """NO_COLOR: what a colour says is said by a glyph and a word too (screens.md, Rules)."""
    monkeypatch.setenv("NO_COLOR", "1")  # type: ignore[attr-defined]
    async with driving(sample()) as driver:
        assert driver.room.no_color
        for chip in ("⚑ claude 12m waiting", "● codex 3m working", "✓ claude 3h exited 0", "✗ claude 31m failed"):
            assert chip in driver.text()
