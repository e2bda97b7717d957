"""Prompts and keys for live runs: in order, one at a time, told step by step, typed at most once."""

from __future__ import annotations

import pytest

from store import deliveries, hosts, leases, runs
from store.errors import Conflict, InvalidValue, LeaseHeld, NotFound
from store.records import Delivery, Run
from store.signals import ingest
from tests.store.world import World, dump, events, execute, query, signal, topics, written

ME = "operator"
EXECUTOR = "executor"


def typed(world: World, run: Run, prompt: str = "Go on", *, awaited: bool = True, busy: bool = False) -> Delivery:
    """A prompt that was typed."""
    made = deliveries.queue_prompt(world.store, run.id, prompt, actor=ME)
    assert deliveries.claim(world.store, made.id, actor=EXECUTOR) is not None
    done = deliveries.typed(world.store, made.id, awaited=awaited, while_busy=busy, actor=EXECUTOR)
    assert done is not None
    return done


def test_a_prompt_goes_from_queued_to_confirmed_and_each_step_is_told(world: World, running: Run) -> None:
    """PAM-EVT-024: every event has run and attempt; the text stands in the row and nowhere else."""
    long = "x" * 200
    prompt = f"{long}\nand the rest, with a secret"
    before = events(world.store)[-1].seq
    made = typed(world, running, prompt)
    assert not made.over and made.delivered is None
    confirmed = deliveries.confirm(world.store, running.id, 1, actor="hook:claude")
    assert confirmed is not None and confirmed.over and confirmed.delivered
    assert (confirmed.text, confirmed.typed_at, confirmed.settled_at) == (prompt, world.clock.now, world.clock.now)
    told = events(world.store, after=before)
    assert [event.topic for event in told] == ["run.prompt_queued", "run.prompt_delivered", "run.prompt_confirmed"]
    assert told[0].payload["length"] == len(prompt) and told[0].payload["first_line"] == long[:80]
    assert all(event.payload["run_id"] == running.id and event.payload["attempt"] == 1 for event in told)
    assert all(event.payload["delivery_id"] == made.id for event in told)
    assert "secret" not in str([event.payload for event in told])


def test_without_hooks_typed_is_the_end(world: World, running: Run) -> None:
    """Nobody can say more, and nobody's word is taken for it."""
    made = typed(world, running, awaited=False)
    assert made.over and made.delivered
    assert deliveries.confirm(world.store, running.id, 1, actor=ME) is None
    assert deliveries.current(world.store, running.id) is None


def test_one_at_a_time_and_in_order(world: World, running: Run) -> None:
    """The second is claimed once the first is settled, however many callers ask."""
    first, second = (deliveries.queue_prompt(world.store, running.id, word, actor=ME) for word in ("one", "two"))
    assert deliveries.claim(world.store, first.id, actor=EXECUTOR) is not None
    assert deliveries.claim(world.store, first.id, actor=EXECUTOR) is None
    assert deliveries.claim(world.store, second.id, actor=EXECUTOR) is None
    deliveries.typed(world.store, first.id, awaited=True, actor=EXECUTOR)
    assert deliveries.claim(world.store, second.id, actor=EXECUTOR) is None
    assert deliveries.unconfirmed(world.store, first.id, "no word", actor=EXECUTOR) is not None
    current = deliveries.current(world.store, running.id)
    assert current is not None and current.id == second.id
    assert deliveries.claim(world.store, second.id, actor=EXECUTOR) is not None


def test_keys_behind_a_waiting_prompt_are_found(world: World, running: Run) -> None:
    """They may answer what the prompt waits for."""
    prompt = deliveries.queue_prompt(world.store, running.id, "Go on", actor=ME)
    assert deliveries.queued_keys(world.store, running.id, 1) is None
    keys = deliveries.queue_keys(world.store, running.id, ["Enter"], actor=ME)
    found = deliveries.queued_keys(world.store, running.id, 1)
    assert found is not None and found.id == keys.id
    assert deliveries.claim(world.store, prompt.id, actor=EXECUTOR) is not None
    assert deliveries.claim(world.store, keys.id, actor=EXECUTOR) is None


def test_a_word_confirms_the_oldest_that_waits_for_one(world: World, running: Run) -> None:
    """Of this attempt only, and a prompt typed by hand confirms nothing."""
    made = typed(world, running)
    assert deliveries.confirm(world.store, running.id, 2, actor=ME) is None
    confirmed = deliveries.confirm(world.store, running.id, 1, actor=ME)
    assert confirmed is not None and confirmed.id == made.id
    assert deliveries.confirm(world.store, running.id, 1, actor=ME) is None


def test_the_signal_that_a_prompt_was_accepted_confirms_it(world: World, running: Run) -> None:
    """One transaction: the word and what follows from it."""
    made = typed(world, running)
    assert ingest(world.store, signal(running, "progress", seq=1, activity="working", accepted=True)).applied
    assert deliveries.get(world.store, made.id).status == "confirmed"


