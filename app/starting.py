"""How a run is asked for, by a key or by a command: where it works, what it is told, and what is checked beforehand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from store import runs
from store.errors import InvalidValue
from store.paths import absolute

if TYPE_CHECKING:
    from providers.provider import Provider
    from store.database import Store
    from store.records import Host, Item, Project, RestartPolicy, Run

NO_RUN = "00000000-0000-4000-8000-000000000000"
"""Stands for the run that is not made yet."""


def start_run(
    store: Store,
    item: Item,
    provider: Provider,
    *,
    cwd: str,
    prompt: str | None,
    model: str | None,
    args: Sequence[str],
    approvals: str | None = None,
    host: Host | None,
    restart_policy: RestartPolicy | None = None,
    max_attempts: int | None = None,
    attempts: int = runs.MAX_ATTEMPTS,
    actor: str,
) -> Run:
    """The pending run; its attempts are ``max_attempts``, else the provider's, else ``attempts`` (rulings X-13)."""
    return runs.start(
        store,
        item.id,
        provider.name,
        cwd,
        prompt=prompt,
        model=model,
        args=args,
        approvals=approvals,
        pinned_host_id=host.id if host else None,
        restart_policy=restart_policy or runs.RESTART_POLICY,
        max_attempts=max_attempts or provider.max_attempts or attempts,
        actor=actor,
    )


def default_prompt(item: Item, provider: Provider) -> str | None:
    """What an agent is told when nobody says more; None for one that takes no prompt."""
    return None if provider.prompt == "none" else about(item)


def about(item: Item) -> str:
    """An item in words: the title, then the description."""
    return f"{item.title}\n\n{item.description}".strip()


def working_directory(named: str | None, project: Project, host: Host | None) -> str:
    """As named, the project's, the host's, and only on this machine the current one (rulings X-22).

    Raises InvalidValue for one that is not there, as far as it can be seen from here.
    """
    local = host is None or host.transport == "local"
    wanted = named or project.cwd or (None if host is None or local else host.work_root)
    if not local:
        if wanted is None:
            raise InvalidValue("Say where it works on that host: --cwd with an absolute path there.", field="cwd")
        return wanted
    path = absolute(wanted or ".", "cwd")
    if not path.is_dir():
        whose = "" if named else f" of the project {project.slug}"
        raise InvalidValue(
            f"The working directory{whose} is not there: {path}. Make it, or name another with --cwd.", cwd=str(path)
        )
    return os.path.normpath(path)


def check_launch(
    provider: Provider,
    cwd: str,
    prompt: str | None,
    model: str | None,
    args: Sequence[str],
    approvals: str | None = None,
) -> None:
    """Find now what the executor would find wrong at the start.

    Raises InvalidValue, or ProviderUnavailable for a program that is missing here; the executor's PATH may have it.
    """
    from providers.launch import plan
    from providers.long_prompt import line_for, needs_file

    plan(
        provider,
        run_id=NO_RUN,
        prompt=line_for("/") if needs_file(provider, prompt) else prompt,
        model=model,
        args=args,
        cwd=cwd,
        conversation_id=None,
        environ=os.environ,
        approvals=approvals,
    )
