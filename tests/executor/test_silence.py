"""Agents that print nothing, and hosts that are not seen: hinted, flagged, given up, each only when it is true.

The clocks are turned by hand; what tmux would list is written down. The last test is over real tmux.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import cast

import pytest

from executor.hosts.link import HostLink, PaneListing, PaneState, ServerIdentity, Unknown
from executor.ledger import Ledger
from executor.settings import ExecutorSettings
from executor.supervision.heartbeat import Heartbeat
from executor.supervision.silence import SilenceWatch
from executor.supervision.station import Station
from providers.recipes.recipe import Said
from store import hosts, items, journal, projects, runs, silence
from store.database import Store, open_store
from store.records import Event, Item, Run, Signal
from store.signals import ingest
from tests.store.world import TurnedClock
from tests.support.stage import ACTOR, Stage
from tests.support.waiting import until

SERVER = ServerIdentity(4711, 1_700_000_000)
DAY_S = 86_400


@dataclass
class Listed:
    """A link that lists what the test wrote down; ``server`` None is a host out of reach."""

    name: str = "local"
    server: ServerIdentity | None = SERVER
    listing: PaneListing | Unknown = field(default_factory=lambda: Unknown("nothing was written down"))

    async def instance_id(self) -> str:
        return f"instance of {self.name}"

    async def list_panes(self) -> PaneListing | Unknown:
        return self.listing


class Scene:
    """A store, a clock that drives everything, and one host."""

    def __init__(self, store: Store, clock: TurnedClock, **settings: object) -> None:
        self.store, self.clock = store, clock
        self.link = Listed()
        self.ledger = Ledger(store)
        self.host = hosts.ensure_local(store, actor="executor")
        hosts.heartbeat(store, "local", "instance of local", actor="executor")
        project = projects.add(store, "Apollo", actor=ACTOR)
        self.task: Item = items.create(store, project.id, "Land", actor=ACTOR)
        chosen = replace(ExecutorSettings(), **settings)  # type: ignore[arg-type]
        self.station = Station(cast("HostLink", self.link), self.host.id, self.ledger, chosen)
        self.monotonic = 1000.0

    def run(self) -> Run:
        """A running agent."""
        run = runs.start(self.store, self.task.id, "shell", "/srv", args=["x"], actor=ACTOR)
        assert runs.claim(self.store, run.id, hosts.get(self.store, "local"), actor="executor") is not None
        assert ingest(self.store, Signal(run.id, 1, "started", "wrapper", payload={"pid": 7})).applied
        return runs.get(self.store, run.id)

    def watch(self) -> SilenceWatch:
        """A new executor's watch."""
        return SilenceWatch(self.station, monotonic=lambda: self.monotonic)

    def heeding(self, still_s: float) -> tuple[SilenceWatch, list[tuple[str, Said]]]:
        """A watch over agents whose screens move while they work, and what it says of them."""
        told: list[tuple[str, Said]] = []

        async def say(run: Run, said: Said) -> None:
            told.append((run.id, said))

        watch = SilenceWatch(self.station, monotonic=lambda: self.monotonic, still_s=lambda _: still_s, say=say)
        return watch, told

    def pass_s(self, seconds: float) -> None:
        """Time goes by, for every clock there is, and the host beats."""
        self.clock.advance(seconds)
        self.monotonic += seconds
        hosts.heartbeat(self.store, "local", "instance of local", actor="executor")

    def show(self, *silences: tuple[Run, float]) -> None:
        """tmux lists these runs, each silent for so many seconds."""
        at = int(self.clock.now.timestamp())
        panes = tuple(_pane(run, at - int(seconds)) for run, seconds in silences)
        self.link.listing = PaneListing(SERVER, at, panes)

    def told(self, run: Run) -> list[str]:
        """What was journaled of the run's silences: their levels, ``ended``, and ``stop``."""
        words = {"run.silent": "level", "run.silence_ended": "", "run.stop_requested": "reason"}
        about = [event for event in journal.of_run(self.store, run.id) if event.topic in words]
        return [str(event.payload.get(words[event.topic], "ended")) for event in about]


def _pane(run: Run, activity: int) -> PaneState:
    return PaneState(
        session=run.session_name,
        pane_id="%1",
        pid=7,
        activity=activity,
        dead=False,
        exit_status=None,
        exit_signal=None,
        columns=220,
        rows=50,
        logged=True,
        in_mode=False,
        viewers=0,
        cursor=None,
        title="",
    )


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    """With the thresholds of PAM-CFG-014 and 015."""
    clock = TurnedClock()
    store = open_store(None, clock=clock)
    made = Scene(store, clock)
    yield made
    made.ledger.close()
    store.close()


