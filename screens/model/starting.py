"""What a run or an item is made of, and what may be chosen for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from store.records import Host, Kind


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """A provider that the start dialog offers."""

    name: str
    title: str = ""
    models: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()
    """Its names for how much the agent may do unasked."""
    takes_prompt: bool = True
    takes_model: bool = True
    needs_arguments: bool = False
    """Whether it is nothing without arguments, as ``shell`` is."""
    trouble: str = ""
    """Why it can't start, with what to do about it; empty when it can."""


@dataclass(frozen=True, slots=True)
class StartChoices:
    """What a run of an item may be started with, and what was chosen last."""

    providers: Sequence[ProviderChoice]
    hosts: Sequence[Host]
    provider: str = ""
    host: str = ""
    """Empty: whichever host is free."""
    model: str = ""
    approvals: str = ""
    """One of ``provider``'s names; empty: as the CLI does by itself."""
    prompt: str = ""
    arguments: str = ""
    """Those of ``provider``, as a shell would read them."""
    cwd: str = ""
    """Empty: where pam was started."""


@dataclass(frozen=True, slots=True)
class FirstStart:
    """What a home without projects offers."""

    agents: Sequence[str] = ()
    """Agent CLIs that are installed here, by name."""
    name: str = ""
    """For a project of the directory that pam was started in."""
    cwd: str = ""
    """That directory; empty where it is nobody's project, such as a home directory."""


@dataclass(frozen=True, slots=True)
class StartRequest:
    """Start a run with these; empty words mean the provider's own default."""

    item_id: str
    provider: str
    host: str = ""
    """Name of a host."""
    model: str = ""
    prompt: str = ""
    arguments: tuple[str, ...] = ()
    cwd: str = ""
    """Empty: the project's directory, else where pam was started."""
    approvals: str = ""
    """One of the provider's names for how much the agent may do unasked."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """Make an item of these."""

    project_id: str
    title: str
    kind: Kind = "task"
    parent_id: str | None = None
    assignee: str | None = None
    labels: tuple[str, ...] = ()
    description: str = ""
