"""Search over everything: projects, items and runs, by any part of any word that is known of them.

The index is SQLite's FTS5 over ``search_documents``, which the triggers of migration 0006 keep. Its tokens have three
characters; shorter words are looked for in titles. Labels, and what a run says that it does, are looked up where they
stand: they change too often for an index. What stands in a title comes first, and there what begins with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from store import items, projects, run_rows
from store.database import Store
from store.models import ItemRow, ProjectRow, Row, RunRow
from store.records import Item, Project, Run

Noun = Literal["project", "item", "run"]
TOKEN: Final = 3
"""Characters of a token of the index."""
MOST_WORDS: Final = 8
LONGEST_WORD: Final = 64
EXCERPT: Final = 90
"""Characters of an excerpt."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")

_NAMED: Final = "instr(lower(d.title), ?)"
_INDEXED: Final = """
SELECT d.noun, d.ref, d.title
    FROM (SELECT rowid, bm25(search_index, 10.0, 1.0) AS worth FROM search_index WHERE search_index MATCH ?
          ORDER BY worth LIMIT 200) AS found
    JOIN search_documents AS d ON d.id = found.rowid ORDER BY found.worth
"""
_INDEXED_AND_NAMED: Final = """
SELECT d.noun, d.ref, d.title FROM search_index JOIN search_documents AS d ON d.id = search_index.rowid
    WHERE search_index MATCH ? AND {rules} ORDER BY bm25(search_index, 10.0, 1.0) LIMIT 200
"""
_TITLED: Final = "SELECT d.noun, d.ref, d.title FROM search_documents AS d WHERE {rules} ORDER BY d.id DESC LIMIT 200"
_SPOKEN: Final = "SELECT 'run', id, '' FROM runs AS d WHERE activity_note IS NOT NULL AND {rules} LIMIT 200"
_NOTED: Final = "instr(lower(activity_note || ' ' || provider || ' ' || session_name), ?)"
_TAGGED: Final = """
SELECT d.noun, d.ref, d.title FROM search_documents AS d
    WHERE d.noun = 'item' AND {rules} AND d.ref IN (SELECT item_id FROM labels WHERE name BETWEEN ? AND ? LIMIT 500)
    LIMIT 200
"""
_SAID_OR_TAGGED: Final = (
    "(instr(lower(d.title || ' ' || d.body), ?)"
    " OR EXISTS (SELECT 1 FROM labels WHERE item_id = d.ref AND name BETWEEN ? AND ?))"
)


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that was found; a run comes with its item, and everything with its project."""

    noun: Noun
    project: Project
    item: Item | None = None
    run: Run | None = None
    excerpt: str = ""
    """Where it was found if that is not the title: a piece of the description, prompt or note, on one line."""

    @property
    def id(self) -> str:
        """Of the project, item or run that it is."""
        return (self.run or self.item or self.project).id

    @property
    def title(self) -> str:
        """Of the item, also where it is one of its runs that was found; else the project's name."""
        return self.item.title if self.item else self.project.name


class _Found(NamedTuple):
    noun: Noun
    ref: str
    title: str


def search(store: Store, text: str, *, limit: int = 30) -> list[Hit]:
    """What holds every word of ``text``, the best first; nothing for no words. Any text is safe."""
    words = _words(text)
    if not words:
        return []
    with store.read():
        found: dict[str, _Found] = {}
        for each in (*_written(words), *_tagged(words), *_spoken(words)):
            found.setdefault(each.ref, each)
        best = sorted(found.values(), key=lambda each: _distance(each.title, words))[:limit]
        return list(_hits(best, words))


def rebuild(store: Store, *, actor: str) -> None:
    """Make the index anew out of its documents, should it ever be damaged."""
    with store.write(actor):
        if _has_index():
            _rows("INSERT INTO search_index(search_index) VALUES ('rebuild')")


def _words(text: str) -> list[str]:
    return [word[:LONGEST_WORD].lower() for word in _CONTROL.sub(" ", text).split()][:MOST_WORDS]


def _written(words: Sequence[str]) -> list[_Found]:
    """Documents with every word, the best 200 by the index's own count; words too short for the index in the title."""
    long = [word for word in words if len(word) >= TOKEN]
    short = [word for word in words if len(word) < TOKEN]
    if not long or not _has_index():
        return _read(_TITLED.format(rules=_all(_NAMED, words)), *words)
    # Quoted, a word is text to FTS5 whatever it holds; a quote in it is doubled.
    match = " ".join('"' + word.replace('"', '""') + '"' for word in long)
    if not short:
        return _read(_INDEXED, match)
    return _read(_INDEXED_AND_NAMED.format(rules=_all(_NAMED, short)), match, *short)


