"""Usage of runs: remembered by conversation, told in the journal now and then, rolled up without counting twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from store import items, projects, runs, usage
from store.errors import NotFound
from store.records import Event, Run, Usage
from store.signals import ingest
from tests.store.world import World, dump, events, query, signal, written

ACTOR = "executor"
FULL = Usage(100, 20, 300, 40, 5, 0.25, 460, 200_000, "opus")


def record(world: World, run: Run, told: Usage | None, source: str | None = "/t/a.jsonl", **options: int) -> bool:
    """Remember this of the run's present attempt."""
    attempt = options.pop("attempt", runs.get(world.store, run.id).attempt)
    return usage.record_usage(world.store, run.id, attempt, told, source=source, actor=ACTOR, **options)


def work(world: World, run: Run, seq: int = 1, activity: str = "working") -> None:
    """The agent says what it does."""
    assert ingest(world.store, signal(run, "progress", seq=seq, activity=activity)).applied


def told(world: World) -> list[Event]:
    """What the journal says of usage."""
    return events(world.store, usage.TOPIC)


def test_what_is_told_is_remembered_and_the_journal_says_so(world: World, running: Run) -> None:
    """Every field comes back as it was told."""
    assert usage.of_run(world.store, running.id) is None
    assert record(world, running, FULL)
    assert usage.of_run(world.store, running.id) == FULL
    (event,) = told(world)
    assert event.payload["run_id"] == running.id
    assert event.payload["usage"] == {name: getattr(FULL, name) for name in Usage.__slots__}


def test_the_same_told_again_writes_nothing(world: World, running: Run) -> None:
    """A look each second must not cost a write each second."""
    record(world, running, FULL, offset=77)
    before = dump(world.store)
    assert record(world, running, FULL)
    assert record(world, running, FULL, offset=77)
    assert record(world, running, None)
    assert dump(world.store) == before


def test_what_is_not_told_stays_as_it_was_known(world: World, running: Run) -> None:
    """A hook may know the context, and the transcript the tokens."""
    record(world, running, Usage(input_tokens=10, model="opus"))
    record(world, running, Usage(context_tokens=7, context_limit=100))
    assert usage.of_run(world.store, running.id) == Usage(
        input_tokens=10, context_tokens=7, context_limit=100, model="opus"
    )


@pytest.mark.parametrize("wrong", [-1, 2**60, float("nan"), float("inf"), True, "12"])
def test_a_number_that_cannot_be_is_not_told(world: World, running: Run, wrong: object) -> None:
    """Whatever a hook or a transcript held."""
    record(world, running, Usage(input_tokens=wrong, cost_usd=wrong, output_tokens=3))  # type: ignore[arg-type]
    found = usage.of_run(world.store, running.id)
    assert found is not None
    assert (found.cost_usd, found.output_tokens) == (None, 3)
    assert found.input_tokens is None


def test_a_working_agent_fills_the_journal_every_ten_seconds_at_most(world: World, running: Run) -> None:
    """And nothing is left untold: whoever asks again is told that the journal does not know yet."""
    work(world, running)
    assert record(world, running, FULL)
    for count in range(1, 10):
        world.clock.advance(1)
        assert not record(world, running, replace(FULL, output_tokens=20 + count))
    assert len(told(world)) == 1
    world.clock.advance(1)
    assert record(world, running, replace(FULL, output_tokens=29))
    assert [event.payload["usage"]["output_tokens"] for event in told(world)] == [20, 29]  # type: ignore[index]


def test_an_agent_at_rest_is_told_at_once(world: World, running: Run) -> None:
    """The last figures of a turn must not wait for the next one."""
    work(world, running)
    record(world, running, FULL)
    world.clock.advance(1)
    more = replace(FULL, output_tokens=30)
    assert not record(world, running, more)
    work(world, running, 2, "idle")
    assert record(world, running, more)
    assert len(told(world)) == 2


def test_at_the_end_of_a_run_all_is_told(world: World, running: Run) -> None:
    """Although it said last that it works."""
    work(world, running)
    record(world, running, FULL)
    world.clock.advance(1)
    assert ingest(world.store, signal(running, "finished", exit_code=0)).applied
    assert record(world, running, replace(FULL, output_tokens=31))
    assert len(told(world)) == 2


def test_how_far_a_transcript_was_read_is_kept(world: World, running: Run) -> None:
    """Also of one that has told nothing so far; that is unknown, and no event."""
    assert usage.offset_of(world.store, running.id, 1, "/t/a.jsonl") == 0
    assert written(world.store, lambda: record(world, running, None, offset=10)) == []
    assert usage.offset_of(world.store, running.id, 1, "/t/a.jsonl") == 10
    assert usage.of_run(world.store, running.id) is None
    assert usage.of_item(world.store, running.task_id) == usage.RollUp(Usage(), 1, 1, 1)


def test_without_a_source_it_is_the_conversation_that_the_run_has(world: World) -> None:
    """Hooks name no file; what they tell of a conversation with one is no second conversation."""
    run = world.run("running", conversation_id="ses_1")
    record(world, run, Usage(input_tokens=1), source=None)
    assert query(world.store, "SELECT source FROM run_usage") == [("ses_1",)]
    runs.set_transcript(world.store, run.id, 1, "/t/b.jsonl", actor=ACTOR)
    record(world, run, Usage(input_tokens=2), source=None)
    assert query(world.store, "SELECT source FROM run_usage ORDER BY source") == [("/t/b.jsonl",), ("ses_1",)]


