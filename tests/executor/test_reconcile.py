"""The plan as a pure function: every class of run and session, no act on unknown, and nothing left to do twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor.hosts.link import Liveness, PaneListing, PaneState, ServerIdentity, Unknown
from executor.supervision.epoch import epoch_of, home_of, mark
from executor.supervision.plan import Limits, Seen, Step, plan
from store.orphans import Orphan
from store.records import Run, RunStatus

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
HERE, THERE = "host-here", "host-there"
HOME, OTHER_HOME = "0123abcd", "feedbeef"
LIMITS = Limits(spawn_timeout_s=30, orphan_hold_s=3600)
SERVER = ServerIdentity(77, 1700000000)
KILLS = ("give_up", "report_lost", "stop", "end_session", "remove", "end_orphan", "respawn")


def a_run(number: int = 1, status: RunStatus = "running", **columns: object) -> Run:
    """A run whose wrapper and agent are known while it runs or once it has run."""
    id_ = f"{number:08x}-0000-4000-8000-000000000000"
    known = status not in ("pending", "spawning")
    run = Run(
        id=id_,
        task_id="task",
        host_id=None if status == "pending" else HERE,
        host=None if status == "pending" else "local",
        pinned_host_id=None,
        provider="shell",
        session_name=f"pam-{id_[:8]}",
        status=status,
        attempt=2,
        max_attempts=3,
        restart_policy="never",
        last_progress_seq=None,
        failure_reason=None,
        last_failure_reason=None,
        pending_since=NOW,
        cwd="/",
        prompt=None,
        model=None,
        args=(),
        conversation_id=None,
        exit_code=None,
        stop_requested_at=None,
        retry_at=None,
        activity="unknown",
        activity_source=None,
        activity_at=None,
        activity_note=None,
        pane_id=None,
        wrapper_pid=1000 + number if known else None,
        wrapper_started=5 if known else None,
        started_at=None,
        finished_at=None,
        created_at=NOW,
        updated_at=NOW,
        agent_pid=2000 + number if known else None,
        agent_started=6 if known else None,
    )
    return replace(run, **columns)  # type: ignore[arg-type]


def a_pane(
    number: int = 1, made: str = mark(HOME, 2), *, dead: bool = False, pid: int | None = None, pane_id: str = ""
) -> PaneState:
    """A pane in the session of that run."""
    return PaneState(
        session=f"pam-{number:08x}",
        pane_id=pane_id or f"%{number}",
        pid=1000 + number if pid is None else pid,
        activity=0,
        dead=dead,
        exit_status=None,
        exit_signal=None,
        columns=220,
        rows=50,
        logged=True,
        in_mode=False,
        viewers=0,
        cursor=None,
        title="",
        mark=made,
    )


def seen(*panes: PaneState, **facts: object) -> Seen:
    """The host with these panes."""
    return Seen("local", HERE, HOME, PaneListing(SERVER, 0, panes), **facts)  # type: ignore[arg-type]


def an_orphan(number: int = 1, age_s: float = 0, *, server: str = str(SERVER)) -> Orphan:
    """Detected that long ago."""
    return Orphan("local", f"pam-{number:08x}", server, (f"%{number}",), NOW - timedelta(seconds=age_s))


NOTES = ("flag", "forget")
"""Words in the journal, beside the step that accounts for a session."""


def only(runs: Iterable[Run], sight: Seen) -> Step:
    """The one step of a plan, without notes."""
    (step,) = [step for step in plan(list(runs), sight, LIMITS, NOW) if step.action not in NOTES]
    return step


def flags(runs: Iterable[Run], sight: Seen) -> list[str]:
    """Whom the plan says to be alive after the end."""
    return [step.subject for step in plan(list(runs), sight, LIMITS, NOW) if step.action == "flag"]


def life(life_: Liveness, number: int = 1) -> dict[str, Liveness]:
    """Of that run's process."""
    return {a_run(number).id: life_}


# -- runs that should live


@pytest.mark.parametrize(
    ("panes", "waited_s", "action"),
    [
        ((), 1, "respawn"),
        ((), 31, "give_up"),
        ((a_pane(),), 1, "keep"),
        ((a_pane(),), 31, "give_up"),
        ((a_pane(dead=True),), 1, "give_up"),
        ((a_pane(made=mark(HOME, 1)),), 1, "respawn"),
        ((a_pane(made=""),), 1, "respawn"),
        ((a_pane(made=mark(OTHER_HOME, 2)),), 1, "wait"),
    ],
)
def test_a_run_that_is_starting(panes: tuple[PaneState, ...], waited_s: float, action: str) -> None:
    """PAM-LIVE-006, PAM-RST-005, 007, FR-33: a state of its own with its own deadline."""
    run = a_run(status="spawning")
    step = only([run], seen(*panes, waited_s={run.id: waited_s}))
    assert step.action == action
    assert step.failure == ("spawn_failed" if action == "give_up" else None)


