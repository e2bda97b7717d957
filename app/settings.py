"""Settings: what is in force, and where each value came from (flag > file > environment > default, PAM-CFG-006)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from app.config_file import ConfigFile, from_words, known_key, read_config
from app.config_keys import KEYS, Key, Value
from app.log_settings import LogSettings
from app.notice_settings import NoticeSettings, hours, ways
from executor.settings import ExecutorSettings
from providers.gateway import Gateway
from store.errors import ConfigError, InvalidValue
from store.home import Home
from store.paths import absolute

Source = Literal["flag", "file", "environment", "default"]

_EXECUTOR_SECTIONS = ("tmux", "executor")
_EXECUTOR_NAMES = {"tmux.socket": "tmux_socket", "tmux.bin": "tmux_bin"}


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the operator may set; frozen, so a change of configuration is a new value."""

    home: Home
    config_path: Path
    executor: ExecutorSettings
    events_days: int
    auto_mark_done: bool
    catalog_path: Path
    """The operator's entries of the provider catalog."""
    default_provider: str | None
    gateway_url: str | None
    """Without a slash at its end (PAM-GW-003)."""
    gateway_api_key: str | None = field(repr=False)
    log: LogSettings
    theme: str
    notify: NoticeSettings
    keys: Mapping[str, str]
    """Actions of the control room by name, with the keys the operator chose for them."""
    values: Mapping[str, Value | None] = field(repr=False)
    """Every value by dotted key, as it was given."""
    sources: Mapping[str, Source]
    """Where each value came from, by dotted key."""


def config_path_of(home: Home, named: str | Path | None, environ: Mapping[str, str]) -> tuple[Path, bool]:
    """Where config.toml is, and whether the operator named it (flag, or ``PAM_CONFIG``: PAM-CFG-007).

    Raises InvalidValue for a path that cannot be placed.
    """
    wanted = named or environ.get("PAM_CONFIG")
    return (absolute(wanted, "config"), True) if wanted else (home.config, False)


def load(
    home: Home,
    config_path: str | Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of a home. ``flags`` maps dotted keys to words of the command line.

    Raises InvalidValue for a path that cannot be placed, or ConfigError; for a fault in the file its details hold
    ``path`` and ``line``.
    """
    path, named = config_path_of(home, config_path, environ)
    config = read_config(path, required=named)
    values: dict[str, Value | None] = {}
    sources: dict[str, Source] = {}
    for key in KEYS:
        values[key.dotted], sources[key.dotted] = _in_force(key, flags or {}, config, environ)
    return _built(home, path, values, sources, config.keys)


def _in_force(
    key: Key, flags: Mapping[str, str], config: ConfigFile, environ: Mapping[str, str]
) -> tuple[Value | None, Source]:
    if key.dotted in flags:
        return from_words(known_key(key.dotted), flags[key.dotted]), "flag"
    if key.dotted in config.values:
        return config.values[key.dotted], "file"
    words = environ.get(key.env, "") if key.env else ""
    if words:
        try:
            return from_words(key, words), "environment"
        except InvalidValue as error:
            raise ConfigError(f"The variable {key.env} is off: {error.message}", variable=key.env) from None
    return key.default, "default"


def _built(
    home: Home,
    path: Path,
    values: Mapping[str, Value | None],
    sources: Mapping[str, Source],
    keys: Mapping[str, str],
) -> Settings:
    executor = {
        _EXECUTOR_NAMES.get(key.dotted, key.name): values[key.dotted]
        for key in KEYS
        if key.section in _EXECUTOR_SECTIONS
    }
    catalog = values["providers.catalog_path"]
    gateway = _gateway(values)
    return Settings(
        home=home,
        config_path=path,
        executor=ExecutorSettings(
            **executor,  # type: ignore[arg-type] # checked against the table of keys
            unproven_hooks=bool(values["providers.hooks"]),
            first_run_answers=bool(values["providers.first_run_answers"]),
            gateway=gateway,
            key_command=tuple(shlex.split(str(values["secrets.command"] or ""))),
        ),
        events_days=cast("int", values["retention.events_days"]),
        auto_mark_done=bool(values["work.auto_mark_done"]),
        catalog_path=_catalog(home, path, cast("str | None", catalog)),
        default_provider=cast("str | None", values["providers.default"]),
        gateway_url=gateway.url if gateway else None,
        gateway_api_key=cast("str | None", values["gateway.api_key"]),
        log=_log(values),
        theme=str(values["ui.theme"]),
        notify=_notices(values),
        keys=keys,
        values=values,
        sources=sources,
    )


def _gateway(values: Mapping[str, Value | None]) -> Gateway | None:
    """The gateway that its url switches on."""
    url, key = (cast("str | None", values[name]) for name in ("gateway.url", "gateway.api_key"))
    only = str(values["gateway.providers"] or "").replace(",", " ").split()
    return Gateway(url.rstrip("/"), key, tuple(only)) if url else None


def _log(values: Mapping[str, Value | None]) -> LogSettings:
    given = {key.name: values[key.dotted] for key in KEYS if key.section == "log"}
    words = {name: value.lower() if isinstance(value, str) else value for name, value in given.items()}
    return LogSettings(**words)  # type: ignore[arg-type] # checked against the table of keys


def _notices(values: Mapping[str, Value | None]) -> NoticeSettings:
    quiet = values["notify.quiet_hours"]
    return NoticeSettings(
        via=ways(str(values["notify.via"] or "")),
        quiet=hours(str(quiet)) if quiet else None,
        on_end=bool(values["notify.on_end"]),
    )


def _catalog(home: Home, config_path: Path, named: str | None) -> Path:
    """A relative path counts from the file that says it."""
    if not named:
        return home.providers
    return absolute(named if named.startswith("~") else config_path.parent / named, "providers.catalog_path")
