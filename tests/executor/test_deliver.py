"""Prompts and keys typed into real panes: byte for byte, once, in order, and never into a dialog."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from executor.supervision import deliver
from providers.launch import ARGUMENT_LIMIT
from store import deliveries, leases, runs
from store.records import Delivery, Run, Signal
from store.signals import ingest
from tests.support import recorder
from tests.support.stage import ACTOR, Stage, end_process
from tests.support.waiting import until

RECORDER = Path(recorder.__file__)
START, END = b"\x1b[200~", b"\x1b[201~"

PLAIN = f"""
[plain]
title = "Takes what is typed"
bin = "{sys.executable}"
argv = ["{{bin}}", "{RECORDER}", "{{args}}"]
prompt = "paste"
tui_type = "raw_mode"
ready_after_s = 0.2
submit_delay_ms = 50
"""

HOOKED = PLAIN.replace("[plain]", "[hooked]") + '[hooked.hooks]\nrecipe = "claude"\nproven = true\n'
"""Like an agent with hooks; what it says comes from the test, or from the recorder."""


@pytest.fixture
def record(stage: Stage) -> Path:
    """Where the recorder writes what it read."""
    return stage.cwd / "record"


@pytest.fixture(autouse=True)
def providers(stage: Stage) -> None:
    """The recorder as a provider without hooks, and as one with."""
    (stage.home.path / "providers.toml").write_text(PLAIN + HOOKED)


def running(stage: Stage, record: Path, *words: str, provider: str = "plain", **options: object) -> Run:
    """A recorder that reads."""
    run = stage.until_status(stage.start(provider, str(record), *words, **options), "running")
    until(lambda: "ready" in stage.pane(run), 10, lambda: stage.pane(run))
    return run


def starts_slowly(stage: Stage) -> None:
    """The catalog gives the program the time that a loaded machine needs to start it."""
    slow = PLAIN.replace("ready_after_s = 0.2", "ready_after_s = 2")
    (stage.home.path / "providers.toml").write_text(slow)


def send(stage: Stage, run: Run, text: str) -> Delivery:
    """A prompt, queued."""
    return deliveries.queue_prompt(stage.store, run.id, text, actor=ACTOR)


def now(stage: Stage, delivery: Delivery) -> Delivery:
    """As it is now."""
    return deliveries.get(stage.store, delivery.id)


def settled(stage: Stage, delivery: Delivery, timeout: float = 20) -> Delivery:
    """Once nothing more will become of it."""
    until(lambda: now(stage, delivery).over, timeout, lambda: (now(stage, delivery), stage.topics(stage_run(stage))))
    return now(stage, delivery)


def stage_run(stage: Stage) -> Run:
    """The newest run."""
    return runs.list_all(stage.store)[0]


def says(stage: Stage, run: Run, seq: int, **payload: object) -> None:
    """What a hook of the run says."""
    assert ingest(stage.store, Signal(run.id, run.attempt, "progress", "hook:claude", seq=seq, payload=payload)).applied


def until_read(record: Path, data: bytes) -> None:
    """Exactly this was read, and nothing else."""
    until(lambda: record.exists() and len(record.read_bytes()) >= len(data), 10, lambda: record.read_bytes()[-200:])
    assert record.read_bytes() == data


NASTY = "first\n\tsecond — ünïcödé 🙂 ; \\033 #{pid} %H ~ $HOME \"'`\nlast;"


@pytest.mark.parametrize(
    ("text", "arrives"),
    [
        ("one line", "one line"),
        (NASTY, NASTY),
        ("a\x1b[201~\x03b\r\nc\x00\x9bd", "a[201~b\ncd"),
        ("-x", "-x"),
    ],
)
def test_a_prompt_arrives_as_it_was_given(stage: Stage, record: Path, text: str, arrives: str) -> None:
    """One bracketed paste, control characters left out, then Enter."""
    with stage.executor():
        run = running(stage, record)
        done = settled(stage, send(stage, run, text))
        assert (done.status, done.delivered, done.awaited) == ("typed", True, False)
        until_read(record, START + arrives.encode() + END + b"\r")
    assert stage.topics(run)[-2:] == ["run.prompt_queued", "run.prompt_delivered"]


def test_60_kilobytes_arrive_whole(stage: Stage, record: Path) -> None:
    """750 lines, as a file that somebody pastes."""
    text = "\n".join(f"{number:04} " + "x" * 75 for number in range(750))
    with stage.executor():
        run = running(stage, record)
        assert settled(stage, send(stage, run, text)).status == "typed"
        until_read(record, START + text.encode() + END + b"\r")


def test_the_longest_prompt_arrives_whole(stage: Stage, record: Path) -> None:
    """As long as an argument may be; a longer one is refused when it is asked for."""
    text = '\\"$~é;' * (deliveries.MAX_BYTES // 7)
    with stage.executor():
        run = running(stage, record)
        assert settled(stage, send(stage, run, text)).status == "typed"
        until_read(record, START + text.encode() + END + b"\r")


def test_a_scrolled_pane_gets_its_prompt(stage: Stage, record: Path) -> None:
    """In copy mode tmux would swallow it."""
    with stage.executor():
        run = running(stage, record)
        stage.sandbox.tmux("copy-mode", "-t", f"={run.session_name}:")
        assert settled(stage, send(stage, run, "go on")).status == "typed"
        until_read(record, START + b"go on" + END + b"\r")


def test_the_agents_pane_is_typed_into_not_the_operators(stage: Stage, record: Path) -> None:
    """The operator has split the window, and his pane is the active one."""
    with stage.executor():
        run = running(stage, record)
        stage.sandbox.tmux("split-window", "-t", f"={run.session_name}:", "cat")
        assert settled(stage, send(stage, run, "go on")).status == "typed"
        until_read(record, START + b"go on" + END + b"\r")


def test_prompts_are_typed_in_their_order(stage: Stage, record: Path) -> None:
    """All queued at once, before the agent even runs."""
    starts_slowly(stage)
    run = stage.start("plain", str(record))
    made = [send(stage, run, f"number {number}") for number in range(4)]
    with stage.executor():
        for delivery in made:
            assert settled(stage, delivery).status == "typed"
        until_read(record, b"".join(START + b"number %d" % number + END + b"\r" for number in range(4)))


def test_the_first_prompt_of_a_program_without_argument_is_typed_once_it_reads(stage: Stage, record: Path) -> None:
    """Before every other, and once for the attempt."""
    starts_slowly(stage)
    run = stage.start("plain", str(record), prompt="Fix it\nplease")
    with stage.executor():
        stage.until_status(run, "running")
        until(lambda: deliveries.of_run(stage.store, run.id), 10)
        (opening,) = deliveries.of_run(stage.store, run.id)
        assert (opening.opening, opening.text) == (True, "Fix it\nplease")
        assert settled(stage, opening).status == "typed"
        until_read(record, START + b"Fix it\nplease" + END + b"\r")


def test_keys_are_pressed_and_a_key_behind_escape_stays_its_own(stage: Stage, record: Path) -> None:
    """PAM-TMUX-010."""
    with stage.executor():
        run = running(stage, record)
        keys = deliveries.queue_keys(stage.store, run.id, ["Up", "Escape", "1", "Enter"], typed="yes", actor=ACTOR)
        assert settled(stage, keys).status == "typed"
        until_read(record, b"yes\x1b[A\x1b1\r")
        named = deliveries.queue_keys(stage.store, run.id, [], typed="Enter", actor=ACTOR)
        assert settled(stage, named).status == "typed"
        until_read(record, b"yes\x1b[A\x1b1\rEnter")
    assert "run.keys_sent" in stage.topics(run)


def test_keys_outside_the_allow_list_are_refused(stage: Stage, record: Path) -> None:
    """PAM-TMUX-011: whoever queued them, nothing is pressed."""
    with stage.executor():
        run = running(stage, record)
        keys = deliveries.queue_keys(stage.store, run.id, ["Enter", "|"], actor=ACTOR)
        refused = settled(stage, keys)
        assert refused.status == "refused" and "may not be typed" in str(refused.reason)
        assert record.read_bytes() == b"" if record.exists() else True


def test_the_agents_word_confirms_a_prompt(stage: Stage, record: Path) -> None:
    """It is awaited where hooks speak; then the next one goes."""
    with stage.executor():
        run = running(stage, record, "signals", provider="hooked")
        first, second = send(stage, run, "one"), send(stage, run, "two")
        until(lambda: now(stage, first).status == "typed", 10, lambda: now(stage, first))
        until_read(record, START + b"one" + END + b"\r")
        assert now(stage, second).status == "queued"
        says(stage, run, 100, activity="working", accepted=True)
        assert settled(stage, first).status == "confirmed"
        until(lambda: now(stage, second).status == "typed", 10)
        until_read(record, START + b"one" + END + b"\r" + START + b"two" + END + b"\r")


def test_without_the_agents_word_it_is_unconfirmed_and_nothing_is_pressed_again(
    stage: Stage, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never a blind second Enter."""
    monkeypatch.setattr(deliver, "CONFIRMED_WITHIN_S", 0.5)
    with stage.executor():
        run = running(stage, record, "signals", provider="hooked")
        done = settled(stage, send(stage, run, "one"))
        assert done.status == "unconfirmed" and "did not say that it took this up" in str(done.reason)
        until_read(record, START + b"one" + END + b"\r")


