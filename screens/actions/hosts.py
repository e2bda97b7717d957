"""What can be pressed at the hosts place."""

from __future__ import annotations

from screens.actions import reasons
from screens.actions.action import Action, Here
from screens.actions.reasons import always

ONE_MACHINE = (
    "This version of pam runs agents on this machine only; hosts reached by ssh can't be added yet. "
    "Every other key here works on the machine you see."
)


def host(here: Here) -> str:
    """Needs a host."""
    return "" if here.host else "No host is known yet. `pam up` or this control room registers this machine."


def answering(here: Here) -> str:
    """Needs a host that can be reconciled now."""
    if reason := host(here):
        return reason
    found = here.host.host if here.host else None
    if found is not None and found.status not in ("online", "disabled"):
        return f"{found.name} is {found.status}; it is reconciled as soon as it answers."
    return here.busy


def suspect(here: Here) -> str:
    """Needs a host that is suspect."""
    if reason := host(here):
        return reason
    flagged = here.host is not None and here.host.host.instance_suspect
    return "" if flagged else "The host is not suspect; there is nothing to clear."


def inhabited(here: Here) -> str:
    """Needs a host with runs."""
    if reason := host(here):
        return reason
    return "" if here.host and here.host.runs else "No run lives there. Press 1: on the board, s starts one."


def run(here: Here) -> str:
    """Needs a run under the cursor."""
    if here.run:
        return ""
    return inhabited(here) or "Press ⇥ first: it goes to the runs of the host."


def live(here: Here) -> str:
    """Needs a run that is not being stopped."""
    return run(here) or reasons.live(here)


def session(here: Here) -> str:
    """Needs a run whose session stands."""
    return run(here) or reasons.session(here)


def this_machine(here: Here) -> str:
    """Needs the machine that this control room runs on."""
    if reason := host(here):
        return reason
    found = here.host.host if here.host else None
    if found is None or found.transport == "local":
        return ""
    return f"{found.name} is another machine; this version of pam opens shells on this one only."


def one_machine(_: Here) -> str:
    """Never can: this version has no other hosts."""
    return ONE_MACHINE


ACTIONS: tuple[Action, ...] = (
    Action("hosts.open", "enter", "enter", "Open", "The host's runs; then the run", inhabited,
           "open"),
    Action("hosts.side", "tab,shift+tab", "side", "Hosts or runs", "Between the hosts and the runs of one", inhabited,
           "runs"),
    Action("hosts.reconcile", "R", "reconcile", "Reconcile", "What differs; Enter puts it right",
           answering, "reconcile"),
    Action("hosts.able", "d", "able", "Disable, enable", "No new work for it, or work again", host, "on/off"),
    Action("hosts.trust", "c", "trust", "Clear suspect", "Trust the instance that answers now", suspect),
    Action("hosts.add", "n", "add", "Add a host", "One that is reached by ssh", one_machine),
    Action("hosts.attach", "a", "attach", "Attach", "To the session; ctrl+] comes back", session, "attach"),
    Action("hosts.stop", "x", "stop", "Stop the run", "The agent is asked, then made to end", live, "stop"),
    Action("hosts.item", "i", "open_item", "Open the item", "Description, runs and children", run),
    Action("hosts.copy", "y", "copy", "Copy the id", "The run's or host's, to the clipboard", host),
    Action("hosts.leave", "escape", "leave", "Leave", "To the hosts, else back to the board", always, palette=False),
    Action("hosts.back", "q", "home", "Back", "Back to the board", always, "back"),
    Action("hosts.shell", "t", "shell", "Shell", "Your own shell on that machine", this_machine, "shell"),
    Action("hosts.down", "j,down", "step(1)", "Down", "Go one row down", host, palette=False),
    Action("hosts.up", "k,up", "step(-1)", "Up", "Go one row up", host, palette=False),
    Action("hosts.right", "l,right", "go_in", "To the runs", "To the host's runs", inhabited, palette=False),
    Action("hosts.left", "h,left", "go_out", "To the hosts", "From the runs to the hosts", host, palette=False),
    Action("hosts.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Scroll the host's facts down", host,
           palette=False),
    Action("hosts.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Scroll the host's facts up", host, palette=False),
    Action("hosts.first", "g,home", "edge(-1)", "First", "Go to the first row", host, palette=False),
    Action("hosts.last", "G,end", "edge(1)", "Last", "Go to the last row", host, palette=False),
)  # fmt: skip
