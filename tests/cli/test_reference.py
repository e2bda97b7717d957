"""The generated pages, and what the help promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from app.cli import reference
from app.cli.declare import Command
from app.cli.main import COMMANDS, root
from app.cli.reference_pages import command_line, configuration, exit_codes
from app.config_keys import KEYS
from store import errors
from store.errors import PamError
from tests.cli.conftest import Pam


def commands(group: click.Group = root, parent: click.Context | None = None) -> Iterator[tuple[str, click.Command]]:
    """Every command with its path, hidden ones left out."""
    context = click.Context(group, info_name=group.name, parent=parent)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        assert command.name == name
        if isinstance(command, click.Group):
            if not command.hidden:
                yield from commands(command, context)
        elif not command.hidden:
            yield f"{context.command_path} {name}", command


def test_the_pages_are_current(pam: Pam) -> None:
    """Docs are generated: `make docs` writes what is missing."""
    assert pam.json("docs", "check") == {"stale": []}


def test_a_stale_page_is_found_and_written(pam: Pam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "DOCS", tmp_path)
    assert pam.json("docs", "check", code=1)["stale"] == [
        *("cli.md", "exit-codes.md", "configuration.md", "providers.md", "keys.md")
    ]
    pam("docs", "write")
    assert pam.json("docs", "check") == {"stale": []}


def test_every_command_says_what_it_prints_and_stands_in_the_page() -> None:
    page = command_line()
    found = dict(commands())
    assert len(found) > 40
    for path, command in found.items():
        assert isinstance(command, Command)
        assert command.prints, path
        assert f" {path}\n" in page
        assert command.help


def test_the_short_help_of_a_lazy_command_is_its_own() -> None:
    """The table of the root repeats the first sentence, so that `pam -h` need not load every noun."""
    context = click.Context(root, info_name="pam")
    for group in (root, root.get_command(context, "task"), root.get_command(context, "run")):
        assert isinstance(group, click.Group)
        for name, (_, short) in getattr(group, "lazy", {}).items():
            command = group.get_command(context, name)
            assert command is not None
            assert command.hidden is not bool(short)
            if short:
                first = (command.help or "").split("\n")[0]
                assert first.startswith(short.rstrip(".")), (name, first, short)
    assert [name for name, (_, short) in COMMANDS.items() if not short] == ["demo", "docs"]


def test_every_exit_code_and_error_code_is_listed() -> None:
    """PAM-CLI-038."""
    page = exit_codes()
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, PamError) and kind is not PamError:
            assert f"| `{kind.code}` | {kind.exit_code} |" in page
    for number in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 21, 22, 130):
        assert f"\n| {number} | " in page


def test_every_key_is_listed() -> None:
    page = configuration()
    assert all(f"| `{key.name}` |" in page and key.meaning in page for key in KEYS)
