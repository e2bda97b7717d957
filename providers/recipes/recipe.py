"""The interface of a recipe: how an agent CLI is given pam's hooks, and what a payload of one of them says.

A recipe only computes: the executor writes its files and sends its words to the ingest edge. Every CLI is given one
constant command, so that a CLI which asks whether a hook may be trusted asks once; the run is told by its environment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from store.records import Activity
from store.records import Usage as Usage

AskKind = Literal["permission", "question", "plan", "trust"]


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a run is set up: paths are absolute and on its host."""

    home: str
    """pam's home there."""
    user_home: str
    """HOME of the agent."""
    cwd: str
    signal: tuple[str, ...]
    """The command of every hook, to which ``hook`` and the provider's name are added."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the agent inherits."""
    approvals: str | None = None
    """The approval mode that is asked for; the catalog has its flags, if there are flags for it."""

    def command(self, provider: str, event: str = "") -> tuple[str, ...]:
        """The hook command of a provider; ``event`` for a CLI whose payload does not name it."""
        return (*self.signal, "hook", provider, *((event,) if event else ()))


@dataclass(frozen=True, slots=True)
class HostFile:
    """A file of pam's own that the CLI is pointed to; the same for all runs of a home with the same content."""

    path: str
    data: bytes
    mode: int = 0o600


@dataclass(frozen=True, slots=True)
class Answer:
    """A first-run question answered in the CLI's own file, because the CLI has no flag for it.

    ``edit`` is given the file's bytes, None when there is no file, and returns the bytes to write, or None when nothing
    has to change. It touches the one key it needs and raises ValueError for a file it does not understand.
    """

    path: str
    what: str
    """A sentence for the operator: "claude trusts /work"."""
    edit: Callable[[bytes | None], bytes | None]
    mode: int = 0o600
    """Of a file that is made."""
    args: tuple[str, ...] = ()
    """What says it to one run alone: given where ``edit`` returns anything but None, and then nothing is written."""


@dataclass(frozen=True, slots=True)
class HookSetup:
    """What gives one run its hooks."""

    args: tuple[str, ...] = ()
    """Stands for ``{hooks}`` in the catalog's command line."""
    env: Mapping[str, str] = field(default_factory=dict)
    files: tuple[HostFile, ...] = ()
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """What an agent waits for."""

    kind: AskKind
    detail: str
    """The command, the file or the question, in one line."""
    tool: str = ""

    @property
    def line(self) -> str:
        """For a card: "Bash: rm -r build"."""
        return f"{self.tool}: {self.detail}" if self.tool and self.detail else self.detail or self.tool


@dataclass(frozen=True, slots=True)
class Said:
    """What one hook, or one line of a transcript, says; everything in it is optional."""

    activity: Activity | None = None
    note: str | None = None
    """Why it failed, or what it does, in one line."""
    ask: Ask | None = None
    """With ``waiting``."""
    answered: str | None = None
    """With ``working``: the question, as ``Ask.line``, that this shows to be answered. Another one stays open."""
    accepted: bool = False
    """A prompt was taken up."""
    completed: bool = False
    """A turn ended cleanly, with nothing going on in the background."""
    failed: str | None = None
    """A turn failed, and this is the error."""
    interrupted: bool = False
    conversation_id: str | None = None
    transcript: str | None = None
    """The file in which the CLI writes the conversation."""
    model: str | None = None
    usage: Usage | None = None


class Recipe(Protocol):
    """One agent CLI."""

    name: str

    def setup(self, at: Setting) -> HookSetup:
        """How hooks are given to a run."""
        ...

    def read(self, event: str, payload: Mapping[str, object]) -> Said | None:
        """What a hook's payload says; None when it says nothing of use, whatever stands in it. Never raises.

        ``event`` is the name given with the command, empty where the payload carries it.
        """
        ...
