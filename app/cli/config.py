"""``pam config``: what is in force, where it came from, and changing one key."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from app.cli.call import Call
from app.cli.declare import argument, group
from app.cli.table import facts, table
from store.errors import UsageError

if TYPE_CHECKING:
    from app.config_keys import Key, Value
    from app.settings import Settings

HIDDEN = "[hidden]"


@group("config")
def config() -> None:
    """Settings: show them, change one."""


@config.command("show", prints='{"config": {"home", "path", "settings": [{"key", "value", "source"}]}}')
@click.pass_obj
def show(call: Call) -> None:
    """Show every setting with its value and where it came from; keys and tokens stay hidden."""
    settings = call.settings
    shown = _shown(settings)
    data = {"home": str(call.home.path), "path": str(settings.config_path), "settings": shown}
    call.emit({"config": data}, lambda: _page(settings, shown))


@config.command("path", prints='{"path", "exists"}')
@click.pass_obj
def path(call: Call) -> None:
    """Print where config.toml is, whether or not it exists."""
    from app.settings import config_path_of

    where, _ = config_path_of(call.home, call.config_named, call.environ)
    call.emit({"path": str(where), "exists": where.exists()}, str(where))


@config.command("set", prints='{"config": {"path", "key", "value", "source"}}')
@argument("key")
@argument("value")
@click.pass_obj
def set_(call: Call, key: str, value: str) -> None:
    """Change one key, as in `pam config set tmux.rows 60`; comments and order of the file stay.

    A key of a gateway is read from standard input: `pam config set gateway.api_key -`.
    """
    from app.config_edit import set_key
    from app.settings import config_path_of

    where, _ = config_path_of(call.home, call.config_named, call.environ)
    set_key(where, key, _given(key, value))
    told = next((each for each in _shown(call.settings) if each["key"] == key), {"key": key, "value": value})
    call.emit({"config": {"path": str(where), **told}}, f"{key} = {_words(told['value'])}  ({where})")


def _given(key: str, value: str) -> str:
    """A secret comes by standard input: other users see command lines, and a shell keeps them. Raises UsageError."""
    from app.config_keys import BY_NAME

    if key not in BY_NAME or not BY_NAME[key].secret:
        return value
    if value != "-":
        raise UsageError(f"Give {key} on standard input, where nobody sees it: `pam config set {key} -`.")
    return sys.stdin.readline().strip()


def _shown(settings: Settings) -> list[dict[str, object]]:
    from app.config_keys import KEYS

    found: list[dict[str, object]] = [
        {"key": key.dotted, "value": _value(settings, key), "source": settings.sources[key.dotted]} for key in KEYS
    ]
    return found + [{"key": f"keys.{name}", "value": keys, "source": "file"} for name, keys in settings.keys.items()]


def _value(settings: Settings, key: Key) -> Value | None:
    value = settings.values[key.dotted]
    return HIDDEN if key.secret and value is not None else value


def _page(settings: Settings, shown: list[dict[str, object]]) -> str:
    rows = [[str(each["key"]), _words(each["value"]), str(each["source"])] for each in shown]
    exists = "" if settings.config_path.exists() else " (not there; `pam init` makes it)"
    where = facts([("home", str(settings.home.path)), ("config", f"{settings.config_path}{exists}")])
    return f"{where}\n\n{table(('KEY', 'VALUE', 'FROM'), rows, empty='')}"


def _words(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
