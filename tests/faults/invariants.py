"""What must hold whenever the dust has settled, whatever was broken before; each check names what it found."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from store.records import Run
from tests.faults import processes
from tests.faults.processes import Seen
from tests.faults.story_line import Line, lines
from tests.faults.world import World

TERMINAL = ("exited", "failed", "stopped")
FLAGS = ("run.alive_after_end", "run.integrity_anomaly")


@dataclass
class Sight:
    """One look at everything, so that all checks speak of the same moment."""

    world: World
    runs: list[Run]
    lines: dict[str, Line]
    starts: dict[tuple[str, int], list[int]]
    everybody: list[Seen]

    def marked(self, run_id: str, attempt: int | None = None) -> list[Seen]:
        """Living processes that were told to be this run (and attempt)."""
        return [one for one in self.everybody if one.run == run_id and attempt in (None, one.attempt)]


def look(world: World) -> Sight:
    """Look now."""
    events = world.read_events()
    ours = [
        one for one in processes.everybody() if one.home == str(world.home.path) or one.wrapper or one.control_client
    ]
    return Sight(world, world.all_runs(), lines(events), world.starts(), ours)


def broken(world: World) -> list[str]:
    """Every invariant that does not hold, as sentences with their evidence."""
    sight = look(world)
    return [f"{check.__name__}: {found}" for check in CHECKS for found in check(sight)]


def every_run_appears_once(sight: Sight) -> Iterator[str]:
    """PAM-LIVE-012: no doubled, no lost and no invented run."""
    ids = [run.id for run in sight.runs]
    wanted = {story.run_id for story in sight.world.stories.values() if not story.deleted}
    if len(ids) != len(set(ids)) or set(ids) != wanted:
        yield f"rows {sorted(ids)}, started and not deleted {sorted(wanted)}"
    panes = sight.world.tmux("list-sessions", "-F", "#{session_name}").split()
    if len(panes) != len(set(panes)):
        yield f"sessions {panes}"


def one_agent_for_a_run(sight: Sight) -> Iterator[str]:
    """No attempt began twice, and of all attempts of a run at most one lives."""
    for (run, attempt), pids in sight.starts.items():
        if len(pids) > 1:
            yield f"run {run} attempt {attempt} was started {len(pids)} times: pids {pids}"
    for run_id in sight.world.stories:
        alive = [
            (attempt, pid)
            for (run, attempt), pids in sight.starts.items()
            for pid in pids
            if run == run_id and any(one.pid == pid for one in sight.marked(run_id))
        ]
        if len(alive) > 1:
            yield f"run {run_id} has {len(alive)} living agents (attempt, pid): {alive}"


def an_older_attempt_left_nobody(sight: Sight) -> Iterator[str]:
    """PAM-RST-005: what an attempt started is ended before the next one begins."""
    for run in sight.runs:
        for attempt in range(1, run.attempt):
            old = sight.marked(run.id, attempt)
            if old:
                yield f"run {run.id} is at attempt {run.attempt}, but of attempt {attempt} live {old}"


def the_journal_is_a_story(sight: Sight) -> Iterator[str]:
    """Events follow the state machine, attempts only grow, and row and journal tell the same."""
    for run_id, line in sight.lines.items():
        yield from (f"run {run_id}: {fault}" for fault in line.faults)
    for run in sight.runs:
        line = sight.lines.get(run.id, Line())
        if (line.status, line.attempt) != (run.status, run.attempt):
            yield f"run {run.id} is {run.status} at attempt {run.attempt}, its journal {line.status} at {line.attempt}"


def an_end_has_its_cause(sight: Sight) -> Iterator[str]:
    """One ending for an attempt (PAM-EVT-026), and one that something here has caused."""
    for run_id, line in sight.lines.items():
        story = sight.world.stories.get(run_id)
        for attempt, endings in line.endings.items():
            if len(endings) != 1:
                yield f"run {run_id} attempt {attempt} ended as {endings}"
            if story is not None and not all(story.allowed(attempt, ending) for ending in endings):
                may = story.may.get(attempt, set()) | set(story.kind.natural)
                whose = f"run {run_id} ({story.kind.name}) attempt {attempt}"
                yield f"{whose} ended as {endings}; it may end as {sorted(may)}"
    for run in sight.runs:
        if run.status in TERMINAL and not sight.lines.get(run.id, Line()).endings.get(run.attempt):
            yield f"run {run.id} is {run.status}, and no event says why"


def what_lives_is_not_called_ended(sight: Sight) -> Iterator[str]:
    """A run whose agent lives is not terminal, unless a flag says so."""
    flagged = {str(event.payload.get("run_id")) for event in sight.world.events if event.topic in FLAGS}
    for run in sight.runs:
        if run.status in TERMINAL and run.id not in flagged:
            pids = sight.starts.get((run.id, run.attempt), [])
            alive = [one for one in sight.marked(run.id, run.attempt) if one.pid in pids]
            if alive:
                yield f"run {run.id} is {run.status}, but its agent lives: {alive}"


def what_is_called_running_runs(sight: Sight) -> Iterator[str]:
    """A running run has a wrapper that lives, and an agent."""
    wrappers = {one.pid for one in sight.everybody if one.wrapper}
    for run in sight.runs:
        if run.status == "running":
            if run.wrapper_pid is not None and run.wrapper_pid not in wrappers:
                yield f"run {run.id} is running, but its wrapper {run.wrapper_pid} is gone"
            if not sight.marked(run.id, run.attempt):
                yield f"run {run.id} is running, but nothing of its agent lives"


def a_stop_left_nobody(sight: Sight) -> Iterator[str]:
    """FR-32: after run.stopped, and after a run was given up as lost, nothing of its attempt lives."""
    for run in sight.runs:
        line = sight.lines.get(run.id, Line())
        lost = "session_lost" in line.endings.get(run.attempt, [])
        if run.attempt in line.stopped or lost:
            left = sight.marked(run.id, run.attempt)
            if left:
                yield f"run {run.id} is {run.status}, but it left {left}"


def bystanders_live(sight: Sight) -> Iterator[str]:
    """PAM-TEST-011: nothing outside our sessions died."""
    for one in sight.world.bystanders:
        if one.poll() is not None:
            yield f"the operator's process {one.pid} was ended: {one.returncode}"
    there = set(sight.world.tmux_default("list-sessions", "-F", "#{session_name}").split())
    if there != {"mine", "pam-0123abcd"}:
        yield f"sessions on the operator's own socket are {there}"
    ours = set(sight.world.tmux("list-sessions", "-F", "#{session_name}").split())
    if not {"mine", "pam-notes", "pam-hub"} <= ours:
        yield f"the operator's sessions on our socket are gone: {ours}"


def no_file_is_left(sight: Sight) -> Iterator[str]:
    """A spec goes with its wrapper's start, a draft with its file; both may hold keys."""
    home = sight.world.home.path
    for path in (*home.glob("specs/*"), *home.glob("**/.*.json.*"), *home.glob("**/*.draft")):
        yield f"{path.relative_to(home)} is left"