def test_a_busy_agent_may_take_a_prompt_up_late(world: World, running: Run) -> None:
    """An idle one that said nothing may not: the word is then about something else."""
    idle, busy = typed(world, running), None
    deliveries.unconfirmed(world.store, idle.id, "no word", actor=EXECUTOR)
    assert deliveries.confirm(world.store, running.id, 1, actor=ME) is None
    busy = typed(world, running, busy=True)
    deliveries.unconfirmed(world.store, busy.id, "no word", actor=EXECUTOR)
    world.clock.advance(1200)
    late = deliveries.confirm(world.store, running.id, 1, actor=ME)
    assert late is not None and (late.id, late.reason) == (busy.id, None)


@pytest.mark.parametrize("status", ["exited", "failed", "stopped"])
def test_only_a_live_run_is_typed_into(world: World, status: str) -> None:
    """The refusal says what to do instead, and writes nothing."""
    run = world.run(status)  # type: ignore[arg-type]
    before = dump(world.store)
    with pytest.raises(Conflict, match=r"no agent is there.*`pam run (resume|restart) "):
        deliveries.queue_prompt(world.store, run.id, "Go on", actor=ME)
    with pytest.raises(Conflict, match="no agent is there"):
        deliveries.queue_keys(world.store, run.id, ["Enter"], actor=ME)
    assert dump(world.store) == before


def test_a_run_that_is_being_stopped_takes_nothing_more(world: World, running: Run) -> None:
    """Neither anew nor from the queue."""
    made = deliveries.queue_prompt(world.store, running.id, "Go on", actor=ME)
    runs.request_stop(world.store, running.id, actor=ME)
    assert deliveries.claim(world.store, made.id, actor=EXECUTOR) is None
    with pytest.raises(Conflict, match="is being stopped"):
        deliveries.queue_prompt(world.store, running.id, "Go on", actor=ME)


def test_two_writers_are_not_mixed_up(world: World, running: Run) -> None:
    """PAM-ATT-003: who holds the lease types; it is named."""
    leases.acquire(world.store, running.id, "me@desk", actor=ME)
    with pytest.raises(LeaseHeld, match="me@desk types into this run"):
        deliveries.queue_prompt(world.store, running.id, "Go on", actor=ME)
    world.clock.advance(301)
    assert deliveries.queue_prompt(world.store, running.id, "Go on", actor=ME).status == "queued"


@pytest.mark.parametrize("prompt", ["", " \n\t", "\x1b\x00", "x" * 131_072, "é" * 65_536])
def test_a_prompt_that_cannot_be_typed_is_refused(world: World, running: Run, prompt: str) -> None:
    """Empty, or beyond what an agent can be given; bytes count."""
    with pytest.raises(InvalidValue, match="prompt"):
        deliveries.queue_prompt(world.store, running.id, prompt, actor=ME)


def test_control_characters_do_not_even_reach_the_queue(world: World, running: Run) -> None:
    """Newlines and tabs are text."""
    made = deliveries.queue_prompt(world.store, running.id, "a\x1b[201~\x00b\r\n\tc\x9b", actor=ME)
    assert made.text == "a[201~b\n\tc"


@pytest.mark.parametrize("keys", [[], ["Enter"] * 101, ["x" * 21]])
def test_keys_have_bounds(world: World, running: Run, keys: list[str]) -> None:
    """The executor checks their names."""
    with pytest.raises(InvalidValue, match="key"):
        deliveries.queue_keys(world.store, running.id, keys, actor=ME)


def test_keys_are_told_by_name_and_text_by_its_length(world: World, running: Run) -> None:
    """What is typed letter by letter may be a password."""
    (event,) = written(
        world.store, lambda: deliveries.queue_keys(world.store, running.id, ["Enter"], typed="hunter2", actor=ME)
    )
    assert (event.topic, event.payload["keys"], event.payload["length"]) == ("run.keys_queued", ["Enter"], 7)
    assert "hunter2" not in str(event.payload)


def test_the_first_prompt_of_an_attempt_is_queued_once_and_goes_first(world: World) -> None:
    """However often its session is made; the next attempt has one of its own."""
    run = world.run("spawning")
    other = deliveries.queue_prompt(world.store, run.id, "and then", actor=ME)
    opening = deliveries.queue_opening(world.store, run.id, 1, "Fix it", actor=EXECUTOR)
    assert opening is not None
    assert deliveries.queue_opening(world.store, run.id, 1, "Fix it", actor=EXECUTOR) is None
    assert deliveries.queue_opening(world.store, run.id, 2, "Fix it", actor=EXECUTOR) is None
    assert ingest(world.store, signal(run, "started", pid=1)).applied
    current = deliveries.current(world.store, run.id)
    assert current is not None and current.id == opening.id
    assert other.id < opening.id