async def _look(scene: Scene, watch: SilenceWatch, *silences: tuple[Run, float]) -> None:
    scene.pass_s(30)
    scene.show(*silences)
    await watch.look()


# Silences


async def test_a_silence_is_hinted_at_and_then_flagged_once_each(scene: Scene) -> None:
    """PAM-COMP-004, PAM-FLEET-003, PAM-CFG-014, 015: and the run goes on."""
    run, watch = scene.run(), scene.watch()
    for silent_s, told in ((599, 0), (600, 1), (700, 1), (1799, 1), (1800, 2), (1830, 2), (90_000, 2)):
        await _look(scene, watch, (run, silent_s))
        assert scene.told(run) == ["idle", "silent"][:told], silent_s
    assert runs.get(scene.store, run.id) == run
    lasting = silence.current(scene.store)[run.id]
    assert (lasting.level, lasting.attempt) == ("silent", 1)


async def test_a_hint_says_since_when(scene: Scene) -> None:
    run, watch = scene.run(), scene.watch()
    await _look(scene, watch, (run, 660))
    assert silence.current(scene.store)[run.id].since == scene.clock.now - timedelta(seconds=660)


async def test_output_ends_a_silence_and_the_next_one_is_told_anew(scene: Scene) -> None:
    run, watch = scene.run(), scene.watch()
    for silent_s in (700, 2, 20, 650, 1900, 0):
        await _look(scene, watch, (run, silent_s))
    assert scene.told(run) == ["idle", "ended", "idle", "silent", "ended"]
    assert silence.current(scene.store) == {}


async def test_each_agent_is_judged_by_itself(scene: Scene) -> None:
    """PAM-OBS-002: and one whose pane cannot be found is not judged."""
    quiet, busy, unseen, watch = scene.run(), scene.run(), scene.run(), scene.watch()
    await _look(scene, watch, (quiet, 601), (busy, 1))
    assert [scene.told(run) for run in (quiet, busy, unseen)] == [["idle"], [], []]


async def test_the_next_executor_knows_what_was_told(scene: Scene) -> None:
    """A silence is told once, however often executors come and go, and its end is not missed."""
    run = scene.run()
    await _look(scene, scene.watch(), (run, 700))
    second = scene.watch()
    await second.take_up()
    await _look(scene, second, (run, 730))
    assert scene.told(run) == ["idle"]
    third = scene.watch()
    await third.take_up()
    await _look(scene, third, (run, 3))
    assert scene.told(run) == ["idle", "ended"]


async def test_an_agent_that_waits_for_the_operator_is_not_silent(scene: Scene) -> None:
    """PAM-COMP-004: it said what it does, so nothing is guessed."""
    run, watch = scene.run(), scene.watch()
    for seq, activity in enumerate(("waiting", "idle")):
        ingest(scene.store, _progress(run, seq, activity))
        await _look(scene, watch, (run, 5000))
    assert scene.told(run) == []
    ingest(scene.store, _progress(run, 7, "working"))
    await _look(scene, watch, (run, 5030))
    assert scene.told(run) == ["silent"]
    ingest(scene.store, _progress(run, 8, "waiting"))
    await _look(scene, watch, (run, 5060))
    assert scene.told(run) == ["silent", "ended"]


async def test_nothing_is_inferred_while_the_host_does_not_answer(scene: Scene) -> None:
    """PAM-FLEET-002, 003, FR-22: no listing, or no heartbeat for longer than 90 s."""
    run, watch = scene.run(), scene.watch()
    scene.link.listing = Unknown("tmux does not answer")
    await watch.look()
    scene.clock.advance(91)
    scene.monotonic += 91
    scene.show((run, 4000))
    await watch.look()
    assert scene.told(run) == []
    await _look(scene, watch, (run, 4030))
    assert scene.told(run) == ["silent"]


async def test_a_sleep_of_the_machine_is_no_silence_of_its_agents(scene: Scene) -> None:
    """The host's clock went on by hours, ours stood still: silence is counted from the wake-up."""
    run, watch = scene.run(), scene.watch()
    await _look(scene, watch, (run, 20))
    asleep_s = 7200
    scene.clock.advance(asleep_s)
    await _look(scene, watch, (run, asleep_s + 50))
    assert scene.told(run) == []
    for silent_s in (asleep_s + 80, asleep_s + 110):
        await _look(scene, watch, (run, silent_s))
    assert scene.told(run) == []
    scene.pass_s(600)
    await _look(scene, watch, (run, asleep_s + 740))
    assert scene.told(run) == ["idle"]