@pytest.mark.parametrize(("activity", "enters"), [("idle", 2), ("working", 1), ("waiting", 1)])
def test_one_more_enter_is_for_a_program_that_is_known_to_swallow_it_and_idles(
    stage: Stage, record: Path, monkeypatch: pytest.MonkeyPatch, activity: str, enters: int
) -> None:
    """A question that came up meanwhile is not answered with it."""
    monkeypatch.setattr(deliver, "CONFIRMED_WITHIN_S", 1.0)
    (stage.home.path / "providers.toml").write_text(
        HOOKED.replace("submit_delay_ms", "second_enter = true\nsubmit_delay_ms")
    )
    with stage.executor():
        run = running(stage, record, "signals", provider="hooked")
        until(lambda: stage.run(run).activity == "idle", 10)
        made = send(stage, run, "one")
        until(lambda: now(stage, made).status == "typed", 10)
        until_read(record, START + b"one" + END + b"\r")
        if activity != "idle":
            says(stage, run, 100, activity=activity, note="Write it?")
        assert settled(stage, made).status == "unconfirmed"
        assert record.read_bytes() == START + b"one" + END + b"\r" * enters


def test_a_prompt_is_refused_while_the_agent_asks(stage: Stage, record: Path) -> None:
    """Enter would answer the question; keys may, on purpose."""
    with stage.executor():
        run = running(stage, record)
        says(stage, run, 100, activity="waiting", note="Bash: rm -r build")
        refused = settled(stage, send(stage, run, "go on"))
        assert refused.status == "refused"
        assert str(refused.reason).startswith("The agent asks: Bash: rm -r build. Answer it first: `pam run keys ")
        assert settled(stage, deliveries.queue_keys(stage.store, run.id, ["y"], actor=ACTOR)).status == "typed"
        until_read(record, b"y")
    assert "run.prompt_refused" in stage.topics(run)


