"""Ends what runs hold on a host, processes first, then the session; each is checked to be what was meant.

The caller has the hand on the session.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from executor.hosts.link import Ended, HostUnanswered, PaneListing, PaneState, ProcessId
from executor.supervision.epoch import epoch_of
from executor.supervision.station import Station, agent_of, listing_of, marks_of, spec_path, wrapper_of
from store.records import Run

log = logging.getLogger("pam.ending")

NOBODY = ProcessId(0, 0)


async def end_run(station: Station, run: Run, *, grace_s: float, spare_strangers: bool = False) -> Ended:
    """End the run's wrapper, agent and all that it ever started, wherever it went; then its session, and its spec.

    ``spare_strangers`` leaves a session in which the operator runs something of his own. Raises HostUnanswered when
    the host does not say what is there, or whether the session is gone.
    """
    listing = await _listing(station, run)
    pane = await own_pane(station, run, listing) if listing is not None else None
    leader = await station.link.identify(pane.pid) if pane is not None and not pane.dead else None
    wrapper, agent = wrapper_of(run) or leader, agent_of(run)
    ended = await station.link.end_tree(
        wrapper or agent or NOBODY,
        grace_s=grace_s,
        wrapper=wrapper,
        also=[one for one in (leader, agent) if one is not None],
        marks=marks_of(run),
    )
    if not ended.gone:
        log.error("Run %s left processes that cannot be ended: %s", run.id, ended.survivors)
    if listing is None:
        listing = await listing_of(station.link)
        pane = await own_pane(station, run, listing)
    if pane is not None and not (spare_strangers and has_strangers(listing, pane)):
        await station.link.kill_session(run.session_name, pane.pane_id)
    await remove_spec(station, run)
    return ended


async def _listing(station: Station, run: Run) -> PaneListing | None:
    """A wrapper that was reported is ended even while tmux does not answer; its session waits."""
    try:
        return await listing_of(station.link)
    except HostUnanswered:
        if wrapper_of(run) is None:
            raise
        return None


async def own_pane(station: Station, run: Run, listing: PaneListing) -> PaneState | None:
    """The pane that this pam made under the run's name, for whichever attempt: by its mark, or by its wrapper."""
    home = await station.home()
    for pane in listing.of(run.session_name):
        epoch = epoch_of(pane.mark)
        if pane.pid == run.wrapper_pid if epoch is None else epoch.home == home:
            return pane
    return None


def has_strangers(listing: PaneListing, pane: PaneState) -> bool:
    """Whether the pane's session holds another one in which something runs."""
    return any(not other.dead and other.pane_id != pane.pane_id for other in listing.of(pane.session))


async def end_pane(
    station: Station, pane: PaneState, *, grace_s: float, marks: Mapping[str, str] | None = None
) -> Ended:
    """End the pane's leader and all it started, and the pane's session. Raises HostUnanswered."""
    leader = None if pane.dead else await station.link.identify(pane.pid)
    ended = await station.link.end_tree(leader or NOBODY, grace_s=grace_s, wrapper=leader, marks=marks)
    if not ended.gone:
        log.error("Session %s left processes that cannot be ended: %s", pane.session, ended.survivors)
    await station.link.kill_session(pane.session, pane.pane_id)
    return ended


async def still_there(station: Station, pane: PaneState, before: PaneListing) -> bool:
    """Whether the pane of that listing is there now: in the same server, as the same process."""
    now = await listing_of(station.link)
    same = now.find(pane.session, pane.pane_id)
    return now.server == before.server and same is not None and (same.pane_id, same.pid) == (pane.pane_id, pane.pid)


async def remove_spec(station: Station, run: Run) -> None:
    """A spec that no wrapper has read holds the agent's environment; nobody needs it any more."""
    try:
        await station.link.remove_file(spec_path(station.link, run))
    except OSError as error:
        log.warning("The spec of run %s stays: %s", run.id, error)


def told(ended: Ended) -> dict[str, object]:
    """How a tree ended, for the journal."""
    return {
        "killed": ended.killed,
        "took_s": round(ended.took_s, 2),
        "survivors": [survivor.pid for survivor in ended.survivors],
    }
