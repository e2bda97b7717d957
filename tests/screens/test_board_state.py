"""The board without pictures: order, moves that are drawn at once and taken back, filters (PAM-UI-004, PAM-WI)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.board_state import BoardState, beside, legal
from screens.bursts import touched
from screens.filters import Filter
from screens.model import BoardView, CardView
from store.lifecycle import ITEM_EDGES
from store.records import ITEM_STATUSES, Event, ItemStatus
from tests.screens.fake_model import NOW, item, project, run, uid


def board(*cards: CardView) -> BoardState:
    columns: dict[ItemStatus, list[CardView]] = {status: [] for status in ITEM_STATUSES}
    for card in cards:
        columns[card.item.status].append(card)
    return BoardState(BoardView(project(), columns))


def titles(state: BoardState, status: ItemStatus) -> list[str]:
    return [card.item.title for card in state.shown(status)]


def test_a_move_shows_at_once_and_stays_when_the_store_agrees() -> None:
    card = CardView(item(1, "A"))
    state = board(card)
    assert state.move(uid(1), "doing") == {"todo", "doing"}
    assert titles(state, "doing") == ["A"]
    agreed = replace(card, item=replace(card.item, status="doing"))
    assert state.settle(uid(1), "doing", agreed) == set()
    assert titles(state, "doing") == ["A"]


def test_a_refused_move_goes_back_to_where_it_stood() -> None:
    card, other = CardView(item(1, "A")), CardView(item(2, "B"))
    state = board(card, other)
    state.move(uid(1), "doing")
    assert state.settle(uid(1), "doing", card) == {"todo", "doing"}
    assert titles(state, "todo") == ["A", "B"]
    assert titles(state, "doing") == []


def test_a_read_that_was_under_way_does_not_pull_a_moving_card_back() -> None:
    card = CardView(item(1, "A"))
    state = board(card)
    state.move(uid(1), "doing")
    state.update([uid(1)], {uid(1): replace(card, run_count=3)})
    assert titles(state, "doing") == ["A"]
    found = state.card(uid(1))
    assert found is not None
    assert found.run_count == 3


def test_the_answer_to_an_earlier_move_does_not_undo_a_later_one() -> None:
    card = CardView(item(1, "A"))
    state = board(card)
    state.move(uid(1), "doing")
    state.move(uid(1), "done")
    state.settle(uid(1), "doing", replace(card, item=replace(card.item, status="doing")))
    assert titles(state, "done") == ["A"]


def test_an_item_that_is_gone_or_in_another_project_leaves_the_board() -> None:
    state = board(CardView(item(1, "A")), CardView(item(2, "B")))
    elsewhere = CardView(item(2, "B", of=project(2, "other")))
    assert state.update([uid(1), uid(2)], {uid(2): elsewhere}) == {"todo"}
    assert state.cards() == []


def test_an_unchanged_card_touches_no_column() -> None:
    """FR-3: redraw only what changed."""
    card = CardView(item(1, "A"))
    assert board(card).update([uid(1), "no such id"], {uid(1): card}) == set()


def test_who_is_concerned_by_an_event() -> None:
    child = CardView(item(2, "child", "doing", "subtask", parent=1), run=run(50, 2))
    state = board(CardView(item(1, "parent")), child, CardView(item(3, "other")))
    events = [Event(1, "run.finished", "executor", {"run_id": uid(50), "attempt": 1}, NOW)]
    assert state.concerned(touched(events)) == {uid(50), uid(2), uid(1)}


def test_touched_reads_ids_and_lists_of_ids() -> None:
    event = Event(1, "work_item.deleted", "operator", {"item_id": "a", "ids": ["a", "b", 3], "title": "c"}, NOW)
    assert touched([event]) == {"a", "b"}


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("", ["Fix auth", "Add API"]),
        ("AUTH", ["Fix auth"]),
        ("#api", ["Add API"]),
        ("@co", ["Add API"]),
        ("claude", ["Fix auth"]),
        ("waiting", ["Fix auth"]),
        ("fix #api", []),
        ("#", []),
    ],
)
def test_the_filter_reads_words_labels_people_and_states(typed: str, shown: list[str]) -> None:
    state = board(
        CardView(item(1, "Fix auth"), run=run(9, 1, activity="waiting")),
        CardView(item(2, "Add API", labels=("api",), assignee="codex")),
    )
    state.filter = Filter.of(typed)
    assert titles(state, "todo") == shown
    assert state.count("todo") == 2


def test_swapping_and_neighbours_follow_what_is_shown() -> None:
    state = board(*(CardView(item(number, title)) for number, title in enumerate("ABC", 1)))
    assert state.neighbour(uid(1), -1) is None
    assert state.neighbour(uid(1), 1) == state.card(uid(2))
    state.filter = Filter.of("a")
    assert state.neighbour(uid(1), 1) is None
    state.filter = Filter()
    state.swap(uid(1), uid(2))
    assert titles(state, "todo") == ["B", "A", "C"]


def test_columns_stand_beside_each_other_in_order() -> None:
    assert [beside("todo", -1), beside("todo", 1), beside("cancelled", 1)] == [None, "doing", None]
    assert legal(CardView(item(1, "A", "done"))) == "doing or cancelled"
    assert legal(CardView(item(1, "A", "cancelled"))) == "todo"


_STEP = st.tuples(
    st.sampled_from(["move", "settle", "refuse", "gone"]), st.integers(1, 4), st.sampled_from(ITEM_STATUSES)
)


@given(st.lists(_STEP, max_size=30))
def test_no_sequence_of_moves_loses_or_doubles_a_card(steps: list[tuple[str, int, ItemStatus]]) -> None:
    truth = {uid(number): CardView(item(number, str(number))) for number in range(1, 5)}
    state = board(*truth.values())
    for verb, number, status in steps:
        card = truth.get(uid(number))
        if card is None:
            continue
        if verb == "move" and status in ITEM_EDGES[card.item.status]:
            state.move(uid(number), status)
        elif verb == "settle" and state._moving.get(uid(number)) == status:
            truth[uid(number)] = replace(card, item=replace(card.item, status=status))
            state.settle(uid(number), status, truth[uid(number)])
        elif verb == "refuse":
            state.settle(uid(number), status, card)
        elif verb == "gone":
            del truth[uid(number)]
            state._moving.pop(uid(number), None)
            state.update([uid(number)], {})
        assert sorted(each.item.id for each in state.cards()) == sorted(truth)
    for item_id, status in list(state._moving.items()):
        state.settle(item_id, status, truth.get(item_id))
    assert {each.item.id: each for each in state.cards()} == truth