def _tagged(words: Sequence[str]) -> Iterator[_Found]:
    """Items with a label that begins like one of the words, and with all others in whatever is known of them."""
    for word in words:
        rules = _all(_SAID_OR_TAGGED, words)
        values = [value for each in words for value in (each, *_between(each))]
        yield from _read(_TAGGED.format(rules=rules), *values, *_between(word))


def _spoken(words: Sequence[str]) -> list[_Found]:
    """Runs that say so now."""
    return _read(_SPOKEN.format(rules=_all(_NOTED, words)), *words)


def _between(word: str) -> tuple[str, str]:
    """From the first to the last label that begins so."""
    label = word.lstrip("#")
    return label or "\U0010ffff", label + "\U0010ffff"


def _distance(title: str, words: Sequence[str]) -> int:
    """How far a title is from what was typed: the same, beginning so, words beginning so, in it at all, elsewhere."""
    title, whole = title.lower(), " ".join(words)
    if title.startswith(whole):
        return 0 if title == whole else 1
    if all(f" {word}" in f" {title}" for word in words):
        return 2
    return 3 if all(word in title for word in words) else 4


def _hits(found: Sequence[_Found], words: Sequence[str]) -> Iterator[Hit]:
    """The things themselves; what is gone meanwhile is left out."""
    runs = _runs([each.ref for each in found if each.noun == "run"])
    known = _items([each.ref for each in found if each.noun == "item"] + [run.task_id for run in runs.values()])
    owned = _projects([each.ref for each in found if each.noun == "project"] + [i.project_id for i in known.values()])
    inside = _bodies([each for each in found if _distance(each.title, words) == 4])
    for each in found:
        run = runs.get(each.ref)
        item = known.get(run.task_id if run else each.ref)
        project = owned.get(item.project_id if item else each.ref)
        if project is not None:
            said = f"{run.activity_note if run and run.activity_note else ''}\n{inside.get(each.ref, '')}"
            yield Hit(each.noun, project, item, run, _excerpt(said, words) if each.ref in inside else "")


def _runs(ids: Sequence[str]) -> dict[str, Run]:
    return {row.id: run_rows.record(row) for row in run_rows.joined().where(RunRow.id.in_(ids))} if ids else {}


def _items(ids: Sequence[str]) -> Mapping[str, Item]:
    return {item.id: item for item in items.records_of(ItemRow.select().where(ItemRow.id.in_(ids)))} if ids else {}


def _projects(ids: Sequence[str]) -> Mapping[str, Project]:
    wanted = sorted(set(ids))
    return {row.id: projects.record(row) for row in ProjectRow.select().where(ProjectRow.id.in_(wanted))}


def _bodies(found: Sequence[_Found]) -> dict[str, str]:
    if not found:
        return {}
    sql = "SELECT ref, body FROM search_documents WHERE noun = ? AND ref IN (SELECT value FROM json_each(?))"
    nouns = {each.noun for each in found}
    refs = json.dumps([each.ref for each in found])
    return {str(ref): str(body) for noun in nouns for ref, body in _rows(sql, noun, refs)}


def _excerpt(body: str, words: Sequence[str]) -> str:
    """A piece of one line around the first word that stands in it."""
    lowered = body.lower()
    at = min((place for word in words if (place := lowered.find(word)) >= 0), default=-1)
    if at < 0:
        return ""
    begin = max(at - EXCERPT // 3, body.rfind("\n", 0, at) + 1)
    piece = " ".join(body[begin : begin + EXCERPT].split())
    return f"{'…' if begin and body[begin - 1] != chr(10) else ''}{piece}{'…' if begin + EXCERPT < len(body) else ''}"


def _all(rule: str, words: Iterable[str]) -> str:
    return " AND ".join(rule for _ in words)


def _has_index() -> bool:
    """Whether this database has the index: a SQLite without FTS5 made it without."""
    return bool(_rows("SELECT 1 FROM sqlite_master WHERE name = 'search_index'"))


def _read(sql: str, *values: object) -> list[_Found]:
    return [_Found(*row) for row in _rows(sql, *values)]  # type: ignore[arg-type]


def _rows(sql: str, *values: object) -> list[tuple[object, ...]]:
    return list(Row._meta.database.execute_sql(sql, values).fetchall())
