"""What the branches of the tree have used: read when they are seen, forgotten when something below them changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from screens.model import ControlRoomModel
from screens.tree_state import TreeState
from store.usage import RollUp


class TreeAmounts:
    """Roll-ups by item, as far as they were read; a branch without runs has none."""

    def __init__(self, model: ControlRoomModel) -> None:
        self.known: dict[str, RollUp] = {}
        self._model = model

    def forget(self, state: TreeState, ids: Iterable[str]) -> bool:
        """These items have changed: what they and those above them have used is not known any more."""
        stale = {above for id_ in ids for above in (id_, *state.above(id_))} & self.known.keys()
        for id_ in stale:
            del self.known[id_]
        return bool(stale)

    async def read(self, state: TreeState, seen: Sequence[str]) -> bool:
        """Read what is not known of those that are seen; whether there was any."""
        wanted = [id_ for id_ in dict.fromkeys(seen) if id_ not in self.known and state.branch(id_).runs]
        if wanted:
            self.known.update(await self._model.amounts(wanted))
        return bool(wanted)
