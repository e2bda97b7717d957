"""What the doctor says about providers, with programs of our own in their place (PAM-PROV-011)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from providers.catalog import load
from providers.check import Check, Practice
from providers.doctor import checks
from providers.gateway import Gateway
from providers.reach import gateway_check, proxies_for
from store.errors import ProviderUnavailable

KEY = "sk-ant-api03-0123456789abcdef"
NOWHERE = Gateway("http://127.0.0.1:9", "gateway-key-0123456789")


def program(directory: Path, name: str, script: str) -> dict[str, str]:
    """An environment on whose PATH ``name`` runs the shell script."""
    (directory / name).write_text(f"#!/bin/sh\n{script}\n")
    (directory / name).chmod(0o755)
    return {"PATH": f"{directory}:/usr/bin:/bin", "HOME": str(directory)}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Claude is here, and in the range."""
    return program(tmp_path, "claude", 'echo "2.1.332 (Claude Code)"')


def of_claude(home: Path, environ: dict[str, str], practice: Practice | None = None) -> dict[str, Check]:
    """The lines about claude by the last word of their name; the program's own is ``claude``."""
    found = checks(load(home), environ, only="claude", practice=practice)
    return {check.name.split()[-1]: check for check in found}


# -- the program


def test_a_version_in_the_range_is_fine(tmp_path: Path, environ: dict[str, str]) -> None:
    seen = of_claude(tmp_path, {**environ, "ANTHROPIC_API_KEY": KEY})
    assert seen["claude"] == Check("provider claude", "ok", f"2.1.332 ({tmp_path}/claude)")
    assert seen["key"] == Check("provider claude key", "ok", "ANTHROPIC_API_KEY is set")


def test_a_version_outside_the_range_is_a_problem_that_names_both(tmp_path: Path) -> None:
    """PAM-PROV-010."""
    version = of_claude(tmp_path, program(tmp_path, "claude", "echo 1.0.5"))["claude"]
    assert (version.state, version.detail) == ("problem", f"1.0.5 is outside >=2.1.197, <3 ({tmp_path}/claude)")
    assert "`versions` under [claude] in providers.toml" in version.fix


@pytest.mark.parametrize(
    ("script", "says"), [("exit 3", "exit code 3"), ("echo hello", "names no version"), ("kill -9 $$", "exit code -9")]
)
def test_a_program_that_does_not_say_its_version_is_a_problem(tmp_path: Path, script: str, says: str) -> None:
    version = of_claude(tmp_path, program(tmp_path, "claude", script))["claude"]
    assert (version.state, version.fix) == ("problem", "run `claude --version` by hand")
    assert says in version.detail


def test_a_missing_program_is_a_problem_only_for_the_provider_asked_for(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    asked = of_claude(tmp_path, environ)
    assert list(asked) == ["claude"]
    assert (asked["claude"].state, asked["claude"].fix) == (
        "problem",
        "npm install --global @anthropic-ai/claude-code",
    )
    everything = {check.name: check.state for check in checks(load(tmp_path), environ)}
    assert everything.pop("provider demo") == "ok"
    assert {"provider shell", "provider claude", "provider codex"} <= set(everything)
    assert set(everything.values()) == {"na"}


def test_no_check_shows_a_key_and_no_probe_runs_in_the_operators_repository(tmp_path: Path) -> None:
    environ = {**program(tmp_path, "claude", "pwd >&2; echo 2.1.332"), "ANTHROPIC_API_KEY": KEY}
    assert KEY not in repr(of_claude(tmp_path, environ, Practice(gateway=Gateway("http://127.0.0.1:9", KEY))))
    seen = of_claude(tmp_path, program(tmp_path, "claude", '[ "$PWD" = / ] && echo 2.1.332'))
    assert seen["claude"].state == "ok"


def test_an_unknown_provider_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProviderUnavailable, match="no provider 'nope'"):
        checks(load(tmp_path), {}, only="nope")


# -- its key


def test_the_programs_own_login_counts(tmp_path: Path, environ: dict[str, str]) -> None:
    key = of_claude(tmp_path, environ)["key"]
    assert (key.state, key.fix) == ("na", "log in with `claude`, or set ANTHROPIC_API_KEY")
    own = tmp_path / ".claude" / ".credentials.json"
    own.parent.mkdir()
    own.write_text('{"claudeAiOauth": {"accessToken": "sk-ant-oat01-secret"}}')
    assert of_claude(tmp_path, environ)["key"] == Check("provider claude key", "ok", f"logged in: {own}")
    moved = tmp_path / "elsewhere" / ".credentials.json"
    moved.parent.mkdir()
    own.rename(moved)
    assert of_claude(tmp_path, environ)["key"].state == "na"
    assert str(moved) in of_claude(tmp_path, {**environ, "CLAUDE_CONFIG_DIR": str(moved.parent)})["key"].detail


def test_a_key_from_the_command_is_found_and_a_broken_command_is_told(tmp_path: Path, environ: dict[str, str]) -> None:
    found = of_claude(tmp_path, environ, Practice(key_command=("printf", "value-of-{name}")))["key"]
    assert found == Check("provider claude key", "ok", "ANTHROPIC_API_KEY comes from [secrets] command")
    broken = of_claude(tmp_path, environ, Practice(key_command=("no-such-program", "{name}")))["key"]
    assert broken.state == "problem"
    assert "`no-such-program` cannot be run" in broken.detail
    none = of_claude(tmp_path, environ, Practice(key_command=("false", "{name}")))["key"]
    assert none.state == "na"


# -- the gateway


