"""An agent CLI as the catalog describes it (PAM-PROV-001): values only, checked before they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from providers.template import Template, mentions

PromptRoute = Literal["argv", "paste", "none"]
ConversationId = Literal["chosen", "learned", "none"]
TuiType = Literal["line_oriented", "full_screen", "raw_mode"]
CompletionSignal = Literal["native_hook", "exit_code", "idle_detection"]
UsageSource = Literal["none", "claude-transcript", "codex-rollout"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """How a provider's own conversation is named and gone on with."""

    id: ConversationId = "none"
    resume: Template = ()


@dataclass(frozen=True, slots=True)
class Hooks:
    """How hooks are given to a run; they stay off until a real-CLI test proves the recipe (PAM-PROV-013)."""

    recipe: str = ""
    proven: bool = False


@dataclass(frozen=True, slots=True)
class Provider:
    """An agent CLI as the catalog describes it."""

    name: str
    title: str
    argv: Template
    """Command line of a new conversation; always the interactive form."""
    prompt: PromptRoute
    tui_type: TuiType
    completion_signals: tuple[CompletionSignal, ...]
    enabled: bool = True
    bin: str | None = None
    """None where the first argument is the program."""
    approvals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    conversation: Conversation = Conversation()
    env: Mapping[str, str] = field(default_factory=dict)
    """Templates of variables set over the inherited ones."""
    keys: tuple[str, ...] = ()
    """Variables that hold secrets: never on a command line, never in a log."""
    unset: tuple[str, ...] = ()
    install: str | None = None
    versions: str = ""
    installed_detection: tuple[str, ...] = ()
    hooks: Hooks = Hooks()
    usage: UsageSource = "none"
    quit_keys: tuple[str, ...] = ()
    max_attempts: int | None = None

    @property
    def takes_model(self) -> bool:
        """Whether a run may name a model."""
        return mentions(self.argv, "model")

    @property
    def program(self) -> str:
        """The program as the catalog names it, for reading."""
        return self.bin or "the command after --"
