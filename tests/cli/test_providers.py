"""``pam provider``."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cli.conftest import Pam
from tests.support.tmux_server import TmuxSandbox


def test_list_says_which_are_configured(pam: Pam) -> None:
    """PAM-CLI-032."""
    found = {each["name"]: each for each in pam.json("provider", "list")["providers"]}
    assert {"demo", "shell", "claude", "codex"} <= set(found)
    assert found["demo"]["enabled"]
    assert found["demo"]["configured"]
    assert Path(found["demo"]["program"]).is_absolute()
    assert found["shell"]["program"] is None
    assert "demo" in pam("provider", "list").out


def test_show_and_path(pam: Pam, home: Path) -> None:
    assert pam.json("provider", "show", "claude")["provider"]["prompt"] == "argv"
    assert "argv" in pam("provider", "show", "claude").out
    assert pam("provider", "show", "nope", "--json", code=10).error["code"] == "provider_unavailable"
    assert pam.json("provider", "path") == {"path": str(home / "providers.toml"), "exists": False}


def test_a_typo_in_the_catalog_is_told_with_its_line(pam: Pam, home: Path) -> None:
    """The operator's file stands under the shipped entries."""
    pam("init")
    (home / "providers.toml").write_text("[claude]\n\nenabeld = false\n")
    answer = pam("provider", "list", "--json", code=2)
    assert answer.error["code"] == "config_invalid"
    assert answer.error["details"]["line"] == 3
    assert "enabled" in answer.err


def test_the_catalog_follows_its_setting(pam: Pam, home: Path, tmp_path: Path) -> None:
    """PAM-CFG-002, PAM-PROV-007."""
    entries = tmp_path / "mine.toml"
    entries.write_text("[claude]\nenabled = false\n")
    pam("init")
    pam("config", "set", "providers.catalog_path", str(entries))
    found = {each["name"]: each for each in pam.json("provider", "list")["providers"]}
    assert not found["claude"]["enabled"]


def test_doctor_checks_all_or_the_one_asked_for(pam: Pam, home: Path) -> None:
    """PAM-CLI-033, PAM-PROV-011: exit 1 on a problem."""
    checks = pam.json("provider", "doctor", "demo")["checks"]
    assert [list(check) for check in checks] == [["name", "state", "detail", "fix"]] * len(checks)
    assert {check["state"] for check in checks} == {"ok"}
    pam("init")
    (home / "providers.toml").write_text('[claude]\nbin = "no-such-program"\n')
    problem = pam.json("provider", "doctor", "claude", code=1)["checks"][0]
    assert problem["state"] == "problem"
    assert "no-such-program" in problem["detail"]
    pam("provider", "doctor")
    pam("provider", "doctor", "nope", code=10)


def test_doctor_tells_a_fault_of_the_catalog_with_its_line(pam: Pam, home: Path) -> None:
    """PAM-PROV-011: exit 1, as of any problem."""
    pam("init")
    (home / "providers.toml").write_text("[claude]\n\nbin = 3\n")
    (check,) = pam.json("provider", "doctor", "claude", code=1)["checks"]
    assert (check["name"], check["state"]) == ("catalog", "problem")
    assert "providers.toml:3" in check["detail"]


def test_doctor_asks_the_gateway(pam: Pam) -> None:
    """PAM-GW-001: from config.toml; its key is not shown."""
    pam("init")
    pam("config", "set", "gateway.url", "http://127.0.0.1:9")
    pam("config", "set", "gateway.api_key", "-", stdin="gateway-key-0123456789\n")
    answer = pam("provider", "doctor", "demo", "--json", code=1)
    checks = {check["name"]: check["state"] for check in answer.json["checks"]}
    assert checks == {"gateway": "problem", "provider demo": "ok", "provider demo gateway": "na"}
    assert "gateway-key" not in answer.out + answer.err


ANSWERING = """\
#!{python}
import json, os, sys, urllib.request
body = {{"model": "m", "max_tokens": 9, "messages": [{{"role": "user", "content": sys.argv[1]}}]}}
request = urllib.request.Request(os.environ["URL"] + "/v1/messages", json.dumps(body).encode())
print(json.load(urllib.request.urlopen(request))["content"][0]["text"], flush=True)
sys.stdin.read()
"""


def test_smoke_starts_a_program_and_says_what_came_of_it(
    pam: Pam, home: Path, tmp_path: Path, tmux_sandbox: TmuxSandbox
) -> None:
    """PAM-PROV-011."""
    pam("init")
    entries = ""
    for name, script in (("good", ANSWERING.format(python=sys.executable)), ("bad", "#!/bin/sh\necho no account\n")):
        program = tmp_path / name
        program.write_text(script)
        program.chmod(0o755)
        entries += (
            f'[{name}]\ntitle = "{name}"\nbin = "{program}"\nargv = ["{{bin}}", "{{prompt}}"]\nprompt = "argv"\n'
            f'tui_type = "line_oriented"\n[{name}.gateway.env]\nURL = "{{gateway_url}}"\n'
        )
    (home / "providers.toml").write_text(entries)
    good = pam.json("provider", "doctor", "good", "--smoke")["checks"][-1]
    assert (good["name"], good["state"]) == ("provider good smoke", "ok")
    assert good["detail"].startswith("answered in ")
    answer = pam("provider", "doctor", "bad", "--smoke", "--json", code=1)
    bad = answer.json["checks"][-1]
    assert (bad["name"], bad["state"]) == ("provider bad smoke", "problem")
    assert "it ended: no account" in bad["detail"]
    assert "  no account\n" in answer.err
    demo = pam.json("provider", "doctor", "demo", "--smoke", code=1)["checks"][-1]
    assert "is led to no model" in demo["detail"]