def test_a_clock_that_jumps_makes_nobody_late() -> None:
    """Only who looks without having counted goes by the store's clock."""
    run = a_run(status="spawning", updated_at=NOW - timedelta(hours=1))
    assert only([run], seen(a_pane(), waited_s={run.id: 0.5})).action == "keep"
    assert only([run], seen(a_pane())).action == "give_up"


@pytest.mark.parametrize("panes", [(), (a_pane(),), (a_pane(dead=True),)])
@pytest.mark.parametrize(("wrapper", "action"), [("alive", "keep"), ("dead", "report_lost"), ("unknown", "wait")])
def test_a_running_run_goes_by_its_wrapper_not_by_its_session(
    panes: tuple[PaneState, ...], wrapper: Liveness, action: str
) -> None:
    """FR-20, FR-22, PAM-LIVE-006, 007."""
    step = only([a_run()], seen(*panes, wrappers=life(wrapper)))
    assert step.action == action
    assert step.failure == ("session_lost" if action == "report_lost" else None)


def test_a_twin_under_the_name_of_a_run_that_lives_is_ended() -> None:
    """FR-29: its wrapper is in none of the panes."""
    twin = a_pane(pid=4444)
    step = only([a_run()], seen(twin, wrappers=life("alive")))
    assert (step.action, step.pane) == ("end_session", twin)
    assert only([a_run()], seen(twin, wrappers=life("unknown"))).action == "wait"


def test_a_pane_that_the_operator_added_is_no_twin() -> None:
    """Issue 3, part 5: a split before ours as well as behind it."""
    split = a_pane(made="", pid=4444, pane_id="%9")
    for panes in ((split, a_pane()), (a_pane(), split)):
        assert only([a_run()], seen(*panes, wrappers=life("alive"))).action == "keep"
    assert only([a_run()], seen(split, wrappers=life("alive"))).action == "keep"


@pytest.mark.parametrize("status", ["spawning", "running"])
@pytest.mark.parametrize("wrapper", ["alive", "dead", "unknown"])
def test_a_stop_that_was_asked_for_comes_before_everything(status: RunStatus, wrapper: Liveness) -> None:
    """Rulings X-56, FR-28: an agent asked to stop is never said to be lost, and never made again."""
    run = a_run(status=status, stop_requested_at=NOW)
    assert only([run], seen(wrappers=life(wrapper))).action == "stop"


def test_what_the_spool_says_is_heard_before_anything_is_judged() -> None:
    """PAM-LIVE-007: an end that nobody has read yet is an end, not a loss."""
    run = a_run()
    assert only([run], seen(wrappers=life("dead"), unread=frozenset({run.id}))).action == "wait"


def test_nothing_is_done_to_a_session_somebody_has_in_hand() -> None:
    run = a_run()
    assert only([run], seen(wrappers=life("dead"), busy=frozenset({run.session_name}))).action == "wait"
    assert only([], seen(a_pane(), busy=frozenset({run.session_name}))).action == "wait"


# -- runs that have ended


@pytest.mark.parametrize(
    ("run", "agent", "action"),
    [
        (a_run(status="exited", exit_code=0), "dead", "keep"),
        (a_run(status="failed", failure_reason="host_lost"), "alive", "wait"),
        (a_run(status="failed", failure_reason="host_lost"), "unknown", "wait"),
        (a_run(status="failed", failure_reason="host_lost"), "dead", "keep"),
    ],
)
def test_the_session_of_the_attempt_that_ended(run: Run, agent: Liveness, action: str) -> None:
    """PAM-LIVE-008, 009, rulings X-07: hold-open is normal, what lives is told and never ended."""
    assert only([run], seen(a_pane(), agents=life(agent))).action == action


def test_an_agent_that_lives_is_told_once_with_a_session_and_without() -> None:
    run = a_run(status="failed")
    for panes in ((a_pane(),), (a_pane(dead=True),), ()):
        alive = seen(*panes, agents=life("alive"))
        assert flags([run], alive) == [run.session_name]
        assert flags([run], replace(alive, flagged=frozenset({run.id}))) == []
        assert only([run], alive).action == "wait"
    assert plan([run], seen(agents=life("dead")), LIMITS, NOW) == ()


