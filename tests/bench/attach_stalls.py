"""The longest time for which the control room's event loop looks at nothing while an attached pane floods.

Measured by a watch in the loop itself, without the time for which others had the machine's cores; the reference is with
it.
"""

from __future__ import annotations

from tests.bench.attach_flood import floods
from tests.bench.report import Figure


def measure() -> Figure:
    """Milliseconds."""
    seen = floods()
    stall, late = max(each.stall_ms for each in seen), max(each.late_ms for each in seen)
    return Figure("stall of the loop while a pane floods", stall, "ms", 50.0, late)
