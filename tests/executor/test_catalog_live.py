"""The catalog is edited while agents live: what runs keeps what it was started with, and a slip changes nothing."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.support.stage import Stage
from tests.support.waiting import until

ENTRY = """
[echo]
title = "Says what it was given"
bin = "sh"
argv = ["{{bin}}", "-c", "echo given $GIVEN; exec sleep 1000", "{{args}}"]
prompt = "none"
tui_type = "line_oriented"
env = {{ GIVEN = "{given}" }}
"""


def write(stage: Stage, text: str) -> Path:
    """As an editor does: a new file in the place of the old one."""
    path = stage.home.path / "providers.toml"
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    draft.rename(path)
    return path


def test_only_new_runs_see_an_edit_and_a_slip_is_told_at_its_line(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """PAM-PROV-008, 014."""
    caplog.set_level(logging.INFO)
    write(stage, ENTRY.format(given="one"))
    with stage.executor():
        first = stage.until_status(stage.start("echo", "x"), "running")
        until(lambda: "given one" in stage.pane(first), 10)

        write(stage, ENTRY.format(given="two"))
        until(lambda: caplog.text.count("The catalog has") == 2, 10)
        second = stage.until_status(stage.start("echo", "x"), "running")
        until(lambda: "given two" in stage.pane(second), 10)
        assert "given one" in stage.pane(first)
        assert stage.run(first).status == "running"

        path = write(stage, ENTRY.format(given="three").replace("env = ", "evn = "))
        line = len(path.read_text().splitlines())
        until(lambda: f"providers.toml:{line}" in caplog.text, 10, lambda: caplog.text)
        third = stage.until_status(stage.start("echo", "x"), "running")
        until(lambda: "given two" in stage.pane(third), 10)
