"""Which reader a provider's transcript needs, and where its program keeps its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from providers.provider import UsageSource
from providers.transcripts.claude import ClaudeTranscript
from providers.transcripts.codex import CodexRollout
from providers.transcripts.copilot import CopilotEvents, events_path
from providers.transcripts.gemini import GeminiChat
from providers.transcripts.kimi import KimiWire, wire_path
from providers.transcripts.qwen import QwenChat
from providers.transcripts.reader import TranscriptReader

_READERS: Mapping[UsageSource, Callable[[], TranscriptReader]] = {
    "claude-transcript": ClaudeTranscript,
    "codex-rollout": CodexRollout,
    "gemini-chat": GeminiChat,
    "qwen-chat": QwenChat,
    "copilot-events": CopilotEvents,
    "kimi-wire": KimiWire,
}
CONFIG_HOMES: Mapping[UsageSource, str] = {
    "claude-transcript": "CLAUDE_CONFIG_DIR",
    "codex-rollout": "CODEX_HOME",
    "gemini-chat": "GEMINI_CLI_HOME",
    "qwen-chat": "QWEN_HOME",
    "copilot-events": "COPILOT_HOME",
    "kimi-wire": "KIMI_CODE_HOME",
}
"""Variables that move a program's files out of the user's home."""


def reader_for(source: UsageSource) -> TranscriptReader | None:
    """A new reader, at the start of a transcript; None where usage is told otherwise, or not at all."""
    made = _READERS.get(source)
    return made() if made is not None else None


def config_home(source: UsageSource, environ: Mapping[str, str]) -> str | None:
    """Where a program keeps its files when it is not the user's home; ``environ`` is the agent's."""
    variable = CONFIG_HOMES.get(source)
    return (environ.get(variable) or None) if variable else None


def assumed_path(source: UsageSource, environ: Mapping[str, str], cwd: str, conversation: str | None) -> str | None:
    """The transcript of a conversation whose program does not name the file; None where it does."""
    home = environ.get("HOME")
    if conversation is None or "/" in conversation or not home:
        return None
    match source:
        case "kimi-wire":
            return wire_path(config_home(source, environ) or f"{home}/.kimi-code", cwd, conversation)
        case "copilot-events":  # its hooks name the file at the end of the first turn, which may fail
            return events_path(config_home(source, environ) or f"{home}/.copilot", conversation)
        case _:
            return None
