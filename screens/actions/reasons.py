"""Why an action can't act here and now, in a sentence that says what to do; empty when it can."""

from __future__ import annotations

from screens.actions.action import Here


def always(_: Here) -> str:
    """It can."""
    return ""


def project(here: Here) -> str:
    """Needs a project."""
    return "" if here.project else "No project is open. Press p to make or choose one."


def card(here: Here) -> str:
    """Needs a card under the cursor."""
    if here.card:
        return ""
    if here.folded:
        return "The column is folded. Press z to unfold it."
    return project(here) or ("No card matches the filter." if here.filtered else "No card here. Press n to make one.")


def workable(here: Here) -> str:
    """Needs an item that agents work on."""
    if reason := card(here):
        return reason
    kind = here.card.item.kind if here.card else "task"
    if kind in ("milestone", "epic"):
        article = "an" if kind == "epic" else "a"
        return f"Agents work on tasks and subtasks; this is {article} {kind}. Press n to make a task."
    return ""


def run(here: Here) -> str:
    """Needs a run."""
    if here.run:
        return ""
    return card(here) if here.place == "board" and not here.card else "It has no run yet. Press s to start one."


def live(here: Here) -> str:
    """Needs a run that has not ended."""
    if reason := run(here):
        return reason
    if here.run and not here.run.live and here.run.retry_at is None:
        return f"The run is over ({here.run.status}); there is nothing to stop."
    if here.run and here.run.stop_requested_at:
        return "It is being stopped already."
    return ""


def deletable(here: Here) -> str:
    """Needs an item whose agent is not at work."""
    if reason := card(here):
        return reason
    return "Its agent is at work. Press x to stop it first." if here.run and here.run.live else ""


def session(here: Here) -> str:
    """Needs a run whose session stands."""
    if reason := run(here):
        return reason
    if here.run and here.run.status in ("pending", "spawning"):
        return "The session is not up yet; attach when the run is running."
    if here.run and not here.run.live:
        return "The run is over; its session is gone."
    return ""


def listens(here: Here) -> str:
    """Needs a run that something can be typed into."""
    if reason := run(here):
        return reason
    if here.run and here.run.status in ("pending", "spawning"):
        return "The session is not up yet; write to it when the run is running."
    if here.run and not here.run.live:
        return "The run is over; nobody reads what is written."
    return ""


def filtered(here: Here) -> str:
    """Needs a filter."""
    return "" if here.filtered else "No filter is set. Press / to set one."
