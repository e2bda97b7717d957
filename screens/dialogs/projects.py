"""Choose a project, or make one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from screens.confine import one_line
from screens.desk import Desk
from screens.dialogs.frame import Dialog
from screens.dialogs.picker import Picker
from screens.dialogs.start_run import field
from screens.keys_in_order import room_of
from screens.model import FirstStart, ProjectView
from screens.widgets.text_line import TextLine
from store.errors import InvalidValue
from store.records import Project

_NEW = "new"


class ProjectPicker(Picker[Project]):
    """The project that was chosen or made."""

    LIST = "projects"
    PLACEHOLDER = "Name of a project, old or new"

    def __init__(self, desk: Desk, projects: Sequence[ProjectView]) -> None:
        super().__init__("Projects", "↵ open   ↑↓ choose   esc leave")
        self._desk = desk
        self._projects = projects

    def named(self) -> Iterator[tuple[str, Option]]:
        for view in self._projects:
            yield f"{view.project.name} {view.project.slug}", Option(_line(view), id=view.project.id)

    def besides(self, typed: str) -> Sequence[Option]:
        new = f"＋ New project “{one_line(typed)}”" if typed.split() else "＋ New project"
        return [Option(Content(new), id=_NEW)]

    def take(self) -> None:
        """What is typed from now on is meant for what the choice leads to."""
        room_of(self).hold_keys()
        super().take()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option.id == _NEW:
            self.run_worker(self._new())
            return
        self.dismiss(next(view.project for view in self._projects if view.project.id == event.option.id))

    async def _new(self) -> None:
        name = self.typed.strip()
        made = await self.app.push_screen_wait(NewProject(self._desk, name))
        if made is not None:
            self.dismiss(made)


class NewProject(Dialog[Project]):
    """The project that was made."""

    WIDE = True

    def __init__(self, desk: Desk, called: str, offered: FirstStart | None = None) -> None:
        """``offered`` stands there already, and what is typed takes its place."""
        super().__init__("New project", "↵ create   ⇥ next   esc leave")
        self._desk = desk
        self._called = called
        self._offered = offered or FirstStart()
        self._doubted = ""

    def compose_dialog(self) -> Iterator[Widget]:
        hint = "where its agents work, such as ~/code/shop"
        yield field("Name", TextLine(self._called or self._offered.name, id="name"))
        yield field("Directory", TextLine(self._offered.cwd, placeholder=hint, id="cwd"))
        yield Static("Agents start in this directory unless a run says otherwise.", classes="field-note")

    def on_mount(self) -> None:
        self.query_one("#cwd" if self._called else "#name").focus()
        for line in self.query(TextLine):
            if line.value != self._called:
                line.action_select_all()

    def on_input_submitted(self) -> None:
        name, cwd = (self.query_one(f"#{field_id}", Input).value.strip() for field_id in ("name", "cwd"))
        if not name:
            self.complain("It needs a name.")
        elif self.begin():
            self.submit(self._made(name, cwd))

    async def _made(self, name: str, cwd: str) -> Project:
        """A directory that is not there is doubted once: it may be one of another machine, or still to come."""
        model = self._desk.model
        if cwd not in ("", self._doubted) and (trouble := await model.directory_trouble(cwd)):
            self._doubted = cwd
            raise InvalidValue(f"{trouble} Enter again keeps it all the same.")
        return await model.create_project(name, cwd or None)


def _line(view: ProjectView) -> Content:
    counts = view.counts
    parts: list[str | tuple[str, str]] = [(one_line(view.project.name), "bold $ink")]
    if view.project.slug != view.project.name:
        parts.append((f"  {view.project.slug}", "$soft"))
    parts.append(
        (f"\n{counts.get('todo', 0)} todo  {counts.get('doing', 0)} doing  {counts.get('done', 0)} done", "$soft")
    )
    if view.live:
        parts.append((f"  ● {view.live} at work", "$working"))
    if view.waiting:
        parts.append((f"  ⚑ {view.waiting} waiting", "bold $waiting"))
    return Content.assemble(*parts)
