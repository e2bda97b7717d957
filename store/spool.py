"""What the executor remembers of each host's spool: how far each generation of it was read."""

from __future__ import annotations

from store.database import Store
from store.models import SpoolCursorRow


def cursor(store: Store, host_id: str, generation: str) -> int:
    """Bytes of this generation that were ingested; 0 for a new one."""
    return cursors(store, host_id).get(generation, 0)


def cursors(store: Store, host_id: str) -> dict[str, int]:
    """Bytes that were ingested, by generation."""
    with store.read():
        rows = SpoolCursorRow.select().where(SpoolCursorRow.host == host_id)
        return {row.generation: int(row.offset) for row in rows}


def advance(store: Store, host_id: str, generation: str, offset: int, *, actor: str) -> None:
    """Remember that everything before ``offset`` was ingested. Reading a part twice is harmless, skipping is not."""
    with store.write(actor):
        SpoolCursorRow.insert(host=host_id, generation=generation, offset=offset).on_conflict(
            conflict_target=(SpoolCursorRow.host, SpoolCursorRow.generation), update={SpoolCursorRow.offset: offset}
        ).execute()


def forget(store: Store, host_id: str, generation: str, *, actor: str) -> None:
    """Remember nothing of this generation; should it be there again, it is read from its start."""
    with store.write(actor):
        SpoolCursorRow.delete().where(SpoolCursorRow.host == host_id, SpoolCursorRow.generation == generation).execute()
