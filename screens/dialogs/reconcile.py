"""What reconciling a host would do, step by step; Enter has the executor do it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from screens.confine import one_line
from screens.dialogs.frame import Dialog
from screens.model.hosts import Plan, PlanStep

_WORDS: Final = {
    "wait": "wait",
    "respawn": "start its session",
    "give_up": "give the start up",
    "report_lost": "report it lost",
    "stop": "stop it",
    "end_session": "end the session",
    "remove": "remove the empty session",
    "flag": "flag it as alive",
    "detect": "note it as an orphan",
    "forget": "take the note back",
    "end_orphan": "end the orphan",
}


class ReconcilePlan(Dialog[int]):
    """The number of the request, None when it was left or nothing is to be done."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "apply", "Apply", show=False),
        Binding("j,down", "roll(1)", "Down", show=False),
        Binding("k,up", "roll(-1)", "Up", show=False),
        Binding("q", "leave", "Leave", show=False),
    ]
    WIDE = True
    AUTO_FOCUS = ""

    def __init__(self, host: str, plan: Plan, apply: Callable[[], Awaitable[int]], *, attended: bool) -> None:
        acts = sum(step.acts for step in plan.steps)
        super().__init__(f"Reconcile {host}", "↵ do it   ↑↓ scroll   esc leave" if acts else "↵ close   esc leave")
        self._plan = plan
        self._apply = apply
        self._acts = acts
        self._attended = attended

    def compose_dialog(self) -> Iterator[Widget]:
        yield Static(_summary(self._plan, self._acts), id="consequence", markup=False)
        if self._plan.steps:
            with VerticalScroll(id="plan", can_focus=False):
                for step in self._plan.steps:
                    yield Static(_step(step), classes="step")

    def on_mount(self) -> None:
        if self._acts and not self._attended:
            self.complain(
                "No executor runs that could do it. `pam up --detach` starts one; it reconciles as it starts."
            )

    def action_apply(self) -> None:
        if not self._acts:
            self.dismiss(None)
        elif self._attended and self.begin():
            self.submit(self._apply())

    def action_roll(self, step: int) -> None:
        for plan in self.query("#plan"):
            plan.scroll_relative(y=step * 2, animate=False)


def _summary(plan: Plan, acts: int) -> str:
    well = "1 session is as it should be" if plan.kept == 1 else f"{plan.kept} sessions are as they should be"
    if not plan.steps:
        return f"Nothing to do: {well}."
    steps = f"{acts} step{'' if acts == 1 else 's'} to do" if acts else "Nothing to do now"
    waits = len(plan.steps) - acts
    waiting = f", {waits} to wait for" if waits else ""
    return f"{steps}{waiting}; {well}. Sessions that are not pam's are never touched."


def _step(step: PlanStep) -> Content:
    mark = ("→ ", "bold $accent") if step.acts else ("◌ ", "$soft")
    return Content.assemble(
        mark,
        (one_line(step.subject), "bold $ink"),
        ("  " + _WORDS.get(step.action, one_line(step.action)), "$accent" if step.acts else "$soft"),
        (f"\n  should be {one_line(step.desired)}, is {one_line(step.observed)}", "$soft"),
        (f"\n  {one_line(step.reason)}", "$ink"),
    )