async def test_a_clock_that_is_set_back_makes_nothing_silent(scene: Scene) -> None:
    run, watch = scene.run(), scene.watch()
    await _look(scene, watch, (run, 20))
    scene.clock.advance(-DAY_S)
    await _look(scene, watch, (run, -DAY_S))
    await _look(scene, watch, (run, 30))
    assert scene.told(run) == []


@pytest.mark.parametrize(("hint", "flag", "told"), [(0, 1800, ["silent"]), (600, 0, ["idle"]), (0, 0, [])])
async def test_either_can_be_switched_off(scene: Scene, hint: float, flag: float, told: list[str]) -> None:
    scene.station.settings = replace(scene.station.settings, idle_hint_s=hint, silence_s=flag)
    run, watch = scene.run(), scene.watch()
    await _look(scene, watch, (run, 5000))
    assert scene.told(run) == told


async def test_a_stop_for_silence_is_opted_into_and_asked_for_once(scene: Scene) -> None:
    """PAM-FLEET-003, rulings X-16: through the stop ladder, with its reason, and never restarted."""
    scene.station.settings = replace(scene.station.settings, silence_action="stop")
    run, watch = scene.run(), scene.watch()
    await _look(scene, watch, (run, 700))
    assert runs.get(scene.store, run.id).stop_requested_at is None
    for silent_s in (1810, 1840, 1870):
        await _look(scene, watch, (run, silent_s))
    assert scene.told(run) == ["idle", "silent", "hung"]
    asked = runs.get(scene.store, run.id)
    assert (asked.status, asked.stop_requested_at is not None) == ("running", True)
    runs.stopped(scene.store, run.id, 1, actor="executor")
    assert (runs.get(scene.store, run.id).status, runs.get(scene.store, run.id).retry_at) == ("stopped", None)


async def test_a_stop_chosen_later_reaches_what_was_flagged_before(scene: Scene) -> None:
    run = scene.run()
    await _look(scene, scene.watch(), (run, 1900))
    scene.station.settings = replace(scene.station.settings, silence_action="stop")
    second = scene.watch()
    await second.take_up()
    await _look(scene, second, (run, 1930))
    assert scene.told(run)[-1] == "hung"


async def test_a_silence_of_an_attempt_that_ended_is_nobodys(scene: Scene) -> None:
    """PAM-SIG-007 in spirit: the next attempt starts with a clean slate."""
    run = scene.run()
    scene.pass_s(1)
    assert silence.tell(scene.store, run.id, 1, "silent", 2000, heard_within_s=90, stop=True, actor="executor")
    runs.fail(scene.store, run.id, 1, "session_lost", actor="executor")
    assert silence.current(scene.store) == {}
    before = journal.head(scene.store)
    for attempt in (1, 2):
        assert not silence.tell(
            scene.store, run.id, attempt, "silent", 9, heard_within_s=90, stop=True, actor="executor"
        )
        silence.ended(scene.store, run.id, attempt, actor="executor")
    assert journal.head(scene.store) == before


def _progress(run: Run, seq: int, activity: str) -> Signal:
    return Signal(run.id, 1, "progress", "hook:claude", seq=seq, payload={"activity": activity})


# Hosts


