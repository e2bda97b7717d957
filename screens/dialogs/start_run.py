"""Start a run: provider, host, model, prompt. What was chosen last stands there already, Enter starts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input, Label

from screens.dialogs.frame import Dialog
from screens.model import ProviderChoice, StartChoices, StartRequest
from screens.quick_add import arguments
from screens.widgets.choice import Choice
from screens.widgets.confined_lines import TextField
from screens.widgets.text_line import TextLine
from store.records import Host, Item, Run

DEFAULT: Final = [("", "its own default")]
"""How much an agent may do unasked where nobody says: as its CLI does by itself."""


class PromptArea(TextField):
    """Several lines; Enter is the dialog's, ctrl+j makes a new line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Start", show=False, priority=True),
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", "New line", show=False),
    ]

    @dataclass
    class Submitted(Message):
        """Enter was pressed."""

    def action_submit(self) -> None:
        self.post_message(self.Submitted())

    def action_new_line(self) -> None:
        self.insert("\n")


class StartRun(Dialog[Run]):
    """The run that ``start`` made; a refusal is said with everything still filled in."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "start", "Start", show=False)]
    WIDE = True

    def __init__(
        self, item: Item, choices: StartChoices, start: Callable[[StartRequest], Awaitable[Run]], *, of: int = 1
    ) -> None:
        """``of`` items are begun at once; ``item`` is the first of them."""
        subject = item.title if of == 1 else f"{of} items, a run each"
        super().__init__(f"Start a run · {subject}", "↵ start   ⇥ next   ←→ choose   ^j new line   esc leave")
        self._item = item
        self._of = of
        self._choices = choices
        self._start = start
        self._fitted = ""
        """The provider whose fields are shown."""

    def compose_dialog(self) -> Iterator[Widget]:
        choices = self._choices
        providers = [(entry.name, _offered(entry)) for entry in choices.providers]
        hosts = [("", "any"), *((host.name, _host(host)) for host in choices.hosts)]
        yield field("Provider", Choice(providers, choices.provider, id="provider"))
        yield field("Host", Choice(hosts, choices.host, id="host"))
        yield field("Model", TextLine(choices.model, placeholder="the provider's default", id="model"))
        yield field("Approvals", Choice(DEFAULT, id="approvals"))
        yield field("Arguments", TextLine(placeholder="none", id="arguments"))
        said = "" if self._of == 1 else "Each item's own title and description"
        yield field("Prompt", PromptArea(choices.prompt, id="prompt", show_line_numbers=False, placeholder=said))
        where = "where pam was started" if self._of == 1 else "each project's own"
        yield field("Directory", TextLine(choices.cwd, placeholder=where, id="cwd"))

    def on_mount(self) -> None:
        self.query_one("#provider").focus()
        self._fit()

    @property
    def provider(self) -> ProviderChoice | None:
        """The chosen provider, None when there is none at all."""
        name = self.query_one("#provider", Choice).value
        return next((entry for entry in self._choices.providers if entry.name == name), None)

    def on_choice_changed(self, event: Choice.Changed) -> None:
        if event.choice.id == "provider":
            self._fit()

    def on_input_submitted(self) -> None:
        self.action_start()

    def on_prompt_area_submitted(self) -> None:
        self.action_start()

    def action_start(self) -> None:
        provider = self.provider
        if provider is None:
            self.complain("No provider is set up. `pam provider list` shows what could be.")
        elif provider.trouble:
            self.complain(provider.trouble)
        elif (request := self._request(provider)) is not None and self.begin():
            self.submit(self._start(request))

    def _request(self, provider: ProviderChoice) -> StartRequest | None:
        try:
            given = arguments(self.query_one("#arguments", Input).value)
        except ValueError as error:
            self.complain(f"The arguments can't be read: {error}. Close the quotation mark.")
            return None
        if provider.needs_arguments and not given:
            self.complain(f"{provider.name} needs a command under Arguments, such as: make test")
            self.query_one("#arguments").focus()
            return None
        return StartRequest(
            item_id=self._item.id,
            provider=provider.name,
            host=self.query_one("#host", Choice).value,
            model=self.query_one("#model", Input).value.strip() if provider.takes_model else "",
            approvals=self.query_one("#approvals", Choice).value,
            prompt=self.query_one("#prompt", PromptArea).text.strip() if provider.takes_prompt else "",
            arguments=given,
            cwd=self.query_one("#cwd", Input).value.strip(),
        )

    def _fit(self) -> None:
        """Show the fields that the provider has, and what stands in its way."""
        provider = self.provider
        self.complain(provider.trouble if provider else "")
        if provider is None:
            return
        self.query_one("#field-model").display = provider.takes_model
        self.query_one("#field-prompt").display = provider.takes_prompt
        self.query_one("#field-approvals").display = bool(provider.approvals)
        if provider.name != self._fitted:
            self._fitted = provider.name
            last = self._choices.approvals if provider.name == self._choices.provider else ""
            named = [(each, each) for each in provider.approvals]
            self.query_one("#approvals", Choice).offer([*DEFAULT, *named], last)
        self.query_one("#model", Input).suggester = SuggestFromList(provider.models)
        line, before = self.query_one("#arguments", Input), self._choices
        mine = provider.name == before.provider
        if line.value == ("" if mine else before.arguments):
            line.value = before.arguments if mine else ""
        line.placeholder = "a command, such as: make test" if provider.needs_arguments else "none"


def field(label: str, widget: Widget) -> Horizontal:
    """A labelled row of a form."""
    return Horizontal(Label(label, classes="field-label"), widget, classes="field", id=f"field-{widget.id}")


def _offered(entry: ProviderChoice) -> str:
    return f"✗ {entry.name}" if entry.trouble else entry.name


def _host(host: Host) -> str:
    return host.name if host.status == "online" else f"{host.name} ({host.status})"
