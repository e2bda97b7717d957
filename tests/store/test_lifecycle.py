"""Both state machines: the tables, and random walks through the real verbs (PAM-WI-001, PAM-RUN-001 to 013)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store import hosts, items, lifecycle, moves, projects, run_rows, runs
from store.database import open_store
from store.errors import Conflict, IllegalTransition, ProtocolError
from store.records import ITEM_STATUSES, RUN_STATUSES, ItemStatus, Run, RunStatus
from store.signals import ingest
from tests.store.world import ROOT, TurnedClock, World, dump, events, signal

ITEM_TABLE = {
    "todo": {"doing", "done", "cancelled"},
    "doing": {"done", "todo", "cancelled"},
    "done": {"doing", "cancelled"},
    "cancelled": {"todo"},
}
"""PAM-WI-001, written out once more."""

RUN_TABLE = {
    "pending": {"spawning", "failed", "stopped"},
    "spawning": {"running", "failed", "stopped"},
    "running": {"exited", "failed", "stopped"},
    "exited": set(),
    "failed": {"pending"},
    "stopped": set(),
}
"""PAM-RUN-001 to 012, with the edges rulings X-08 and X-47 add."""


def _check_refusal(error: IllegalTransition, current: str, target: str, table: Mapping[str, set[str]]) -> None:
    """Issue 2: exactly the legal edges are named, in the details and in the sentence."""
    legal = error.details["legal"]
    assert isinstance(legal, list)
    assert (error.details["from"], error.details["to"]) == (current, target)
    assert len(legal) == len(set(legal)) and set(legal) == table[current]
    _, _, named = str(error).partition("it can go to: ")
    assert set(named.rstrip(".").split(", ")) == (table[current] or {"nowhere", "it has ended"})


def _tries(statuses: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(current, target) for current in statuses for target in (*statuses, "nonsense")]


@pytest.mark.parametrize(("current", "target"), _tries(ITEM_STATUSES))
def test_item_edge(current: ItemStatus, target: str) -> None:
    """PAM-WI-001: these edges and nothing else."""
    if target in ITEM_TABLE[current]:
        assert lifecycle.check_item(current, target) == target
    else:
        with pytest.raises(IllegalTransition) as refused:
            lifecycle.check_item(current, target)
        _check_refusal(refused.value, current, target, ITEM_TABLE)


@pytest.mark.parametrize(("current", "target"), _tries(RUN_STATUSES))
def test_run_edge(current: RunStatus, target: str) -> None:
    """PAM-RUN-001 to 012."""
    if target in RUN_TABLE[current]:
        assert lifecycle.check_run(current, target) == target
    else:
        with pytest.raises(IllegalTransition) as refused:
            lifecycle.check_run(current, target)
        _check_refusal(refused.value, current, target, RUN_TABLE)


def test_no_other_module_knows_edges() -> None:
    """PAM-WI-005, PAM-RUN-013: a mapping from a status to statuses stands in ``store/lifecycle.py`` alone."""
    strays: list[str] = []
    for package in ("store", "executor", "providers", "screens", "app"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name == "lifecycle.py" and package == "store":
                continue
            found = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Dict)]
            strays += [f"{path.relative_to(ROOT)}:{node.lineno}" for node in found if _maps_statuses(node)]
    assert strays == []


def _maps_statuses(node: ast.Dict) -> bool:
    statuses = {*get_args(RunStatus), *get_args(ItemStatus)}
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    values = [value for value in node.values if isinstance(value, ast.Tuple | ast.List | ast.Set)]
    words = [word.value for value in values for word in value.elts if isinstance(word, ast.Constant)]
    return bool(words) and set(keys) <= statuses and set(words) <= statuses


@settings(max_examples=40)
@given(st.lists(st.sampled_from([*ITEM_STATUSES, "blocked"]), max_size=15))
def test_random_walk_of_an_item(targets: list[ItemStatus]) -> None:
    """Issue 2, PAM-WI-001, PAM-WI-012: a legal step writes one event, an illegal one nothing at all."""
    store = open_store(None, clock=TurnedClock())
    project = projects.add(store, "Apollo", actor="operator")
    item = items.create(store, project.id, "Item", actor="operator")
    for target in targets:
        before, current = dump(store), items.get(store, item.id).status
        if target in ITEM_TABLE[current]:
            moves.move(store, item.id, target, actor="operator")
            assert items.get(store, item.id).status == target
            (event,) = events(store, after=len(before["events"]))
            assert (event.payload["from"], event.payload["to"]) == (current, target)
        elif target == current:
            moves.move(store, item.id, target, actor="operator")
            assert dump(store) == before
        else:
            with pytest.raises(IllegalTransition) as refused:
                moves.move(store, item.id, target, actor="operator")
            _check_refusal(refused.value, current, target, ITEM_TABLE)
            assert dump(store) == before
    store.close()


def _stop(world: World, run: Run) -> None:
    if runs.request_stop(world.store, run.id, actor="operator").status != "stopped":
        runs.stopped(world.store, run.id, run.attempt, actor="executor")


VERBS: dict[RunStatus, Callable[[World, Run], object]] = {
    "pending": lambda world, run: runs.requeue(world.store, run.id, actor="operator"),
    "spawning": lambda world, run: runs.claim(world.store, run.id, world.host, actor="executor"),
    "running": lambda world, run: ingest(world.store, signal(run, "started")),
    "exited": lambda world, run: ingest(world.store, signal(run, "finished", exit_code=0)),
    "failed": lambda world, run: runs.fail(world.store, run.id, run.attempt, "dispatch_timeout", actor="executor"),
    "stopped": _stop,
}
"""The verb that means to reach each status."""

TOPICS = {
    "pending": ["run.requeued"],
    "spawning": ["run.spawning"],
    "running": ["run.started"],
    "exited": ["run.finished"],
    "failed": ["run.failed"],
    "stopped": ["run.stopped"],
}


@settings(max_examples=60)
@given(st.lists(st.sampled_from(RUN_STATUSES), max_size=12))
def test_random_walk_of_a_run(targets: list[RunStatus]) -> None:
    """Issue 2, PAM-RUN-001 to 012: the verbs reach a status along legal edges only, and journal each once.

    A stop of a live run is two events, the request and its completion. ``finished`` that comes while spawning implies
    the start. What a wrapper says outside its edge is noted once, for the record, and moves nothing (PAM-SIG-019).
    """
    world = _new_world()
    run = world.run()
    for target in targets:
        run = runs.get(world.store, run.id)
        before, current = dump(world.store), run.status
        refused: Conflict | None = None
        try:
            VERBS[target](world, run)
        except (IllegalTransition, ProtocolError) as error:
            refused = error
        after = dump(world.store)
        made = [event.topic for event in events(world.store, after=len(before["events"]))]
        status = runs.get(world.store, run.id).status
        implied = (current, target) == ("spawning", "exited")
        if target in RUN_TABLE[current] or implied:
            assert (refused, status) == (None, target)
            expected = TOPICS[target]
            if implied:
                expected = ["run.started", "run.finished"]
            elif target == "stopped" and current != "pending":
                expected = ["run.stop_requested", "run.stopped"]
            assert made == expected
        elif target in ("running", "exited") and current != "pending":
            assert (refused, status) == (None, current)
            assert made in ([], ["run.signal_received"], ["run.finished"])
            assert made != ["run.finished"] or current == "stopped", "PAM-EVT-012"
            assert made or after == before
        else:
            assert after == before
            if target in ("pending", "stopped"):
                assert isinstance(refused, IllegalTransition)
                _check_refusal(refused, current, target, RUN_TABLE)
    world.store.close()


@settings(max_examples=40)
@given(st.lists(st.sampled_from(RUN_STATUSES), max_size=10))
def test_no_ending_is_written_past_the_table(targets: list[RunStatus]) -> None:
    """PAM-WI-005: the one function that ends runs asks the table before it writes, whoever calls it."""
    world = _new_world()
    run = world.run("spawning")
    for target in targets:
        before, current = dump(world.store), runs.get(world.store, run.id).status
        if target in RUN_TABLE[current]:
            with world.store.write("executor") as tx:
                run_rows.end(tx, run_rows.row_of(run.id), target)
            assert runs.get(world.store, run.id).status == target
        else:
            with pytest.raises(IllegalTransition) as refused, world.store.write("executor") as tx:
                run_rows.end(tx, run_rows.row_of(run.id), target)
            _check_refusal(refused.value, current, target, RUN_TABLE)
            assert dump(world.store) == before
    world.store.close()


def _new_world() -> World:
    clock = TurnedClock()
    store = open_store(None, clock=clock)
    project = projects.add(store, "Apollo", actor="operator")
    task = items.create(store, project.id, "Item", actor="operator")
    hosts.ensure_local(store, actor="executor")
    return World(store, clock, project, task, hosts.heartbeat(store, "local", "instance-1", actor="executor"))
