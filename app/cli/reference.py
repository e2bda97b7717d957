"""``pam docs``: writes the generated pages of docs/, or checks that they are current; not in the help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click

import app
from app.cli import output
from app.cli.call import Call
from app.cli.declare import group

DOCS = Path(app.__file__).parent.parent / "docs"


@group("docs", hidden=True)
def docs() -> None:
    """The generated pages of docs/."""


@docs.command("write", prints='{"written": […]}')
@click.pass_obj
def write(call: Call) -> None:
    """Write the pages."""
    DOCS.mkdir(exist_ok=True)
    changed = _stale()
    for name, text in changed.items():
        (DOCS / name).write_text(text, encoding="utf-8")
    call.emit({"written": list(changed)}, "\n".join(f"wrote docs/{name}" for name in changed) or "All are current.")


@docs.command("check", prints='{"stale": […]}')
@click.pass_obj
def check(call: Call) -> int:
    """Exit 1 when a page is not what the code says."""
    stale = list(_stale())
    call.emit({"stale": stale}, "\n".join(f"docs/{name} is stale" for name in stale) or "All are current.")
    if stale:
        output.say("Write them anew with `make docs`.")
    return 1 if stale else 0


def pages() -> Mapping[str, Callable[[], str]]:
    """Every generated page by its name in docs/, and what makes its text."""
    from app.cli.key_pages import keys
    from app.cli.reference_pages import command_line, configuration, exit_codes, provider_page

    return {
        "cli.md": command_line,
        "exit-codes.md": exit_codes,
        "configuration.md": configuration,
        "providers.md": provider_page,
        "keys.md": keys,
    }


def _stale() -> dict[str, str]:
    made = {name: make() for name, make in pages().items()}
    return {name: text for name, text in made.items() if not _is(DOCS / name, text)}


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text