@pytest.mark.parametrize("status", ["pending", "spawning", "running", "exited", "failed", "stopped"])
def test_what_an_earlier_attempt_left_is_ended(status: RunStatus) -> None:
    """PAM-LIVE-008: told apart by the epoch, whatever became of the run since."""
    run = a_run(status=status, host_id=THERE if status in ("spawning", "running") else HERE)
    step = only([run], seen(a_pane(made=mark(HOME, 1)), agents=life("alive")))
    assert step.action == "end_session"


@pytest.mark.parametrize("made", ["", mark(OTHER_HOME, 1), mark(OTHER_HOME, 2), mark(HOME, 3), "rubbish", "x:y"])
@pytest.mark.parametrize("dead", [True, False])
def test_a_session_that_is_not_ours_is_left_alone_whatever_its_name(made: str, dead: bool) -> None:
    """PAM-TMUX-009, PAM-TMUX-021: two homes may share a server."""
    run = a_run(status="exited", exit_code=0)
    step = only([run], seen(a_pane(made=made, pid=4444, dead=dead), agents=life("dead")))
    assert not step.acts or (epoch_of(made) is not None and made == mark(HOME, 3) and step.action == "remove")


def test_an_ended_pane_goes_unless_the_operator_has_one_beside_it() -> None:
    run = a_run(status="exited", exit_code=0)
    split = a_pane(made="", pid=4444, pane_id="%9")
    assert only([run], seen(a_pane(dead=True))).action == "remove"
    assert only([run], seen(a_pane(dead=True), replace(split, dead=True))).action == "remove"
    assert only([run], seen(a_pane(dead=True), split)).action == "wait"


def test_a_stop_whose_tree_nobody_saw_gone_is_completed() -> None:
    """Rulings X-56: the wrapper said the end, then the executor died."""
    run = a_run(status="stopped", stop_requested_at=NOW, exit_code=-15)
    for panes in ((), (a_pane(dead=True),), (a_pane(),)):
        assert only([run], seen(*panes, unverified=frozenset({run.id}))).action == "stop"


def test_an_agent_that_outlives_its_stop_is_stopped_again() -> None:
    """Rulings X-56: a wish of the operator's is no tombstone."""
    run = a_run(status="stopped", stop_requested_at=NOW)
    assert only([run], seen(a_pane(), agents=life("alive"))).action == "stop"


# -- sessions without a run


def test_an_orphan_is_told_held_and_ended() -> None:
    """PAM-ORPH-001, 002."""
    name = a_run().session_name
    assert only([], seen(a_pane())).action == "detect"
    assert only([], seen(a_pane(), orphans={name: an_orphan(age_s=3599)})).action == "wait"
    assert only([], seen(a_pane(), orphans={name: an_orphan(age_s=3600)})).action == "end_orphan"


def test_another_session_of_an_orphans_name_begins_anew() -> None:
    """Never by its name alone: another server, or other panes."""
    name = a_run().session_name
    for orphan in (an_orphan(age_s=9999, server="78:1"), replace(an_orphan(age_s=9999), panes=("%4",))):
        assert only([], seen(a_pane(), orphans={name: orphan})).action == "detect"


def test_a_session_of_another_pam_is_no_orphan_of_ours() -> None:
    name = a_run().session_name
    step = only([], seen(a_pane(made=mark(OTHER_HOME, 1)), orphans={name: an_orphan(age_s=9999)}))
    assert step.action == "wait"


def test_an_orphan_that_has_a_run_after_all_is_forgotten() -> None:
    run = a_run()
    steps = plan([run], seen(a_pane(), wrappers=life("alive"), orphans={run.session_name: an_orphan()}), LIMITS, NOW)
    assert [step.action for step in steps] == ["forget", "keep"]


# -- unknown


def test_nothing_is_done_when_the_sessions_cannot_be_listed_and_the_plan_says_so() -> None:
    """FR-22, PAM-TMUX-024."""
    blind = Seen("local", HERE, HOME, Unknown("tmux did not answer"), wrappers=life("dead"))
    runs = [a_run(), a_run(2, "spawning", updated_at=NOW - timedelta(hours=1)), a_run(3, stop_requested_at=NOW)]
    steps = plan([*runs, a_run(4, "exited")], blind, LIMITS, NOW)
    assert [step.subject for step in steps] == [run.session_name for run in runs]
    assert {(step.action, step.observed) for step in steps} == {("wait", "unknown")}
    assert all("tmux did not answer" in step.reason for step in steps)
    (step,) = plan([], blind, LIMITS, NOW)
    assert (step.subject, step.action, step.observed) == ("local", "wait", "unknown")


