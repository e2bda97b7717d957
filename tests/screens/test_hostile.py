"""Whatever agents write and files say breaks no border, no neighbour and no terminal, at any place (PAM-UI-011)."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from screens.confine import confined, one_line
from screens.dialogs import HelpKeys, ProjectPicker, StartRun
from screens.item import ItemScreen
from screens.place import PlaceScreen
from screens.run import RunScreen
from screens.widgets.spans import Span, clip, line, wrap
from tests.screens.driving import Driver, driving
from tests.screens.hostile import CONTROL, DISPUTED, MARK, MIXED, PAYLOADS, SEQUENCE, broken, foreign, poisoned
from tests.support.attach_rig import Seat, terminal_environ

ROOT = Path(__file__).parents[2]


async def the_board(driver: Driver) -> None:
    await driver.press("l", "j", "j", "k")


async def all_projects(driver: Driver) -> None:
    await driver.press("P")


async def the_footer(driver: Driver) -> None:
    driver.place.say(driver.board.state.cards()[0].item.title, "bad")  # type: ignore[union-attr]
    await driver.pilot.pause()


def at_place(key: str, *then: str) -> Callable[[Driver], Awaitable[None]]:
    async def steps(driver: Driver) -> None:
        await driver.press(key)
        await driver.until(lambda: isinstance(driver.room.screen, PlaceScreen) and driver.room.screen.PLACE != "board")
        await driver.until(lambda: driver.place._opened, "the place is read")
        await driver.press(*then)

    return steps


async def run_tabs(driver: Driver) -> None:
    await driver.press("o")
    await driver.at(ItemScreen)
    await driver.press("enter")
    await driver.at(RunScreen)


async def more_tabs(driver: Driver) -> None:
    await driver.press("right_square_bracket")
    await driver.drawn()


async def start(driver: Driver) -> None:
    await driver.press("s")
    await driver.at(StartRun)


async def picker(driver: Driver) -> None:
    await driver.press("p")
    await driver.at(ProjectPicker)


async def helped(driver: Driver) -> None:
    await driver.press("question_mark")
    await driver.at(HelpKeys)


async def dialog(driver: Driver, key: str) -> None:
    await driver.press(key)
    await driver.until(lambda: driver.room.screen.is_modal)


WALKS: dict[str, tuple[Callable[[Driver], Awaitable[None]], ...]] = {
    "board": (the_board, the_footer, all_projects),
    "tree": (at_place("2", "j", "j"),),
    "wall": (at_place("3", "l"),),
    "hosts": (at_place("4", "tab", "j"),),
    "providers": (at_place("5", "j"),),
    "activity": (at_place("6", "j", "j"),),
    "drawer": (lambda driver: dialog(driver, "A"),),
    "run": (run_tabs, more_tabs, more_tabs, more_tabs),
    "start": (start,),
    "edit": (lambda driver: dialog(driver, "e"),),
    "delete": (lambda driver: driver.press("h", "j"), lambda driver: dialog(driver, "D")),
    "stop": (lambda driver: dialog(driver, "x"),),
    "answer": (lambda driver: dialog(driver, "w"),),
    "projects": (picker,),
    "help": (helped,),
}


PLACES = ("board", "tree", "wall", "hosts", "providers", "activity", "run")
"""Where a wide screen has panels that a narrow one has not."""
CASES = [*((walk, (80, 24)) for walk in WALKS), *((walk, (120, 35)) for walk in PLACES)]


@pytest.mark.parametrize(("walk", "size"), CASES, ids=[f"{walk}-{size[0]}" for walk, size in CASES])
async def test_no_place_is_broken_by_what_it_shows(walk: str, size: tuple[int, int]) -> None:
    """Each payload in turn stands in every title, name, prompt, note, event, log and pane."""
    for name, payload in MIXED.items():
        async with driving(poisoned(payload), size=size) as driver:
            for steps in WALKS[walk]:
                await steps(driver)
                await driver.drawn()
                found = broken(driver.room.screen._compositor.render_strips(), size[0])
                assert not found, f"{name}: {found[:3]}"


_ROOM = """
import sys
from app.control_room import ControlRoom
from tests.screens.fake_model import clock
from tests.screens.hostile import MIXED, poisoned
ControlRoom(poisoned(MIXED[sys.argv[1]]), clock=clock).run()
"""


@pytest.mark.parametrize("payload", ["acting", "structured"])
def test_no_sequence_of_theirs_is_written_to_the_terminal(payload: str, tmp_path: Path) -> None:
    """What the control room writes to a real terminal, at every place and in a dialog."""
    seat = Seat([sys.executable, "-c", _ROOM, payload], {**terminal_environ(tmp_path), "PYTHONPATH": str(ROOT)})
    try:
        seat.until(b"executor")
        for keys in (b"jj", b"2", b"3", b"4", b"5", b"6", b"1", b"A", b"\x1b", b"e"):
            seat.write(keys)
            while seat.read(0.3):
                pass  # until the control room rests
        written = bytes(seat.output)
        assert MARK.encode() in written
        assert not foreign(written)
        assert not CONTROL.search(SEQUENCE.sub(b"", written).replace(b"\r\n", b"").decode())
    finally:
        seat.close()


_PIECES = st.one_of(
    st.text(max_size=6),
    st.sampled_from([payload[:200] for payload in PAYLOADS.values()]),
    st.text(alphabet="日👩👍🏽‍️🇩🇪\u0301\u202e\u2066\u200d\ufe0f\x1b[m\x00\x9b\ud800 \n", max_size=8),
)
_TEXTS = st.lists(_PIECES, max_size=6).map("".join)


@given(text=_TEXTS)
def test_confined_text_holds_nothing_that_acts_or_is_measured_differently(text: str) -> None:
    for said in (confined(text), one_line(text)):
        assert not CONTROL.search(said)
        assert not DISPUTED.search(said)
    assert one_line(one_line(text)) == one_line(text)


@given(left=st.lists(_TEXTS, max_size=3), right=st.lists(_TEXTS, max_size=2), width=st.integers(1, 60))
def test_a_line_of_any_words_is_as_wide_as_it_is_told(left: list[str], right: list[str], width: int) -> None:
    drawn = line([Span(one_line(each)) for each in left], [Span(one_line(each)) for each in right], width, _plain)
    assert cell_len(drawn.text) == drawn.cell_length == width


@given(text=_TEXTS, width=st.integers(1, 30), lines=st.integers(1, 4))
def test_words_over_several_lines_fit_into_each(text: str, width: int, lines: int) -> None:
    said = one_line(text)
    assert cell_len(clip(said, width)) <= width
    wrapped = wrap(said, width, lines)
    assert len(wrapped) <= lines
    assert all(cell_len(each) <= max(width, 2) for each in wrapped)


def _plain(_: Span) -> Style:
    return Style()
