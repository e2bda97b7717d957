"""The log: private, rotated, without secrets, in two forms, and never flooded."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli.call import Call
from app.log_burst import ALIKE, MOST_WINDOWS, Burst
from app.log_settings import LogSettings
from app.logs import start_log
from app.settings import load
from store.errors import ConfigError
from store.home import Home
from store.redaction import HIDDEN, Redactor

RUN = "5f0c1f7e-8a54-4c5e-9a5e-0d3f5f4b7a11"
JSON = LogSettings(format="json")
log = logging.getLogger("pam.test")


class Minutes:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


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


def objects(home: Home) -> list[dict[str, Any]]:
    """The log's lines as JSON."""
    return [json.loads(line) for line in home.log.read_text().splitlines()]


def test_records_go_to_a_private_file(home: Home) -> None:
    start_log(home, {})
    log.info("hello")
    assert "INFO" in home.log.read_text()
    assert "pam.test: hello" in home.log.read_text()
    assert stat.S_IMODE(home.log.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.log.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(("level", "shown"), [("debug", 3), ("info", 2), ("ERROR", 1), ("nonsense", 2)])
def test_without_settings_the_level_comes_from_pam_log(home: Home, level: str, shown: int) -> None:
    """PAM-LOG-003: also when config.toml cannot be read."""
    start_log(home, {"PAM_LOG": level})
    log.debug("one")
    log.info("two")
    log.error("three")
    assert home.log.read_text().count("pam.test") == shown


def test_the_settings_say_level_form_and_size(home: Home) -> None:
    """PAM-LOG-003, PAM-CFG-006: the file counts before the environment."""
    home.make()
    environ = {"PAM_LOG": "Error", "PAM_LOG_FORMAT": "json"}
    assert load(home, None, environ).log == LogSettings(level="error", format="json")
    home.config.write_text('[log]\nlevel = "debug"\nformat = "text"\nmax_bytes = 50000\nbackups = 1\n')
    settings = load(home, None, environ).log
    assert settings == LogSettings(level="debug", format="text", max_bytes=50_000, backups=1)
    start_log(home, environ, settings=settings)
    log.debug("seen")
    assert "DEBUG" in home.log.read_text()
    with pytest.raises(ConfigError, match="PAM_LOG_FORMAT"):
        load(Home(home.path / "other"), None, {"PAM_LOG_FORMAT": "yaml"})


def test_it_is_rotated(home: Home) -> None:
    start_log(home, {}, settings=LogSettings(max_bytes=2000, backups=3))
    for number in range(200):
        log.info("%d %s", number, "x" * 50)
    files = sorted(path.name for path in home.log.parent.iterdir())
    assert files == ["pam.log", "pam.log.1", "pam.log.2", "pam.log.3"]
    assert max(path.stat().st_size for path in home.log.parent.iterdir()) <= 2000
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.log.parent.iterdir()} == {0o600}


def _write_many(path: Path, name: str) -> None:
    start_log(Home(path), {}, settings=LogSettings(max_bytes=20_000, backups=50))
    for number in range(300):
        logging.getLogger("pam.test").info("%s-%d %s", name, number, "x" * 50)
    logging.shutdown()


def test_two_processes_share_it(home: Home) -> None:
    """Control room and executor: when one rotates, the other goes on in the new file, and no record is lost."""
    spawn = multiprocessing.get_context("spawn")
    both = [spawn.Process(target=_write_many, args=(home.path, name)) for name in ("room", "executor")]
    for process in both:
        process.start()
    for process in both:
        process.join(60)
        assert process.exitcode == 0
    text = "".join(path.read_text() for path in home.log.parent.iterdir())
    assert (
        len(set(text.split()) & {f"{name}-{number}" for name in ("room", "executor") for number in range(300)}) == 600
    )
    assert max(path.stat().st_size for path in home.log.parent.iterdir()) < 40_000


def test_a_log_that_was_moved_away_is_begun_anew(home: Home) -> None:
    start_log(home, {})
    log.info("one")
    home.log.rename(home.log.with_name("mine"))
    log.info("two")
    shutil.rmtree(home.log.parent)
    log.info("lost")
    home.log.parent.mkdir()
    log.info("three")
    assert "three" in home.log.read_text()


