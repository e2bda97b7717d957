"""What reconciling a host would do: a pure function from what the store wants and what was seen to steps.

Every live run and every session of ours is accounted for by one step, and a word in the journal may stand beside it. A
step either acts, or says why nothing is done.
Nothing acts on unknown (FR-22), nothing on what is not ours (PAM-TMUX-009), and a plan made again after it was carried
out holds no step that acts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from executor.hosts.link import Liveness, PaneListing, PaneState, Unknown
from executor.supervision.epoch import Epoch, epoch_of
from store.orphans import Orphan
from store.records import FailureReason, Run

Action = Literal[
    "keep",  # as it should be
    "wait",  # nothing is done, the reason says why
    "respawn",  # make the session of a run that was claimed
    "give_up",  # fail a run that did not start
    "report_lost",  # fail a run whose wrapper is gone without a word
    "stop",  # carry out a stop that was asked for
    "end_session",  # end a session that is not the run's present one
    "remove",  # remove a session in which nothing runs any more
    "flag",  # say that an agent lives after its run has ended
    "detect",  # say that a session has no run
    "forget",  # say that it has one after all
    "end_orphan",  # end a session that had no run for the whole hold
]


@dataclass(frozen=True, slots=True)
class Step:
    """One run or session: what should be, what is, and what follows."""

    host: str
    subject: str
    """Name of the session, which also names its run on the command line."""
    desired: str
    observed: str
    action: Action
    reason: str
    done: bool = False
    run_id: str | None = None
    attempt: int | None = None
    """The run's, as the store had it."""
    pane: PaneState | None = None
    """What the step is about, where it is about a pane."""
    failure: FailureReason | None = None

    @property
    def acts(self) -> bool:
        """Whether anything is to be done."""
        return self.action not in ("keep", "wait")

    def as_json(self) -> dict[str, object]:
        """Shape of a step on the command line and in the journal."""
        names = ("host", "subject", "desired", "observed", "action", "reason", "done", "run_id", "attempt")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds."""

    spawn_timeout_s: float
    orphan_hold_s: float


@dataclass(frozen=True, slots=True)
class Seen:
    """One host at one moment. Runs are named by id, sessions by name."""

    host: str
    host_id: str
    home: str
    """Our own, as panes are marked with it."""
    listing: PaneListing | Unknown
    wrappers: Mapping[str, Liveness] = field(default_factory=dict)
    """Of runs that should run."""
    agents: Mapping[str, Liveness] = field(default_factory=dict)
    """Of runs that have ended."""
    waited_s: Mapping[str, float] = field(default_factory=dict)
    """How long runs have been spawning, where somebody counted; the store's clock counts otherwise."""
    unread: frozenset[str] = frozenset()
    """Runs of which the spool says more than the store knows."""
    unverified: frozenset[str] = frozenset()
    """Stopped runs whose tree nobody has seen gone."""
    flagged: frozenset[str] = frozenset()
    """Ended runs that were told to be alive."""
    orphans: Mapping[str, Orphan] = field(default_factory=dict)
    """Detected before, by session."""
    busy: frozenset[str] = frozenset()
    """Sessions that somebody here is at work on."""


def plan(runs: Sequence[Run], seen: Seen, limits: Limits, now: datetime) -> tuple[Step, ...]:
    """The steps for these runs and for every session that was seen.

    ``runs`` are those that should live on the host and those the sessions belong to, wherever they are.
    """
    if isinstance(seen.listing, Unknown):
        return tuple(_unknown(runs, seen, seen.listing))
    by_session = {run.session_name: run for run in runs}
    panes: dict[str, list[PaneState]] = {}
    for pane in seen.listing.panes:
        panes.setdefault(pane.session, []).append(pane)
    judges = [_Judge(run, seen, panes.get(run.session_name, []), limits, now) for run in by_session.values()]
    steps = [judge.step() for judge in judges] + [judge.flag() for judge in judges]
    steps += [_orphan(session, own, seen, limits, now) for session, own in panes.items() if session not in by_session]
    steps += [_forget(seen, session) for session in seen.orphans if session in by_session]
    return tuple(sorted((step for step in steps if step is not None), key=lambda step: (step.subject, step.action)))


def _unknown(runs: Iterable[Run], seen: Seen, listing: Unknown) -> Iterable[Step]:
    mine = [run for run in runs if run.live and run.host_id == seen.host_id]
    for run in sorted(mine, key=lambda run: run.session_name):
        yield _step(run, seen, "unknown", "wait", f"nothing is done on unknown: {listing.reason}")
    if not mine:
        yield Step(
            seen.host, seen.host, "no run", "unknown", "wait", f"its sessions cannot be listed: {listing.reason}"
        )


