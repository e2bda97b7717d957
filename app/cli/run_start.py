"""``pam run start``: checks what can be checked, makes the run, and with ``--wait`` stays until it has ended."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from app.cli import output
from app.cli.call import Call
from app.cli.declare import argument, choice, command, option
from app.cli.prompt_text import read_text
from app.cli.shapes import shape
from app.starting import check_launch, default_prompt, start_run, working_directory
from store.errors import InvalidValue, ProviderUnavailable, UsageError
from store.records import RESTART_POLICIES, Item, RestartPolicy

if TYPE_CHECKING:
    from providers.provider import Provider


@command(
    "start", prints='{"run": {"id", "task_id", "provider", "host", "session_name", "status", "attempt", "activity", …}}'
)
@option("--task", metavar="I", required=True, help="The task or subtask to work on.")
@option("--provider", "provider_", metavar="N", help="The agent CLI; [providers] default when omitted.")
@option("--host", "host_", metavar="H", help="The machine; any that is online when omitted.")
@option("--cwd", metavar="D", help="Where it works: the project's directory when omitted, else the current one.")
@option("--prompt", metavar="T", help="What to tell the agent; the task's title and description when omitted.")
@option("--prompt-file", metavar="PATH", help="The same from a file; - is stdin.")
@option("--model", metavar="M", help="The model, as the provider names it.")
@option("--approvals", metavar="A", help="What it may do unasked, as the provider names it; its own default.")
@option("--restart", "policy", type=choice(RESTART_POLICIES), help="When to try again; infrastructure when omitted.")
@option(
    "--attempts",
    type=click.IntRange(min=1),
    metavar="N",
    help="Attempts at most; the provider's number, else [executor] max_attempts.",
)
@option("--wait", "stay_", is_flag=True, help="Wait until it has ended: exit 0 exited, 20 failed, 21 stopped.")
@argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGS...]")
@click.pass_obj
def start(
    call: Call,
    task: str,
    provider_: str | None,
    host_: str | None,
    cwd: str | None,
    prompt: str | None,
    prompt_file: str | None,
    model: str | None,
    approvals: str | None,
    policy: RestartPolicy | None,
    attempts: int | None,
    stay_: bool,
    args: tuple[str, ...],
) -> int:
    """Start an agent on a task; returns at once, the executor does the rest."""
    from store import hosts, items, projects

    store = call.store
    item = items.find(store, task)
    provider = _provider(call, provider_)
    host = hosts.get(store, host_) if host_ else None
    where = working_directory(cwd, projects.get(store, item.project_id), host)
    words = _prompt(prompt, prompt_file, item, provider)
    if host is None or host.transport == "local":
        try:
            check_launch(provider, where, words, model, args, approvals)
        except ProviderUnavailable as error:
            output.say(error.message)
    make = partial(
        start_run,
        store,
        item,
        provider,
        cwd=where,
        prompt=words,
        model=model,
        args=args,
        approvals=approvals,
        host=host,
        restart_policy=policy,
        max_attempts=attempts,
        attempts=call.settings.executor.max_attempts,
        actor=call.actor,
    )
    if stay_:
        from app.cli.run_wait import stay

        return stay(call, make)
    run = make()
    call.emit(
        {"run": shape(run)}, lambda: f"{run.id[:8]}  {run.status}  {run.provider}  {run.session_name}  {item.title}"
    )
    tell_without_executor(call)
    return 0


def tell_without_executor(call: Call) -> None:
    """One line of narration when nobody is there to act."""
    from executor import lock

    if not lock.state(call.home).running:
        output.say("No executor runs, so nothing happens yet: start one with `pam up --detach`, or open `pam`.")


def _provider(call: Call, name: str | None) -> Provider:
    wanted = name or call.settings.default_provider
    if wanted is None:
        known = ", ".join(call.catalog.names())
        raise UsageError(f"Say which provider: --provider with one of {known}; or set [providers] default.")
    return call.catalog.get(wanted)


def _prompt(text: str | None, file: str | None, item: Item, provider: Provider) -> str | None:
    if text is not None and file is not None:
        raise UsageError("Give the prompt once: --prompt or --prompt-file.")
    if text is None and file is None:
        return default_prompt(item, provider)
    if provider.prompt == "none":
        raise InvalidValue(
            f"Provider {provider.name!r} takes no prompt; what it runs stands after `--`.", field="prompt"
        )
    if file is None:
        return text
    return read_text(file)
