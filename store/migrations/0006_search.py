"""The index for searching: what can be found of projects, items and runs, kept by triggers and by nothing else.

``search_documents`` holds the words, a row for each thing; ``search_index`` is an FTS5 index over it. Its tokens are
three characters each, so that any part of a word is found, in languages without spaces, too. What changes often and is
short is no part of it: labels, and what a run says it does now, are looked up where they stand.
"""

import sqlite3
from typing import Any

LONGEST = 20_000
"""Characters of a description or a prompt that are indexed."""

DOCUMENTS = """
CREATE TABLE "search_documents" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "noun" TEXT NOT NULL CHECK ("noun" IN ('project', 'item', 'run')),
    "ref" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "body" TEXT NOT NULL
);
CREATE UNIQUE INDEX "search_documents_noun_ref" ON "search_documents" ("noun", "ref");
"""

INDEX = """
CREATE VIRTUAL TABLE "search_index" USING fts5(
    title, body, content='search_documents', content_rowid='id', tokenize='{tokenizer}'
);
CREATE TRIGGER "search_added" AFTER INSERT ON "search_documents" BEGIN
    INSERT INTO search_index(rowid, title, body) VALUES (new.id, new.title, new.body);
END;
CREATE TRIGGER "search_removed" AFTER DELETE ON "search_documents" BEGIN
    INSERT INTO search_index(search_index, rowid, title, body)
        VALUES ('delete', old.id, old.title, old.body);
END;
CREATE TRIGGER "search_replaced" AFTER UPDATE ON "search_documents" BEGIN
    INSERT INTO search_index(search_index, rowid, title, body)
        VALUES ('delete', old.id, old.title, old.body);
    INSERT INTO search_index(rowid, title, body) VALUES (new.id, new.title, new.body);
END;
"""

FACTS = {
    "projects": ("project", "{row}.name || ' ' || {row}.slug", "substr({row}.description, 1, {longest})"),
    "work_items": (
        "item",
        "{row}.title",
        "coalesce('@' || {row}.assignee || char(10), '') || substr({row}.description, 1, {longest})",
    ),
    "runs": (
        "run",
        "'run ' || {row}.session_name || ' ' || {row}.provider || coalesce(' ' || {row}.model, '')",
        "substr(coalesce({row}.prompt, ''), 1, {longest})",
    ),
}
"""What is found of a row of each table: its noun, its title, its body."""

WATCHED = {
    "projects": "name, slug, description",
    "work_items": "title, description, assignee",
    "runs": "session_name, provider, model, prompt",
}
"""Columns whose change changes the document."""


def up(migrator: Any, db: Any) -> None:
    """Make the documents of all that is there, then the index in one go, then the triggers that keep both."""
    _carry_out(db, DOCUMENTS)
    for table, facts in FACTS.items():
        _carry_out(db, _filled(table, facts) + _kept(table, facts))
    if tokenizer := _tokenizer(db):
        _carry_out(db, INDEX.format(tokenizer=tokenizer))
        db.execute_sql("INSERT INTO search_index(search_index) VALUES ('rebuild')")


def _tokenizer(db: Any) -> str:
    """Parts of words where this SQLite knows how, else whole words; empty where it has no FTS5 at all."""
    options = {option for (option,) in db.execute_sql("PRAGMA compile_options").fetchall()}
    if "ENABLE_FTS5" not in options:
        return ""
    return "trigram" if sqlite3.sqlite_version_info >= (3, 34) else "unicode61 remove_diacritics 2"


def _filled(table: str, facts: tuple[str, ...]) -> str:
    noun, *columns = (fact.format(row="fresh", longest=LONGEST) for fact in facts)
    return f"""
INSERT INTO search_documents(noun, ref, title, body)
    SELECT '{noun}', fresh.id, {", ".join(columns)} FROM {table} AS fresh;
"""  # noqa: S608 - made of the constants above


def _kept(table: str, facts: tuple[str, ...]) -> str:
    noun, title, body = (fact.format(row="new", longest=LONGEST) for fact in facts)
    changed = " OR ".join(f"old.{column} IS NOT new.{column}" for column in WATCHED[table].split(", "))
    return f"""
CREATE TRIGGER "search_{noun}_made" AFTER INSERT ON "{table}" BEGIN
    INSERT INTO search_documents(noun, ref, title, body) VALUES ('{noun}', new.id, {title}, {body});
END;
CREATE TRIGGER "search_{noun}_changed" AFTER UPDATE OF {WATCHED[table]} ON "{table}" WHEN {changed} BEGIN
    UPDATE search_documents SET title = {title}, body = {body}
        WHERE noun = '{noun}' AND ref = new.id;
END;
CREATE TRIGGER "search_{noun}_gone" AFTER DELETE ON "{table}" BEGIN
    DELETE FROM search_documents WHERE noun = '{noun}' AND ref = old.id;
END;
"""  # noqa: S608 - made of the constants above


def _carry_out(db: Any, script: str) -> None:
    """One statement after the other, inside the migration's transaction: ``executescript`` would commit it."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            if statement.strip():
                db.execute_sql(statement)
            statement = ""
