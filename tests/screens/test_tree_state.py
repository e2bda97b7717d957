"""The outline without pictures: rows, folds, filters, roll-ups, the cursor that stays on its item (PAM-UI-003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from screens.filters import Filter
from screens.model import BoardView, CardView
from screens.tree_state import TreeState
from screens.tree_targets import trouble
from screens.widgets.outline_row import guides
from store.records import ITEM_STATUSES, ItemStatus
from tests.screens.fake_model import item, project, run, uid

MILESTONE = CardView(item(1, "Release", "doing", "milestone"))
EPIC = CardView(item(2, "Billing", "todo", "epic", parent=1))
TASK = CardView(
    item(3, "Webhooks", "doing", parent=2, labels=("api",)), run(50, 3, activity="waiting", source="hook"), 2
)
DONE = CardView(item(4, "Refunds", "done", parent=2))
LOOSE = CardView(item(5, "Latency", "todo"))
SUB = CardView(item(6, "Back off", "todo", "subtask", parent=3))
GONE = CardView(item(7, "gRPC", "cancelled", parent=2))


def view(*cards: CardView) -> BoardView:
    columns: dict[ItemStatus, list[CardView]] = {status: [] for status in ITEM_STATUSES}
    for card in cards:
        columns[card.item.status].append(card)
    return BoardView(project(), columns)


def tree(*cards: CardView) -> TreeState:
    return TreeState(view(*(cards or (MILESTONE, EPIC, TASK, DONE, LOOSE, SUB, GONE))))


def shown(state: TreeState) -> list[str]:
    return ["  " * row.depth + state.card(row.id).item.title for row in state.rows]  # type: ignore[union-attr]


def test_children_stand_below_their_parents_in_their_order() -> None:
    assert shown(tree()) == [
        "Release",
        "  Billing",
        "    Webhooks",
        "      Back off",
        "    Refunds",
        "    gRPC",
        "Latency",
    ]


def test_the_lines_lead_from_parent_to_child() -> None:
    assert [guides(row) for row in tree().rows] == ["", "└─", "  ├─", "  │ └─", "  ├─", "  └─", ""]


def test_a_branch_counts_the_leaves_below_it_that_are_not_cancelled() -> None:
    branch = tree().branch(uid(1))
    assert (branch.done, branch.total, branch.open, branch.below) == (1, 2, 3, 5)
    assert (branch.runs, branch.live, branch.waiting) == (2, 1, 1)


def test_what_is_over_is_folded_at_first() -> None:
    closed = CardView(item(8, "Old", "done", "epic")), CardView(item(9, "Part", "done", parent=8))
    assert shown(tree(*closed, LOOSE)) == ["Latency", "Old"]


def test_a_fold_hides_what_is_below_and_the_cursor_goes_to_what_hides_it() -> None:
    state = tree()
    assert state.find(uid(6))
    assert state.fold(uid(2), True)
    assert shown(state) == ["Release", "  Billing", "Latency"]
    assert state.chosen == EPIC
    assert not state.fold(uid(5), True), "nothing is below it"
    assert state.find(uid(6)), "looking for it unfolds"
    assert state.chosen == SUB
    assert state.fold_all()
    assert shown(state) == ["Release", "Latency"]
    assert not state.fold_all()
    assert len(state.rows) == 7


def test_a_filter_shows_what_it_finds_and_what_that_stands_below() -> None:
    state = tree()
    state.fold(uid(1), True)
    state.narrow(Filter.of("kind:subtask"))
    assert shown(state) == ["Release", "  Billing", "    Webhooks", "      Back off"]
    assert [row.matched for row in state.rows] == [False, False, False, True]
    assert state.matches == 1
    state.narrow(Filter())
    assert shown(state) == ["Release", "Latency"], "folds are as they were"


def test_the_cursor_stays_on_its_item_when_others_come_and_go() -> None:
    state = tree()
    state.find(uid(3))
    new = CardView(replace(item(0, "First"), sort_order=0))
    assert state.update([uid(0), uid(5)], {uid(0): new})
    assert state.chosen == TASK
    assert state.rows[0].id == uid(0)
    state.update([uid(3), uid(6)], {})
    assert state.chosen == DONE, "what stands in its place now"


def test_a_status_that_changes_is_added_up_above_it() -> None:
    state = tree()
    done = replace(SUB, item=replace(SUB.item, status="done"))
    assert state.update([uid(6)], {uid(6): done})
    assert [(state.branch(id_).done, state.branch(id_).open) for id_ in (uid(3), uid(2), uid(1))] == [
        (1, 0), (2, 1), (2, 2),
    ]  # fmt: skip
    assert not state.update([uid(6)], {uid(6): done}), "nothing has changed"


def test_a_move_shows_at_once_and_a_read_under_way_does_not_pull_it_back() -> None:
    state = tree()
    state.find(uid(3))
    state.begin(uid(3), parent=uid(1))
    assert shown(state)[1:4] == ["  Billing", "    Refunds", "    gRPC"]
    assert state.chosen is not None
    assert state.chosen.item.id == uid(3)
    state.update([uid(3)], {uid(3): replace(TASK, run_count=3)})
    assert state.card(uid(3)).item.parent_id == uid(1)  # type: ignore[union-attr]
    state.end(uid(3), TASK)
    assert state.card(uid(3)) == TASK
    assert state.branch(uid(2)).total == 2


def test_the_answer_to_an_earlier_change_of_status_does_not_undo_a_later_one() -> None:
    state = tree()
    state.begin(uid(5), status="doing")
    state.begin(uid(5), status="done")
    state.end(uid(5), replace(LOOSE, item=replace(LOOSE.item, status="doing")), status="doing")
    assert state.card(uid(5)).item.status == "done"  # type: ignore[union-attr]


def test_what_can_be_no_target_says_why() -> None:
    """PAM-DATA-023, PAM-DATA-024: the kinds' order, and no circle."""
    state = tree()
    assert trouble(state, uid(3), uid(1)) == ""
    assert trouble(state, uid(3), "") == ""
    assert "itself" in trouble(state, uid(3), uid(3))
    assert trouble(state, uid(3), uid(2)) == "It hangs here already."
    assert trouble(state, uid(5), "") == "It stands at the top level already."
    assert trouble(state, uid(3), uid(6)) == "“Back off” is part of what you move."
    assert trouble(state, uid(2), uid(5)) == "An epic can't hang below a task."
    assert "cancelled" in trouble(state, uid(5), uid(7))


