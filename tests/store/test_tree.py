"""The tree of items: materialised paths, moving in order and below another parent (PAM-PATH, PAM-DATA-023, 024)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store import items, moves, projects
from store.database import Store, open_store
from store.errors import InvalidValue, NotFound
from store.ids import short
from store.models import ItemRow
from store.records import Item, Project
from tests.store.world import TurnedClock, World, dump, events, query, written

SUBTREE = """
WITH RECURSIVE below(id) AS (
    SELECT id FROM work_items WHERE parent_id = ?
    UNION ALL SELECT work_items.id FROM work_items JOIN below ON work_items.parent_id = below.id
) SELECT id FROM below
"""


def _add(store: Store, project: Project, parent: Item | None = None) -> Item:
    return items.create(store, project.id, "Item", parent_id=parent.id if parent else None, actor="operator")


def _order(store: Store, project: Project) -> list[str]:
    return [item.id for item in items.list_all(store, project.id)]


def _check_tree(store: Store) -> None:
    """PAM-PATH-001, 002, PAM-DATA-041, 042: paths follow the links, and the range scan finds what the links give."""
    found = {item.id: item for item in items.list_all(store, None)}
    for item in found.values():
        above = f"{found[item.parent_id].path}/" if item.parent_id else ""
        assert item.path == above + short(item.id)
        with store.read():
            scanned = {row.id for row in items.descendants(item.path)}
        assert scanned == {id_ for (id_,) in query(store, SUBTREE, item.id)}


def test_path_is_root_first(store: Store, project: Project) -> None:
    """PAM-PATH-001, 002, rulings X-25."""
    top = _add(store, project)
    child = _add(store, project, top)
    grandchild = _add(store, project, child)
    assert top.path == top.id[:8]
    assert grandchild.path == f"{top.id[:8]}/{child.id[:8]}/{grandchild.id[:8]}"
    assert grandchild.path == grandchild.path.lower()


def test_reparent_rewrites_the_whole_subtree_and_says_so_once(store: Store, project: Project) -> None:
    """PAM-PATH-003, 004, PAM-EVT-007."""
    old, new = _add(store, project), _add(store, project)
    moved = _add(store, project, old)
    child = _add(store, project, moved)
    grandchild = _add(store, project, child)
    stays = _add(store, project, old)
    (event,) = written(store, lambda: moves.reparent(store, moved.id, new.id, actor="operator"))
    assert items.get(store, grandchild.id).path == "/".join(short(i.id) for i in (new, moved, child, grandchild))
    assert items.get(store, stays.id).path == stays.path
    assert event.topic == "work_item.reparented"
    assert event.payload == {"item_id": moved.id, "project_id": project.id, "from": old.id, "to": new.id}
    _check_tree(store)


def test_reparent_to_nothing_promotes_to_the_root(store: Store, project: Project) -> None:
    """PAM-PATH-008."""
    top = _add(store, project)
    child = _add(store, project, top)
    below = _add(store, project, child)
    promoted = moves.reparent(store, child.id, None, actor="operator")
    assert (promoted.parent_id, promoted.path) == (None, short(child.id))
    assert items.get(store, below.id).path == f"{short(child.id)}/{short(below.id)}"
    assert events(store)[-1].payload["to"] is None


def test_reparent_to_where_it_stands_writes_nothing(store: Store, project: Project) -> None:
    top = _add(store, project)
    child = _add(store, project, top)
    before = dump(store)
    moves.reparent(store, child.id, top.id, actor="operator")
    moves.reparent(store, top.id, None, actor="operator")
    assert dump(store) == before


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_item_never_moves_below_itself(store: Store, project: Project, depth: int) -> None:
    """PAM-DATA-024, PAM-API-011."""
    line = [_add(store, project)]
    for _ in range(3):
        line.append(_add(store, project, line[-1]))
    before = dump(store)
    with pytest.raises(InvalidValue, match="below itself") as refused:
        moves.reparent(store, line[0].id, line[depth].id, actor="operator")
    assert refused.value.details["cycle"] is True
    assert dump(store) == before


def test_cycle_is_seen_by_the_links_even_when_paths_are_wrong(store: Store, project: Project) -> None:
    """PAM-DATA-042, PAM-PATH-005: a path is an accelerator and never decides what is whose."""
    top = _add(store, project)
    child = _add(store, project, top)
    with store.write("operator"):
        ItemRow.update(path="00000000").where(ItemRow.id == child.id).execute()
    with pytest.raises(InvalidValue, match="below itself"):
        moves.reparent(store, top.id, child.id, actor="operator")


def test_item_never_leaves_its_project(store: Store, project: Project) -> None:
    """PAM-DATA-023, PAM-API-011: checked again on every reparent."""
    item = _add(store, project)
    elsewhere = _add(store, projects.add(store, "Elsewhere", actor="operator"))
    before = dump(store)
    with pytest.raises(InvalidValue, match="another project"):
        moves.reparent(store, item.id, elsewhere.id, actor="operator")
    assert dump(store) == before


def test_higher_kind_never_moves_below_a_lower_one(store: Store, project: Project) -> None:
    """Rulings X-50."""
    epic = items.create(store, project.id, "Epic", kind="epic", actor="operator")
    task = _add(store, project)
    with pytest.raises(InvalidValue, match="cannot stand below"):
        moves.reparent(store, epic.id, task.id, actor="operator")


def test_reparent_of_or_to_nothing_known_is_not_found(store: Store, task: Item) -> None:
    with pytest.raises(NotFound):
        moves.reparent(store, "no-such-item", None, actor="operator")
    with pytest.raises(NotFound):
        moves.reparent(store, task.id, "no-such-item", actor="operator")


def test_path_cannot_be_given(world: World) -> None:
    """PAM-PATH-007: computed; no verb takes one, and a record cannot be written to."""
    with pytest.raises(AttributeError):
        world.task.path = "elsewhere"  # type: ignore[misc]


def test_reorder_puts_an_item_before_or_after_another(store: Store, project: Project) -> None:
    """PAM-WI-010."""
    a, b, c, d = (_add(store, project) for _ in range(4))
    (event,) = written(store, lambda: moves.reorder(store, d.id, before=b.id, actor="operator"))
    assert _order(store, project) == [a.id, d.id, b.id, c.id]
    assert (event.topic, event.payload["fields"]) == ("work_item.updated", ["sort_order"])
    moves.reorder(store, a.id, after=c.id, actor="operator")
    assert _order(store, project) == [d.id, b.id, c.id, a.id]
    moves.reorder(store, a.id, before=d.id, actor="operator")
    assert _order(store, project) == [a.id, d.id, b.id, c.id]
    moves.reorder(store, a.id, after=d.id, actor="operator")
    moves.reorder(store, a.id, after=d.id, actor="operator")
    assert _order(store, project) == [d.id, a.id, b.id, c.id]
    assert _order(store, project)[-1] != _add(store, project).id
    assert len(set(query(store, "SELECT sort_order FROM work_items"))) == 5


def test_reorder_makes_room_when_the_gap_is_used_up(store: Store, project: Project) -> None:
    """PAM-WI-010: halving a gap of 1,024 ends after ten drops; the twelfth must still land where it was dropped."""
    first, last, *others = (_add(store, project) for _ in range(30))
    moves.reorder(store, last.id, after=first.id, actor="operator")
    expected = [first.id, last.id, *(other.id for other in others)]
    for other in others:
        moves.reorder(store, other.id, after=first.id, actor="operator")
        expected.remove(other.id)
        expected.insert(1, other.id)
        assert _order(store, project) == expected
    for other in others:
        moves.reorder(store, other.id, before=first.id, actor="operator")
    assert _order(store, project) == [*(other.id for other in others), first.id, last.id]
    assert len({item.sort_order for item in items.list_all(store, project.id)}) == 30


def test_reorder_is_refused_when_it_makes_no_sense(store: Store, project: Project) -> None:
    a, b = _add(store, project), _add(store, project)
    elsewhere = _add(store, projects.add(store, "Elsewhere", actor="operator"))
    before = dump(store)
    for before_id, after_id in ((None, None), (b.id, b.id), (a.id, None), (None, elsewhere.id)):
        with pytest.raises(InvalidValue):
            moves.reorder(store, a.id, before=before_id, after=after_id, actor="operator")
    with pytest.raises(NotFound):
        moves.reorder(store, a.id, before="no-such-item", actor="operator")
    assert dump(store) == before


Edit = tuple[str, int, int]

edits = st.lists(
    st.tuples(
        st.sampled_from(["create", "create", "reparent", "reparent", "promote", "delete", "before", "after"]),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=40)
@given(edits)
def test_random_edits_keep_paths_links_and_order(sequence: list[Edit]) -> None:
    """PAM-PATH-001 to 003, PAM-DATA-024, 041, PAM-WI-010: whatever is done, in whatever order."""
    store = open_store(None, clock=TurnedClock())
    project = projects.add(store, "Apollo", actor="operator")
    for edit in sequence:
        listed = items.list_all(store, project.id)
        _edit(store, project, listed, *edit)
        _check_tree(store)
    store.close()


def _edit(store: Store, project: Project, listed: list[Item], what: str, one: int, other: int) -> None:
    if what == "create" or not listed:
        _add(store, project, [None, *listed][one % (len(listed) + 1)])
        return
    item, target = listed[one % len(listed)], listed[other % len(listed)]
    order = [each.id for each in listed]
    if what == "delete":
        gone = items.delete(store, item.id, actor="operator")
        assert _order(store, project) == [id_ for id_ in order if id_ not in gone]
    elif what == "promote":
        moves.reparent(store, item.id, None, actor="operator")
    elif what == "reparent" and (target.path + "/").startswith(item.path + "/"):
        with pytest.raises(InvalidValue):
            moves.reparent(store, item.id, target.id, actor="operator")
    elif what == "reparent":
        assert moves.reparent(store, item.id, target.id, actor="operator").parent_id == target.id
    elif item.id != target.id:
        moves.reorder(store, item.id, **{what: target.id}, actor="operator")
        order.remove(item.id)
        order.insert(order.index(target.id) + (what == "after"), item.id)
        assert _order(store, project) == order
