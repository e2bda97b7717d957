"""The demo agent, driven through a pseudo-terminal as an operator drives it."""

from __future__ import annotations

import ast
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from providers.program import AGENTS
from tests.support.pty_program import PtyProgram
from tests.support.waiting import until

DEMO = AGENTS / "demo.py"
FAST = "[[pace 0]]"


class Told:
    """A stand-in for the signal helper: keeps the words of every call as a line of JSON."""

    def __init__(self, directory: Path) -> None:
        self._record = directory / "told.jsonl"
        script = directory / "signal helper.py"
        script.write_text(
            "import json, sys\n"
            f"with open({str(self._record)!r}, 'a') as record:\n"
            "    record.write(json.dumps(sys.argv[1:]) + '\\n')\n"
        )
        self.command = f"{sys.executable} -I -S '{script}'"

    @property
    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in self._record.read_text().splitlines()] if self._record.exists() else []

    def activities(self) -> list[str]:
        """The activities and ends that were told, repeats left out."""
        words = [call[2] if call[0] == "progress" else call[0] for call in self.calls]
        return [word for place, word in enumerate(words) if not place or words[place - 1] != word]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The directory the agent works in."""
    directory = tmp_path / "work"
    directory.mkdir()
    return directory


@pytest.fixture
def demo(told: Told, work: Path) -> Callable[..., PtyProgram]:
    def start(prompt: str, rows: int = 24, columns: int = 80, **env: str) -> PtyProgram:
        environ = {"PATH": "/usr/bin:/bin", "LANG": "C", "PAM_SIGNAL": told.command, **env}
        return PtyProgram([sys.executable, "-I", str(DEMO), "--", prompt], environ, work, rows, columns)

    return start


Demo = Callable[..., PtyProgram]


def test_without_directives_it_works_a_while_in_colour_and_ends_with_0(demo: Demo, told: Told) -> None:
    with demo("Tidy the changelog") as agent:
        agent.expect("Tidy the changelog")
        agent.expect("▰")
        agent.expect("✓ Read the task")
        assert agent.exit_code() == 0
    assert "\x1b[38;5;114m  ✓ Done" in agent.output
    assert told.activities() == ["working", "completed"]
    percents = [int(call[call.index("--percent") + 1]) for call in told.calls if "--percent" in call]
    assert percents == sorted(percents) and percents[-1] >= 60


def test_it_asks_waits_for_the_answer_and_ends_with_the_exit_code_its_prompt_names(demo: Demo, told: Told) -> None:
    with demo(f"Migrate [[steps 2]] [[ask Proceed with the migration?]] [[edit notes.md]] [[exit 3]] {FAST}") as agent:
        agent.expect("⚑ Proceed with the migration?")
        until(lambda: told.activities()[-1:] == ["waiting"], 5, lambda: told.calls)
        agent.type("yes plase\x7f\x7f\x7fease\r")
        agent.expect("› yes please")
        assert agent.exit_code() == 3
    assert told.activities() == ["working", "waiting", "working", "failed"]
    assert ["progress", "--activity", "waiting", "--note", "Proceed with the migration?"] in told.calls


def test_no_leaves_the_rest_undone(demo: Demo, told: Told, work: Path) -> None:
    with demo(f"[[ask Write it?]] [[edit notes.md]] {FAST}") as agent:
        agent.expect("Write it?")
        agent.type("no\r")
        assert agent.exit_code() == 0
    assert not (work / "notes.md").exists()
    assert told.calls[-1][:3] == ["completed", "--result", "user_rejected"]


def test_plain_words_do_what_brackets_do(demo: Demo, work: Path) -> None:
    with demo(f'In 2 steps edit docs/notes.md, then ask "Good?" and exit with code 4. {FAST}') as agent:
        agent.expect("⚑ Good?")
        agent.type("y\r")
        assert agent.exit_code() == 4
    assert "Look around" in agent.text and "Find what" not in agent.text
    assert (work / "docs" / "notes.md").read_text().startswith("- In 2 steps edit")


def test_it_edits_a_file_below_its_directory_and_no_other(demo: Demo, work: Path) -> None:
    (work / "notes.md").write_text("# Notes\n")
    with demo(f"[[edit notes.md a line of text]] [[edit ../outside.md]] {FAST}") as agent:
        agent.expect("+ a line of text")
        agent.expect("../outside.md is not below the current directory")
        assert agent.exit_code() == 0
    assert (work / "notes.md").read_text() == "# Notes\na line of text\n"
    assert not (work.parent / "outside.md").exists()


def test_it_stays_for_further_prompts_pasted_ones_too(demo: Demo, told: Told) -> None:
    with demo(f"First [[stay]] {FAST}") as agent:
        agent.expect("Idle.")
        until(lambda: told.activities()[-1:] == ["idle"], 5, lambda: told.calls)
        agent.type("\x1b[200~[[say two\nlines]] [[exit 5]]\x1b[201~\r")
        agent.expect("  two\r\n  lines")
        agent.expect("Idle.")
        agent.type("/exit\r")
        assert agent.exit_code() == 5
    assert told.activities() == ["working", "completed", "idle", "working", "idle"]


def test_ctrl_c_asks_and_a_second_one_ends_with_130(demo: Demo, told: Told) -> None:
    with demo("Long [[steps 100]] [[pace 0.1]]") as agent:
        agent.expect("▰")
        agent.type("\x03")
        agent.expect("Stop here?")
        agent.type("x")
        agent.expect("●")
        agent.type("\x03")
        agent.expect("Stop here?")
        agent.type("\x03")
        assert agent.exit_code() == 130
    assert "Interrupted." in agent.text
    assert told.activities()[:3] == ["working", "waiting", "working"]


def test_ctrl_c_at_the_question_comes_back_to_the_question(demo: Demo) -> None:
    with demo(f"[[ask Sure?]] {FAST}") as agent:
        agent.expect("Sure?")
        agent.type("ye")
        agent.expect("› ye")
        agent.type("\x03")
        agent.expect("Stop here?")
        agent.type("\r")
        agent.expect("Sure?")
        agent.type("s\r")
        agent.expect("› yes")
        assert agent.exit_code() == 0


@pytest.mark.parametrize(("which", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_and_leaves_the_terminal_in_order(demo: Demo, which: signal.Signals, code: int) -> None:
    with demo("[[ask Sure?]]") as agent:
        agent.expect("Sure?")
        agent.send_signal(which)
        assert agent.exit_code() == code
    assert f"Ended by {which.name}." in agent.text
    assert agent.output.endswith("\x1b[?25h\x1b[?2004l")


def test_told_to_it_ignores_term_and_hup(demo: Demo) -> None:
    with demo("[[ignore-term]] [[stay]] [[pace 0]]") as agent:
        agent.expect("Idle.")
        agent.send_signal(signal.SIGTERM)
        agent.send_signal(signal.SIGHUP)
        agent.type("[[say still here]]\r")
        agent.expect("  still here")
        agent.send_signal(signal.SIGKILL)
        assert agent.exit_code() == -signal.SIGKILL


def test_a_flood_arrives_whole(demo: Demo) -> None:
    with demo(f"[[flood 1000]] {FAST}") as agent:
        agent.expect("✓ Wrote 1,000 lines")
        assert agent.exit_code() == 0
    assert [int(line.split()[0]) for line in agent.text.splitlines() if line.endswith("brown fox")] == [*range(1, 1001)]


def test_it_draws_itself_anew_for_a_new_size(demo: Demo) -> None:
    with demo(
        "A rather long task that takes more than one row on a narrow terminal [[ask Sure?]]", columns=80
    ) as agent:
        agent.expect("A rather long task that takes more than one row on a narrow terminal")
        agent.expect("Sure?")
        agent.resize(12, 40)
        agent.expect("\x1b[H\x1b[J")
        agent.expect("▌ A rather long task that takes more\r\n▌ than one row on a narrow terminal")
        agent.expect("Sure?")
        agent.resize(50, 220)
        agent.expect("A rather long task that takes more than one row on a narrow terminal")


def test_no_row_is_wider_than_the_terminal(demo: Demo) -> None:
    with demo("修正" * 60 + f" déjà {'x' * 200} [[edit notes.md]] [[exit 1]] {FAST}", columns=60) as agent:
        assert agent.exit_code() == 1
    rows = [row for row in agent.text.replace("\r", "").split("\n") if "\x1b" not in row]
    assert max(len(row) + sum(char in "修正" for char in row) for row in rows) <= 59
    assert "déjà" in agent.text


def test_colour_is_left_out_when_asked_to(demo: Demo) -> None:
    with demo(f"Tidy {FAST}", NO_COLOR="1") as agent:
        assert agent.exit_code() == 0
    assert agent.text == agent.output


def test_without_pam_around_it_does_its_work_all_the_same(demo: Demo) -> None:
    for helper in ("", "/nowhere/pam_signal"):
        with demo(f"Tidy {FAST}", PAM_SIGNAL=helper) as agent:
            assert agent.exit_code() == 0


def test_it_runs_on_the_oldest_python_a_host_may_have() -> None:
    ast.parse(DEMO.read_text(encoding="utf-8"), feature_version=(3, 8))