def test_the_first_prompt_waits_for_the_answer_and_keys_go_before_it(stage: Stage, record: Path) -> None:
    """The task must not get lost over a question at the start."""
    run = stage.start("hooked", str(record), prompt="Fix it")
    with stage.executor():
        stage.until_status(run, "running")
        until(lambda: "ready" in stage.pane(run), 10, lambda: stage.pane(run))
        says(stage, run, 1, activity="waiting", note="Do you trust this directory?")
        keys = deliveries.queue_keys(stage.store, run.id, ["1"], actor=ACTOR)
        assert settled(stage, keys).status == "typed"
        until_read(record, b"1")
        says(stage, run, 2, activity="idle")
        until_read(record, b"1" + START + b"Fix it" + END + b"\r")


def test_a_question_that_comes_up_while_typing_is_not_answered(stage: Stage, record: Path) -> None:
    """Between paste and Enter."""
    slow = PLAIN.replace("submit_delay_ms = 50", "submit_delay_ms = 1500")
    (stage.home.path / "providers.toml").write_text(slow)
    with stage.executor():
        run = running(stage, record)
        made = send(stage, run, "go on")
        until(lambda: record.exists() and END in record.read_bytes(), 10)
        says(stage, run, 100, activity="waiting", note="Write it?")
        done = settled(stage, made)
        assert done.status == "unconfirmed" and "Enter was not pressed" in str(done.reason)
        assert record.read_bytes() == START + b"go on" + END


