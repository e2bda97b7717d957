"""Prompts that no argument can hold, and the keys of the catalog that say how a program takes what is typed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from providers import catalog
from providers.launch import ARGUMENT_LIMIT, plan
from providers.long_prompt import line_for, needs_file
from providers.provider import Conversation, Provider
from store.errors import ConfigError

ARGV = Provider("x", "X", ("{bin}", "{prompt}"), "argv", "raw_mode", (), bin="sh")


@pytest.mark.parametrize(
    ("provider", "fits"),
    [
        (ARGV, ARGUMENT_LIMIT),
        (replace(ARGV, argv=("{bin}", "--prompt={prompt}")), ARGUMENT_LIMIT - len("--prompt=")),
        (replace(ARGV, argv=("{bin}",), prompt="paste"), ARGUMENT_LIMIT),
    ],
)
def test_the_longest_prompt_that_fits_and_one_byte_more(provider: Provider, fits: int) -> None:
    """Bytes count, of the whole argument."""
    long = "é" * ((fits - fits % 2) // 2) + "x" * (fits % 2)
    assert not needs_file(provider, long)
    assert needs_file(provider, long + "x")
    options = {"run_id": "r", "model": None, "args": (), "cwd": "/", "conversation_id": None}
    assert plan(provider, prompt=long, environ={"PATH": "/bin:/usr/bin"}, **options).prompt == long  # type: ignore[arg-type]


def test_a_program_without_prompt_needs_no_file() -> None:
    """And neither does no prompt."""
    assert not needs_file(replace(ARGV, argv=("{bin}",), prompt="none"), "x" * 200_000)
    assert not needs_file(ARGV, None)
    assert line_for("/home/prompts/r-1.md") == "Read the task in /home/prompts/r-1.md and do it."


def test_a_command_line_that_resumes_without_a_place_for_the_prompt_has_it_typed() -> None:
    """As with a CLI that ignores its prompt argument once it resumes."""
    provider = replace(ARGV, conversation=Conversation("learned", ("{bin}", "-s", "{conversation_id}")))
    options = {"run_id": "r", "model": None, "args": (), "cwd": "/", "environ": {"PATH": "/bin:/usr/bin"}}
    first = plan(provider, prompt="go", conversation_id=None, **options)  # type: ignore[arg-type]
    again = plan(provider, prompt="go", conversation_id="c-1", resume=True, **options)  # type: ignore[arg-type]
    assert (first.prompt_route, again.prompt_route, again.prompt) == ("argv", "paste", "go")
    assert "go" not in again.argv


def test_how_a_program_takes_what_is_typed_stands_in_the_catalog(tmp_path: Path) -> None:
    """With defaults, and refused where it is no number."""
    known = catalog.load(tmp_path).get("demo")
    assert (known.submit_delay_ms, known.ready_after_s, known.second_enter) == (300, 3, False)
    own = tmp_path / "providers.toml"
    own.write_text("[demo]\nsubmit_delay_ms = 0\nready_after_s = 1.5\nsecond_enter = true\n")
    changed = catalog.load(tmp_path).get("demo")
    assert (changed.submit_delay_ms, changed.ready_after_s, changed.second_enter) == (0, 1.5, True)
    for line in ("submit_delay_ms = -1", "ready_after_s = true", 'ready_after_s = "soon"', "ready_after_s = inf"):
        own.write_text(f"[demo]\n{line}\n")
        with pytest.raises(ConfigError, match=r":2: .*must be a number"):
            catalog.load(tmp_path)
