"""Sessions that no run explains: told once, held for inspection, then ended with all that runs in them (PAM-ORPH).

An orphan is ended only when both parts hold at that very moment: its name is one of ours and stands in no run, and we
detected this very session before. When it was detected stands in the journal, so a restart forgets nothing.
"""

from __future__ import annotations

import logging

from executor.hosts.link import PaneListing, PaneState
from executor.ledger import ACTOR
from executor.supervision.ending import end_pane, still_there, told
from executor.supervision.station import Station
from store import orphans

log = logging.getLogger("pam.orphans")


class Orphans:
    """One host's."""

    def __init__(self, station: Station) -> None:
        self._station = station

    async def detect(self, session: str, listing: PaneListing) -> bool:
        """Journal it, once."""
        panes = [pane.pane_id for pane in listing.of(session)]
        call, name = self._station.ledger.call, self._station.name
        told_now = await call(orphans.detect, name, session, str(listing.server), panes, actor=ACTOR)
        if told_now:
            hold_s = self._station.settings.orphan_hold_s
            log.warning("Session %s on %s has no run; it is held for %.0f s", session, name, hold_s)
        return told_now

    async def forget(self, session: str) -> bool:
        """A detected session has a run after all."""
        return await self._station.ledger.call(orphans.forget, self._station.name, session, actor=ACTOR)

    async def end(self, pane: PaneState, listing: PaneListing) -> bool:
        """The hold is over: end its tree and the session, if it is still what was detected."""
        station = self._station
        async with station.hand(pane.session):
            orphan = (await station.ledger.call(orphans.known, station.name)).get(pane.session)
            if orphan is None or not await station.ledger.call(orphans.may_end, orphan):
                return False
            if orphan.server != str(listing.server) or not await still_there(station, pane, listing):
                return False
            log.warning("Session %s on %s had no run for the whole hold; it is ended", pane.session, station.name)
            ended = await end_pane(station, pane, grace_s=station.settings.grace_s)
            await station.ledger.call(orphans.note_removed, orphan, told(ended), actor=ACTOR)
            return True
