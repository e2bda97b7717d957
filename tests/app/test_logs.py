"""The log: private, rotated, and without secrets."""

from __future__ import annotations

import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import logs
from app.logs import HIDDEN, Redactor, start_log
from store.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home; what the test hangs on the root logger is taken off again."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield Home(tmp_path / "home")
    for handler in [each for each in root.handlers if each not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)


def test_records_go_to_a_private_file(home: Home) -> None:
    start_log(home, {})
    logging.getLogger("pam.test").info("hello")
    assert "INFO" in home.log.read_text()
    assert "pam.test: hello" in home.log.read_text()
    assert stat.S_IMODE(home.log.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.log.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(("level", "shown"), [("debug", 3), ("info", 2), ("ERROR", 1), ("nonsense", 2)])
def test_the_level_comes_from_pam_log(home: Home, level: str, shown: int) -> None:
    """PAM-LOG-003."""
    start_log(home, {"PAM_LOG": level})
    log = logging.getLogger("pam.test")
    log.debug("one")
    log.info("two")
    log.error("three")
    assert home.log.read_text().count("pam.test") == shown


def test_it_is_rotated(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MAX_BYTES", 2000)
    start_log(home, {})
    for _ in range(200):
        logging.getLogger("pam.test").info("x" * 50)
    files = sorted(path.name for path in home.log.parent.iterdir())
    assert files == ["pam.log", "pam.log.1", "pam.log.2", "pam.log.3"]
    assert max(path.stat().st_size for path in home.log.parent.iterdir()) <= 2000
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.log.parent.iterdir()} == {0o600}


def test_starting_again_replaces_the_handler(home: Home) -> None:
    start_log(home, {})
    start_log(home, {})
    logging.getLogger("pam.test").info("once")
    assert home.log.read_text().count("once") == 1


def test_no_secret_reaches_the_file_not_even_in_a_traceback(home: Home) -> None:
    """PAM-SEC-002, PAM-SEC-003."""
    start_log(home, {"MY_API_KEY": "value-of-the-key"}, secrets=["gateway-secret"])
    log = logging.getLogger("pam.test")
    log.info("sent %s", "value-of-the-key")
    try:
        raise ValueError("gateway-secret")
    except ValueError:
        log.exception("failed with %s", "sk-" + "ant-" + "abcdefghijklmnop")
    text = home.log.read_text()
    assert "Traceback" in text
    assert text.count(HIDDEN) == 4  # the traceback shows the line that raised, too
    for secret in ("value-of-the-key", "gateway-secret", "abcdefghijklmnop"):
        assert secret not in text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer abcdef.123456", f"Authorization: Bearer {HIDDEN}"),
        ("https://me:pw@host/x", f"https://{HIDDEN}@host/x"),
        ("GET /x?token=abc123&y=1", f"GET /x?token={HIDDEN}&y=1"),
        ('{"api_key": "abcd1234"}', f'{{"api_key": "{HIDDEN}"}}'),
        ("OPENAI_API_KEY=abcd1234 ls", f"OPENAI_API_KEY={HIDDEN} ls"),
        ("ghp_abcdefghijklmnopqrst", HIDDEN),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", HIDDEN),
        ("the key of the door is under the token stone", "the key of the door is under the token stone"),
        ("PATH=/usr/bin", "PATH=/usr/bin"),
    ],
)
def test_what_has_the_shape_of_a_secret_is_hidden(text: str, left: str) -> None:
    assert Redactor({})(text) == left


def test_short_values_and_plain_variables_are_no_secrets() -> None:
    """Hiding every `true` or path would make the log useless."""
    redact = Redactor(
        {"USE_TOKEN": "true", "PATH": "/usr/bin:/bin", "A_TOKEN": "longer-than-eight", "B_KEY": "longer-than"}
    )
    assert redact("true /usr/bin:/bin longer-than-eight") == f"true /usr/bin:/bin {HIDDEN}"