def test_a_step_has_the_documented_shape() -> None:
    """The contract of `pam reconcile --json`."""
    names = ["host", "subject", "desired", "observed", "action", "reason", "done", "run_id", "attempt"]
    assert list(only([a_run()], seen(wrappers=life("dead"))).as_json()) == names


def test_marks_are_read_back() -> None:
    """A mark that cannot be read is nobody's."""
    made = epoch_of(mark(home_of("0123abcd-1111-4222-8333-444455556666"), 7))
    assert made is not None
    assert (made.home, made.attempt) == ("0123abcd", 7)
    assert [epoch_of(text) for text in ("", "x", "x:", "x:-1", "x:1.5", ":")] == [None] * 6


# -- any world at all


@dataclass(frozen=True)
class World:
    """Runs and a host, as hypothesis draws them."""

    runs: tuple[Run, ...]
    panes: tuple[PaneState, ...]
    wrappers: Mapping[str, Liveness]
    agents: Mapping[str, Liveness]
    waited_s: Mapping[str, float]
    orphans: Mapping[str, Orphan]
    unread: frozenset[str] = frozenset()
    unverified: frozenset[str] = frozenset()
    flagged: frozenset[str] = frozenset()
    busy: frozenset[str] = frozenset()
    blind: bool = field(default=False)

    def plan(self) -> tuple[Step, ...]:
        """Its plan."""
        listing = Unknown("drawn so") if self.blind else PaneListing(SERVER, 0, self.panes)
        sight = Seen(
            *("local", HERE, HOME, listing, self.wrappers, self.agents, self.waited_s),
            *(self.unread, self.unverified, self.flagged, self.orphans, self.busy),
        )
        return plan(self.runs, sight, LIMITS, NOW)

    def without(self, session: str, pane: PaneState | None = None) -> World:
        """Its session is gone, with ``pane`` only if that is in it."""
        if pane is not None and pane not in self.panes:
            return self
        return replace(self, panes=tuple(one for one in self.panes if one.session != session))

    def with_run(self, run_id: str | None, **columns: object) -> World:
        """The run has changed."""
        changed = (replace(run, **columns) if run.id == run_id else run for run in self.runs)  # type: ignore[arg-type]
        return replace(self, runs=tuple(changed))

    def after(self, step: Step) -> World:
        """What carrying the step out makes of the world."""
        run_id, name = step.run_id or "", step.subject
        match step.action:
            case "respawn":
                fresh = a_pane(int(name[4:], 16), mark(HOME, step.attempt or 0), pane_id="%77")
                return replace(self.without(name), panes=(*self.without(name).panes, fresh))
            case "give_up" | "report_lost":
                dead = replace(self, agents={**self.agents, run_id: "dead"})
                return dead._ended(name, spare=step.action == "report_lost").with_run(run_id, status="failed")
            case "stop":
                ended = replace(self, agents={**self.agents, run_id: "dead"}, unverified=self.unverified - {run_id})
                return ended._ended(name, spare=False).with_run(run_id, status="stopped")
            case "end_session" | "remove" | "end_orphan":
                return self.without(name, step.pane)
            case "flag":
                return replace(self, flagged=self.flagged | {run_id})
            case "detect":
                panes = tuple(pane.pane_id for pane in self.panes if pane.session == name)
                return replace(self, orphans={**self.orphans, name: Orphan("local", name, str(SERVER), panes, NOW)})
            case "forget":
                return replace(self, orphans={key: one for key, one in self.orphans.items() if key != name})
        return self

    def _ended(self, session: str, *, spare: bool) -> World:
        """All that ran in our own pane there is gone, and the session unless somebody else's pane is spared."""
        run = next(run for run in self.runs if run.session_name == session)
        inside = [pane for pane in self.panes if pane.session == session]
        own = next((pane for pane in inside if _is_own(pane, run)), None)
        if own is None:
            return self
        if spare and any(pane is not own and not pane.dead for pane in inside):
            return replace(self, panes=tuple(replace(pane, dead=True) if pane is own else pane for pane in self.panes))
        return self.without(session)


def _is_own(pane: PaneState, run: Run) -> bool:
    epoch = epoch_of(pane.mark)
    return pane.pid == run.wrapper_pid if epoch is None else epoch.home == HOME


LIVES: st.SearchStrategy[Liveness] = st.sampled_from(["alive", "dead", "unknown"])
STATUSES: st.SearchStrategy[RunStatus] = st.sampled_from(
    ["pending", "spawning", "running", "exited", "failed", "stopped"]
)
MARKS = st.sampled_from(["", mark(HOME, 1), mark(HOME, 2), mark(HOME, 3), mark(OTHER_HOME, 2)])


