"""How far a stop has come, as a line that moves while it does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from screens.ages import span
from screens.chips import bar
from screens.model import ExecutorState, RunView
from screens.widgets.spans import Span

GRACE_S: Final = 10.0
"""Between the word that asks an agent to end and the one that ends it (PAM-RST-004)."""
MARGIN_S: Final = 2.0
"""The wrapper climbs the same ladder and is ended itself that much later."""


def under_way(view: RunView | None) -> bool:
    """Whether the run is being stopped now."""
    return view is not None and view.run.live and view.run.stop_requested_at is not None


def progress(view: RunView, executor: ExecutorState, now: datetime) -> Sequence[Span]:
    """``◼ stopping ▰▰▰▱▱▱▱▱▱▱ 3s: asked to end, killed after 10s``; empty while nobody stops it."""
    asked = view.run.stop_requested_at
    if asked is None or not view.run.live:
        return ()
    since = max((now - asked).total_seconds(), 0.0)
    full, empty = bar(min(int(since), int(GRACE_S)), int(GRACE_S), int(GRACE_S))
    head = Span(" ◼ stopping  ", "pending", True)
    if said := _stands(view, executor):
        return head, Span(said, "waiting")
    word = _rung(since)
    return head, Span(full, "pending"), Span(empty, "soft"), Span(f"  {span(now - asked)}: ", "ink"), Span(word, "soft")


def _stands(view: RunView, executor: ExecutorState) -> str:
    """Why nothing happens; empty when something does."""
    if executor == "down":
        return "waits for an executor: `pam up` starts one"
    host = view.host
    if host is not None and host.status == "offline":
        return f"waits for {host.name}, which does not answer"
    return ""


def _rung(since: float) -> str:
    if since < GRACE_S:
        return f"asked to end, killed after {GRACE_S:.0f}s"
    if since < GRACE_S + MARGIN_S:
        return "did not end by itself: killed with all it started"
    return "killed; what is left of it is looked for"
