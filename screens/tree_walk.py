"""How the keys walk over the tree, and fold and unfold it."""

from __future__ import annotations

from screens.tree_moves import TreeMoves
from screens.widgets.outline import Outline


class TreeWalk(TreeMoves):
    """The part of the tree that moves its cursor."""

    outline: Outline

    def moved(self) -> None:
        """The cursor stands elsewhere, and nothing else has changed."""
        raise NotImplementedError

    def put(self, place: int) -> None:
        """Put the cursor on a row, as near as there is one."""
        if self.state is not None and self.state.go(place):
            self.moved()

    def action_step(self, step: int) -> None:
        if self.state is not None:
            self.put(self.state.place + step)

    def action_page(self, step: int) -> None:
        self.action_step(step * max(self.outline.size.height - 1, 1))

    def action_edge(self, step: int) -> None:
        if self.state is not None:
            self.put(0 if step < 0 else len(self.state.rows) - 1)

    def action_fold(self) -> None:
        state = self.state
        if state is None or not state.rows:
            return
        row = state.rows[state.place]
        if not row.parent:
            self.say("Nothing is below it. n makes a child." if not self.picking else "Nothing is below it.", "waiting")
        elif state.fold(row.id, not row.folded):
            self.paint()

    def action_out(self) -> None:
        """Fold the item; one that is folded or has nothing to fold leads to its parent."""
        state = self.state
        if state is None or not state.rows:
            return
        row = state.rows[state.place]
        if state.fold(row.id, True):
            self.paint()
        elif (parent := next(state.above(row.id), None)) is not None:
            state.find(parent)
            self.moved()

    def action_into(self) -> None:
        """Unfold the item; one that is open leads to its first child."""
        state = self.state
        if state is None or not state.rows:
            return
        row = state.rows[state.place]
        if state.fold(row.id, False):
            self.paint()
        elif row.parent:
            self.put(state.place + 1)

    def action_fold_all(self) -> None:
        if self.state is not None:
            folded = self.state.fold_all()
            self.paint()
            self.say("Every branch is folded." if folded else "Every branch is unfolded.")