class Answering(BaseHTTPRequestHandler):
    """Answers with the status that its path names; remembers what it was sent."""

    heads: list[str] = []  # noqa: RUF012 - of one test's server at a time

    def do_GET(self) -> None:
        self.heads.append(f"{self.requestline} {self.headers}")
        self.send_response(int(self.path.rpartition("/")[2] or 404))
        self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the handler's own name
        """Quiet."""


@contextmanager
def answering() -> Iterator[str]:
    """The address of such a server."""
    Answering.heads = []
    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_gateway_that_answers_anything_is_there() -> None:
    with answering() as url:
        for status in (200, 302, 401, 404, 500):
            assert gateway_check(Gateway(f"{url}/{status}", KEY), {}) == Check(
                "gateway", "ok", f"{url}/{status} answers"
            )
        assert gateway_check(Gateway(f"{url}/503", KEY), {}).state == "problem"
        assert KEY not in "".join(Answering.heads)


def test_a_gateway_that_does_not_answer_is_a_problem() -> None:
    seen = gateway_check(NOWHERE, {})
    assert seen.state == "problem"
    assert "does not answer" in seen.detail
    assert "gateway.url" in seen.fix


def test_the_gateway_is_sought_by_the_proxy_that_agents_take() -> None:
    """PAM-GW-004; a proxy's password is not shown."""
    with answering() as proxy:
        environ = {"HTTP_PROXY": proxy.replace("//", "//me:pass-word@")}
        seen = gateway_check(Gateway("http://gateway.example/404"), environ)
        assert seen.detail == f"http://gateway.example/404 answers through {proxy.removeprefix('http://')}"
        assert Answering.heads[0].startswith("GET http://gateway.example/404 ")


def test_no_proxy_is_heard() -> None:
    environ = {"HTTPS_PROXY": "http://proxy:1", "NO_PROXY": "localhost,.inner.example"}
    assert proxies_for("https://gateway.example", environ) == {"https": "http://proxy:1"}
    assert proxies_for("http://gateway.example", environ) == {}
    assert proxies_for("https://g.inner.example:8443", environ) == {}
    assert proxies_for("https://localhost:1", {**environ, "no_proxy": "localhost"}) == {}


def test_each_provider_says_how_it_is_led(tmp_path: Path, environ: dict[str, str]) -> None:
    def led(gateway: Gateway) -> Check:
        return of_claude(tmp_path, environ, Practice(gateway=gateway))["gateway"]

    (line,) = [
        check
        for check in checks(load(tmp_path), environ, only="claude", practice=Practice(gateway=NOWHERE))
        if check.name == "provider claude gateway"
    ]
    assert line.detail == "is led by ANTHROPIC_BASE_URL, ANTHROPIC_AUTH_TOKEN"
    assert of_claude(tmp_path, environ, Practice(gateway=NOWHERE))["key"].detail == "the gateway's is given instead"
    assert led(Gateway(NOWHERE.url, only=("codex",))).state == "na"
    (tmp_path / "providers.toml").write_text('[claude.env]\nANTHROPIC_BASE_URL = "x"\n')
    assert led(NOWHERE).state == "problem"
    assert "counts before the gateway" in led(NOWHERE).detail
    (tmp_path / "providers.toml").write_text('[claude.gateway.env]\nX = "{gateway_url} {gateway_key}"\n')
    assert "X needs gateway_key" in led(Gateway(NOWHERE.url)).detail


# -- hooks and first questions


def hooks(tmp_path: Path, environ: dict[str, str], text: str, *, unproven: bool = False) -> Check:
    (tmp_path / "providers.toml").write_text(f"[claude.hooks]\n{text}\n")
    return of_claude(tmp_path, environ, Practice(unproven_hooks=unproven))["hooks"]


def test_hooks_are_on_off_or_unknown(tmp_path: Path, environ: dict[str, str]) -> None:
    """PAM-PROV-013."""
    assert hooks(tmp_path, environ, "proven = true").detail == "on, proven with 2.1.332"
    other = hooks(tmp_path, environ, 'proven = true\nproven_with = "2.1.300"')
    assert other.detail == "on, proven with 2.1.300; here is 2.1.332"
    off = hooks(tmp_path, environ, "proven = false")
    assert (off.state, off.fix) == ("na", "`pam config set providers.hooks true` uses what is not proven")
    assert hooks(tmp_path, environ, "proven = false", unproven=True).state == "ok"
    missing = hooks(tmp_path, environ, 'recipe = "nope"')
    assert (missing.state, "no recipe 'nope'" in missing.detail) == ("problem", True)


def test_first_questions_are_named_and_no_file_is_changed(tmp_path: Path, environ: dict[str, str]) -> None:
    own = tmp_path / ".claude.json"
    own.write_text('{"hasCompletedOnboarding": true}')
    before = own.read_bytes()

    def asked(*, answers: bool) -> Check:
        practice = Practice(cwd="/srv/work", first_run_answers=answers)
        return of_claude(tmp_path, environ, practice)["run"]

    assert asked(answers=True).state == "ok"
    assert "is answered when a run starts: claude trusts /srv/work" in asked(answers=True).detail
    assert asked(answers=False).state == "problem"
    assert "will ask in /srv/work: claude trusts /srv/work" in asked(answers=False).detail
    assert own.read_bytes() == before
    own.write_text('{"projects": {"/srv": {"hasTrustDialogAccepted": true}}}')
    assert asked(answers=False) == Check("provider claude first run", "ok", "asks nothing in /srv/work")
    own.write_text("// not JSON")
    assert asked(answers=True).state == "problem"
    assert "run" not in of_claude(tmp_path, environ, Practice())
