"""What the command line says of tokens, cost and context: of a run, an item, a project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store import hosts, runs, signals, usage
from store.records import Signal, Usage
from tests.cli.conftest import Pam

USED = Usage(41_881, 1_210, 80_000, 0, 300, 0.1677, 76_000, 200_000, "claude-opus-5-5")


@pytest.fixture
def world(pam: Pam, tmp_path: Path, opened: Callable[[], Any]) -> tuple[Any, str, str]:
    """A task with a run of which all is known, and one of which nothing is."""
    pam.project("Checkout service", "--cwd", str(tmp_path))
    task = pam.task()

    def begun(store: Any) -> str:
        run = runs.start(store, task["id"], "claude", "/srv", actor="operator")
        runs.claim(store, run.id, hosts.get(store, "local"), actor="executor")
        signals.ingest(store, Signal(run.id, 1, "started", "wrapper", payload={"pid": 1}))
        return run.id

    with opened() as store:
        hosts.heartbeat(store, "local", "one", actor="executor")
        known, unknown = begun(store), begun(store)
        usage.record_usage(store, known, 1, USED, source="/t/a.jsonl", actor="executor")
    return task, known, unknown


def told(pam: Pam, *words: str) -> dict[str, str]:
    """The facts at the head of a page."""
    head = pam(*words).out.split("\n\n")[0]
    return {name: fact.strip() for name, _, fact in (line.partition("  ") for line in head.splitlines()) if name}


def test_a_run_shows_what_it_has_used(pam: Pam, world: tuple[Any, str, str]) -> None:
    """In full as JSON; what is unknown is left out, or null."""
    _, known, unknown = world
    page = told(pam, "run", "show", known)
    assert page["model"] == "claude-opus-5-5"
    assert page["tokens"] == "41.9k in, 1.2k out (300 thought), 80k from cache"
    assert page["cost"] == "$0.17"
    assert page["context"] == "38 % of 200k"
    assert pam.json("run", "show", known)["run"]["tokens"] == {name: getattr(USED, name) for name in Usage.__slots__}
    assert not {"model", "tokens", "cost", "context"} & told(pam, "run", "show", unknown).keys()
    assert pam.json("run", "show", unknown)["run"]["tokens"] is None


def test_the_history_of_a_run_is_not_filled_with_counts(pam: Pam, world: tuple[Any, str, str]) -> None:
    """They come every ten seconds; ``pam events`` has them."""
    assert "run.usage_updated" not in pam("run", "show", world[1]).out
    assert "has used 123k tokens, $0.17" in pam("events", "list").out


def test_a_list_of_runs_has_tokens_and_cost(pam: Pam, world: tuple[Any, str, str]) -> None:
    """A dash is unknown."""
    _, known, unknown = world
    heads, *rows = (line.split() for line in pam("run", "list").out.splitlines())
    found = {row[0]: (row[heads.index("TOKENS") + 1], row[heads.index("COST") + 1]) for row in rows}
    assert found == {known[:8]: ("123k", "$0.17"), unknown[:8]: ("-", "-")}
    listed = {run["id"]: run["tokens"] for run in pam.json("run", "list")["runs"]}
    assert listed[known]["cost_usd"] == pytest.approx(0.1677)
    assert listed[unknown] is None


def test_items_and_projects_sum_up_and_say_what_is_unknown(pam: Pam, world: tuple[Any, str, str]) -> None:
    """Unknown is never zero."""
    task, known, _ = world
    counts = {name: getattr(USED, name) for name in (*usage.SUMS, "cost_usd")}
    expected = {**counts, "runs": 2, "runs_unknown": 1, "runs_without_cost": 1}
    for words in (("task", "show", task["id"]), ("project", "show", "checkout-service")):
        page = told(pam, *words)
        assert page["tokens"] == "123k, 1 of 2 runs unknown"
        assert page["cost"] == "$0.17, 1 of 2 runs unknown"
        assert pam.json(*words)[words[0]]["tokens"] == expected
    assert {run["id"]: bool(run["tokens"]) for run in pam.json("task", "show", task["id"])["task"]["runs"]}[known]
    assert "TOKENS" in pam("task", "show", task["id"]).out


def test_without_runs_nothing_is_said(pam: Pam) -> None:
    """Not even that it is unknown."""
    pam.project()
    task = pam.task()
    assert "tokens" not in told(pam, "task", "show", task["id"])
    assert pam.json("task", "show", task["id"])["task"]["tokens"]["input_tokens"] is None
