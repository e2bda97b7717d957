"""The one list of actions: complete, without clashes, remappable, and never silent (screens.md, Rules)."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from textual.keys import _normalize_key_list
from textual.screen import Screen

from screens import actions
from screens.actions import ACTIONS, Here, Place
from screens.board import BoardScreen
from screens.hosts import HostsScreen
from screens.item import ItemScreen
from screens.model import CardView
from screens.providers import ProvidersScreen
from screens.run import RunScreen
from screens.tree import TreeScreen
from store.records import Kind
from tests.screens.driving import driving
from tests.screens.fake_model import NOW, item, project, run, sample

PLACES: dict[Place, type[Screen[None]]] = {
    "board": BoardScreen,
    "run": RunScreen,
    "item": ItemScreen,
    "tree": TreeScreen,
    "hosts": HostsScreen,
    "providers": ProvidersScreen,
}


def test_ids_are_unique_and_words_fit_the_help_of_a_narrow_window() -> None:
    assert len({action.id for action in ACTIONS}) == len(ACTIONS)
    for action in ACTIONS:
        assert action.title
        assert len(action.title) <= 16, action.id
        assert 0 < len(action.tooltip) <= 37, action.id


@pytest.mark.parametrize("place", PLACES)
def test_every_action_of_a_place_has_its_method_there(place: Place) -> None:
    for action in actions.at(place):
        name = re.split(r"\(", action.does)[0]
        assert hasattr(PLACES[place], f"action_{name}"), action.id


@pytest.mark.parametrize("place", PLACES)
def test_no_key_means_two_things_at_one_place(place: Place) -> None:
    keys = [key for action in actions.at(place) for key in _normalize_key_list(action.keys).split(",")]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("place", PLACES)
def test_bindings_carry_id_and_tooltip(place: Place) -> None:
    for binding in actions.bindings(place):
        assert binding.id in actions.BY_ID
        assert binding.tooltip


def test_a_key_that_cannot_act_gives_its_reason() -> None:
    def why(name: str, here: Here) -> str:
        return actions.BY_ID[name].why_not(here)

    nowhere = Here("board")
    assert why("board.new", nowhere) == "No project is open. Press p to make or choose one."
    empty = Here("board", project())
    assert why("board.start", empty) == "No card here. Press n to make one."
    assert why("board.start", replace(empty, filtered=True)) == "No card matches the filter."
    kinds: tuple[tuple[Kind, str], ...] = (("epic", "this is an epic"), ("milestone", "this is a milestone"))
    for kind, said in kinds:
        assert said in why("board.start", replace(empty, card=CardView(item(1, "A", kind=kind))))
    idle = replace(empty, card=CardView(item(1, "A")))
    assert why("board.stop", idle) == why("board.attach", idle) == "It has no run yet. Press s to start one."
    ended = run(2, 1, status="exited", exit_code=0)
    over = replace(idle, run=ended)
    assert "is over (exited)" in why("board.stop", over)
    assert "its session is gone" in why("board.attach", over)
    pending = replace(idle, run=run(2, 1, status="pending"))
    assert "not up yet" in why("board.attach", pending)
    assert why("board.stop", pending) == ""
    stopping = replace(idle, run=replace(run(2, 1), stop_requested_at=NOW))
    assert "already" in why("board.stop", stopping)
    assert why("board.unfilter", empty) == "No filter is set. Press / to set one."


def test_keys_are_shown_as_one_reads_them() -> None:
    shown = {action.id: actions.keys_of(action, {}) for action in ACTIONS}
    assert shown["board.open"] == ["↵"]
    assert shown["board.filter"] == ["/"]
    assert shown["everywhere.help"] == ["?"]
    assert shown["everywhere.palette"] == ["^p"]
    assert shown["board.left"] == ["h", "←"]
    assert actions.keys_of(actions.BY_ID["board.new"], {"board.new": "ctrl+n"}) == ["^n"]


async def test_a_remapped_key_acts_and_is_shown_in_footer_and_help() -> None:
    async with driving(sample(), keymap={"board.new": "b"}) as driver:
        assert "b new" in driver.text()
        await driver.press("n")
        assert driver.room.screen is driver.board, "the old key does nothing any more"
        await driver.press("question_mark")
        await driver.until(lambda: "New item" in driver.text())
        assert re.search(r"b +New item", driver.text())
        await driver.press("escape", "b")
        await driver.until(lambda: "Title  #label" in driver.text())
