"""Carries plans out: what should live every few seconds, everything at start, every half minute, and when asked.

Both rounds are the same plan, so there is one opinion about a fact (PAM-LIVE-001, 002). A step is checked again with
the hand on its session: what changed since the look is left to the next one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace

from executor.hosts.link import HostUnanswered, PaneListing, Unknown
from executor.ledger import ACTOR
from executor.supervision.ending import end_pane, end_run, still_there, told
from executor.supervision.epoch import epoch_of
from executor.supervision.ingest import Ingest
from executor.supervision.observe import Observer
from executor.supervision.orphans import Orphans
from executor.supervision.plan import Limits, Seen, Step, plan
from executor.supervision.spawn import Spawner
from executor.supervision.station import Station, marks_of
from executor.supervision.stop import Stops
from store import integrity, leftovers, reconciling, runs
from store.clock import Clock, utc_now
from store.errors import NotFound, StoreUnavailable
from store.records import Run

log = logging.getLogger("pam.reconcile")

AT_ONCE = 16
"""Steps carried out at the same time on one host; a ladder waits most of its time."""


class Reconciler:
    """One host's. Also the re-adoption at start: what lives is left alone (PAM-LIVE-011)."""

    def __init__(
        self, station: Station, ingest: Ingest, spawner: Spawner, stops: Stops, *, clock: Clock = utc_now
    ) -> None:
        self._station = station
        self._ingest = ingest
        self._spawner = spawner
        self._stops = stops
        self._clock = clock
        self._orphans = Orphans(station)
        self._places = asyncio.Semaphore(AT_ONCE)
        self._underway: set[str] = set()
        """Sessions whose step is being carried out, or waits for its place."""
        self._since: dict[tuple[str, int], float] = {}
        self._out_of_sight = ""
        self._liveness_bell = station.bell()
        self._bell = station.bell(reconciling.REQUESTED, told_only=True)

    async def liveness(self) -> None:
        """Look after what should live, every interval and when something happened to a session.

        A ladder takes as long as it takes; the next look does not wait for it.
        """
        self._underway.clear()  # what a loop before this one left behind
        async with asyncio.TaskGroup() as underway:
            while True:
                steps, carry_out = await self._plan(whole=False)
                for step in steps:
                    underway.create_task(carry_out(step))
                await self._liveness_bell.wait(self._station.settings.liveness_s)

    async def loop(self) -> None:
        """Reconcile everything at once, every interval, and whenever somebody asks."""
        call, host = self._station.ledger.call, self._station.name
        answered = await call(reconciling.answered, host)
        while True:
            asked = await call(reconciling.asked, host, after=answered)
            steps = await self.round(whole=True)
            await call(integrity.sweep, actor=ACTOR)
            await self._spawner.sweep()
            if asked or any(step.done for step in steps):
                answered = max(asked, answered)
                await self._answer(steps, answered)
            await self._bell.wait(self._station.settings.reconcile_s)

    async def round(self, *, whole: bool) -> tuple[Step, ...]:
        """One plan, carried out as far as it could be. Raises StoreUnavailable, or HostUnanswered for the spool."""
        steps, carry_out = await self._plan(whole=whole)
        return tuple(await asyncio.gather(*map(carry_out, steps)))

    # -- looking --------------------------------------------------------------------------------------------------

    async def _plan(self, *, whole: bool) -> tuple[tuple[Step, ...], Callable[[Step], Coroutine[None, None, Step]]]:
        """The steps, and what carries one of them out; those that act are under way from now on."""
        judged, seen = await self._look(whole=whole)
        self._mention(seen)
        settings = self._station.settings
        steps = plan(judged, seen, Limits(settings.spawn_timeout_s, settings.orphan_hold_s), self._clock())
        by_id = {run.id: run for run in judged}
        self._underway |= {step.subject for step in steps if step.acts}

        async def carry_out(step: Step) -> Step:
            if not step.acts:
                return step
            try:
                return await self._carry_out(step, by_id, seen)
            finally:
                self._underway.discard(step.subject)

        return steps, carry_out

    def _in_hand(self, run: Run) -> bool:
        return run.session_name in self._underway or self._station.in_hand(run)

    async def _look(self, *, whole: bool) -> tuple[list[Run], Seen]:
        station = self._station
        observer = Observer(
            station.link,
            station.host_id,
            await station.home(),
            station.ledger.call,
            in_hand=self._in_hand,
            drain=self._ingest.drain,
        )
        judged, seen = await (observer.everything() if whole else observer.expected())
        return judged, replace(seen, waited_s=self._waited(judged))

    def _waited(self, judged: Sequence[Run]) -> dict[str, float]:
        """How long runs have been spawning before our eyes: a clock that jumps makes nobody late (FR-33).

        It counts from when nobody here is at work on them any more: nor does a queue or a slow store.
        """
        now = asyncio.get_running_loop().time()
        spawning = {(run.id, run.attempt): self._station.in_hand(run) for run in judged if run.status == "spawning"}
        self._since = {key: now if in_hand else self._since.get(key, now) for key, in_hand in spawning.items()}
        return {run_id: now - since for (run_id, _), since in self._since.items()}

    def _mention(self, seen: Seen) -> None:
        reason = seen.listing.reason if isinstance(seen.listing, Unknown) else ""
        if reason and reason != self._out_of_sight:
            log.warning("Sessions on %s are unknown: %s", seen.host, reason)
        self._out_of_sight = reason

    async def _answer(self, steps: Sequence[Step], request: int) -> None:
        told_of = [step.as_json() for step in steps if step.action != "keep"]
        kept = len(steps) - len(told_of)
        await self._station.ledger.call(
            reconciling.answer, self._station.name, told_of, kept=kept, request=request, actor=ACTOR
        )

    # -- doing ----------------------------------------------------------------------------------------------------

    async def _carry_out(self, step: Step, judged: dict[str, Run], seen: Seen) -> Step:
        if isinstance(seen.listing, Unknown):
            return step
        run = judged.get(step.run_id) if step.run_id is not None else None
        async with self._places:
            try:
                if run is None:
                    done = await self._do_without_run(step, seen.listing)
                else:
                    done = await self._do(step, run, seen.listing)
            except NotFound:  # the run was deleted with its item
                return step
            except (HostUnanswered, StoreUnavailable) as error:
                log.warning("%s of %s waits: %s", step.action, step.subject, error)
                return replace(step, reason=f"{step.reason}; it waits: {error}")
        if done:
            log.info("%s of %s: %s", step.action, step.subject, step.reason)
        return replace(step, done=done)

    async def _do_without_run(self, step: Step, listing: PaneListing) -> bool:
        match step.action:
            case "detect":
                return await self._orphans.detect(step.subject, listing)
            case "forget":
                return await self._orphans.forget(step.subject)
            case "end_orphan":
                return step.pane is not None and await self._orphans.end(step.pane, listing)
        return False

    async def _do(self, step: Step, run: Run, listing: PaneListing) -> bool:
        match step.action:
            case "respawn":
                self._station.spawning.add(run.id)
                return await self._spawner.spawn(run, again=True)
            case "stop":
                return await self._stops.carry_out(run)
            case "give_up" | "report_lost":
                return await self._fail(step, run)
            case "end_session" | "remove":
                return await self._end_session(step, run, listing)
            case "flag":
                facts = {"agent_pid": run.agent_pid}
                return await self._station.ledger.call(leftovers.flag_alive, run.id, run.attempt, facts, actor=ACTOR)
        return False

    async def _fail(self, step: Step, run: Run) -> bool:
        """Hear its last words again, end what it left, then say so."""
        station = self._station
        async with station.hand(run.session_name):
            await self._ingest.drain()
            if not await self._unchanged(run) or step.failure is None:
                return False
            lost = step.action == "report_lost"
            await end_run(station, run, grace_s=station.settings.grace_s, spare_strangers=lost)
            await self._ingest.drain()
            log.warning("Run %s failed (%s): %s", run.id, step.failure, step.reason)
            failed = await station.ledger.call(
                runs.fail, run.id, run.attempt, step.failure, detail=step.reason, actor=ACTOR
            )
            return failed is not None

    async def _end_session(self, step: Step, run: Run, listing: PaneListing) -> bool:
        """End a session that is not the run's present one, or not any more; with the processes of that attempt."""
        station, pane = self._station, step.pane
        async with station.hand(run.session_name):
            if pane is None or not await self._unchanged(run) or not await still_there(station, pane, listing):
                return False
            if step.action == "remove":
                return await station.link.kill_session(pane.session, pane.pane_id)
            epoch = epoch_of(pane.mark)
            stale = epoch is not None and epoch.attempt < run.attempt
            # A twin of the present attempt bears the same marks as the agent that must live.
            marks = marks_of(run, epoch.attempt) if epoch is not None and stale else None
            ended = await end_pane(station, pane, grace_s=station.settings.grace_s, marks=marks)
            facts = {"why": step.reason, "was_attempt": epoch.attempt if epoch is not None else None, **told(ended)}
            await station.ledger.call(leftovers.note_removed, run.id, facts, actor=ACTOR)
            return True

    async def _unchanged(self, run: Run) -> bool:
        try:
            now = await self._station.ledger.call(runs.get, run.id)
        except NotFound:
            return False
        asked = now.stop_requested_at is not None and now.live
        before = run.stop_requested_at is not None and run.live
        return (now.status, now.attempt, now.host_id, asked) == (run.status, run.attempt, run.host_id, before)
