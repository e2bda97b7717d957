"""What the executor remembers of each host's spool: how far it was read."""

from __future__ import annotations

from store.database import Store
from store.models import SpoolCursorRow


def cursor(store: Store, host_id: str, generation: str) -> int:
    """Bytes of this generation that were ingested; 0 for a new one."""
    with store.read():
        row = SpoolCursorRow.get_or_none(SpoolCursorRow.host == host_id, SpoolCursorRow.generation == generation)
        return 0 if row is None else int(row.offset)


def advance(store: Store, host_id: str, generation: str, offset: int, *, actor: str) -> None:
    """Remember that everything before ``offset`` was ingested. Reading a part twice is harmless, skipping is not."""
    with store.write(actor):
        SpoolCursorRow.insert(host=host_id, generation=generation, offset=offset).on_conflict(
            conflict_target=(SpoolCursorRow.host, SpoolCursorRow.generation), update={SpoolCursorRow.offset: offset}
        ).execute()