def control_clients_belong_to_somebody(sight: Sight) -> Iterator[str]:
    """FR-31: one control client at most for each executor that lives."""
    executor = sight.world.executor
    here = [
        one for one in sight.everybody if one.control_client and one.tmux_tmpdir == str(sight.world.sandbox.directory)
    ]
    allowed = 1 if executor is not None and executor.lives else 0
    if len(here) > allowed:
        yield f"{len(here)} control clients: {here}"
    known = sight.world.client_pids()
    if len(known) > allowed:
        yield f"{len(known)} control clients on record: {known}"


def one_server(sight: Sight) -> Iterator[str]:
    """Never two tmux servers of ours (split brain)."""
    folder, asking = str(sight.world.sandbox.directory), {os.getpid(), *(one.pid for one in sight.world.past)}
    servers = [
        one
        for one in processes.everybody()
        if one.tmux_tmpdir == folder and "pam-test" in one.argv and "-C" not in one.argv and one.parent not in asking
    ]
    known = {one.pid for one in servers}
    apart = [one for one in servers if one.parent not in known]  # a server that starts a pane is two for a moment
    if len(apart) > 1:
        yield f"servers {apart}"


def wrappers_have_sessions(sight: Sight) -> Iterator[str]:
    """No wrapper outlives its session."""
    panes = set(sight.world.tmux("list-panes", "-a", "-F", "#{pane_pid}").split())
    for one in sight.everybody:
        ours = one.wrapper_of(sight.world.home.path)
        if ours and str(one.pid) not in panes and processes.alive(one.pid):  # it did not leave meanwhile
            yield f"wrapper {one.pid} has no pane: {one.argv[-1]}"


def executors_end_only_when_told(sight: Sight) -> Iterator[str]:
    """No executor that came up ended by itself, and no loop of one met an error of ours."""
    for one in sight.world.past:
        if one.said == "up" and not one.lives and not one.expected_dead:
            yield f"executor {one.pid} ended by itself with {one.process.returncode}; see {one.log}"
        yield from _faults_in(one.log.read_text(errors="replace") if one.log.exists() else "", one.log.name)


def _faults_in(text: str, name: str) -> Iterator[str]:
    """The last line of each error that only the border of the loops caught."""
    for entry in re.split(r"^(?=\d{4}-\d\d-\d\d )", text, flags=re.M):
        if "Traceback (most recent call last)" in entry:
            said = [row.strip(" |+-") for row in entry.splitlines()]
            yield f"{name}: {[row for row in said if row][-1]}"


CHECKS = (
    every_run_appears_once,
    one_agent_for_a_run,
    an_older_attempt_left_nobody,
    the_journal_is_a_story,
    an_end_has_its_cause,
    what_lives_is_not_called_ended,
    what_is_called_running_runs,
    a_stop_left_nobody,
    bystanders_live,
    no_file_is_left,
    control_clients_belong_to_somebody,
    one_server,
    wrappers_have_sessions,
    executors_end_only_when_told,
)
