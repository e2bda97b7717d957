"""Verbs on projects: add, edit, archive, unarchive, and looking them up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from peewee import IntegrityError, fn

from store import text
from store.database import Store
from store.errors import ArchivedProject, Conflict, InvalidValue, NotFound
from store.ids import resolve
from store.models import ItemRow, ProjectRow, tuples
from store.paths import absolute
from store.records import ITEM_STATUSES, ItemStatus, Project, ProjectStatus
from store.transaction import Transaction
from store.unset import UNSET, Unset


@dataclass(frozen=True, slots=True)
class Overview:
    """A project with what its card shows."""

    project: Project
    counts: dict[ItemStatus, int]
    last_activity: datetime


def add(
    store: Store,
    name: str,
    *,
    slug: str | None = None,
    cwd: str | None = None,
    description: str = "",
    actor: str,
) -> Project:
    """Create a project; the slug is made from the name when omitted, numbered when taken (PAM-DATA-012).

    Raises InvalidValue for a bad name, slug or directory, Conflict for a slug that is taken.
    """
    name = text.one_line(name, "name")
    wanted = text.checked_slug(slug) if slug is not None else None
    directory = _directory(cwd)
    with store.write(actor) as tx:
        row = ProjectRow.create(
            id=tx.new_id(),
            name=name,
            slug=_claim_slug(wanted) if wanted else _free_slug(text.slug(name) or "project"),
            description=text.paragraphs(description),
            cwd=directory,
            created_at=tx.now,
            updated_at=tx.now,
        )
        tx.journal("project.created", project_id=row.id, name=row.name, slug=row.slug)
        return record(row)


def edit(
    store: Store,
    project_id: str,
    *,
    name: str | Unset = UNSET,
    slug: str | Unset = UNSET,
    cwd: str | Unset | None = UNSET,
    description: str | Unset = UNSET,
    actor: str,
) -> Project:
    """Change what is given and nothing else; journals ``project.updated`` when something changed."""
    with store.write(actor) as tx:
        row = _row(project_id)
        changes: dict[str, object] = {}
        if not isinstance(name, Unset):
            changes["name"] = text.one_line(name, "name")
        if not isinstance(slug, Unset) and slug != row.slug:
            changes["slug"] = _claim_slug(text.checked_slug(slug))
        if not isinstance(cwd, Unset):
            changes["cwd"] = _directory(cwd)
        if not isinstance(description, Unset):
            changes["description"] = text.paragraphs(description)
        return _update(tx, row, {key: value for key, value in changes.items() if getattr(row, key) != value})


def archive(store: Store, project_id: str, *, actor: str) -> Project:
    """Make the structure read-only; runs in flight go on (PAM-DATA-013, 014, 016). Twice is as good as once."""
    return _set_status(store, project_id, "archived", "project.archived", actor)


def unarchive(store: Store, project_id: str, *, actor: str) -> Project:
    """Restore full mutability (PAM-DATA-015)."""
    return _set_status(store, project_id, "active", "project.updated", actor)


def get(store: Store, project_id: str) -> Project:
    """The project with this full id. Raises NotFound."""
    with store.read():
        return record(_row(project_id))


def find(store: Store, wanted: str) -> Project:
    """The project that a slug, an id or a prefix of an id names. Raises NotFound or Ambiguous."""
    with store.read():
        row = ProjectRow.get_or_none(ProjectRow.slug == wanted.strip())
        if row is not None:
            return record(row)
        try:
            return record(_row(resolve(ProjectRow, "project", wanted)))
        except (NotFound, InvalidValue) as error:
            slugs = [known.slug for known in ProjectRow.select(ProjectRow.slug).limit(20)]
            known_list = f"Projects: {', '.join(slugs)}." if slugs else "Add one with `pam project add NAME`."
            raise NotFound(f"There is no project {wanted!r}. {known_list}", id=wanted) from error


def list_all(store: Store, *, status: ProjectStatus | None = None) -> list[Project]:
    """Projects by name."""
    with store.read():
        query = ProjectRow.select().order_by(fn.LOWER(ProjectRow.name), ProjectRow.created_at)
        return [record(row) for row in (query.where(ProjectRow.status == status) if status else query)]


def overviews(store: Store, *, status: ProjectStatus | None = None) -> list[Overview]:
    """Projects with their counts of items by status, the most recently active first (PAM-UI-002)."""
    listed = list_all(store, status=status)
    with store.read():
        counts = _counts()
        latest = _last_activity()
    made = [
        Overview(
            project,
            {s: counts.get((project.id, s), 0) for s in ITEM_STATUSES},
            max(latest.get(project.id, project.updated_at), project.updated_at),
        )
        for project in listed
    ]
    return sorted(made, key=lambda overview: overview.last_activity, reverse=True)


def check_active(project_id: str, doing: str) -> None:
    """Inside a transaction: raise ArchivedProject when the structure is read-only."""
    row = _row(project_id)
    if row.status == "archived":
        raise ArchivedProject(
            f"The project {row.slug} is archived, so {doing} is refused. "
            f"`pam project unarchive {row.slug}` opens it again.",
            project_id=row.id,
        )


def record(row: ProjectRow) -> Project:
    """The frozen form of a row."""
    return Project(
        id=row.id,
        name=row.name,
        slug=row.slug,
        description=row.description,
        status=row.status,
        cwd=row.cwd,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _row(project_id: str) -> ProjectRow:
    row: ProjectRow | None = ProjectRow.get_or_none(ProjectRow.id == project_id)
    if row is None:
        raise NotFound(f"There is no project {project_id!r}.", id=project_id)
    return row


def _update(tx: Transaction, row: ProjectRow, changes: dict[str, object]) -> Project:
    if changes:
        try:
            ProjectRow.update(**changes, updated_at=tx.now).where(ProjectRow.id == row.id).execute()
        except IntegrityError as error:
            raise Conflict(f"The project cannot be changed so: {error}.") from error
        tx.journal("project.updated", project_id=row.id, fields=sorted(changes))
    return record(_row(row.id))


def _set_status(store: Store, project_id: str, status: ProjectStatus, topic: str, actor: str) -> Project:
    with store.write(actor) as tx:
        row = _row(project_id)
        if row.status != status:
            ProjectRow.update(status=status, updated_at=tx.now).where(ProjectRow.id == row.id).execute()
            tx.journal(topic, project_id=row.id, slug=row.slug, status=status)
        return record(_row(project_id))


def _directory(cwd: str | None) -> str | None:
    if cwd is None or not cwd.strip():
        return None
    if not cwd.startswith(("/", "~")):
        raise InvalidValue(f"The directory {cwd!r} is not absolute. Give it from / on.", field="cwd")
    return str(absolute(cwd, "cwd"))


def _claim_slug(slug: str) -> str:
    if ProjectRow.select().where(ProjectRow.slug == slug).exists():
        raise Conflict(f"The slug {slug!r} is taken. Choose another with --slug.", slug=slug)
    return slug


def _free_slug(base: str) -> str:
    taken = {row.slug for row in ProjectRow.select(ProjectRow.slug).where(ProjectRow.slug.startswith(base))}
    candidate, number = base, 2
    while candidate in taken:
        candidate, number = f"{base}-{number}", number + 1
    return candidate


def _counts() -> dict[tuple[str, str], int]:
    query = ItemRow.select(ItemRow.project, ItemRow.status, fn.COUNT(ItemRow.id)).group_by(
        ItemRow.project, ItemRow.status
    )
    return {(project, status): count for project, status, count in tuples(query)}


def _last_activity() -> dict[str, datetime]:
    query = ItemRow.select(ItemRow.project, fn.MAX(ItemRow.updated_at)).group_by(ItemRow.project)
    return dict(tuples(query))