def test_the_first_prompt_as_an_argument_is_awaited_before_any_other_is_typed(world: World, running: Run) -> None:
    """Its word would be taken for the other's; keys go on, they may answer a question at the start."""
    given = deliveries.queue_opening(world.store, running.id, 1, "Fix it", given=True, actor=EXECUTOR)
    assert given is not None and (given.status, given.awaited) == ("typed", True)
    prompt = deliveries.queue_prompt(world.store, running.id, "and then", actor=ME)
    keys = deliveries.queue_keys(world.store, running.id, ["1"], actor=ME)
    assert deliveries.claim(world.store, prompt.id, actor=EXECUTOR) is None
    assert deliveries.queued_keys(world.store, running.id, 1) == keys
    assert deliveries.claim(world.store, keys.id, actor=EXECUTOR) is not None
    deliveries.typed(world.store, keys.id, actor=EXECUTOR)
    deliveries.unconfirmed(world.store, given.id, "no word", actor=EXECUTOR)
    late = deliveries.confirm(world.store, running.id, 1, actor=ME)
    assert late is not None and late.id == given.id
    assert deliveries.claim(world.store, prompt.id, actor=EXECUTOR) is not None


def test_what_an_executor_left_in_the_middle_is_never_done_again(world: World, running: Run) -> None:
    """It may have been typed. What was typed and waits for a word goes on waiting, what is queued stays queued."""
    cut = deliveries.queue_prompt(world.store, running.id, "one", actor=ME)
    assert deliveries.claim(world.store, cut.id, actor=EXECUTOR) is not None
    queued = deliveries.queue_prompt(world.store, running.id, "two", actor=ME)
    other = world.run("running")
    waiting = typed(world, other)
    hosts.add(world.store, "moon", "linux", ssh_target="moon", actor=ME)
    assert deliveries.take_up_after_restart(world.store, "no such host", actor=EXECUTOR) == []
    (settled,) = deliveries.take_up_after_restart(world.store, world.host.id, actor=EXECUTOR)
    assert (settled.id, settled.status) == (cut.id, "unconfirmed")
    assert settled.reason is not None and "may have been typed or not" in settled.reason
    assert deliveries.take_up_after_restart(world.store, world.host.id, actor=EXECUTOR) == []
    assert deliveries.get(world.store, queued.id).status == "queued"
    assert deliveries.get(world.store, waiting.id).status == "typed"
    assert "run.prompt_unconfirmed" in topics(world.store)


def test_what_is_settled_stays_settled(world: World, running: Run) -> None:
    """Guarded by the status: a late caller changes neither row nor journal."""
    made = typed(world, running, awaited=False)
    before = dump(world.store)
    assert deliveries.refuse(world.store, made.id, "too late", actor=EXECUTOR) is None
    assert deliveries.typed(world.store, made.id, actor=EXECUTOR) is None
    assert dump(world.store) == before
    with pytest.raises(NotFound, match="There is no delivery 999"):
        deliveries.get(world.store, 999)


def test_due_are_runs_that_run_here_or_never_will(world: World) -> None:
    """One that waits for its start is not asked about until it starts."""
    here, waiting, gone, again = (world.run("running"), world.run(), world.run("running"), world.run())
    for run in (here, waiting, gone, again):
        deliveries.queue_prompt(world.store, run.id, "Go on", actor=ME)
    ingest(world.store, signal(gone, "finished", exit_code=0))
    runs.fail(world.store, again.id, 1, "no_eligible_host", actor=EXECUTOR)
    runs.requeue(world.store, again.id, actor=ME)
    assert set(deliveries.due(world.store, world.host.id)) == {here.id, gone.id, again.id}
    assert set(deliveries.due(world.store, "elsewhere")) == {gone.id, again.id}


def test_a_delivery_is_refused_under_the_attempt_it_was_meant_for(world: World, running: Run) -> None:
    """PAM-EVT-028: also when the run is at the next one by then."""
    made = deliveries.queue_prompt(world.store, running.id, "Go on", actor=ME)
    execute(world.store, "UPDATE runs SET attempt = 2")
    (event,) = written(world.store, lambda: deliveries.refuse(world.store, made.id, "it ended", actor=EXECUTOR))
    assert (event.topic, event.payload["attempt"], event.payload["reason"]) == ("run.prompt_refused", 1, "it ended")
    assert deliveries.get(world.store, made.id).delivered is False


def test_deliveries_go_with_their_run(world: World, running: Run) -> None:
    """PAM-DATA-034."""
    deliveries.queue_prompt(world.store, running.id, "Go on", actor=ME)
    assert [one.text for one in deliveries.of_run(world.store, running.id)] == ["Go on"]
    execute(world.store, "DELETE FROM runs")
    assert query(world.store, "SELECT count(*) FROM deliveries") == [(0,)]
