"""Keys from ``[secrets] command`` (PAM-SEC-003)."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from providers import keys
from providers.catalog import load
from providers.gateway import Gateway
from providers.keys import KeyCommandFailed, find, with_keys
from store.redaction import HIDDEN, Redactor

ENVIRON = {"PATH": os.environ["PATH"]}


@pytest.fixture
def ring(tmp_path: Path) -> tuple[str, ...]:
    """A command that knows what lies in a directory, and writes down what it is asked."""
    (tmp_path / "ring").mkdir()
    script = tmp_path / "lookup"
    script.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/asked\ncat "{tmp_path}/ring/$1" 2>/dev/null\n')
    script.chmod(0o755)
    return (str(script), "{name}")


def asked(tmp_path: Path) -> list[str]:
    path = tmp_path / "asked"
    return path.read_text().split() if path.exists() else []


def test_the_first_line_is_the_key(tmp_path: Path, ring: tuple[str, ...]) -> None:
    (tmp_path / "ring" / "A_KEY").write_text("  value-0123456789  \nlogin: me\n")
    assert find(ring, "A_KEY", ENVIRON) == "value-0123456789"
    assert find(ring, "ANOTHER", ENVIRON) is None
    assert find(("printf", "a\033b{name}"), "A_KEY", ENVIRON) is None
    assert find(("true", "{name}"), "A_KEY", ENVIRON) is None


def test_a_command_that_cannot_be_run_or_hangs_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyCommandFailed, match="`no-such-program` cannot be run"):
        find(("no-such-program", "{name}"), "A_KEY", ENVIRON)
    monkeypatch.setattr(keys, "PATIENCE_S", 0.05)
    with pytest.raises(KeyCommandFailed, match="no answer in"):
        find(("sleep", "60"), "A_KEY", ENVIRON)


def test_a_key_is_looked_up_where_the_environment_has_none(tmp_path: Path, ring: tuple[str, ...]) -> None:
    (tmp_path / "ring" / "ANTHROPIC_AUTH_TOKEN").write_text("token-from-the-ring")
    claude = load(tmp_path).get("claude")
    environ, gateway = with_keys(claude, None, ENVIRON, ring)
    assert environ == {**ENVIRON, "ANTHROPIC_AUTH_TOKEN": "token-from-the-ring"}
    assert gateway is None
    assert asked(tmp_path) == ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]


def test_nobody_is_asked_for_a_key_that_is_there(tmp_path: Path, ring: tuple[str, ...]) -> None:
    claude = load(tmp_path).get("claude")
    environ = {**ENVIRON, "CLAUDE_CODE_OAUTH_TOKEN": "there-already"}
    assert with_keys(claude, None, environ, ring)[0] == environ
    assert with_keys(claude, None, ENVIRON, ())[0] == ENVIRON
    assert with_keys(claude, Gateway("https://g.example", "has-its-own"), ENVIRON, ring)[0] == ENVIRON
    assert with_keys(load(tmp_path).get("demo"), None, ENVIRON, ring)[0] == ENVIRON
    assert asked(tmp_path) == []


def test_the_gateways_key_can_come_from_there(tmp_path: Path, ring: tuple[str, ...]) -> None:
    (tmp_path / "ring" / "PAM_GATEWAY_API_KEY").write_text("gateway-from-the-ring")
    claude = load(tmp_path).get("claude")
    environ, gateway = with_keys(claude, Gateway("https://g.example"), ENVIRON, ring)
    assert gateway == Gateway("https://g.example", "gateway-from-the-ring")
    assert environ == ENVIRON
    assert asked(tmp_path) == ["PAM_GATEWAY_API_KEY"]


def test_a_failing_command_costs_the_key_and_not_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    claude = load(tmp_path).get("claude")
    with caplog.at_level(logging.WARNING, "pam.keys"):
        assert with_keys(claude, None, ENVIRON, ("no-such-program", "{name}"))[0] == ENVIRON
    assert "No key for provider claude" in caplog.text


def test_what_was_looked_up_is_written_down_nowhere(tmp_path: Path, ring: tuple[str, ...]) -> None:
    """PAM-SEC-002: it has no shape and no variable by which a log could tell it."""
    redact = Redactor({})
    assert redact("plain words of a ring") == "plain words of a ring"
    (tmp_path / "ring" / "A_KEY").write_text("plain words of a ring")
    find(ring, "A_KEY", ENVIRON)
    assert redact("so: plain words of a ring.") == f"so: {HIDDEN}."
