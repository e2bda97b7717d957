"""Search over 10,000 items and 200 runs: a key in the palette is answered within 20 ms.

The words are those that a title is made of, letter by letter, each on a store that is open. Reference: the same text
looked for by LIKE over titles and descriptions, which finds less.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from store import items, projects, runs, search
from store.database import Store, open_store
from store.home import Home
from store.models import Row
from tests.bench.report import Figure, median

ITEMS, RUNS, ROUNDS = 10_000, 200, 5
TYPED = ("session", "fix worker", "重构支付", "pam-3f", "release agent api", "f", "错误")
_COMMON = "fix add update test build session agent worker api release 日本語 错误页面 重构支付网关".split()  # noqa: SIM905
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def measure() -> Figure:
    """The slowest median of what is typed, in ms."""
    with tempfile.TemporaryDirectory(prefix="pam-bench-") as folder:
        store = open_store(Home(Path(folder)).database)
        _fill(store)
        took = max(_typed(text, lambda text: search.search(store, text)) for text in TYPED)
        reference = max(_typed(text, lambda text: _like(store, text)) for text in TYPED)
        store.close()
    return Figure("search_key_10000_items", round(took, 1), "ms", 20.0, round(reference, 1))


def _typed(text: str, look: Callable[[str], object]) -> float:
    """The slowest key of a text, each key by its median, in ms."""
    keys = [text[:end] for end in range(1, len(text) + 1)]
    return max(median([_time(look, typed) for _ in range(ROUNDS)]) for typed in keys)


def _time(look: Callable[[str], object], typed: str) -> float:
    began = time.perf_counter()
    look(typed)
    return (time.perf_counter() - began) * 1000


def _like(store: Store, text: str) -> object:
    with store.read():
        sql = "SELECT id, title FROM work_items WHERE title LIKE ? OR description LIKE ?"
        return Row._meta.database.execute_sql(sql, (f"%{text}%", f"%{text}%")).fetchall()


def _fill(store: Store) -> None:
    draw = random.Random(7)

    def words(count: int) -> str:
        return " ".join(
            draw.choice(_COMMON) if draw.random() < 0.3 else "".join(draw.choices(_LETTERS, k=6)) for _ in range(count)
        )

    project = projects.add(store, "Bench", actor="operator")
    for number in range(ITEMS):
        made = items.create(store, project.id, words(6), description=words(40), actor="operator")
        if number < RUNS:
            runs.start(store, made.id, "claude", "/", prompt=words(60), actor="operator")
