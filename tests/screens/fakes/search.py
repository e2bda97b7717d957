"""The palette's part of the fake model: every word somewhere in a title, a label, a session's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store.search import Hit
from tests.screens.fakes.core import FakeCore


@dataclass
class FakeSearch(FakeCore):
    """Implements ``screens.model.search.SearchModel``."""

    async def search(self, text: str, limit: int = 30) -> Sequence[Hit]:
        words = text.lower().split()
        return [hit for hit, said in self._all() if words and all(word in said.lower() for word in words)][:limit]

    def _all(self) -> Iterator[tuple[Hit, str]]:
        for each in self.items.values():
            labels = " ".join(f"#{label}" for label in each.labels)
            yield Hit("item", self._project(each), each), f"{each.title} {labels}"
        for run in self.runs.values():
            item = self._of(run)
            yield Hit("run", self._project(item), item, run), f"run {run.session_name} {run.provider}"
        for project in self.the_projects:
            yield Hit("project", project), f"{project.name} {project.slug}"