def test_starting_again_replaces_the_handler(home: Home) -> None:
    start_log(home, {})
    start_log(home, {})
    log.info("once")
    assert home.log.read_text().count("once") == 1


# -- JSON


def test_json_lines_hold_what_a_program_asks_for(home: Home) -> None:
    """PAM-LOG-003."""
    start_log(home, {}, settings=JSON)
    log.warning("Run %s failed (%s): %s", RUN, "session_lost", "its wrapper is gone\nfor good")
    log.info("no run", extra={"run_id": "given"})
    log.info("Größe 世界")
    first, second, third = objects(home)
    assert list(first) == ["ts", "level", "logger", "pid", "message", "run_id"]
    assert first["ts"].endswith("Z")
    assert (first["level"], first["logger"], first["pid"]) == ("warning", "pam.test", os.getpid())
    assert first["message"] == f"Run {RUN} failed (session_lost): its wrapper is gone\nfor good"
    assert first["run_id"] == RUN
    assert second["run_id"] == "given"
    assert third["message"] == "Größe 世界"
    assert "run_id" not in third


def test_json_lines_carry_the_traceback(home: Home) -> None:
    start_log(home, {}, settings=JSON)
    try:
        raise ValueError("of mine")
    except ValueError:
        log.exception("failed")
    (line,) = objects(home)
    assert line["error"].startswith("Traceback")
    assert "ValueError: of mine" in line["error"]


@pytest.mark.parametrize("settings", [LogSettings(), JSON], ids=["text", "json"])
def test_a_record_that_is_wrong_in_itself_is_told(home: Home, settings: LogSettings) -> None:
    start_log(home, {}, settings=settings)
    # Past the loggers: pytest's own handler refuses such a record.
    ours = logging.getLogger().handlers[-1]
    ours.handle(logging.LogRecord("pam", logging.INFO, "x", 1, "%d agents", ("many",), None))
    ours.handle(logging.LogRecord("pam", logging.INFO, "x", 1, "x" * 100_000, (), None))
    text = home.log.read_text()
    assert "%d agents" in text and "many" in text
    assert len(text) < 25_000


def test_what_others_wrote_neither_forges_a_line_nor_moves_the_cursor(home: Home) -> None:
    """A signal's words stand in the log as they came from an agent."""
    start_log(home, {})
    log.info("Signal %s refused", "\x1b[2Jx\n2026-11-30 09:00:00,000 INFO 1 pam: forged\r")
    text = home.log.read_text()
    assert "\x1b" not in text and "\r" not in text
    assert [line[:4] for line in text.splitlines()][1] == "    "


# -- a full disk, and floods


def test_a_full_disk_is_borne_without_a_word(home: Home, capfd: pytest.CaptureFixture[str]) -> None:
    """FR-17: a word on standard error would be drawn over the screen, and fill the daemon's own log."""
    start_log(home, {})
    log.info("before")
    os.dup2(os.open("/dev/full", os.O_WRONLY), logging.getLogger().handlers[-1].stream.fileno())  # type: ignore[attr-defined]
    for number in range(100):
        log.error("lost %d", number)
    assert capfd.readouterr() == ("", "")


def test_a_fault_that_repeats_for_a_day_leaves_few_lines(home: Home) -> None:
    """FR-17: 276,000 lines and 88 MB were written about one rejected id."""
    clock = Minutes()
    start_log(home, {}, clock=clock)
    for number in range(20_000):
        clock.now = number * 86_400 / 20_000
        log.warning("The session id was rejected; it is tried again")
    lines = home.log.read_text().splitlines()
    assert len(lines) < 2 * 1440 + 2
    assert "more like this within 60 s" in lines[1]
    assert home.log.stat().st_size < 500_000


