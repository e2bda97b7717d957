"""``pam task``: the work items, from the first title to the board."""

from __future__ import annotations

import click

from app.cli.call import Call
from app.cli.declare import argument, choice, group, option
from app.cli.shapes import shape, shapes, summed, with_tokens
from store.errors import UsageError
from store.records import ITEM_STATUSES, KINDS, Item, ItemStatus, Kind

MORE = {
    "edit": ("app.cli.task_change:edit", "Change what is given and nothing else."),
    "move": ("app.cli.task_change:move", "Change the status, along a legal edge."),
    "done": ("app.cli.task_change:done", "Mark an item done."),
    "reparent": ("app.cli.task_change:reparent", "Hang an item below another, or at the root."),
    "reorder": ("app.cli.task_change:reorder", "Put an item right before or after another."),
    "delete": ("app.cli.task_change:delete", "Delete an item, what is below it, and their runs."),
}


@group("task", lazy=MORE)
def task() -> None:
    """Work items: milestones, epics, tasks and subtasks."""


@task.command("add", prints='{"task": {…}}')
@argument("title")
@option("--project", "project_", metavar="P", required=True, help="Slug or id of its project.")
@option("--parent", metavar="I", help="The item it belongs under.")
@option("--kind", type=choice(KINDS), help="What it is; a task unless told otherwise.")
@option("--description", metavar="T", default="", help="What is to be done; Markdown.")
@option("--assignee", metavar="A", help="Who does it: a person, a team, an agent.")
@option("--label", "labels", metavar="L", multiple=True, help="A word to find it by; may be given again.")
@click.pass_obj
def add(
    call: Call,
    title: str,
    project_: str,
    parent: str | None,
    kind: Kind | None,
    description: str,
    assignee: str | None,
    labels: tuple[str, ...],
) -> None:
    """Add an item at the end of its project."""
    from store import items, projects

    store = call.store
    made = items.create(
        store,
        projects.find(store, project_).id,
        title,
        kind=kind,
        parent_id=items.find(store, parent).id if parent else None,
        description=description,
        assignee=assignee,
        labels=labels,
        actor=call.actor,
    )
    emit(call, made)


@task.command("list", prints='{"tasks": […]}')
@option("--project", "project_", metavar="P", help="Slug or id of the project.")
@option("--all", "everywhere", is_flag=True, help="Items of all projects.")
@option("--kind", type=choice(KINDS), help="Only those.")
@option("--status", type=choice(ITEM_STATUSES), help="Only those.")
@option("--assignee", metavar="A", help="Only those.")
@option("--label", metavar="L", help="Only those.")
@option("--flat", is_flag=True, help="In the order of the board, with paths, instead of as a tree.")
@click.pass_obj
def list_(
    call: Call,
    project_: str | None,
    everywhere: bool,
    kind: Kind | None,
    status: ItemStatus | None,
    assignee: str | None,
    label: str | None,
    flat: bool,
) -> None:
    """List items, as a tree."""
    from app.cli.task_text import flat_list, tree_list, tree_order
    from store import items, projects

    if (project_ is None) is not everywhere:
        raise UsageError("Name a project with --project P, or ask for all of them with --all.")
    store = call.store
    project_id = projects.find(store, project_).id if project_ is not None else None
    found = items.list_all(store, project_id, kind=kind, status=status, assignee=assignee, label=label)
    slugs = {each.id: each.slug for each in projects.list_all(store)} if everywhere and not call.json else None
    call.emit(
        lambda: {"tasks": shapes(found if flat else [item for item, _ in tree_order(found)])},
        lambda: flat_list(found, slugs) if flat else tree_list(found, slugs),
    )


@task.command("show", prints='{"task": {…, "runs": […], "children": […], "tokens": {…}}}')
@argument("wanted", metavar="TASK")
@click.pass_obj
def show(call: Call, wanted: str) -> None:
    """Show an item with its parents, children and runs."""
    from app.cli.task_text import page
    from store import items, runs, usage

    store = call.store
    found = items.find(store, wanted)
    children = items.children(store, found.id)
    mine = runs.list_all(store, task_id=found.id)
    used, total = usage.of_runs(store, [run.id for run in mine]), usage.of_item(store, found.id)
    data = {**shape(found), "runs": with_tokens(mine, used), "children": shapes(children), "tokens": summed(total)}
    call.emit({"task": data}, lambda: page(store, found, children, mine, used, total))


@task.command("board", prints='{"board": {"todo": […], "doing": […], "done": […], "cancelled": […]}}')
@argument("project_", metavar="PROJECT")
@click.pass_obj
def board(call: Call, project_: str) -> None:
    """Show a project's board: four columns."""
    from app.cli.board_text import board_text, columns
    from store import projects

    store = call.store
    found = projects.find(store, project_)
    call.emit(lambda: {"board": columns(store, found.id)}, lambda: board_text(store, found.id))


def emit(call: Call, item: Item) -> None:
    """An item as the answer."""
    from app.cli.task_text import flat_list

    call.emit({"task": shape(item)}, lambda: flat_list([item], None))
