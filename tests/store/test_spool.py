"""The cursor into a host's spool (design §3)."""

from __future__ import annotations

from store import spool
from tests.store.world import World, topics


def test_cursor_starts_at_nothing_and_is_kept_per_host_and_generation(world: World) -> None:
    """PAM-SIG-012, PAM-SIG-020: what was read is remembered over a restart, and is no event."""
    store, host = world.store, world.host.id
    before = topics(store)
    assert spool.cursor(store, host, "1") == 0
    for offset in (10, 400, 2**40):
        spool.advance(store, host, "1", offset, actor="executor")
        assert spool.cursor(store, host, "1") == offset
    assert spool.cursor(store, host, "2") == 0
    spool.advance(store, host, "2", 7, actor="executor")
    assert (spool.cursor(store, host, "1"), spool.cursor(store, host, "2")) == (2**40, 7)
    assert topics(store) == before
