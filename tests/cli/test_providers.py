"""``pam provider``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Pam


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
