"""Reading catalog files into providers: merging them, checking types, and naming the line of every fault."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

from providers import rules, toml_text
from providers.provider import (
    Answers,
    CompletionSignal,
    Conversation,
    ConversationId,
    GatewayUse,
    Hooks,
    PromptRoute,
    Provider,
    Smoke,
    TuiType,
    UsageSource,
)
from providers.section import Report, Section
from providers.toml_text import KeyPath
from store.errors import ConfigError

_Source = tuple[Path, Mapping[KeyPath, int]]
"""A file and the lines of its keys."""

_PROMPT_ROUTES: tuple[PromptRoute, ...] = get_args(PromptRoute)
_TUI_TYPES: tuple[TuiType, ...] = get_args(TuiType)
_SIGNALS: tuple[CompletionSignal, ...] = get_args(CompletionSignal)
_CONVERSATION_IDS: tuple[ConversationId, ...] = get_args(ConversationId)
_USAGE_SOURCES: tuple[UsageSource, ...] = get_args(UsageSource)


def read_entries(*paths: Path) -> dict[str, Provider]:
    """The providers of the files, later files over earlier ones; a file that does not exist is empty.

    Raises:
        ConfigError: a file cannot be read, is not TOML, or an entry breaks a rule.
    """
    data: dict[str, object] = {}
    sources: list[_Source] = []
    for path in paths:
        text = _read(path)
        _merge(data, toml_text.parse(text, path))
        sources.insert(0, (path, toml_text.key_lines(text)))
    catalog = Section(data, (), _reporter(sources))
    for name in data:
        rules.check_name(catalog.section(name), name, data)
    return {name: _provider(catalog.section(name), name) for name in data}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise toml_text.fault("this line is not UTF-8; save the file as UTF-8.", path, line) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", path=str(path)) from error


def _merge(under: dict[str, object], over: Mapping[str, object]) -> None:
    for key, value in over.items():
        present = under.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(cast("dict[str, object]", present), cast("dict[str, object]", value))
        else:
            under[key] = value


def _reporter(sources: list[_Source]) -> Report:
    """Places a fault where its key stands: in the last file that has it, else at the nearest table around it."""

    def report(message: str, at: KeyPath) -> ConfigError:
        for depth in range(len(at), 0, -1):
            for path, lines in sources:
                if line := lines.get(at[:depth]):
                    return toml_text.fault(message, path, line)
        return ConfigError(message, path=str(sources[0][0]))

    return report


def _provider(entry: Section, name: str) -> Provider:
    conversation, hooks, restart, gateway, smoke, answers = (
        entry.section(key) for key in ("conversation", "hooks", "restart", "gateway", "smoke", "answers")
    )
    provider = Provider(
        name=name,
        title=entry.text("title"),
        enabled=entry.flag("enabled", True),
        bin=entry.text("bin", "") or None,
        argv=entry.template("argv"),
        prompt=entry.choice("prompt", _PROMPT_ROUTES),
        tui_type=entry.choice("tui_type", _TUI_TYPES),
        completion_signals=entry.choices("completion_signals", _SIGNALS) or ("exit_code",),
        approvals=entry.table_of_texts("approvals"),
        conversation=Conversation(
            id=conversation.choice("id", _CONVERSATION_IDS, "none"),
            resume=conversation.template("resume", ()),
        ),
        env=entry.table_of_text("env"),
        keys=entry.texts("keys"),
        logins=entry.texts("logins"),
        gateway=GatewayUse(gateway.table_of_text("env"), gateway.template("args", ()), gateway.texts("unset")),
        smoke=Smoke(smoke.text("model", ""), smoke.table_of_text("files")),
        unset=entry.texts("unset"),
        install=entry.text("install", "") or None,
        versions=entry.text("versions", ""),
        installed_detection=entry.texts("installed_detection"),
        hooks=Hooks(
            recipe=hooks.text("recipe", ""),
            proven=hooks.flag("proven", False),
            proven_with=hooks.text("proven_with", ""),
            ready=hooks.flag("ready", True),
        ),
        usage=entry.choice("usage", _USAGE_SOURCES, "none"),
        quit_keys=entry.texts("quit_keys"),
        answers=Answers(*(answers.texts(key) for key in ("yes", "always", "no", "shows"))),
        limits=entry.texts("limits"),
        max_attempts=restart.count("max_attempts"),
        submit_delay_ms=round(entry.number("submit_delay_ms", 300)),
        ready_after_s=entry.number("ready_after_s", 3),
        hides_cursor=entry.flag("hides_cursor", False),
        second_enter=entry.flag("second_enter", False),
        asks_title=entry.text("asks_title", ""),
        still_s=entry.number("still_s", 0),
    )
    for section in (entry, conversation, hooks, restart, gateway, smoke, answers):
        section.refuse_unknown_keys()
    rules.check(entry, provider)
    return provider
