"""What an agent takes, measured on real processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from executor import metrics
from executor.metrics import Meter, local_wrapper, usage
from executor.processes import ProcessId, identify
from store import runs
from tests.support.stage import Stage
from tests.support.waiting import until

BUSY = "while :; do :; done"
HOG = "import sys, time; data = bytearray(60_000_000); open(sys.argv[1], 'w').close(); time.sleep(1000)"
Wrapped = Callable[[str], ProcessId]


@pytest.fixture
def wrapped() -> Iterator[Wrapped]:
    """A shell as wrapper, with a shell script as its agent; all of it ends with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(script: str) -> ProcessId:
        process = subprocess.Popen(["sh", "-c", f"sh -c '{script}' & wait"], start_new_session=True)
        started.append(process)
        found = identify(process.pid)
        assert found is not None
        until(lambda: psutil.Process(process.pid).children(), 5, "the agent")
        return found

    yield start
    for process in started:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        process.wait(10)


def test_a_busy_agent_takes_about_a_core_and_a_quiet_one_nothing(wrapped: Wrapped) -> None:
    """FR-70: CPU and memory per session. Two busy loops share what the machine gives them."""
    busy, quiet = wrapped(BUSY), wrapped("sleep 1000; :")
    taken, idle = usage(busy, over_s=0.5), usage(quiet, over_s=0.2)
    assert taken is not None and idle is not None
    assert 10 < taken.cpu_percent < 130
    assert idle.cpu_percent < 5
    assert (taken.processes, idle.processes) == (1, 2)


def test_memory_is_that_of_the_whole_tree_without_the_wrapper(wrapped: Wrapped, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    code = tmp_path / "hog.py"
    code.write_text(HOG)
    hungry = wrapped(f"{sys.executable} -S {code} {ready}; :")
    until(ready.exists, 10, "the memory to be taken")
    taken = usage(hungry, over_s=0.05)
    assert taken is not None
    assert 60_000_000 < taken.rss_bytes < 120_000_000
    assert taken.processes == 2


def test_what_short_children_took_is_counted(wrapped: Wrapped) -> None:
    """A build's compilers come and go between two readings; their parent's account holds what they took."""
    meter = Meter(wrapped('while :; do sh -c "i=0; while [ \\$i -lt 3000 ]; do i=\\$((i+1)); done"; done'))

    def busy() -> bool:
        reading = meter.read()
        assert reading is not None
        return reading.cpu_percent > 10

    until(busy, 5, "a reading that shows it")


def test_a_wrapper_that_is_gone_or_another_takes_nothing(wrapped: Wrapped) -> None:
    """A pid that came to somebody else is not measured for him."""
    living = wrapped("sleep 1000")
    assert usage(replace(living, started=living.started + 1000), over_s=0) is None
    assert usage(ProcessId(0, 0), over_s=0) is None


def test_an_agent_that_asks_about_itself_is_measured(wrapped: Wrapped, tmp_path: Path) -> None:
    """`pam run show` inside of a run: the agent is an ancestor of who asks."""
    root = Path(metrics.__file__).parent.parent
    answer, script = tmp_path / "answer", tmp_path / "ask.py"
    script.write_text(
        "import sys, os\n"
        f"sys.path.insert(0, {str(root)!r})\n"
        "from executor.metrics import usage\n"
        "from executor.processes import identify\n"
        "import psutil\n"
        "taken = usage(identify(psutil.Process(os.getppid()).ppid()), over_s=0)\n"
        f"open({str(answer)!r}, 'w').write(str(taken.processes) + '\\n')\n"
    )
    wrapped(f"{sys.executable} {script}; sleep 1000; :")
    until(lambda: answer.exists() and answer.read_text().endswith("\n"), 15, "the answer")
    assert answer.read_text() == "1\n"


def test_only_a_run_that_lives_here_has_a_wrapper_to_ask(stage: Stage) -> None:
    with stage.executor():
        run = stage.until_status(stage.shell("sleep 1000"), "running")
        wrapper = local_wrapper(run)
        assert wrapper is not None
        taken = usage(wrapper, over_s=0.05)
        assert taken is not None
        assert taken.processes >= 1
        assert local_wrapper(replace(run, host="moon")) is None
        assert local_wrapper(replace(run, status="exited")) is None
        assert local_wrapper(replace(run, wrapper_pid=None)) is None
        runs.request_stop(stage.store, run.id, actor="operator")
        stage.until_ended(run)
        until(lambda: usage(wrapper, over_s=0) is None, 20)  # the wrapper goes after the word of its agent's end


def test_nothing_is_measured_that_nobody_asks_for(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 3: never per tick for all."""
    asked: list[ProcessId] = []
    monkeypatch.setattr(metrics, "_sample", asked.append)
    with stage.executor():
        stage.until_ended(stage.shell("sleep 1.5"))
    assert asked == []
