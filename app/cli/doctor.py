"""``pam doctor``: is everything that pam needs there and in order; one line a check, exit 1 on a problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from app.cli.call import Call
from app.cli.declare import command
from app.cli.table import table

if TYPE_CHECKING:
    from providers.check import Check


@command("doctor", prints='{"checks": [{"name", "state": "ok|problem|na", "detail", "fix"}]}')
@click.pass_obj
def doctor(call: Call) -> int:
    """Check home, store, settings, tmux, executor, spool, logs and providers.

    Exits 1 on a problem.
    """
    from app.cli.doctor_checks import all_checks

    return report(call, all_checks(call))


def report(call: Call, checks: Sequence[Check]) -> int:
    """The checks as the answer; 1 when one of them found a problem."""
    data = [{"name": each.name, "state": each.state, "detail": each.detail, "fix": each.fix} for each in checks]
    rows = [[each.state, each.name, each.detail, each.fix if each.state != "ok" else ""] for each in checks]
    call.emit({"checks": data}, lambda: table(("STATE", "CHECK", "WHAT", "FIX"), rows, empty="Nothing to check."))
    return 1 if any(each.state == "problem" for each in checks) else 0
