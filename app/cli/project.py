"""``pam project``: add, list, show, edit, archive and unarchive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli.call import Call
from app.cli.declare import argument, choice, group, option
from app.cli.shapes import shape, shapes, short_ids, summed
from app.cli.table import facts, section, table
from store.errors import UsageError
from store.records import ITEM_STATUSES, PROJECT_STATUSES, ProjectStatus
from store.unset import UNSET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.database import Store
    from store.projects import Overview
    from store.records import Event, Project
    from store.usage import RollUp

RECENT = 10
LOOKED_BACK = 500


@group("project")
def project() -> None:
    """Projects: bodies of work with a board."""


@project.command("add", prints='{"project": {…}}')
@argument("name")
@option("--slug", metavar="S", help="Short name for the command line; made from the name when omitted.")
@option("--cwd", metavar="DIR", help="Where its agents work unless a run says otherwise.")
@option("--description", metavar="T", default="", help="What it is about.")
@click.pass_obj
def add(call: Call, name: str, slug: str | None, cwd: str | None, description: str) -> None:
    """Add a project."""
    from app.cli.said import directory
    from store import projects

    made = projects.add(call.store, name, slug=slug, cwd=directory(cwd), description=description, actor=call.actor)
    _emit(call, made)


@project.command("list", prints='{"projects": […]}')
@option("--status", type=choice(PROJECT_STATUSES), help="Only those.")
@click.pass_obj
def list_(call: Call, status: ProjectStatus | None) -> None:
    """List projects by name."""
    from store import projects

    found = projects.list_all(call.store, status=status)
    call.emit({"projects": shapes(found)}, lambda: _table(found))


@project.command("show", prints='{"project": {…, "items": {status: n}, "last_activity", "recent": […], "tokens": {…}}}')
@argument("wanted", metavar="PROJECT")
@click.pass_obj
def show(call: Call, wanted: str) -> None:
    """Show a project, its items by status, and what happened last."""
    from store import projects, usage

    found = projects.find(call.store, wanted)
    overview = next(each for each in projects.overviews(call.store) if each.project.id == found.id)
    recent, total = _recent(call.store, found), usage.of_project(call.store, found.id)
    data = {
        **shape(found),
        "items": {status: overview.counts.get(status, 0) for status in ITEM_STATUSES},
        "last_activity": overview.last_activity,
        "recent": shapes(recent),
        "tokens": summed(total),
    }
    call.emit({"project": data}, lambda: _page(overview, recent, total))


@project.command("edit", prints='{"project": {…}}')
@argument("wanted", metavar="PROJECT")
@option("--name", metavar="N", help="A new name.")
@option("--slug", metavar="S", help="A new slug.")
@option("--cwd", metavar="DIR", help="A new directory; an empty one for none.")
@option("--description", metavar="T", help="A new description.")
@click.pass_obj
def edit(call: Call, wanted: str, name: str | None, slug: str | None, cwd: str | None, description: str | None) -> None:
    """Change what is given and nothing else."""
    from app.cli.said import directory
    from store import projects

    if name is None and slug is None and cwd is None and description is None:
        raise UsageError("Say what to change: --name, --slug, --cwd or --description.")
    found = projects.find(call.store, wanted)
    changed = projects.edit(
        call.store,
        found.id,
        name=UNSET if name is None else name,
        slug=UNSET if slug is None else slug,
        cwd=UNSET if cwd is None else directory(cwd),
        description=UNSET if description is None else description,
        actor=call.actor,
    )
    _emit(call, changed)


@project.command("archive", prints='{"project": {…}}')
@argument("wanted", metavar="PROJECT")
@click.pass_obj
def archive(call: Call, wanted: str) -> None:
    """Make the structure read-only: no new items, no new runs. Runs in flight go on."""
    from store import projects

    found = projects.find(call.store, wanted)
    _emit(call, projects.archive(call.store, found.id, actor=call.actor))


@project.command("unarchive", prints='{"project": {…}}')
@argument("wanted", metavar="PROJECT")
@click.pass_obj
def unarchive(call: Call, wanted: str) -> None:
    """Open an archived project again."""
    from store import projects

    found = projects.find(call.store, wanted)
    _emit(call, projects.unarchive(call.store, found.id, actor=call.actor))


def _emit(call: Call, found: Project) -> None:
    call.emit({"project": shape(found)}, lambda: _table([found]))


def _table(found: Sequence[Project]) -> str:
    from app.cli.said import when

    short = short_ids(each.id for each in found)
    rows = [
        [short(each.id), each.slug, each.status, when(each.created_at), each.cwd or "-", each.name] for each in found
    ]
    heads = ("ID", "SLUG", "STATUS", "CREATED", "DIRECTORY", "NAME")
    return table(heads, rows, empty="No projects. Add one with `pam project add NAME`.")


def _page(overview: Overview, recent: Sequence[Event], total: RollUp) -> str:
    from app.cli.said import ago, event_table, when
    from screens import amounts

    found = overview.project
    counts = ", ".join(f"{overview.counts.get(status, 0)} {status}" for status in ITEM_STATUSES)
    page = facts(
        [
            ("project", found.name),
            ("slug", found.slug),
            ("id", found.id),
            ("status", found.status),
            ("directory", found.cwd),
            ("items", counts),
            ("tokens", amounts.all_tokens(total)),
            ("cost", amounts.all_cost(total)),
            ("created", when(found.created_at)),
            ("active", ago(overview.last_activity)),
            ("about", found.description),
        ]
    )
    return page + section("Recently", event_table(recent) if recent else "")


def _recent(store: Store, found: Project) -> list[Event]:
    """The newest events of a project, among the newest of all."""
    from store import items, journal

    mine = {item.id for item in items.list_all(store, found.id)}
    events = journal.latest(store, limit=LOOKED_BACK)
    return [
        event for event in events if event.payload.get("project_id") == found.id or event.payload.get("task_id") in mine
    ][-RECENT:]
