"""The one folder that builds tmux commands: quoting, names, targets, keys."""

from __future__ import annotations

import asyncio
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor.hosts.local import LocalLink
from executor.settings import ExecutorSettings
from executor.tmux import oneshot
from executor.tmux.commands import attaching, keying, looking, serving, sessions, targets, words
from executor.tmux.panes import parse_listing
from executor.tmux.version import TmuxVersion, parse_version
from store.errors import InvalidValue
from tests.support.tmux_server import TmuxSandbox
from tests.support.waiting import until

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
nasty = st.sampled_from(
    [
        "~",
        "~/x",
        "a;",
        ";",
        r"a\;",
        "$HOME",
        "#{pid}",
        "#(touch x)",
        "%5",
        "%begin",
        '"',
        "'",
        "\\",
        "\n",
        "{",
        "}",
        "-x",
        "",
    ]
)
word_lists = st.lists(st.one_of(nasty, text), min_size=1, max_size=8)


def test_any_words_reach_the_program_unchanged(tmux_sandbox: TmuxSandbox) -> None:
    """Through a control client tmux neither parses nor expands what it is given: argv, environment, directory, log."""
    with asyncio.Runner() as runner:
        link = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
        runner.run(link.connect())
        try:
            _try_words(runner, link, tmux_sandbox)
        finally:
            runner.run(link.close())


def _try_words(runner: asyncio.Runner, link: LocalLink, sandbox: TmuxSandbox) -> None:
    script = 'printf "%s\\0" "$PWD" "$WORD" "$@" >"$OUT.part" && mv "$OUT.part" "$OUT"; exec sleep 1000'
    count = 0

    @settings(max_examples=40, database=None, suppress_health_check=list(HealthCheck))
    @given(word_lists)
    def holds(given_words: list[str]) -> None:
        nonlocal count
        count += 1
        session, out = f"pam-{count:08x}", sandbox.home / f"out{count}"
        folder = sandbox.home / f"{count} %d#{{pid}}$HOME;'\"é#(touch {sandbox.home}/hit)".replace("/", "∕")
        folder.mkdir()
        command = sessions.new_session(
            session,
            ["sh", "-c", script, "sh", *given_words],
            cwd=str(folder),
            env={"OUT": str(out), "WORD": given_words[0]},
            log_path=str(folder / "%Y log"),
            log_max_bytes=1 << 20,
            title=given_words[0],
            size=(80, 24),
        )
        runner.run(link._channel.run(command))
        until(out.exists, 5, f"{given_words!r}")
        assert out.read_bytes().decode().split("\0")[:-1] == [str(folder), given_words[0], *given_words]
        until((folder / "%Y log").exists, 5)
        runner.run(link.kill_session(session))

    holds()
    assert not (sandbox.home / "hit").exists()


def test_any_words_survive_as_process_arguments(tmux_sandbox: TmuxSandbox) -> None:
    """A one-shot call quotes too: a trailing semicolon would end the command."""
    oneshot.ensure_server(tmux_sandbox.settings, known=None, may_live=lambda: False)

    @settings(max_examples=40, database=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of(nasty, text).filter(bool))
    def holds(word: str) -> None:
        show = words.command("show-buffer", "-b", "x")
        argv = words.command("set-buffer", "-b", "x", "--", word).then(show).argv
        done = subprocess.run(
            [*serving.server_flags(tmux_sandbox.settings), *argv], capture_output=True, check=True, timeout=10
        )
        assert done.stdout == word.encode()

    holds()


def test_a_nul_byte_is_refused() -> None:
    """tmux holds C strings."""
    with pytest.raises(InvalidValue, match="NUL"):
        words.dq("a\0b")


@pytest.mark.parametrize(
    "name",
    [
        *("", "pam-", "pam-0011223", "pam-001122334", "pam-0011223G", "PAM-00112233", "xpam-00112233"),
        *("pam-*", "pam-0011*", "=pam-00112233", "pam-00112233:", "pam-00112233\n", "mine", "pam-hub", "/tmp/x", "$1"),
        *("pam-00112233;kill-server", "pam-00112233 ", "-t", "#{session_name}"),
    ],
)
def test_a_name_that_is_not_ours_never_becomes_a_target(name: str) -> None:
    """PAM-TMUX-002, 003, 013, 014, 015: checked before any tmux command is built."""
    for build in (
        targets.session_target,
        targets.pane_target,
        sessions.kill_session,
        lambda name: sessions.pipe_to(name, "/x", 1),
        lambda name: keying.send_keys(name, ["Enter"]),
        lambda name: keying.paste(name, "x", buffer="b"),
        lambda name: looking.capture(name, TmuxVersion(3, 3), buffer="b"),
        lambda name: attaching.attach_terminal(name, read_only=True),
        lambda name: sessions.new_session(
            name, ["x"], cwd="/", env={}, log_path="/x", log_max_bytes=1, title="", size=(1, 1)
        ),
    ):
        with pytest.raises(InvalidValue):
            build(name)


@given(st.text("0123456789abcdef", min_size=8, max_size=8))
def test_targets_are_exact(digits: str) -> None:
    """PAM-TMUX-022."""
    name = f"pam-{digits}"
    assert targets.session_target(name) == f"={name}"
    assert targets.pane_target(name) == f"={name}:"
    assert targets.pane_target("%12") == "%12"


