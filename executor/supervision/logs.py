"""Looks after the raw logs: capped, never silently cut off, counted at a run's end, gone with a deleted run."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime

from executor.hosts.link import HostUnanswered, NoSuchSession, PaneListing, PaneState, Unknown
from executor.ledger import ACTOR
from executor.supervision.station import Station, prompt_path, spec_path
from store import journal, output, runs
from store.errors import NotFound
from store.records import Run

log = logging.getLogger("pam.logs")

LAST_WORDS_S = 0.5
"""How long after a run's end its log may still grow: tmux hands the last bytes on by itself."""


class LogKeeper:
    """One host's raw logs."""

    def __init__(self, station: Station) -> None:
        self._station = station
        self._ends = station.bell("run.finished", "run.failed", "run.stopped", "work_item.deleted")
        self._deletions_seen = 0
        self._reopened: set[str] = set()
        """Runs whose log had to be opened again at the last look."""
        self._gone: set[str] = set()
        """Runs whose log was not there at the last look: its writer may have been about to begin it anew."""

    async def loop(self) -> None:
        """Catch up with what happened before, then react to ends and deletions, and look at live logs now and then."""
        clock = asyncio.get_running_loop().time
        look_at = clock()
        while True:
            await self.tell_ended()
            await self.remove_deleted()
            if clock() >= look_at:
                await self.look()
                look_at = clock() + self._station.settings.log_check_s
            await self._ends.wait(max(0.0, look_at - clock()))
            await asyncio.sleep(LAST_WORDS_S)

    async def look(self) -> None:
        """Open the logs of live runs again that nobody writes any more, or that somebody has removed."""
        live = await self._station.ledger.call(runs.list_all, statuses=("running",), host_id=self._station.host_id)
        if not live:
            return
        listing = await self._station.link.list_panes()
        if isinstance(listing, Unknown):
            return
        for run in live:
            await self._look_at(run, listing)

    async def tell_ended(self) -> None:
        """Journal once for each run that ended how much it has written (PAM-EVT-016); its spec holds keys and goes."""
        for run in await self._station.ledger.call(output.untold, self._station.host_id):
            for path in (spec_path(self._station.link, run), prompt_path(self._station.link, run)):
                await self._station.link.remove_file(path)
            size = await self._station.link.measure_log(self._path(run))
            counted = (size.bytes, size.lines) if size else None
            rotated = size is not None and size.rotated
            try:
                await self._station.ledger.call(output.tell, run.id, run.attempt, counted, rotated=rotated, actor=ACTOR)
            except NotFound:
                continue  # deleted meanwhile

    async def remove_deleted(self) -> None:
        """Remove what is kept of runs whose item was deleted (PAM-OBS-014), also of those deleted while nobody ran."""
        events = await self._station.ledger.call(journal.read, after=self._deletions_seen, topic="work_item.deleted")
        for event in events:
            named = event.payload.get("run_ids")
            for run_id in named if isinstance(named, list) else []:
                await self._station.link.forget_run(str(run_id))
            self._deletions_seen = event.seq

    async def _look_at(self, run: Run, listing: PaneListing) -> None:
        pane = listing.find(run.session_name, run.pane_id)
        if pane is None or pane.dead:
            return
        try:
            if not pane.logged or await self._is_gone(run):
                await self._open_again(run, pane)
            else:
                self._reopened.discard(run.id)
        except NoSuchSession:
            return  # it ended meanwhile
        except (HostUnanswered, OSError) as error:
            log.warning("The log of run %s cannot be looked after: %s", run.id, error)

    async def _is_gone(self, run: Run) -> bool:
        """Whether the log was there neither at the last look nor now: its writer goes on in the removed file."""
        link = self._station.link
        if await link.file_state(self._path(run), below=(link.home,)) is not None:
            self._gone.discard(run.id)
            return False
        seen_before = run.id in self._gone
        self._gone.add(run.id)
        return seen_before

    async def _open_again(self, run: Run, pane: PaneState) -> None:
        """The pipe died on its own, on a full disk for instance: what came since is not in the log."""
        if run.id not in self._reopened:
            log.warning(
                "Nobody wrote the log of run %s; it is opened again, and what came meanwhile is missing", run.id
            )
        self._reopened.add(run.id)
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        note = f"[pam: this log was interrupted and goes on at {now} UTC; some output before is missing]"
        await self._station.link.reopen_log(pane.pane_id, self._path(run), note)

    def _path(self, run: Run) -> str:
        return f"{self._station.link.home}/runs/{run.id}.log"
