"""The agent CLIs of the catalog: installed or not, which hooks, and what the doctor says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget

from providers.check import Check
from providers.detection import Detection
from screens import actions, providers_rows
from screens.actions import Here
from screens.confine import one_line
from screens.deeds import DeedsScreen
from screens.desk import Desk
from screens.messages import EditFile
from screens.model.providers import CatalogView, ProviderView, Smoke
from screens.place import NARROW
from screens.widgets.rows import Rows
from screens.widgets.sheet import Fact, Sheet
from store.errors import PamError
from store.records import Event

RESTS: Final = 0.25
"""Seconds that the cursor stays before the doctor is asked."""


class ProvidersScreen(DeedsScreen):
    """One for the whole control room. Programs are run in the background, and what they said is kept."""

    PLACE = "providers"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("providers")]
    AUTO_FOCUS = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.table = Rows(providers_rows.COLUMNS, id="providers", nothing="No provider can be read.")
        self.facts = Sheet(id="provider-facts")
        self.health = Sheet(id="provider-health")
        self.catalog: CatalogView | None = None
        self._found: dict[str, Detection] = {}
        self._checks: dict[str, Sequence[Check] | str | None] = {}
        """By name: the doctor's lines, why there are none, or None while it looks."""
        self._smokes: dict[str, Smoke | int | str] = {}
        """By name: what came of it, seconds so far, or why it could not be."""
        self._resting: Timer | None = None

    def compose_place(self) -> Iterator[Widget]:
        self.table.add_class("-active")
        self.table.border_title = "Providers"
        yield self.table
        with Horizontal(id="provider-body"):
            yield self.facts
            yield self.health

    def here(self) -> Here:
        return Here("providers", provider=self.chosen, busy=self._busy())

    @property
    def chosen(self) -> ProviderView | None:
        """The entry under the cursor."""
        views = self.catalog.providers if self.catalog else ()
        return next((view for view in views if view.provider.name == self.table.key), None)

    async def load(self) -> None:
        self.header.crumbs = ("all projects", "Providers")
        self.catalog = await self.model.catalog()
        self.paint()
        self._detect()
        self._rest()

    async def changed(self, events: Sequence[Event]) -> None:
        if not events:
            before = self.catalog
            self.catalog = await self.model.catalog()
            if self.catalog != before:
                self._taken_over()

    # What happens

    def on_resize(self) -> None:
        self._paint_chosen()

    def on_rows_chosen(self) -> None:
        self._paint_chosen(top=True)
        self._rest()

    def on_rows_opened(self) -> None:
        self.go(self.action_do("providers.doctor"))

    # What the keys do

    def action_step(self, step: int) -> None:
        self.table.go(self.table.cursor + step)

    def action_page(self, step: int) -> None:
        sheet = self.health if self.health.max_scroll_y or not self.facts.max_scroll_y else self.facts
        sheet.scroll_page(step)

    def action_edge(self, step: int) -> None:
        self.table.edge(step)

    def action_doctor(self) -> None:
        if view := self.chosen:
            self._examine(view.provider.name)

    def action_detect(self) -> None:
        self._found.clear()
        self.paint()
        self._detect(anew=True)

    def action_smoke(self) -> None:
        if view := self.chosen:
            self.run_worker(self._smoke(view.provider.name), group="smoke")

    def action_able(self) -> None:
        if view := self.chosen:
            self.go(self._able(view))

    def action_edit_entry(self) -> None:
        self.go(self._edit_entry())

    # Below

    def paint(self) -> None:
        """Show what is known."""
        views = self.catalog.providers if self.catalog else ()
        here = sum(found.program is not None for found in self._found.values())
        self.table.border_title = f"Providers · {len(views)}" + (f", {here} installed" if here else "")
        self.table.show([providers_rows.line_of(view, self._found.get(view.provider.name)) for view in views])
        self._paint_chosen()

    def _paint_chosen(self, *, top: bool = False) -> None:
        """Entry and health side by side; one above the other in one sheet where there is no room for two."""
        catalog, view = self.catalog, self.chosen
        wrong = [*providers_rows.faulty(catalog)] if catalog else []
        entry, health = self._about(catalog, view) if catalog and view else ([], [])
        if self.app.size.width < NARROW:
            health, entry = [*wrong, *health, Fact("", ""), *entry], []
        else:
            entry = [*wrong, *entry]
        self.facts.border_title = one_line(view.provider.title) if view else "providers.toml"
        self.health.border_title = f"Doctor · {one_line(view.provider.name)}" if view else ""
        self.facts.show(entry, top=top)
        self.health.show(health, top=top)
        self.refresh_hints()

    def _about(self, catalog: CatalogView, view: ProviderView) -> tuple[list[Fact], list[Fact]]:
        """What the entry says, and how it does here."""
        name = view.provider.name
        entry = [*providers_rows.facts(view, self._found.get(name))]
        if not view.provider.enabled:
            return entry, [Fact("doctor", "It is switched off.", "pending", "◼", "d switches it on.")]
        waits = catalog.asks_secrets and name not in self._checks
        checks = providers_rows.said(self._checks.get(name), name, waits=waits)
        return entry, [*checks, *providers_rows.smoked(self._smokes.get(name))]

    def _detect(self, *, anew: bool = False) -> None:
        self.run_worker(self._follow_detections(anew), group="detections", exclusive=True)

    async def _follow_detections(self, anew: bool) -> None:
        async for name, found in self.model.detections(anew=anew):
            self._found[name] = found
            self.paint()

    def _rest(self) -> None:
        """Ask the doctor about an entry that the cursor stays on; not where that would open a window for a secret."""
        if self._resting is not None:
            self._resting.stop()
        view, catalog = self.chosen, self.catalog
        if view is None or catalog is None or catalog.asks_secrets or not view.provider.enabled:
            return
        if view.provider.name not in self._checks:
            self._resting = self.set_timer(RESTS, lambda: self._examine(view.provider.name))

    def _examine(self, name: str) -> None:
        self._checks[name] = None
        self._paint_chosen()
        self.run_worker(self._ask_doctor(name), group="doctor")

    async def _ask_doctor(self, name: str) -> None:
        try:
            self._checks[name] = await self.model.examine(name)
        except PamError as error:
            self._checks[name] = str(error)
        self._paint_chosen()

    async def _smoke(self, name: str) -> None:
        counting = self.set_interval(1, lambda: self._count(name))
        self._smokes[name] = 0
        self._paint_chosen()
        try:
            came: Smoke | str = await self.model.smoke(name)
        except PamError as error:
            came = str(error)
        finally:
            counting.stop()
            self._smokes.pop(name, None)
        self._smokes[name] = came
        good = isinstance(came, Smoke) and came.good
        self.say(f"{name}: {came if isinstance(came, str) else came.sentence}.", "good" if good else "bad")
        self._paint_chosen()

    def _count(self, name: str) -> None:
        seconds = self._smokes.get(name)
        if isinstance(seconds, int):
            self._smokes[name] = seconds + 1
            self._paint_chosen()

    def _busy(self) -> str:
        """Why neither doctor nor smoke test can begin now."""
        smoking = next((name for name, came in self._smokes.items() if isinstance(came, int)), "")
        if smoking:
            return f"A smoke test of {smoking} is under way; it ends by itself."
        view = self.chosen
        if view and view.provider.name in self._checks and self._checks[view.provider.name] is None:
            return f"The doctor looks at {view.provider.name} already."
        return ""

    async def _able(self, view: ProviderView) -> None:
        name, wanted = view.provider.name, not view.provider.enabled
        with self.trying("Writing…"):
            await self.model.enable_provider(name, wanted)
            self.catalog = await self.model.catalog()
            self._taken_over()
            words = "on; runs may use it" if wanted else "off; no new run may use it. Those that run go on"
            self.say(f"{name} is switched {words}.", "good")

    async def _edit_entry(self) -> None:
        view, fault = self.chosen, self.catalog.fault if self.catalog else None
        with self.trying("Opening…"):
            if fault is not None and self.catalog is not None:
                path, line = self.catalog.path, max(fault.line, 1)
            elif view is not None:
                path, line = await self.model.entry(view.provider.name)
            else:
                return
            self.request(EditFile(path, self._edited, line))

    def _edited(self) -> None:
        self.go(self._after_edit())

    async def _after_edit(self) -> None:
        before = self.catalog
        with self.trying():
            self.catalog = await self.model.catalog()
            if self.catalog.fault is not None:
                self.say("Your providers.toml has a fault; the catalog stays as it was. e goes to the line.", "bad")
            elif before is None or before.fault or self.catalog.providers != before.providers:
                self.say("The catalog is taken over; runs that are made from now on use it.", "good")
            else:
                self.say("Nothing of the catalog has changed.")
            self._taken_over()

    def _taken_over(self) -> None:
        """The catalog is another one: what was found out about its entries may be so no more."""
        self._checks = {name: checks for name, checks in self._checks.items() if checks is None}
        self.paint()
        self._detect()
        self._rest()
