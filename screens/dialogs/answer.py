"""What an agent asks, answered in one line: its own words, the bottom of its screen, and a key for each answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final, Literal, Protocol

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from screens.confine import one_line
from screens.dialogs.frame import Dialog
from screens.model.answers import AnswersModel, Choice, ChoiceName, Question, Taken
from screens.model.core import CoreModel
from screens.widgets.pane import ROWS, Pane, follow
from screens.widgets.spans import clip, quoted
from screens.widgets.text_line import TextLine

Answered = Taken | Literal["attach", "look"]

KEYS: Final[Mapping[ChoiceName, tuple[str, str, str]]] = {
    "yes": ("y", "Allow", ""),
    "always": ("Y", "Allow always", ""),
    "no": ("n", "Refuse", "-danger"),
}
"""Key, word and looks of each answer."""
UNDER_WAY: Final = "Typing, then waiting until it goes on…"
LONGEST: Final = 400
"""Characters of a question that are shown."""


class _Model(AnswersModel, CoreModel, Protocol):
    """The parts of the model that are asked here."""


class AnswerRun(Dialog[Answered]):
    """How it was answered; ``attach`` when its terminal is wanted instead, ``look`` when the run is to be seen."""

    WIDE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"answer('{name}')", word, show=False) for name, (key, word, _) in KEYS.items()),
        Binding("a", "go('attach')", "Attach", show=False),
        Binding("f", "go('look')", "Its screen", show=False),
        Binding("q", "leave", "Not now", show=False),
        Binding("left,h,up,k", "app.focus_previous", "Before", show=False),
        Binding("right,l,down,j", "app.focus_next", "Next", show=False),
    ]

    def __init__(self, question: Question, model: _Model) -> None:
        run = question.view.run
        super().__init__(f"{run.provider} asks, on {quoted(question.view.item.title)}", _keys(question.choices))
        self._asked = question
        self._model = model
        self._pane = Pane(id="asked-pane")

    def compose_dialog(self) -> Iterator[Widget]:
        asked = self._asked
        yield Static(_sentence(asked), id="asked", markup=False)
        yield self._pane
        if not asked.choices:
            yield TextLine(placeholder="Your answer; it is typed as it is, then Enter", id="line")
        yield Static(UNDER_WAY, id="under-way", markup=False)
        with Horizontal(id="answers"):
            yield Button("Not now", id="leave", classes="-safe")
            for choice in asked.choices:
                _, word, looks = KEYS[choice.name]
                yield Button(word, id=choice.name, classes=looks or None)
            yield Button("Attach", id="attach")

    def on_mount(self) -> None:
        self.query_one("#leave" if self._asked.choices else "#line").focus()
        frames = self._model.pane(self._asked.view.run, ROWS)
        follow(self, self._pane, frames, group="pane")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        match event.button.id:
            case "leave":
                self.action_leave()
            case "attach":
                self.action_go("attach")
            case name:
                self.action_answer(name or "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if text := event.value.strip():
            self._send(("Enter",), text)
        else:
            self.complain("Type an answer first; Escape leaves the question as it is.")

    def action_answer(self, name: str) -> None:
        choice = next((choice for choice in self._asked.choices if choice.name == name), None)
        if choice is not None:
            self._send(choice.keys)
        else:
            self.complain("It has no key for that here. Press a to attach, and answer in its terminal.")

    def action_go(self, where: Answered) -> None:
        self.dismiss(where)

    def _send(self, keys: Sequence[str], text: str = "") -> None:
        self.submit_slowly(partial(self._model.answer, self._asked, keys=keys, text=text))


def _sentence(asked: Question) -> str:
    """As it was asked, the tool first; what it is about may be long."""
    detail = clip(one_line(asked.detail), LONGEST) or "It did not say what it wants; its screen does."
    tool = one_line(asked.tool)
    if asked.kind == "permission" and tool and not detail.startswith(tool):
        return f"⚑ {tool}: {detail}"
    return f"⚑ {detail}"


def _keys(choices: Sequence[Choice]) -> str:
    if not choices:
        return "↵ answer   tab buttons   esc not now"
    words = [f"{KEYS[choice.name][0]} {KEYS[choice.name][1].lower()}" for choice in choices]
    return "   ".join([*words, "a attach", "f its screen", "esc not now"])
