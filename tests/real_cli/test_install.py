"""Where a real CLI cannot be had its tests are skipped with the reason, but not in CI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import real_clis

NPM = "#!/bin/sh\necho 'npm error code {code}' >&2\nexit 1\n"


@pytest.fixture
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without npm and without an installed CLI; the directory is its PATH."""
    monkeypatch.setattr(real_clis, "_CACHE", tmp_path / "cache")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(real_clis.REQUIRED, raising=False)
    return tmp_path


def with_npm(directory: Path, code: str) -> None:
    (directory / "npm").write_text(NPM.format(code=code))
    (directory / "npm").chmod(0o755)


def test_without_npm_the_test_is_skipped(nothing_installed: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="npm is not installed"):
        real_clis.install("claude")


def test_without_a_network_the_test_is_skipped(nothing_installed: Path) -> None:
    with_npm(nothing_installed, "ENOTFOUND")
    with pytest.raises(pytest.skip.Exception, match="npm cannot reach its registry"):
        real_clis.install("claude")


def test_where_the_cli_is_required_the_test_fails_instead(
    nothing_installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(real_clis.REQUIRED, "1")
    with pytest.raises(pytest.fail.Exception, match="required here, but npm is not installed"):
        real_clis.install("claude")


def test_a_cli_that_cannot_be_installed_is_named_and_the_next_one_tried(
    nothing_installed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert real_clis.main(["codex", "kimi"]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines()] == [
        "the real codex CLI cannot be installed",
        "the real kimi CLI cannot be installed",
    ]
    monkeypatch.setenv(real_clis.REQUIRED, "1")
    assert real_clis.main([]) == 1
    assert real_clis.main(["gemni"]) == 2


def test_an_install_that_fails_for_another_reason_is_a_failure_with_npms_words(nothing_installed: Path) -> None:
    with_npm(nothing_installed, "E404")
    with pytest.raises(AssertionError, match="npm error code E404"):
        real_clis.install("claude")
