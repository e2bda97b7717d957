"""tmux work done before a control client can exist, or in a process that has none: one call, one process, one answer.

Every call has a deadline. libtmux reads screens here. It cannot do the rest: it has no deadline, no ``-u``, no ``-N``
and no way to give the server an environment, so starting and probing run processes of our own. Calls block: an event
loop uses a thread.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from executor.settings import ExecutorSettings
from executor.tmux.commands import attaching, looking, serving, targets
from executor.tmux.commands.words import Command
from executor.tmux.errors import TmuxError, TmuxGone, TmuxRefused, TmuxSilent
from executor.tmux.panes import NO_SERVER, PaneListing, PaneState, ServerIdentity, parse_identity, parse_listing
from executor.tmux.rows import standalone
from executor.tmux.version import OLDEST, TmuxVersion, parse_version
from store.errors import NotFound, TmuxUnavailable

_START_TRIES = 8
_SOCKET_BACK_S = 2.0
_SERVER_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMUX_TMPDIR", "XDG_RUNTIME_DIR"),
    *("LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERMINFO", "TERMINFO_DIRS"),
)


class NoServer(TmuxGone):
    """tmux says that no server runs on our socket: the one failure that is an answer (PAM-TMUX-024)."""


class NoSocket(TmuxGone):
    """The socket is not there. Either no server runs, or somebody removed its socket."""


def find_tmux(settings: ExecutorSettings) -> TmuxVersion:
    """The version of the tmux pam would start. Raises TmuxUnavailable, with what to do, if it is missing or too old."""
    if shutil.which(settings.tmux_bin) is None:
        raise TmuxUnavailable(
            f"tmux is not installed: {settings.tmux_bin!r} is not on PATH. Install it ({_INSTALL}), or set "
            f"[tmux] bin in config.toml to its path. pam needs tmux {OLDEST} or newer.",
            tmux_bin=settings.tmux_bin,
        )
    try:
        text = _call([settings.tmux_bin, "-V"], settings).stdout.strip()
    except TmuxError as error:
        raise TmuxUnavailable(f"{settings.tmux_bin} -V failed: {error}. Reinstall tmux ({_INSTALL}).") from error
    version = parse_version(text)
    if version is None:
        raise TmuxUnavailable(f"{settings.tmux_bin} -V printed {text!r}, which is no tmux version. Reinstall tmux.")
    if version < OLDEST:
        raise TmuxUnavailable(
            f"tmux {version} is too old: pam needs {OLDEST} or newer. Update it ({_INSTALL}); running sessions stay "
            "with the old version until their server ends.",
            version=str(version),
            oldest=str(OLDEST),
        )
    return version


_INSTALL = "brew install tmux" if sys.platform == "darwin" else "apt-get install tmux, or dnf install tmux"


def ensure_server(
    settings: ExecutorSettings, *, known: ServerIdentity | None, may_live: Callable[[], bool]
) -> ServerIdentity:
    """Makes sure that our server and its hub session run with our options; returns which server it is.

    ``known`` is the server of before. While it ``may_live`` no second one is started, even if its socket was removed:
    it is asked to make the socket anew. Raises TmuxUnavailable when there is no usable server in the end.
    """
    find_tmux(settings)
    try:
        if known is not None:
            _bring_back_socket(settings, known, may_live)
        server = _start_hub(settings)
        run(settings, serving.server_options(settings, server.version, terminal=_terminal(settings)))
    except TmuxError as error:
        raise TmuxUnavailable(
            f"tmux gives no server on socket {settings.tmux_socket!r}: {error}. Agents that run are left alone; try "
            f"`tmux -L {settings.tmux_socket} list-sessions` to see what it says."
        ) from error
    if known is not None and server.pid != known.pid and may_live():
        raise TmuxUnavailable(
            f"Another tmux server took over socket {settings.tmux_socket!r}; pam's sessions are in the one with "
            f"process {known.pid}. End the other one, then give the first its socket back: kill -USR1 {known.pid}",
            pid=known.pid,
        )
    return server


def _bring_back_socket(settings: ExecutorSettings, known: ServerIdentity, may_live: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SOCKET_BACK_S
    asked = False
    while may_live():
        try:
            identity(settings)
        except (NoSocket, NoServer):
            if time.monotonic() > deadline:
                raise
            if not asked:
                ask_for_socket(known)
                asked = True
            time.sleep(0.02)
        else:
            return


def has_socket(settings: ExecutorSettings) -> bool:
    """Whether our socket is where clients look for it."""
    return (_socket_directory() / settings.tmux_socket).exists()


def ask_for_socket(server: ServerIdentity) -> None:
    """Lets a server that lives make its socket anew, and the directory it needs for that."""
    _socket_directory().mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGUSR1)


def _socket_directory() -> Path:
    return Path(os.environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108 - tmux's own default


def _terminal(settings: ExecutorSettings) -> str:
    """What agents find as TERM: the best description of tmux that this machine has."""
    try:
        known = _call(["infocmp", "tmux-256color"], settings).returncode == 0
    except TmuxError:
        known = False
    return "tmux-256color" if known else "screen-256color"


def _start_hub(settings: ExecutorSettings) -> ServerIdentity:
    error: TmuxError = TmuxGone("it was never tried")
    for attempt in range(_START_TRIES):
        try:
            return parse_identity(run(settings, serving.start_hub(), start=True))
        except TmuxRefused as refused:
            if str(refused).startswith("duplicate session"):
                return identity(settings)
            raise
        except (TmuxGone, ValueError) as gone:
            # A server that is just leaving still takes the connection: "server exited unexpectedly".
            error = gone if isinstance(gone, TmuxGone) else TmuxGone("its answer to new-session cannot be read")
            time.sleep(0.02 * 2**attempt)
    raise error


def identity(settings: ExecutorSettings) -> ServerIdentity:
    """Which server holds our socket. Raises NoServer, NoSocket or another TmuxError; never starts one."""
    try:
        return parse_identity(run(settings, serving.server_identity()))
    except ValueError as error:
        raise TmuxGone("the server's answer cannot be read") from error


def end_server(settings: ExecutorSettings) -> None:
    """Ends the server and everything in it: for a socket that was made for one occasion, never in normal work.

    No server is fine. Raises TmuxUnavailable when it cannot be told whether it ended.
    """
    try:
        run(settings, serving.end_server())
    except (NoServer, NoSocket):
        return
    except TmuxError as error:
        if not str(error).startswith(("server exited", "lost server")):
            raise TmuxUnavailable(f"The tmux server on {settings.tmux_socket!r} was not ended: {error}.") from error


def remove_socket(settings: ExecutorSettings) -> None:
    """Removes what an ended server leaves of a socket that was made for one occasion."""
    with contextlib.suppress(OSError):
        (_socket_directory() / settings.tmux_socket).unlink()


def list_panes(settings: ExecutorSettings) -> PaneListing:
    """Every pane of ours; empty for certain when no server runs. Raises TmuxError when it cannot be told."""
    try:
        clock, *rows = run(settings, looking.list_panes()).splitlines()
        return parse_listing(clock, rows)
    except NoServer:
        return NO_SERVER
    except ValueError as error:
        raise TmuxGone("the server's answer cannot be read") from error


def find_pane(settings: ExecutorSettings, session: str) -> PaneState:
    """The pane of the session's agent.

    Raises NotFound when there is no such session, TmuxUnavailable when tmux does not answer.
    """
    targets.checked_session(session)
    try:
        pane = list_panes(settings).find(session)
    except NoSocket as error:
        raise NotFound(f"{session} has no screen: no tmux server of pam is running.", session=session) from error
    except TmuxError as error:
        raise TmuxUnavailable(f"The screen of {session} cannot be read: {error}.", session=session) from error
    if pane is None:
        raise NotFound(f"{session} has no screen: there is no such session.", session=session)
    return pane


def capture(settings: ExecutorSettings, session: str, *, history: int | None = 0) -> tuple[str, ...]:
    """The screen of the session's agent as rows with SGR styles, ``history`` lines of scrollback above it (None: all).

    Raises as ``find_pane`` does.
    """
    pane = find_pane(settings, session)
    # Imported here: libtmux costs 70 ms, which only this call may.
    from libtmux.server import Server

    server = Server(socket_name=settings.tmux_socket, tmux_bin=shutil.which(settings.tmux_bin))
    start = [] if history == 0 else ["-S", "-" if history is None else f"-{history}"]
    # By its id: the session's active pane may be one that the operator made.
    answer = server.cmd("capture-pane", "-p", "-e", "-N", *start, target=targets.pane_target(pane.pane_id))
    if answer.returncode != 0:
        raise NotFound(f"{session} has no screen: {' '.join(answer.stderr)}.", session=session)
    return standalone(row.encode("utf-8", "surrogateescape") for row in answer.stdout)


def look_back(settings: ExecutorSettings, session: str, lines: int) -> tuple[str, ...]:
    """The screen of the session's pane as rows with SGR styles, up to ``lines`` of scrollback above it.

    Unlike ``capture`` it needs no libtmux, which can't be loaded while Textual has the terminal. Raises as ``run``.
    """
    printed = run(settings, looking.look_back(session, lines))
    return standalone(row.encode("utf-8", "surrogateescape") for row in printed.removesuffix("\n").split("\n"))


def attach_argv(settings: ExecutorSettings, session: str, *, read_only: bool) -> list[str]:
    """What to exec in a terminal to attach to the session; with ``client_environment``."""
    return [*serving.server_flags(settings), *attaching.attach_terminal(session, read_only=read_only).argv]


def typing_argv(settings: ExecutorSettings, session: str, leave: Sequence[str]) -> list[str]:
    """What to run in the operator's own terminal to type into the session; with ``client_environment``.

    ``leave``: the keys that leave, such as ``ctrl+]`` and ``f12``.
    """
    attach = attaching.attach_writer(session).then(attaching.leave_by(leave)).then(attaching.hint(session))
    return [*serving.server_flags(settings), *attach.argv]


def writer_argv(settings: ExecutorSettings, session: str, *, read_only: bool = False) -> list[str]:
    """What to run in a terminal of ours, which knows what tmux can say; with ``client_environment``."""
    attach = attaching.attach_reader(session) if read_only else attaching.attach_writer(session)
    return [*serving.server_flags(settings), "-T", attaching.FEATURES, *attach.argv]


def control_argv(settings: ExecutorSettings) -> list[str]:
    """What to run as a control client; with ``client_environment``."""
    return [*serving.server_flags(settings), "-C", *attaching.attach_control().argv]


def client_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` without the marks of a surrounding tmux, which would make a client talk to that one."""
    return {name: value for name, value in environ.items() if name not in ("TMUX", "TMUX_PANE")}


