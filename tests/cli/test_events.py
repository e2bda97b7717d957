"""``pam events``."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.cli.conftest import PAM, Pam
from tests.support.waiting import until


def test_list_gives_the_newest_oldest_first(pam: Pam) -> None:
    pam.project()
    for number in range(4):
        pam.task(f"T{number}")
    events = pam.json("events", "list", "--limit", "2")["events"]
    assert [list(event) for event in events] == [["seq", "topic", "actor", "payload", "at"]] * 2
    assert [event["payload"]["title"] for event in events] == ["T2", "T3"]
    assert events[0]["seq"] < events[1]["seq"]
    assert events[0]["at"].endswith("Z")
    assert "T3" in pam("events", "list").out


def test_list_filters_by_topic_and_position(pam: Pam) -> None:
    """PAM-EVT-030."""
    pam.project()
    pam.task("T0")
    pam.task("T1")
    first = pam.json("events", "list", "--topic", "work_item.*")["events"][0]
    after = pam.json("events", "list", "--after", str(first["seq"]), "--limit", "5")["events"]
    assert [event["payload"]["title"] for event in after] == ["T1"]
    assert pam.json("events", "list", "--topic", "run.*") == {"events": []}


def test_the_actor_is_the_operator_or_the_agent_of_the_run(pam: Pam, monkeypatch: pytest.MonkeyPatch) -> None:
    pam.project()
    monkeypatch.setenv("PAM_RUN", "0123abcd-0000-4000-8000-000000000000")
    pam.task()
    assert [event["actor"] for event in pam.json("events", "list")["events"]] == ["operator", "agent:0123abcd"]


def test_tail_prints_one_event_a_line_until_interrupted(pam: Pam) -> None:
    """Another process's commits come as they are made; ctrl+c ends it with 130 and no word."""
    pam.project()
    argv = [str(PAM), "events", "tail", "--after", "0", "--topic", "work_item.*", "--json"]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as tail:
        assert tail.stdout is not None
        assert tail.stderr is not None
        for title in ("One", "Two"):
            pam.task(title)
            assert json.loads(tail.stdout.readline())["payload"]["title"] == title
        tail.send_signal(signal.SIGINT)
        assert until(lambda: tail.poll() is not None, 10)
        assert tail.returncode == 130
        assert tail.stderr.read() == ""