def test_parents_that_go_round_in_a_circle_end_no_walk() -> None:
    """No store holds one, but two reads may show one for a moment."""
    first, second = CardView(item(1, "A", parent=2)), CardView(item(2, "B", parent=1))
    state = tree(first, second, LOOSE)
    assert shown(state) == ["Latency"]
    assert list(state.above(uid(1))) == [uid(2)]


_PARENTS = st.lists(st.integers(0, 30), min_size=1, max_size=30)


@settings(max_examples=60)
@given(_PARENTS, st.lists(st.tuples(st.integers(0, 29), st.sampled_from(ITEM_STATUSES)), max_size=12))
def test_changes_one_by_one_come_to_what_a_whole_reading_says(
    parents: Sequence[int], changes: Sequence[tuple[int, ItemStatus]]
) -> None:
    cards = {}
    for number, parent in enumerate(parents, 1):
        made = item(number, f"Item {number}", parent=parent if 0 < parent < number else None)
        cards[made.id] = CardView(made)
    state = tree(*cards.values())
    for index, status in changes:
        if (id_ := uid(index + 1)) in cards:
            cards[id_] = replace(cards[id_], item=replace(cards[id_].item, status=status))
            state.update([id_], {id_: cards[id_]})
    fresh = tree(*cards.values())
    assert [state.branch(id_) for id_ in cards] == [fresh.branch(id_) for id_ in cards]
    assert len(state.rows) == len(cards)


def test_the_cursor_goes_to_what_a_filter_finds_and_back_while_it_is_typed() -> None:
    state = tree()
    state.find(uid(3))
    state.narrow(Filter.of("l"))
    assert state.chosen == MILESTONE, "the first that has it"
    state.narrow(Filter.of("webhooks"))
    assert state.chosen == TASK
    state.narrow(Filter.of("refunds"))
    assert state.chosen == DONE
    state.narrow(Filter())
    assert state.chosen == DONE, "what was found keeps the cursor"