def test_the_same_fault_about_many_things_is_bounded_as_well(home: Home) -> None:
    clock = Minutes()
    start_log(home, {}, clock=clock)
    for number in range(1000):
        log.warning("Run %d cannot be looked at", number)
    assert len(home.log.read_text().splitlines()) == ALIKE
    clock.now = 61
    log.info("something else")
    (told,) = [line for line in home.log.read_text().splitlines() if "more like this" in line]
    assert f"Run 999 cannot be looked at ({1000 - ALIKE} more like this within 60 s)" in told


def test_what_differs_is_not_held_back(home: Home) -> None:
    start_log(home, {}, settings=LogSettings(level="debug"))
    for number in range(300):
        log.debug("Signal %d", number)
    try:
        raise ValueError("one")
    except ValueError:
        log.exception("failed")
    try:
        raise ValueError("two")
    except ValueError:
        log.exception("failed")
    text = home.log.read_text()
    assert text.count("Signal") == 300
    assert text.count("Traceback") == 2


def test_what_was_counted_is_told_when_the_log_is_closed(home: Home) -> None:
    start_log(home, {})
    for _ in range(5):
        log.info("again")
    start_log(home, {})
    assert "again (4 more like this within 60 s)" in home.log.read_text()


def test_the_count_does_not_grow_without_bound() -> None:
    burst = Burst()
    for number in range(3 * MOST_WINDOWS):
        record = logging.LogRecord("pam", logging.INFO, "x", 1, "%d", (number,), None)
        list(burst.due(0))
        assert burst.admits(record, 0)
    assert len(burst._windows) <= MOST_WINDOWS + 1


# -- secrets


@pytest.mark.parametrize("settings", [LogSettings(), JSON], ids=["text", "json"])
def test_no_secret_reaches_the_file_not_even_in_a_traceback(home: Home, settings: LogSettings) -> None:
    """PAM-SEC-002, PAM-SEC-003."""
    start_log(home, {"MY_API_KEY": "value-of-the-key"}, secrets=["gateway-secret"], settings=settings)
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


CANARY = 'canary "of\\the" mine/ä'
WAYS: dict[str, Callable[[str], object]] = {
    "message": lambda secret: log.info("with " + secret),
    "argument": lambda secret: log.info("with %s", secret),
    "repr": lambda secret: log.info("with %r", {"key": secret}),
    "ascii": lambda secret: log.info("with %a", secret),
    "json": lambda secret: log.info("with %s", json.dumps({"key": secret})),
    "bare": lambda secret: log.info("%s", json.dumps([secret], ensure_ascii=False)),
}


@pytest.mark.parametrize("settings", [LogSettings(), JSON], ids=["text", "json"])
@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_hidden_however_it_is_quoted(home: Home, settings: LogSettings, way: str) -> None:
    """A key with quotes, a backslash and other letters looks different in each of these."""
    start_log(home, {}, secrets=[CANARY], settings=settings)
    WAYS[way](CANARY)
    text = home.log.read_text()
    assert "canary" not in text and "mine" not in text
    assert HIDDEN in text


def test_keys_of_the_catalog_and_of_the_gateway_are_secrets(home: Home) -> None:
    """PAM-SEC-003: a provider may name a variable that does not look like a key, and set it in the file."""
    home.make()
    home.providers.write_text(
        '[claude]\nkeys = ["MINE_AUTH", "MINE_OTHER"]\n[claude.env]\nMINE_OTHER = "from-the-file"\n'
    )
    environ = {
        "PAM_HOME": str(home.path),
        "MINE_AUTH": "from-the-environment",
        "PAM_GATEWAY_API_KEY": "from-the-gateway",
    }
    call = Call(environ)
    start_log(home, environ, settings=call.settings.log, secrets=call.secrets)
    log.info("from-the-environment from-the-file from-the-gateway")
    assert home.log.read_text().count(HIDDEN) == 3
    assert "from-the" not in home.log.read_text()


def test_a_catalog_with_a_fault_keeps_nobody_from_logging(home: Home) -> None:
    home.make()
    home.providers.write_text("[mine\n")
    call = Call({"PAM_HOME": str(home.path), "PAM_GATEWAY_API_KEY": "from-the-gateway"})
    assert call.secrets == ["from-the-gateway"]


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