def test_every_command_names_its_target() -> None:
    """FR-68: a command without a target acts on whatever the operator looks at."""
    name, version = "pam-00112233", TmuxVersion(3, 3)
    built = [
        *(attaching.attach_control(), attaching.attach_terminal(name, read_only=False), serving.server_identity()),
        *(serving.nudge(), sessions.pipe_to(name, "/x", 1), sessions.kill_session(name)),
        *(looking.capture(name, version, buffer="b"), keying.send_keys(name, ["Enter", "x"])),
        keying.paste(name, "x", buffer="b"),
        sessions.new_session(name, ["x"], cwd="/", env={}, log_path="/x", log_max_bytes=1, title="", size=(1, 1)),
        looking.list_panes(),
    ]
    free = {"set-buffer", "show-buffer", "delete-buffer"}
    for part in (part for command in built for part in command.parts if part[0] not in free):
        assert {"-t", "-s", "-a"} & set(part), part


@pytest.mark.parametrize("socket", ["", "default", "a/b", "../x", "-x", "a b", "x\n"])
def test_the_operators_own_socket_is_refused(socket: str) -> None:
    """PAM-TMUX-018: never the default socket, never a path."""
    with pytest.raises(InvalidValue, match="socket"):
        serving.server_flags(ExecutorSettings(tmux_socket=socket))


def test_only_a_start_may_start_a_server() -> None:
    """Every process is on our socket, in UTF-8; no configuration file but on the one that may start (FR-15, FR-69)."""
    settings = ExecutorSettings()
    assert serving.server_flags(settings) == ["tmux", "-u", "-L", "pam", "-N"]
    assert serving.server_flags(settings, start=True) == ["tmux", "-u", "-L", "pam", "-f", "/dev/null"]


@pytest.mark.parametrize("key", ["", "|", "a&b", "x;", "$x", "`", "C-b", "\x02", "\x1b[A", "é", "\n", "rm -rf x | y"])
def test_keys_outside_the_allow_list_are_refused(key: str) -> None:
    """PAM-TMUX-010, 011, 016. ``C-b`` is text of three letters at most, never the key."""
    if key == "C-b":
        assert keying.send_keys("%1", [key]).parts[1][-3:] == ("-l", "--", "C-b")
        return
    with pytest.raises(InvalidValue, match="may not be typed"):
        keying.send_keys("%1", ["Enter", key])


def test_named_keys_and_text_are_told_apart() -> None:
    """A named key is pressed, anything else typed letter by letter."""
    _, *typed = keying.send_keys("%1", ["Backspace", "Delete", "C-c", "Up", "up"]).parts
    assert [part[3:] for part in typed] == [("BSpace",), ("DC",), ("C-c",), ("Up",), ("-l", "--", "up")]


def test_a_listing_survives_rows_it_cannot_read() -> None:
    """FR-23: one bad row degrades one row; other people's sessions are not there at all (PAM-TMUX-003)."""
    good = "pam-00112233\t%1\t77\t1700000000\t0\t\t\t220\t50\t1\t0\t0\t4\t9\t1\t0123abcd:2\ta\ttitle"
    dead = "pam-00112234\t%2\t78\t1700000000\t1\t3\t9\t80\t24\t0\t1\t2\t4\t9\t0\t\t"
    rows = [good, "", "pam-00112235\t%3", good.replace("77", "x"), good.replace("%1", "x"), good.replace("pam-", "my-")]
    listing = parse_listing("12:1700000000:3.3a 1700000005", [*rows, dead])
    assert [pane.pane_id for pane in listing.panes] == ["%1", "%2"]
    first, second = listing.panes
    assert (first.title, first.cursor, first.dead, first.exit_status) == ("a\ttitle", (4, 9), False, None)
    assert (second.dead, second.exit_status, second.exit_signal, second.cursor) == (True, 3, 9, None)
    assert (first.mark, second.mark) == ("0123abcd:2", "")
    assert listing.find("pam-00112234") == second
    assert listing.find("pam-0011223") is None


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("tmux 3.3a\n", TmuxVersion(3, 3, "a")),
        ("tmux 3.2", TmuxVersion(3, 2)),
        ("tmux next-3.7", TmuxVersion(3, 7)),
        ("tmux 2.9a", TmuxVersion(2, 9, "a")),
        ("tmux master", TmuxVersion(99, 0)),
        ("screen 4.9", None),
        ("", None),
    ],
)
def test_versions_are_read(said: str, version: TmuxVersion | None) -> None:
    """PAM-TMUX-020."""
    assert parse_version(said) == version


def test_versions_are_ordered() -> None:
    """What differs by version asks with ``>=``."""
    assert TmuxVersion(3, 2) < TmuxVersion(3, 2, "a") < TmuxVersion(3, 3) < TmuxVersion(3, 10) < TmuxVersion(99, 0)


def test_a_control_client_captures_without_the_leak() -> None:
    """Before 3.6 a control client's ``capture-pane -p`` stays in the server's memory for ever."""
    for version in (TmuxVersion(3, 2), TmuxVersion(3, 5, "a")):
        assert all("-p" not in part for part in looking.capture("%1", version, buffer="b").parts)
    (new,) = looking.capture("%1", TmuxVersion(3, 6), buffer="b", history=None).parts
    assert new == ("capture-pane", "-p", "-e", "-N", "-S", "-", "-t", "%1")


def test_a_prompt_cannot_end_its_own_paste() -> None:
    """An ``ESC[201~`` inside a prompt would turn the rest of it into keystrokes."""
    _, set_buffer, _ = keying.paste("%1", "a\x1b[201~b\r\nc\td\x00\x9b", buffer="b").parts
    assert set_buffer[-1] == "a[201~b\nc\td"
