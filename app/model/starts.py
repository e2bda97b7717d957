"""What a run of an item may be started with here, and the run that the operator's choice becomes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from app.model.access import ACTOR, Surroundings, of_one_moment
from app.starting import about, check_launch, default_prompt, start_run, working_directory
from providers.program import find, machine_values, named_program
from providers.provider import Provider
from screens.model import ProviderChoice, StartChoices, StartRequest
from store import hosts, items, projects, runs
from store.database import Store
from store.errors import InvalidValue, ProviderUnavailable
from store.records import Run

DEMO = "demo"
"""The provider that every pam has, and nobody means who has another one."""


@of_one_moment
def choices_for(store: Store, around: Surroundings, item_id: str) -> StartChoices:
    item = items.get(store, item_id)
    catalog = around.catalog()
    mine = next(iter(runs.list_all(store, task_id=item_id)), None)
    last = mine or next(iter(runs.list_all(store, project_id=item.project_id)), None)
    cwd = projects.get(store, item.project_id).cwd or str(Path.cwd())
    offered = sorted((_choice(catalog.get(name), cwd) for name in catalog.names()), key=lambda each: bool(each.trouble))
    return StartChoices(
        providers=offered,
        hosts=hosts.list_all(store),
        provider=last.provider if last else around.default_provider or _first_choice(offered),
        model=(last.model or "") if last else "",
        approvals=(last.approvals or "") if last else "",
        prompt=(mine.prompt or "") if mine else about(item),
        arguments=shlex.join(mine.args) if mine else "",
        cwd=mine.cwd if mine else projects.get(store, item.project_id).cwd or "",
    )


def _first_choice(offered: Sequence[ProviderChoice]) -> str:
    """The first agent CLI that is installed; the demo where there is none."""
    ready = [each.name for each in offered if not each.trouble and not each.needs_arguments]
    agents = [name for name in ready if name != DEMO]
    return next(iter([*agents, *ready, *(each.name for each in offered)]), "")


def _choice(provider: Provider, cwd: str) -> ProviderChoice:
    return ProviderChoice(
        name=provider.name,
        title=provider.title,
        takes_prompt=provider.prompt != "none",
        takes_model=provider.takes_model,
        needs_arguments=provider.bin is None,
        approvals=tuple(provider.approvals),
        trouble=_trouble(provider, cwd),
    )


def _trouble(provider: Provider, cwd: str) -> str:
    """Why the provider cannot start on this machine; empty when it can, or when only the run will tell."""
    program = named_program(provider, machine_values(os.environ))
    if program is None:
        return ""
    try:
        find(provider, program, os.environ, Path(cwd))
    except ProviderUnavailable as error:
        return str(error)
    return ""


def missing(cwd: str) -> str:
    """That there is no such directory on this machine; empty when there is, or when the store will refuse the name."""
    try:
        path = Path(cwd).expanduser()
        missing = path.is_absolute() and not path.is_dir()
    except (RuntimeError, OSError):
        return ""
    return f"There is no directory {path}." if missing else ""


def start(store: Store, around: Surroundings, request: StartRequest) -> Run:
    item = items.get(store, request.item_id)
    provider = around.catalog().get(request.provider)
    host = hosts.get(store, request.host) if request.host else None
    project = projects.get(store, item.project_id)
    named = None if request.cwd == project.cwd else request.cwd or None
    wanted = named or project.cwd
    if wanted and (host is None or host.transport == "local") and (trouble := missing(wanted)):
        raise InvalidValue(f"{trouble} Make it, or name another under Directory.", field="cwd")
    cwd = working_directory(named, project, host)
    prompt = request.prompt or default_prompt(item, provider)
    model, approvals = request.model or None, request.approvals or None
    check_launch(provider, cwd, prompt, model, request.arguments, approvals)
    return start_run(
        store,
        item,
        provider,
        cwd=cwd,
        prompt=prompt,
        model=model,
        args=request.arguments,
        approvals=approvals,
        host=host,
        attempts=around.settings.max_attempts,
        actor=ACTOR,
    )
