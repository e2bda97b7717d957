"""Make an item from one line; Tab opens the whole form, with what was typed already in its fields."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from screens import parents
from screens.chips import KIND_GLYPHS
from screens.confine import one_line
from screens.dialogs.frame import Dialog
from screens.dialogs.start_run import PromptArea, field
from screens.model import CardView, NewItem
from screens.quick_add import QuickAdd, parse
from screens.widgets.choice import Choice
from screens.widgets.spans import clip
from screens.widgets.text_line import TextLine
from store.records import KINDS, Item, Kind


class NewItemDialog(Dialog[Item]):
    """The item that ``create`` made. ``under`` is where it goes when the line names no other."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "form", "Form", show=False, priority=True)]
    WIDE = True

    def __init__(
        self,
        project_id: str,
        cards: Sequence[CardView],
        create: Callable[[NewItem], Awaitable[Item]],
        under: CardView | None = None,
        *,
        of: str = "",
    ) -> None:
        """``of``: the project's name, where that is not plain."""
        super().__init__(f"New item in {of}" if of else "New item", "↵ create   ⇥ all fields   esc leave")
        self._project_id = project_id
        self._cards = cards
        self._create = create
        self._under = under

    def compose_dialog(self) -> Iterator[Widget]:
        yield TextLine(placeholder="Title  #label  @assignee  ^parent  !kind", id="line")
        yield Static(id="preview")
        with Vertical(id="form"):
            yield field("Kind", Choice([(kind, f"{KIND_GLYPHS[kind]} {kind}") for kind in KINDS], "task", id="kind"))
            yield field("Assignee", TextLine(placeholder="nobody", id="assignee"))
            yield field("Labels", TextLine(placeholder="none", id="labels"))
            yield field("Parent", TextLine(placeholder="none", id="parent"))
            yield field("Description", PromptArea(id="description", show_line_numbers=False))

    def on_mount(self) -> None:
        self.query_one("#form").display = False
        self.query_one("#line").focus()
        self._preview()

    @property
    def whole(self) -> bool:
        """Whether all fields are shown."""
        return bool(self.query_one("#form").display)

    def on_input_changed(self) -> None:
        self.complain("")
        self._preview()

    def on_text_line_overflowed(self, event: TextLine.Overflowed) -> None:
        """Of a text that is pasted the first line is the title, the others are the description."""
        if event.line.id != "line":
            return
        event.prevent_default()
        if not self.whole:
            self.action_form()
        description = self.query_one("#description", PromptArea)
        description.text = "\n".join(text for text in (description.text, event.rest) if text)
        description.focus()

    def on_choice_changed(self) -> None:
        self._preview()

    def on_input_submitted(self) -> None:
        self._make()

    def on_prompt_area_submitted(self) -> None:
        self._make()

    def action_form(self) -> None:
        """Open the form; once it is open, Tab goes on to the next field."""
        if self.whole:
            self.focus_next()
            return
        typed, parent = self._typed(), self._home(self._typed())
        self.query_one("#line", Input).value = typed.title
        self.query_one("#assignee", Input).value = typed.assignee or ""
        self.query_one("#labels", Input).value = " ".join(typed.labels)
        self.query_one("#parent", Input).value = parent.item.title if parent else typed.parent or ""
        kind = self.query_one("#kind", Choice)
        kind.chosen = KINDS.index(self._kind(parent))
        self.query_one("#form").display = True
        kind.focus()

    def _make(self) -> None:
        typed = self._typed()
        if not typed.title:
            self.complain("It needs a title. Words with #, @, ^ or ! in front are its fields.")
        elif typed.parent and (reason := parents.trouble(typed.parent, parents.matching(typed.parent, self._cards))):
            self.complain(reason)
        elif self.begin():
            parent = self._home(typed)
            new = NewItem(
                self._project_id,
                typed.title,
                self._kind(parent),
                parent.item.id if parent else None,
                typed.assignee,
                typed.labels,
                self.query_one("#description", PromptArea).text.strip(),
            )
            self.submit(self._create(new))

    def _typed(self) -> QuickAdd:
        """What the line says, or the form once it is open."""
        line = self.query_one("#line", Input).value
        if not self.whole:
            return parse(line)
        assignee, labels, parent = (
            self.query_one(f"#{name}", Input).value for name in ("assignee", "labels", "parent")
        )
        words = tuple(dict.fromkeys(labels.replace(",", " ").replace("#", " ").split()))
        return QuickAdd(line.strip(), words, assignee.strip().lstrip("@") or None, parent.strip() or None)

    def _home(self, typed: QuickAdd) -> CardView | None:
        if typed.parent is None:
            return None if self.whole else self._under
        found = parents.matching(typed.parent, self._cards)
        return found[0] if len(found) == 1 else None

    def _kind(self, parent: CardView | None) -> Kind:
        if self.whole:
            return KINDS[self.query_one("#kind", Choice).chosen]
        if kind := self._typed().kind:
            return kind
        return parents.CHILD_KIND[parent.item.kind] if parent else "task"

    def _preview(self) -> None:
        """Say what Enter would make."""
        typed = self._typed()
        parent = self._home(typed)
        kind = self._kind(parent)
        parts: list[str | tuple[str, str]] = [(f"{KIND_GLYPHS[kind]} {kind}", "$kind")]
        if parent is not None:
            parts += [(" under ", "$soft"), (clip(one_line(parent.item.title), 50), "$ink")]
        elif typed.parent:
            reason = parents.trouble(typed.parent, parents.matching(typed.parent, self._cards))
            parts.append((f"  {one_line(reason)}", "$waiting"))
        if typed.assignee:
            parts.append((f"  @{one_line(typed.assignee)}", "$person"))
        parts += [(f"  #{one_line(label)}", "$label") for label in typed.labels]
        self.query_one("#preview", Static).update(Content.assemble(*parts))
