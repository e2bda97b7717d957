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
UsageSource = Literal[
    "none",
    "claude-transcript",
    "codex-rollout",
    "gemini-chat",
    "qwen-chat",
    "copilot-events",
    "kimi-wire",
    "opencode-events",
]


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
    proven_with: str = ""
    """The version of the program that the real-CLI tests were last run with."""
    ready: bool = True
    """Whether they speak before the first prompt, so that it is known when the program takes it."""


@dataclass(frozen=True, slots=True)
class GatewayUse:
    """What leads the program through the operator's gateway (PAM-GW-003); without variables it cannot be led."""

    env: Mapping[str, str] = field(default_factory=dict)
    """Templates of variables, set over the inherited ones."""
    args: Template = ()
    """Stand for ``{gateway}`` in the command line; never the key."""
    unset: tuple[str, ...] = ()
    """Variables that would lead around it."""


@dataclass(frozen=True, slots=True)
class Smoke:
    """What the doctor's smoke test gives the program in place of an operator's home."""

    model: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """Templates by path below the home; what a first start would ask stands answered in them."""


@dataclass(frozen=True, slots=True)
class Answers:
    """How a permission that the program asks for is given without its terminal in sight."""

    yes: tuple[str, ...] = ()
    """Keys that allow it, once."""
    always: tuple[str, ...] = ()
    """Keys that allow it and its likes; empty where the place of that choice differs from question to question."""
    no: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    """Texts of which one stands on its screen while it asks: a key that was not taken may be pressed again then."""


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
    logins: tuple[str, ...] = ()
    """Templates of the files that the program's own login leaves; ``~`` is the home."""
    gateway: GatewayUse = GatewayUse()
    smoke: Smoke = Smoke()
    unset: tuple[str, ...] = ()
    install: str | None = None
    versions: str = ""
    installed_detection: tuple[str, ...] = ()
    hooks: Hooks = Hooks()
    usage: UsageSource = "none"
    quit_keys: tuple[str, ...] = ()
    answers: Answers = Answers()
    limits: tuple[str, ...] = ()
    """Sentences about what pam cannot know or do with it, for docs/providers.md."""
    max_attempts: int | None = None
    submit_delay_ms: int = 300
    """Between a pasted prompt and its Enter; closer together some programs take the Enter for a part of the text."""
    hides_cursor: bool = False
    """Whether it hides the terminal's cursor as soon as it reads what is typed."""
    ready_after_s: float = 3.0
    """How long after its start a program that says nothing of itself is taken to read what is typed."""
    second_enter: bool = False
    """Whether the program may swallow the Enter behind a paste, so that one more is needed."""
    asks_title: str = ""
    """What the terminal's title holds while the program waits for an answer, as a regular expression."""
    still_s: float = 0.0
    """A program whose screen moves while it works does not work any more when it stood still this long; 0: unknown."""

    @property
    def can_smoke(self) -> bool:
        """Whether the entry says how to lead the program to a stub."""
        return bool(self.gateway.env or self.smoke.files)

    @property
    def takes_model(self) -> bool:
        """Whether a run may name a model."""
        return mentions(self.argv, "model")

    @property
    def program(self) -> str:
        """The program as the catalog names it, for reading."""
        return self.bin or "the command after --"