@st.composite
def runs_of(draw: st.DrawFn, number: int) -> Run:
    """A run in any state, here or elsewhere."""
    status = draw(STATUSES)
    where = {} if status == "pending" else {"host_id": draw(st.sampled_from([HERE, HERE, THERE]))}
    return a_run(
        number,
        status,
        attempt=draw(st.sampled_from([1, 2])),
        exit_code=draw(st.sampled_from([None, 0])),
        stop_requested_at=draw(st.sampled_from([None, None, NOW])),
        pane_id=draw(st.sampled_from([None, f"%{number}"])),
        updated_at=NOW - timedelta(seconds=draw(st.sampled_from([1, 100]))),
        **where,
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Up to four runs, up to six sessions, half of them with a second pane."""
    runs = [draw(runs_of(number)) for number in range(1, draw(st.integers(1, 5)))]
    panes = []
    for number in draw(st.sets(st.integers(1, 6))):
        pids = st.sampled_from([1000 + number, 4444])
        panes.append(a_pane(number, draw(MARKS), dead=draw(st.booleans()), pid=draw(pids)))
        if draw(st.booleans()):
            panes.append(a_pane(number, "", dead=draw(st.booleans()), pid=5555, pane_id=f"%{number + 50}"))
    ids = [run.id for run in runs]
    some = st.sets(st.sampled_from(ids)) if ids else st.just(set())
    names = [f"pam-{number:08x}" for number in range(1, 7)]
    known = {name: an_orphan(number, draw(st.sampled_from([5, 9999]))) for number, name in enumerate(names, 1)}
    ended = {run.id: run for run in runs if not run.live}
    return World(
        tuple(runs),
        tuple(panes),
        {id_: draw(LIVES) for id_ in draw(some)},
        {id_: "dead" if run.exit_code is not None else draw(LIVES) for id_, run in ended.items()},
        {id_: draw(st.sampled_from([1.0, 100.0])) for id_ in draw(some)},
        {name: known[name] for name in draw(st.sets(st.sampled_from(names)))},
        unread=frozenset(draw(some)) if draw(st.booleans()) else frozenset(),
        unverified=frozenset(id_ for id_ in draw(some) if id_ in ended and ended[id_].status == "stopped"),
        flagged=frozenset(id_ for id_ in draw(some) if id_ in ended),
        busy=frozenset(draw(st.sets(st.sampled_from(names)))) if draw(st.booleans()) else frozenset(),
        blind=draw(st.integers(0, 9)) == 0,
    )


@settings(max_examples=150)
@given(worlds())
def test_every_live_run_and_every_session_is_accounted_for_once(world: World) -> None:
    """PAM-LIVE-012."""
    subjects = [step.subject for step in world.plan() if step.action not in NOTES]
    assert len(subjects) == len(set(subjects))
    live = {run.session_name for run in world.runs if run.live and run.host_id == HERE}
    expected = live if world.blind else live | {pane.session for pane in world.panes}
    assert expected <= set(subjects)


@settings(max_examples=150)
@given(worlds())
def test_nothing_acts_on_unknown_on_what_is_in_hand_or_on_what_is_not_ours(world: World) -> None:
    """FR-22, PAM-TMUX-009, PAM-LIVE-009, 010."""
    by_name = {run.session_name: run for run in world.runs}
    for step in world.plan():
        run = by_name.get(step.subject)
        if not step.acts:
            continue
        assert not world.blind
        assert step.subject not in world.busy or step.action == "forget"
        assert run is not None or step.action in ("detect", "end_orphan")
        if step.action == "report_lost":
            assert run is not None
            assert world.wrappers.get(run.id) == "dead"
        if step.action == "flag":
            assert run is not None
            assert world.agents.get(run.id) == "alive"
        if step.action in KILLS and step.pane is not None and step.action != "end_orphan":
            epoch = epoch_of(step.pane.mark)
            assert epoch is None or epoch.home == HOME
            assert run is not None
            assert epoch is not None or step.pane.pid == run.wrapper_pid
        if step.action == "end_orphan":
            assert world.orphans[step.subject].at <= NOW - timedelta(seconds=LIMITS.orphan_hold_s)
        if run is not None and step.action in ("end_session", "flag") and not run.live:
            assert step.action == "flag" or (step.pane and step.pane.mark != mark(HOME, run.attempt))


@settings(max_examples=150)
@given(worlds())
def test_a_plan_that_was_carried_out_leaves_nothing_to_do(world: World) -> None:
    """Running it twice changes nothing."""
    before = world
    for step in before.plan():
        world = world.after(step)
    again = [step for step in world.plan() if step.acts]
    assert again == []