def test_an_agent_that_shows_no_sign_of_being_ready_gets_nothing(
    stage: Stage, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hooks are silent: perhaps it is at a dialog that has none."""
    monkeypatch.setattr("executor.supervision.readiness.READY_WITHIN_S", 0.5)
    with stage.executor():
        run = running(stage, record, provider="hooked")
        refused = settled(stage, send(stage, run, "go on"))
        assert refused.status == "refused" and "no sign of being ready" in str(refused.reason)
        assert not record.exists() or record.read_bytes() == b""


def test_whoever_types_by_hand_is_not_mixed_up_with(stage: Stage, record: Path) -> None:
    """The lease was taken after the prompt was queued (PAM-ATT-001)."""
    with stage.executor():
        run = running(stage, record, provider="hooked")
        made = send(stage, run, "go on")
        leases.acquire(stage.store, run.id, "me@desk", actor=ACTOR)
        says(stage, run, 1, activity="idle")
        refused = settled(stage, made)
        assert refused.status == "refused" and "me@desk types into this run" in str(refused.reason)


@pytest.mark.parametrize("provider", ["hooked", "plain"])
def test_what_is_queued_for_a_run_that_ends_is_refused_with_the_reason(
    stage: Stage, record: Path, provider: str
) -> None:
    """Also when it ends while no executor looks."""
    if provider == "hooked":
        with stage.executor():
            run = running(stage, record, provider=provider)
            made = send(stage, run, "go on")
            os.kill(int(stage.run(run).agent_pid or 0), signal.SIGTERM)
            stage.until_ended(run)
            refused = settled(stage, made)
    else:
        run = stage.start("plain", str(record))
        made = send(stage, run, "go on")
        runs.request_stop(stage.store, run.id, actor=ACTOR)
        with stage.executor():
            refused = settled(stage, made)
    assert refused.status == "refused" and "ended" in str(refused.reason)
    assert not record.exists() or record.read_bytes() == b""


def test_a_prompt_for_an_attempt_that_is_over_does_not_reach_the_next(stage: Stage, record: Path) -> None:
    """It was said in another situation."""
    with stage.executor():
        run = running(stage, record, provider="hooked", restart_policy="on-failure")
        made = send(stage, run, "go on")
        os.kill(int(stage.run(run).agent_pid or 0), signal.SIGKILL)
        stage.until_status(run, "failed")
        runs.requeue(stage.store, run.id, actor=ACTOR)
        stage.until_status(run, "running")
        refused = settled(stage, made)
    assert refused.status == "refused" and (refused.attempt, stage.run(run).attempt) == (1, 2)
    assert not record.exists() or record.read_bytes() == b""


def test_the_first_prompt_as_an_argument_is_confirmed_by_the_agents_word(stage: Stage, record: Path) -> None:
    """And another one is not typed before, or its word would be taken for this one's."""
    argv = HOOKED.replace('"{args}"]', '"{args}", "{prompt}"]').replace('prompt = "paste"', 'prompt = "argv"')
    (stage.home.path / "providers.toml").write_text(argv)
    with stage.executor():
        run = running(stage, record, "signals", provider="hooked", prompt="Fix it")
        other = send(stage, run, "and then")
        (opening, _) = deliveries.of_run(stage.store, run.id)
        assert (opening.opening, opening.status) == (True, "typed")
        says(stage, run, 100, activity="waiting", note="Do you trust this directory?")
        assert settled(stage, deliveries.queue_keys(stage.store, run.id, ["1"], actor=ACTOR)).status == "typed"
        until_read(record, b"1")
        says(stage, run, 101, activity="working", accepted=True)
        assert settled(stage, opening).status == "confirmed"
        until_read(record, b"1" + START + b"and then" + END + b"\r")
        assert now(stage, other).status == "typed"


@contextmanager
def killed_while_typing(stage: Stage, record: Path) -> Iterator[tuple[Run, Delivery]]:
    """An executor process is killed between the paste and its Enter."""
    slow = PLAIN.replace("submit_delay_ms = 50", "submit_delay_ms = 20000")
    (stage.home.path / "providers.toml").write_text(slow)
    process = stage.executor_process()
    run = running(stage, record)
    made = send(stage, run, "go on")
    until(lambda: record.exists() and END in record.read_bytes(), 10)
    end_process(process)
    yield run, made


def test_a_prompt_whose_executor_was_killed_is_unconfirmed_and_never_pasted_twice(stage: Stage, record: Path) -> None:
    """Perhaps it was submitted, perhaps not: nobody can tell, so nobody does it again."""
    with killed_while_typing(stage, record) as (run, made):
        assert now(stage, made).status == "delivering"
        with stage.executor():
            done = settled(stage, made)
            assert done.status == "unconfirmed" and "may have been typed or not" in str(done.reason)
            keys = deliveries.queue_keys(stage.store, run.id, ["x"], actor=ACTOR)
            assert settled(stage, keys).status == "typed"
            until_read(record, START + b"go on" + END + b"x")


def test_a_typed_prompt_goes_on_waiting_for_its_word_under_the_next_executor(stage: Stage, record: Path) -> None:
    """What the agent said meanwhile counts; nothing is typed anew."""
    process = stage.executor_process()
    run = running(stage, record, "signals", provider="hooked")
    made = send(stage, run, "go on")
    until(lambda: now(stage, made).status == "typed", 10, lambda: now(stage, made))
    until_read(record, START + b"go on" + END + b"\r")
    end_process(process)
    with stage.executor():
        says(stage, run, 100, activity="working", accepted=True)
        assert settled(stage, made).status == "confirmed"
    until_read(record, START + b"go on" + END + b"\r")


def test_a_prompt_longer_than_an_argument_stands_in_a_file(stage: Stage) -> None:
    """Only its owner reads it, and it goes when the run has ended."""
    prompt = "Fix it\n" + "x" * ARGUMENT_LIMIT
    with stage.executor():
        run = stage.until_status(stage.start("demo", prompt=prompt), "running")
        path = stage.home.path / "prompts" / f"{run.id}-1.md"
        assert path.read_text() == prompt
        assert path.stat().st_mode & 0o777 == 0o600
        line = f"Readthetaskin{path}anddoit."
        until(lambda: line in "".join(stage.pane(run).replace("▌", "").split()), 10, lambda: stage.pane(run))
        stage.until_ended(run)
        until(lambda: not path.exists(), 10)


def test_the_demo_agent_takes_a_further_prompt(stage: Stage) -> None:
    """The whole way with an agent that says itself what it does."""
    with stage.executor():
        run = stage.until_status(stage.start("demo", prompt="[[stay]] [[say first]] [[pace 0]]"), "running")
        until(lambda: stage.run(run).activity == "idle", 10, lambda: stage.pane(run))
        assert settled(stage, send(stage, run, "[[say second\nline]]")).status == "typed"
        until(lambda: "second" in stage.pane(run), 10, lambda: stage.pane(run))
