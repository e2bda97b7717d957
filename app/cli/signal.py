"""``pam signal``: the ingest edge by hand, the same as the spool's."""

from __future__ import annotations

import json
from collections.abc import Mapping

import click

from app.cli.call import OPERATOR, Call
from app.cli.declare import argument, command, option
from app.cli.shapes import shape
from store.errors import ProtocolError


@command("signal", prints='{"applied": true|false, "reason"}')
@argument("kind")
@option("--run", "run_", metavar="R", required=True, help="The run it is about.")
@option("--attempt", type=int, metavar="N", help="The attempt it is from; every signal carries one.")
@option("--seq", type=int, metavar="S", help="Position of a progress signal among those of its attempt.")
@option("--source", metavar="WHO", help="wrapper, hook:PROVIDER, agent (if omitted in a run), or manual (elsewhere).")
@option("--payload", metavar="JSON", default="{}", help="What else it says, as a JSON object.")
@click.pass_obj
def signal(
    call: Call, kind: str, run_: str, attempt: int | None, seq: int | None, source: str | None, payload: str
) -> None:
    """Say something about a run: started, finished, completed, failed or progress.

    Ingest judges it as one from the spool: an old attempt, a repetition or a late one changes nothing.
    """
    from store import redaction, runs, signals
    from store.clock import utc_now
    from store.records import Signal

    redaction.learn(redaction.secrets_in(call.environ))
    found = runs.find(call.store, run_)
    who = source or ("manual" if call.actor == OPERATOR else "agent")
    said = Signal(found.id, attempt, kind, who, at=utc_now(), seq=seq, payload=_object(payload))
    applied = signals.ingest(call.store, said, auto_mark_done=call.settings.auto_mark_done)
    call.emit(shape(applied), "applied" if applied.applied else f"not applied: {applied.reason.replace('_', ' ')}")


def _object(payload: str) -> Mapping[str, object]:
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"The payload is not JSON: {error}.", payload=payload) from None
    if not isinstance(value, dict):
        raise ProtocolError("The payload must be a JSON object, as in '{\"exit_code\": 0}'.", payload=payload)
    return value
