"""Cards of the board (PAM-UI-004, PAM-WI-004, 010)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from store import board, items, moves, projects, runs
from store.database import Store
from store.records import Item
from tests.store.world import TurnedClock, World


def _card(world: World, item: Item) -> board.Card:
    (found,) = board.cards(world.store, None, item_ids=[item.id])
    return found


def _child(world: World, *path: str) -> Item:
    item = items.create(world.store, world.project.id, "Child", parent_id=world.task.id, actor="operator")
    for status in path:
        item = moves.move(world.store, item.id, status, actor="operator")  # type: ignore[arg-type]
    return item


def test_card_of_a_bare_item(world: World) -> None:
    card = _card(world, world.task)
    assert (card.item, card.newest_run, card.run_count) == (world.task, None, 0)
    assert (card.children_done, card.children_total) == (0, 0)


def test_card_has_its_newest_run_and_their_number(world: World) -> None:
    """PAM-UI-004."""
    for status in ("running", "exited", "pending"):
        world.clock.advance(1)
        newest = world.run(status)
    other = items.create(world.store, world.project.id, "Other", actor="operator")
    card = _card(world, world.task)
    assert (card.newest_run, card.run_count) == (newest, 3)
    assert _card(world, other).run_count == 0


def test_runs_of_one_moment_still_give_one_card(world: World) -> None:
    for _ in range(3):
        world.run("running")
    card = _card(world, world.task)
    assert card.newest_run is not None and card.newest_run.host == "local"
    assert card.run_count == 3
    assert len(board.cards(world.store, world.project.id)) == 1


def test_roll_up_is_for_display_and_leaves_cancelled_out(world: World) -> None:
    """PAM-WI-004: a ratio, never a status."""
    _child(world, "done")
    _child(world, "doing")
    _child(world, "cancelled")
    below = _child(world)
    items.create(world.store, world.project.id, "Grandchild", parent_id=below.id, actor="operator")
    card = _card(world, world.task)
    assert (card.children_done, card.children_total, card.item.status) == (1, 3, "todo")


def test_cards_are_those_of_the_project_in_its_order(world: World) -> None:
    """PAM-WI-010."""
    elsewhere = projects.add(world.store, "Elsewhere", actor="operator")
    there = items.create(world.store, elsewhere.id, "There", labels=["ui"], actor="operator")
    second = items.create(world.store, world.project.id, "Second", actor="operator")
    moves.reorder(world.store, second.id, before=world.task.id, actor="operator")
    assert [card.item.id for card in board.cards(world.store, world.project.id)] == [second.id, world.task.id]
    assert {card.item.id for card in board.cards(world.store, None)} == {second.id, world.task.id, there.id}
    assert _card(world, there).item.labels == ("ui",)


def test_many_cards_take_the_same_few_queries(world: World) -> None:
    """Design §9: the board of 2,000 cards must not ask per card; the answer is the same either way."""
    with world.store.write("operator"):
        for number in range(600):
            item = items.create(world.store, world.project.id, f"Item {number}", labels=["ui"], actor="operator")
            if number % 50 == 0:
                runs.start(world.store, item.id, "demo", "/srv", actor="operator")
    with _counted(world.store) as statements:
        listed = board.cards(world.store, world.project.id)
    assert len(listed) == 601
    assert len(statements) <= 8
    for card in listed[::50]:
        assert _card(world, card.item) == card


@contextmanager
def _counted(store: Store) -> Iterator[list[str]]:
    statements: list[str] = []
    connection = store._database.connection()  # type: ignore[no-untyped-call]  # the stubs have no types here
    connection.set_trace_callback(statements.append)
    yield statements
    connection.set_trace_callback(None)


def test_a_live_run_speaks_for_its_item_even_when_the_clock_was_set_back(world: World, clock: TurnedClock) -> None:
    """A card never shows an old end over an agent that lives."""
    world.run("exited")
    clock.advance(-3600)
    live = world.run("running")
    (card,) = [card for card in board.cards(world.store, None) if card.run_count]
    assert card.newest_run is not None
    assert card.newest_run.id == live.id
