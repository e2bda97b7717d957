"""``pam run resume``: a new run of the same item, whose agent goes on with the conversation of one that ended."""

from __future__ import annotations

from functools import partial

import click

from app.cli.call import Call
from app.cli.declare import argument, command, option
from app.cli.prompt_text import read_text
from app.cli.run_start import tell_without_executor
from app.cli.shapes import shape
from store.errors import Conflict, UsageError
from store.records import Run


@command("resume", prints='{"run": {"id", "resumed_from", "conversation_id", "status", …}}')
@argument("wanted", metavar="RUN")
@argument("prompt", metavar="[PROMPT]", required=False)
@option("--file", "file_", metavar="F", help="The prompt from a file; - is stdin.")
@option("--wait", "stay_", is_flag=True, help="Wait until it has ended: exit 0 exited, 20 failed, 21 stopped.")
@click.pass_obj
def resume(call: Call, wanted: str, prompt: str | None, file_: str | None, stay_: bool) -> int:
    """Go on with the conversation of a run that ended, in a new run of the same item and on the same host.

    Without a PROMPT the agent waits for one.
    """
    from store import runs

    if prompt is not None and file_ is not None:
        raise UsageError("Give the prompt once: as PROMPT, or with --file.")
    words = read_text(file_ or "-") if file_ or prompt == "-" else prompt
    old = runs.find(call.store, wanted)
    _check(call, old)
    make = partial(runs.resume, call.store, old.id, prompt=words, actor=call.actor)
    if stay_:
        from app.cli.run_wait import stay

        return stay(call, make)
    run = make()
    call.emit(
        {"run": shape(run)}, lambda: f"{run.id[:8]}  {run.status}  {run.provider}  goes on with {old.session_name}"
    )
    tell_without_executor(call)
    return 0


def _check(call: Call, old: Run) -> None:
    """The provider must be there and know how to go on; the store checks the rest."""
    provider = call.catalog.get(old.provider)
    if not provider.conversation.resume:
        raise Conflict(
            f"Provider {old.provider!r} cannot go on with a conversation. Start anew: "
            f"`pam run start --task {old.task_id[:8]} --provider {old.provider}`.",
            provider=old.provider,
        )