def test_a_run_with_several_conversations_is_their_sum_with_the_context_of_the_last(world: World, running: Run) -> None:
    """``/clear`` begins another one."""
    record(world, running, FULL)
    world.clock.advance(5)
    record(world, running, Usage(1, 2, cost_usd=0.5, context_tokens=9, model="haiku"), source="/t/b.jsonl")
    assert usage.of_run(world.store, running.id) == Usage(101, 22, 300, 40, 5, 0.75, 9, None, "haiku")


def test_a_conversation_that_is_resumed_counts_once(world: World) -> None:
    """By the next attempt, or by another run: its file holds the totals of all of them."""
    first, second = world.run("running"), world.run("running")
    record(world, first, Usage(input_tokens=10, cost_usd=0.1))
    world.clock.advance(5)
    assert runs.fail(world.store, first.id, 1, "session_lost", actor=ACTOR) is not None
    runs.requeue(world.store, first.id, actor="operator")
    record(world, first, Usage(input_tokens=30, cost_usd=0.3))
    world.clock.advance(5)
    record(world, second, Usage(input_tokens=70, cost_usd=0.7))
    assert usage.of_runs(world.store) == {
        first.id: Usage(input_tokens=30, cost_usd=0.3),
        second.id: Usage(input_tokens=70, cost_usd=0.7),
    }
    assert usage.of_item(world.store, world.task.id) == usage.RollUp(Usage(input_tokens=70, cost_usd=0.7), 2, 0, 0)


def test_attempts_without_a_named_conversation_add_up(world: World, running: Run) -> None:
    """Nobody said that they go on with one another."""
    record(world, running, Usage(input_tokens=10), source="")
    assert runs.fail(world.store, running.id, 1, "session_lost", actor=ACTOR) is not None
    runs.requeue(world.store, running.id, actor="operator")
    record(world, running, Usage(input_tokens=5), source="")
    assert usage.of_run(world.store, running.id) == Usage(input_tokens=15)


def test_a_roll_up_holds_the_subtree_and_says_what_it_does_not_know(world: World) -> None:
    """Unknown is never zero, and a run that never began has used nothing."""
    store, other = world.store, items.create(world.store, world.project.id, "Other", actor="operator")
    below = items.create(store, world.project.id, "Below", parent_id=world.task.id, kind="subtask", actor="operator")

    def run_on(item_id: str) -> Run:
        run = runs.start(store, item_id, "demo", "/srv", actor="operator")
        runs.claim(store, run.id, world.host, actor=ACTOR)
        ingest(store, signal(run, "started", pid=1, wrapper_pid=2, wrapper_started=3))
        return run

    record(world, run_on(world.task.id), Usage(100, 10, cost_usd=0.5), source="/t/1")
    record(world, run_on(below.id), Usage(1, 1), source="/t/2")
    record(world, run_on(other.id), Usage(5), source="/t/3")
    run_on(below.id)
    runs.start(store, below.id, "demo", "/srv", actor="operator")
    assert usage.of_item(store, world.task.id) == usage.RollUp(Usage(101, 11, cost_usd=0.5), 3, 1, 2)
    assert usage.of_item(store, below.id) == usage.RollUp(Usage(1, 1), 2, 1, 2)
    assert usage.of_project(store, world.project.id) == usage.RollUp(Usage(106, 11, cost_usd=0.5), 4, 1, 3)
    empty = projects.add(store, "Empty", actor="operator")
    assert usage.of_project(store, empty.id) == usage.RollUp(Usage(), 0, 0, 0)
    with pytest.raises(NotFound):
        usage.of_item(store, "nowhere")


def test_all_tokens_are_those_that_are_known() -> None:
    """What was thought is in the output already."""
    assert usage.tokens(Usage()) is None
    assert usage.tokens(Usage(reasoning_tokens=5, cost_usd=1.0)) is None
    assert usage.tokens(FULL) == 460
    assert usage.tokens(Usage(output_tokens=0)) == 0


def test_a_transcript_is_read_to_its_end_once(world: World, running: Run) -> None:
    """Also by an executor that was not there when the run ended; one of long ago is let be."""
    store = world.store
    runs.set_transcript(store, running.id, 1, "/t/a.jsonl", actor=ACTOR)
    without = world.run("running")
    assert usage.unread(store, world.host.id) == []
    for run in (running, without):
        assert ingest(store, signal(run, "finished", exit_code=0)).applied
    usage.read_to_end(store, running.id, 7, actor=ACTOR)
    assert [run.id for run in usage.unread(store, world.host.id)] == [running.id]
    world.clock.advance(90_000)
    assert usage.unread(store, world.host.id) == []
    world.clock.advance(-90_000)
    usage.read_to_end(store, running.id, 1, actor=ACTOR)
    assert usage.unread(store, world.host.id) == []


def test_the_transcript_belongs_to_the_attempt(world: World, running: Run) -> None:
    """The next one has to name its own."""
    runs.set_transcript(world.store, running.id, 2, "/t/old", actor=ACTOR)
    assert runs.get(world.store, running.id).transcript is None
    runs.set_transcript(world.store, running.id, 1, "/t/a", actor=ACTOR)
    assert runs.get(world.store, running.id).transcript == "/t/a"
    assert runs.fail(world.store, running.id, 1, "session_lost", actor=ACTOR) is not None
    assert runs.requeue(world.store, running.id, actor="operator").transcript is None


def test_usage_goes_with_its_run(world: World, running: Run) -> None:
    """And nothing can be remembered of one that is gone."""
    record(world, running, FULL)
    assert ingest(world.store, signal(running, "finished", exit_code=0)).applied
    items.delete(world.store, world.task.id, actor="operator")
    assert query(world.store, "SELECT * FROM run_usage") == []
    with pytest.raises(NotFound):
        usage.record_usage(world.store, running.id, 1, FULL, actor=ACTOR)