def _step(run: Run, seen: Seen, observed: str, action: Action, reason: str, *, pane: PaneState | None = None) -> Step:
    elsewhere = f" on {run.host}" if run.host_id not in (None, seen.host_id) else ""
    desired = f"{run.status}{elsewhere}, attempt {run.attempt}" + (
        ", to be stopped" if run.live and run.stop_requested_at else ""
    )
    return Step(
        seen.host, run.session_name, desired, observed, action, reason, run_id=run.id, attempt=run.attempt, pane=pane
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    """Looks at one run."""

    run: Run
    seen: Seen
    panes: Sequence[PaneState]
    """All of the session that bears its name."""
    limits: Limits
    now: datetime

    def step(self) -> Step | None:
        """What follows; None when there is nothing of the run here and there should not be."""
        run, seen = self.run, self.seen
        here = run.host_id == seen.host_id
        if run.session_name in seen.busy:
            return self._say("in hand", "wait", "somebody here is at work on it")
        if here and run.id in seen.unread:
            return self._say(self._session, "wait", "the spool says more about it, which is read first")
        if here and run.live and run.stop_requested_at is not None:
            return self._say(self._session, "stop", "its stop was asked for and is not carried out")
        if here and run.id in seen.unverified:
            return self._say(self._session, "stop", "it was stopped, but nobody saw that all of its tree is gone")
        if here and run.status == "spawning":
            return self._spawning()
        if here and run.status == "running":
            return self._running()
        return self._over() if self.panes or seen.agents.get(run.id) == "alive" else None

    # -- runs that should live ------------------------------------------------------------------------------------

    def _spawning(self) -> Step:
        pane, late = self.pane, self._waited_s() > self.limits.spawn_timeout_s
        if pane is not None and self._is_present(pane):
            if pane.dead:
                return self._give_up("its wrapper ended before the agent started")
            if late:
                return self._give_up("the agent did not start in time")
            return self._say(self._session, "keep", "its agent is starting")
        if late:
            return self._give_up("its session vanished before the agent started")
        epoch = self._epoch(pane) if pane is not None else None
        if pane is None:
            return self._say(self._session, "respawn", "it was claimed and has no session")
        if epoch is None:
            return self._say(self._session, "respawn", "something else holds its name; it is ended first")
        if epoch.home != self.seen.home:
            return self._say(self._session, "wait", "a session of another pam on this machine holds its name")
        return self._say(self._session, "respawn", "an earlier attempt holds its name; it is ended first")

    def _running(self) -> Step:
        life = self.seen.wrappers.get(self.run.id, "unknown")
        observed = f"wrapper {life}, {self._session}"
        if life == "unknown":
            return self._say(observed, "wait", "nothing is done on unknown")
        if life == "dead":
            step = self._say(observed, "report_lost", "its wrapper is gone and left no report of the end")
            return replace(step, failure="session_lost")
        twin = self._twin()
        if twin is not None:
            return self._say(observed, "end_session", "its wrapper lives elsewhere: this is a twin", pane=twin)
        return self._say(observed, "keep", "its wrapper lives")

    def _twin(self) -> PaneState | None:
        """A pane of ours under the run's name while the run's own wrapper lives in none of them."""
        if self.run.wrapper_pid is None or any(pane.pid == self.run.wrapper_pid for pane in self.panes):
            return None
        ours = [pane for pane in self.panes if (epoch := self._epoch(pane)) and epoch.home == self.seen.home]
        return ours[0] if ours else None

    def _give_up(self, reason: str) -> Step:
        return replace(self._say(self._session, "give_up", reason), failure="spawn_failed")

    def _waited_s(self) -> float:
        counted = self.seen.waited_s.get(self.run.id)
        return (self.now - self.run.updated_at).total_seconds() if counted is None else counted

    # -- runs that have ended, or live elsewhere ------------------------------------------------------------------

    def _over(self) -> Step:
        pane = self.pane
        epoch = self._epoch(pane) if pane is not None else Epoch(self.seen.home, self.run.attempt)
        if epoch is None:
            return self._say(self._session, "wait", "pam did not make this session, so it is left alone")
        if epoch.home != self.seen.home:
            return self._say(self._session, "wait", "it belongs to another pam on this machine")
        ended = epoch.attempt == self.run.attempt and not self.run.live
        if pane is not None and pane.dead and not (ended and self.seen.agents.get(self.run.id) == "alive"):
            return self._emptied(pane)
        if epoch.attempt < self.run.attempt:
            reason = f"it is what attempt {epoch.attempt} left; the run is at attempt {self.run.attempt}"
            return self._say(self._session, "end_session", reason, pane=pane)
        if not ended:
            return self._say(self._session, "wait", f"the store knows of no attempt {epoch.attempt} here")
        return self._ended()

    def _emptied(self, pane: PaneState) -> Step:
        if any(not other.dead for other in self.panes):
            return self._say(self._session, "wait", "somebody else's pane in it still runs something")
        return self._say(self._session, "remove", "nothing runs in it any more", pane=pane)

    def _ended(self) -> Step:
        """The very attempt that ended: hold-open is normal, a living agent is told and never ended (PAM-LIVE-009)."""
        life = self.seen.agents.get(self.run.id, "unknown")
        observed = f"agent {life}, {self._session}"
        if life == "dead":
            return self._say(observed, "keep", "its pane is held open after the end")
        if life == "unknown":
            return self._say(observed, "wait", "nothing is done on unknown")
        if self.run.status == "stopped" and self.run.stop_requested_at is not None:
            return self._say(observed, "stop", "its stop was carried out, and yet its agent lives")
        return self._say(observed, "wait", "its agent lives after its end; it is told, and is yours to end")

    def flag(self) -> Step | None:
        """A word in the journal, beside what becomes of the session."""
        run, seen = self.run, self.seen
        ended = run.host_id == seen.host_id and not run.live and run.id not in seen.unverified
        told = run.id in seen.flagged or (run.status == "stopped" and run.stop_requested_at is not None)
        if not ended or told or seen.agents.get(run.id) != "alive" or run.session_name in seen.busy:
            return None
        return self._say(f"agent alive, {self._session}", "flag", "its agent lives after its end; nobody ends it")

    # -- what is there --------------------------------------------------------------------------------------------

    @property
    def pane(self) -> PaneState | None:
        """The run's pane in the session: by its id, else by its mark."""
        listing = self.seen.listing
        assert isinstance(listing, PaneListing)
        return listing.find(self.run.session_name, self.run.pane_id)

    @property
    def _session(self) -> str:
        pane = self.pane
        if pane is None:
            return "no session"
        epoch = self._epoch(pane)
        whose = f" of attempt {epoch.attempt}" if epoch is not None else " of unknown origin"
        return f"{'an ended' if pane.dead else 'a live'} session{whose}"

    def _epoch(self, pane: PaneState) -> Epoch | None:
        """By the mark it was made with; an unmarked one is known by its wrapper's process."""
        found = epoch_of(pane.mark)
        if found is None and self.run.wrapper_pid is not None and pane.pid == self.run.wrapper_pid:
            return Epoch(self.seen.home, self.run.attempt)
        return found

    def _is_present(self, pane: PaneState) -> bool:
        return self._epoch(pane) == Epoch(self.seen.home, self.run.attempt)

    def _say(self, observed: str, action: Action, reason: str, *, pane: PaneState | None = None) -> Step:
        return _step(self.run, self.seen, observed, action, reason, pane=pane)


def _orphan(session: str, panes: Sequence[PaneState], seen: Seen, limits: Limits, now: datetime) -> Step:
    """A session without a run (PAM-ORPH): told at once, ended after the hold, unless it is another pam's."""
    assert isinstance(seen.listing, PaneListing)
    pane = seen.listing.find(session)
    assert pane is not None
    epoch = epoch_of(pane.mark)

    def say(action: Action, reason: str) -> Step:
        return Step(seen.host, session, "no run", "a session", action, reason, pane=pane)

    if epoch is not None and epoch.home != seen.home:
        return say("wait", "it belongs to another pam on this machine")
    if session in seen.busy:
        return say("wait", "somebody here is at work on it")
    known = seen.orphans.get(session)
    same = known is not None and known.server == str(seen.listing.server)
    if known is None or not same or not {one.pane_id for one in panes} & set(known.panes):
        return say("detect", f"no run explains it; it is ended in {limits.orphan_hold_s:.0f} s if none ever does")
    left_s = limits.orphan_hold_s - (now - known.at).total_seconds()
    if left_s > 0:
        return say("wait", f"an orphan, held for inspection for {left_s:.0f} s more")
    return say("end_orphan", f"no run explained it for {limits.orphan_hold_s:.0f} s")


def _forget(seen: Seen, session: str) -> Step:
    return Step(seen.host, session, "a run", "an orphan by the journal", "forget", "it has a run after all")