def server_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a server and so every agent starts from: nothing of the caller but where things are and its language.

    Without a UTF-8 locale agents would draw question marks (FR-15), so one is set.
    """
    kept = {name: environ[name] for name in _SERVER_VARIABLES if name in environ}
    locale = kept.get("LC_ALL") or kept.get("LC_CTYPE") or kept.get("LANG") or ""
    if "utf-8" not in locale.lower().replace("utf8", "utf-8"):
        kept.pop("LC_ALL", None)
        kept["LC_CTYPE"] = "UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    # tmux keeps true colour whatever terminal attaches; programs ask this variable.
    return kept | {"COLORTERM": "truecolor"}


def run(settings: ExecutorSettings, command: Command, *, start: bool = False) -> str:
    """What one tmux process prints for ``command``. Raises NoServer, NoSocket, TmuxGone, TmuxRefused or TmuxSilent.

    Only with ``start`` may it bring up a server.
    """
    argv = [*serving.server_flags(settings, start=start), *command.argv]
    done = _call(argv, settings, start=start)
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
    if said.startswith("no server running on"):
        raise NoServer(said)
    if said.startswith("error connecting to") and said.endswith("(No such file or directory)"):
        raise NoSocket(said)
    if said.startswith(("error connecting to", "server exited", "lost server", "create socket")):
        raise TmuxGone(said)
    raise TmuxRefused(said)


def _call(argv: list[str], settings: ExecutorSettings, *, start: bool = False) -> subprocess.CompletedProcess[str]:
    environment = server_environment(os.environ) if start else client_environment(os.environ)
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=settings.command_timeout_s,
            env=environment,
            # A server stays for weeks: it must not hold the caller's directory.
            cwd="/" if start else None,
            start_new_session=start,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TmuxSilent(f"tmux did not answer within {settings.command_timeout_s:g} s") from error
    except OSError as error:
        raise TmuxGone(f"{argv[0]} cannot be run: {error.strerror or error}") from error