async def _beats(scene: Scene, beat: Heartbeat, seconds: float) -> None:
    """Time goes by with a beat every 30 s."""
    for _ in range(int(seconds // 30)):
        scene.clock.advance(30)
        await beat.beat()


def _lost(scene: Scene) -> list[Event]:
    return journal.read(scene.store, topic="run.failed")


async def test_agents_of_this_machine_outlive_any_pause_of_the_control_room(scene: Scene) -> None:
    """PAM-LIVE-011, FR-34: closed for a week, opened again, nothing is given up."""
    run = scene.run()
    scene.clock.advance(7 * DAY_S)
    beat = Heartbeat(scene.station, clock=scene.clock)
    await beat.beat()
    await _beats(scene, beat, 300)
    assert runs.get(scene.store, run.id) == run


async def test_a_host_that_is_out_of_reach_for_a_day_is_given_up_then_and_not_before(scene: Scene) -> None:
    """PAM-FLEET-001, 004, PAM-EVT-021: offline after 90 s, lost after a day, once each."""
    run, beat = scene.run(), Heartbeat(scene.station, clock=scene.clock)
    scene.link.server = None
    await _beats(scene, beat, 120)
    assert hosts.get(scene.store, "local").status == "offline"
    assert runs.get(scene.store, run.id) == run
    await _beats(scene, beat, DAY_S - 120)
    assert _lost(scene) == []
    await _beats(scene, beat, 60)
    (event,) = _lost(scene)
    assert (event.payload["run_id"], event.payload["failure_reason"]) == (run.id, "host_lost")
    assert len(journal.read(scene.store, topic="worker.offline")) == 1


async def test_a_new_executor_looks_for_a_host_before_it_gives_it_up(scene: Scene) -> None:
    """PAM-FLEET-002: it was pam that was away; the host gets three beats to show up."""
    run = scene.run()
    scene.clock.advance(3 * DAY_S)
    scene.link.server = None
    beat = Heartbeat(scene.station, clock=scene.clock)
    await beat.beat()
    await _beats(scene, beat, 60)
    assert runs.get(scene.store, run.id) == run
    scene.link.server = SERVER
    await _beats(scene, beat, 60)
    assert runs.get(scene.store, run.id) == run
    scene.link.server = None
    scene.clock.advance(3 * DAY_S)
    fresh = Heartbeat(scene.station, clock=scene.clock)
    await fresh.beat()
    await _beats(scene, fresh, 90)
    assert runs.get(scene.store, run.id).failure_reason == "host_lost"


@pytest.mark.parametrize("jump_s", [3 * DAY_S, -3 * DAY_S], ids=["slept or set forward", "set back"])
async def test_a_sleep_or_a_clock_that_was_set_gives_nobody_up(scene: Scene, jump_s: float) -> None:
    """Issue 3: no clock jump makes pam say something untrue."""
    run, beat = scene.run(), Heartbeat(scene.station, clock=scene.clock)
    await _beats(scene, beat, 600)
    scene.link.server = None
    scene.clock.advance(jump_s)
    await beat.beat()
    await _beats(scene, beat, 30)
    scene.link.server = SERVER
    await _beats(scene, beat, 300)
    assert runs.get(scene.store, run.id) == run


# The whole path


def test_a_real_agent_that_falls_silent_is_hinted_flagged_and_stopped(stage: Stage) -> None:
    """PAM-COMP-004, PAM-FLEET-003, rulings X-16."""
    stage.settings = replace(stage.settings, idle_hint_s=1.0, silence_s=4.0, silence_action="stop")
    gate = stage.cwd / "gate"
    script = f"echo begun; while [ ! -e {gate} ]; do sleep 0.1; done; echo back; sleep 1000"

    def levels(run: Run) -> list[object]:
        about = [event for event in stage.events(run) if event.topic in ("run.silent", "run.silence_ended")]
        return [event.payload.get("level", "ended") for event in about]

    with stage.executor():
        run = stage.until_status(stage.shell(script, restart_policy="always"), "running")
        until(lambda: levels(run) == ["idle"], 15, lambda: stage.topics(run))
        gate.touch()
        until(lambda: levels(run)[:2] == ["idle", "ended"], 15, lambda: levels(run))
        ended = stage.until_ended(run)
        until(lambda: "run.stopped" in stage.topics(run), 10, lambda: stage.topics(run))
    assert levels(run) == ["idle", "ended", "idle", "silent"]
    assert (ended.status, ended.retry_at) == ("stopped", None)
    (asked,) = [event for event in stage.events(run) if event.topic == "run.stop_requested"]
    assert (asked.actor, asked.payload["reason"]) == ("executor", "hung")


async def test_an_agent_that_draws_while_it_works_and_draws_nothing_does_not_work(scene: Scene) -> None:
    """A prompt taken back before the answer began is told by no hook: what is not known is said to be unknown."""
    run = scene.run()
    working = Signal(run.id, 1, "progress", "hook:claude", seq=1, payload={"activity": "working"})
    assert ingest(scene.store, working).applied
    watch, told = scene.heeding(20)
    await _look(scene, watch, (run, 19))
    assert told == []
    await _look(scene, watch, (run, 24))
    ((named, said),) = told
    assert (named, said.activity, said.note) == (
        run.id,
        "unknown",
        "nothing on its screen has moved for 24 s: interrupted?",
    )


@pytest.mark.parametrize(("activity", "still_s"), [("idle", 20), ("waiting", 20), ("working", 0)])
async def test_who_does_not_work_or_need_not_draw_may_stand_still(scene: Scene, activity: str, still_s: float) -> None:
    run = scene.run()
    said = Signal(run.id, 1, "progress", "hook:claude", seq=1, payload={"activity": activity})
    assert ingest(scene.store, said).applied
    watch, told = scene.heeding(still_s)
    await _look(scene, watch, (run, 500))
    assert told == []
