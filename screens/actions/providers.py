"""What can be pressed at the providers place."""

from __future__ import annotations

from screens.actions.action import Action, Here
from screens.actions.reasons import always


def provider(here: Here) -> str:
    """Needs an entry."""
    return "" if here.provider else "The catalog can't be read yet. Press e to mend your providers.toml."


def enabled(here: Here) -> str:
    """Needs an entry that is switched on."""
    if reason := provider(here):
        return reason
    on = here.provider is None or here.provider.provider.enabled
    return "" if on else "The provider is switched off. Press d to switch it on."


def examinable(here: Here) -> str:
    """Needs a doctor that is not at work on it."""
    return enabled(here) or here.busy


def smokable(here: Here) -> str:
    """Needs an entry that says how to lead the program to a stub, and nothing under way."""
    if reason := examinable(here):
        return reason
    if here.provider is None or here.provider.can_smoke:
        return ""
    return "It can't be led to a stub model: its entry has no table `gateway` or `smoke`. Press e to write one."


ACTIONS: tuple[Action, ...] = (
    Action("providers.doctor", "D,enter", "doctor", "Doctor", "Check how its agents would start here", examinable,
           "doctor"),
    Action("providers.smoke", "S", "smoke", "Smoke test", "Start it once against a stub model",
           smokable, "smoke"),
    Action("providers.edit", "e", "edit_entry", "Edit the entry", "Your providers.toml, in $EDITOR", always, "edit"),
    Action("providers.able", "d", "able", "Switch on or off", "Whether runs may use it", provider, "on/off"),
    Action("providers.detect", "r", "detect", "Look again", "Ask programs for their version anew", provider,
           "look again"),
    Action("providers.back", "escape,q", "home", "Back", "Back to the board", always, "back"),
    Action("providers.down", "j,down", "step(1)", "Down", "Go one entry down", provider, palette=False),
    Action("providers.up", "k,up", "step(-1)", "Up", "Go one entry up", provider, palette=False),
    Action("providers.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Scroll the entry down", provider,
           palette=False),
    Action("providers.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Scroll the entry up", provider,
           palette=False),
    Action("providers.first", "g,home", "edge(-1)", "First", "Go to the first entry", provider, palette=False),
    Action("providers.last", "G,end", "edge(1)", "Last", "Go to the last entry", provider, palette=False),
)  # fmt: skip
