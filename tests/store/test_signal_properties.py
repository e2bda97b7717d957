"""Whatever is delivered, how often and in whatever order: each attempt is told once, and no story has two ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import given, settings
from hypothesis import strategies as st

from store import hosts, items, projects, runs
from store.database import open_store
from store.errors import Conflict, ProtocolError
from store.records import FailureReason, Run
from store.signals import ONE_SHOT, ingest
from tests.store.world import TurnedClock, World, dump, events, signal

TERMINAL = ("run.finished", "run.failed")

attempts = st.one_of(st.integers(1, 4), st.none())
said = st.one_of(
    st.tuples(st.just("started"), attempts, st.just(0)),
    st.tuples(st.just("finished"), attempts, st.sampled_from([0, 1, 255])),
    st.tuples(st.sampled_from(["completed", "failed"]), attempts, st.just(0)),
    st.tuples(st.just("progress"), attempts, st.integers(0, 6)),
)
done = st.tuples(st.sampled_from(["claim", "lose", "stop", "stopped", "requeue"]), st.none(), st.just(0))
Step = tuple[str, int | None, int]
stories = st.lists(st.one_of(said, said, said, done), max_size=30)


@contextmanager
def _world() -> Iterator[World]:
    clock = TurnedClock()
    store = open_store(None, clock=clock)
    project = projects.add(store, "Apollo", actor="operator")
    task = items.create(store, project.id, "Item", actor="operator")
    hosts.ensure_local(store, actor="executor")
    yield World(store, clock, project, task, hosts.heartbeat(store, "local", "instance-1", actor="executor"))
    store.close()


def _act(world: World, run: Run, what: str) -> None:
    """What executor and operator do meanwhile; a refusal is an answer, too."""
    store = world.store
    try:
        if what == "claim":
            runs.claim(store, run.id, world.host, actor="executor")
        elif what == "lose":
            reason: FailureReason = "dispatch_timeout" if run.status == "pending" else "session_lost"
            runs.fail(store, run.id, run.attempt, reason, actor="executor")
        elif what == "stop":
            runs.request_stop(store, run.id, actor="operator")
        elif what == "stopped":
            runs.stopped(store, run.id, run.attempt, actor="executor")
        else:
            runs.requeue(store, run.id, actor="operator")
    except Conflict:
        pass


def _deliver(world: World, run: Run, kind: str, attempt: int | None, number: int) -> None:
    """Deliver one signal and hold its effect against PAM-SIG-004 to 010, 018."""
    store, before = world.store, dump(world.store)
    seq = number if kind == "progress" else None
    message = signal(run, kind, attempt=attempt, seq=seq, exit_code=number, activity="working")
    try:
        applied = ingest(store, message).applied
    except ProtocolError:
        assert attempt is None or attempt > run.attempt or run.status == "pending"
        applied = False
    else:
        assert attempt is not None and attempt <= run.attempt
    now, made = runs.get(store, run.id), events(store, after=len(before["events"]))
    if not applied:
        assert dump(store) == before
        return
    assert attempt == run.attempt
    implied_start = (run.status, kind) == ("spawning", "finished") and len(made) == 2
    assert len(made) == 1 or implied_start
    assert now.status == run.status or kind in ("started", "finished")
    if kind == "progress":
        assert run.last_progress_seq is None or run.last_progress_seq < number == now.last_progress_seq


def _check_story(world: World, run: Run) -> None:
    """PAM-EVT-026, PAM-TEST-009: per attempt each fact stands once, and never both terminal topics."""
    about: Counter[tuple[object, str]] = Counter()
    shots: Counter[tuple[object, object]] = Counter()
    for event in events(world.store, "run.*"):
        about[event.payload["attempt"], event.topic] += 1
        if event.topic == "run.signal_received" and event.payload["kind"] in ONE_SHOT:
            shots[event.payload["attempt"], event.payload["kind"]] += 1
    once = ("run.created", "run.spawning", "run.started", "run.finished", "run.failed", "run.stopped", "run.requeued")
    for attempt in range(1, run.attempt + 1):
        assert all(about[attempt, topic] <= 1 for topic in once)
        assert sum(about[attempt, topic] for topic in TERMINAL) <= 1
    assert all(count == 1 for count in shots.values())


@settings(max_examples=80)
@given(stories)
def test_random_deliveries_keep_every_rule(steps: list[Step]) -> None:
    """PAM-SIG-004 to 010, 018, 019, PAM-EVT-026."""
    with _world() as world:
        run = world.run("spawning")
        for what, attempt, number in steps:
            run = runs.get(world.store, run.id)
            if what in (*ONE_SHOT, "progress"):
                _deliver(world, run, what, attempt, number)
            else:
                _act(world, run, what)
        _check_story(world, runs.get(world.store, run.id))


ONE_LIFE = [
    ("started", {}),
    ("progress", {"seq": 1, "activity": "working"}),
    ("progress", {"seq": 2, "activity": "waiting"}),
    ("completed", {"result": "success"}),
    ("progress", {"seq": 3, "activity": "idle"}),
    ("finished", {"exit_code": 0}),
]


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, len(ONE_LIFE) - 1), max_size=4),
    st.lists(st.integers(0, len(ONE_LIFE) - 1), min_size=len(ONE_LIFE), max_size=20),
)
def test_spool_read_again_from_anywhere_ends_the_same(cuts: list[int], noise: list[int]) -> None:
    """PAM-SIG-011, 012, PAM-TEST-008: read at least once, applied exactly once.

    A reader that loses its cursor begins again at an earlier line, as often as it likes; the state and the journal end
    as if each line had been read once.
    """
    with _world() as world:
        run = world.run("spawning")
        for position in range(len(ONE_LIFE)):
            for cut in [cut for cut in cuts if cut <= position] + [position]:
                for kind, payload in ONE_LIFE[cut : position + 1]:
                    ingest(world.store, signal(run, kind, **payload))  # type: ignore[arg-type]
        settled = dump(world.store)
        for index in noise:
            kind, payload = ONE_LIFE[index]
            assert not ingest(world.store, signal(run, kind, **payload)).applied  # type: ignore[arg-type]
        assert dump(world.store) == settled
        ended = runs.get(world.store, run.id)
        assert (ended.status, ended.last_progress_seq, ended.exit_code) == ("exited", 3, 0)
        said_so = [(event.topic, event.payload.get("kind")) for event in events(world.store, "run.*")]
    assert said_so == [
        ("run.created", None),
        ("run.spawning", None),
        ("run.started", None),
        ("run.signal_received", "progress"),
        ("run.signal_received", "progress"),
        ("run.signal_received", "completed"),
        ("run.signal_received", "progress"),
        ("run.finished", None),
    ]


@settings(max_examples=25)
@given(st.permutations(ONE_LIFE))
def test_reordered_delivery_still_ends_the_run_rightly(order: list[tuple[str, dict[str, object]]]) -> None:
    """PAM-SIG-005, PAM-RUN-007: whatever overtakes what, the exit decides and progress never runs backwards."""
    with _world() as world:
        run = world.run("spawning")
        newest = -1
        for kind, payload in order:
            ingest(world.store, signal(run, kind, **payload))  # type: ignore[arg-type]
            seq = runs.get(world.store, run.id).last_progress_seq
            assert seq is None or seq >= newest
            newest = seq if seq is not None else newest
        ended = runs.get(world.store, run.id)
        assert (ended.status, ended.exit_code) == ("exited", 0)
        _check_story(world, ended)
