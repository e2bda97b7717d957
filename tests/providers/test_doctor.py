"""What the doctor says about providers, with programs of our own in their place (PAM-PROV-011)."""

from __future__ import annotations

from pathlib import Path

import pytest

from providers.catalog import load
from providers.doctor import Check, checks
from store.errors import ProviderUnavailable

KEY = "sk-ant-api03-0123456789abcdef"


def program(directory: Path, name: str, script: str) -> dict[str, str]:
    """An environment on whose PATH ``name`` runs the shell script."""
    (directory / name).write_text(f"#!/bin/sh\n{script}\n")
    (directory / name).chmod(0o755)
    return {"PATH": f"{directory}:/usr/bin:/bin"}


def of_claude(home: Path, environ: dict[str, str]) -> tuple[Check, ...]:
    return tuple(checks(load(home), environ, only="claude"))


def test_a_version_in_the_range_is_fine(tmp_path: Path) -> None:
    environ = program(tmp_path, "claude", 'echo "2.1.332 (Claude Code)"')
    version, key = of_claude(tmp_path, {**environ, "ANTHROPIC_API_KEY": KEY})
    assert version == Check("provider claude", "ok", f"2.1.332 ({tmp_path}/claude)")
    assert key == Check("provider claude key", "ok", "ANTHROPIC_API_KEY is set")


def test_a_version_outside_the_range_is_a_problem_that_names_both(tmp_path: Path) -> None:
    version, key = of_claude(tmp_path, program(tmp_path, "claude", "echo 1.0.5"))
    assert (version.state, version.detail) == ("problem", f"1.0.5 is outside >=2.1.197, <3 ({tmp_path}/claude)")
    assert "`versions` under [claude] in providers.toml" in version.fix
    assert key.state == "na"


@pytest.mark.parametrize(
    ("script", "says"), [("exit 3", "exit code 3"), ("echo hello", "names no version"), ("kill -9 $$", "exit code -9")]
)
def test_a_program_that_does_not_say_its_version_is_a_problem(tmp_path: Path, script: str, says: str) -> None:
    version = of_claude(tmp_path, program(tmp_path, "claude", script))[0]
    assert (version.state, version.fix) == ("problem", "run `claude --version` by hand")
    assert says in version.detail


def test_a_missing_program_is_a_problem_only_for_the_provider_asked_for(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    (asked,) = of_claude(tmp_path, environ)
    assert (asked.state, asked.fix) == ("problem", "npm install --global @anthropic-ai/claude-code")
    everything = {check.name: check.state for check in checks(load(tmp_path), environ)}
    assert everything == {
        "provider demo": "ok",
        "provider shell": "na",
        "provider claude": "na",
        "provider codex": "na",
    }


def test_no_check_shows_a_key_and_no_probe_runs_in_the_operators_repository(tmp_path: Path) -> None:
    environ = {**program(tmp_path, "claude", "pwd >&2; echo 2.1.332"), "ANTHROPIC_API_KEY": KEY}
    assert KEY not in repr(of_claude(tmp_path, environ))
    seen = of_claude(tmp_path, program(tmp_path, "claude", '[ "$PWD" = / ] && echo 2.1.332'))
    assert seen[0].state == "ok"


def test_an_unknown_provider_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProviderUnavailable, match="no provider 'nope'"):
        checks(load(tmp_path), {}, only="nope")
