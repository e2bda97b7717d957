"""Run one agent as the foreground command of a tmux pane and report its life to the host's spool.

Started as ``python3 -I -S -E pam_exec.py SPEC``: standard library only, Python 3.8 or newer, Linux and macOS.
The private modules ``_signal`` and ``_json`` stand in for ``signal`` and ``json``: those would double the time until
the agent runs.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import sys
import termios
import time

try:
    from _json import encode_basestring_ascii as quoted
except ImportError:  # not CPython
    from json.encoder import encode_basestring_ascii as quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any, Callable, Mapping, NoReturn
else:
    import _signal as signal

PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
STOPS = (signal.SIGTERM, signal.SIGHUP)
IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGPIPE)
HOLD_OPEN_S, GRACE_S = 300, 10  # where the spec says nothing
LEFTOVER_S = 2.0  # from TERM to KILL for what the agent left behind in its group
KILLED_S = 1.0  # and from KILL to looking away
POLL_S = 0.02  # the last member of a group ends without telling us
LOCKED_S, FULL_S, MOST_S = 0.005, 0.05, 5.0  # waits before the next try at the spool; each doubles the last

GREEN, YELLOW, RED = "\x1b[32m", "\x1b[33m", "\x1b[31m"
# 47 leaves the alternate screen without moving the cursor where the agent has left it already; 1049 would move it.
SANE_SCREEN = (
    "\x1b[?47l\x1b7\x1b[r\x1b8"  # alternate screen, scroll region
    "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l"  # mouse, focus
    "\x1b[?2004l\x1b[?2026l\x1b[?1l\x1b>\x1b[>4m\x1b[<99u\x1b[=0u"  # paste, held-back output, keys, kitty's keys
    "\x1b[4l\x1b[?7h\x1b(B\x0f\x1b[?25h\x1b[0 q\x1b[m"  # insert, wrap, character set, cursor, colours
)


def main(path: str) -> int:
    """Run the agent of a spec file; returns its exit code, 128 + its signal, or 126/127 when it was not started."""
    pane = Pane()
    try:
        raw = read_spec(path)
        pane.spool.address(raw)
        spec = Spec(raw)
    except ValueError as fault:
        return never_started(pane, "the agent", 126, f"its spec is unusable: {fault}")
    pane.hold_open_s, pane.grace_s = spec.hold_open_s, spec.grace_s
    began = time.monotonic()
    try:
        pid = spawn(spec, pane)
    except NotStarted as fault:
        return never_started(pane, spec.name, fault.code, fault.sentence)
    pane.spool.put("started", identity(pid))
    status = follow(pid, pane)
    return ended(pane, spec.name, pid, status, time.monotonic() - began)


def never_started(pane: Pane, name: str, code: int, why: str) -> int:
    pane.spool.put("finished", {"exit_code": code, "spawn_error": why})
    pane.close(RED, f"{name} was not started: {why}")
    return code


def ended(pane: Pane, name: str, pid: int, status: int, lasted: float) -> int:
    """Report the end first, tidy up after it: the board waits for the report, nobody for the rest."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    code = None if number else os.WEXITSTATUS(status)
    how = {"exit_code": code, "signal": number, "stopping": pane.stopping, "duration_s": round(lasted, 3)}
    pane.spool.put("finished", how)
    clear_group(pid, pane)
    words = f"was ended by {signal_name(number)}" if number else f"ended with exit code {code}"
    pane.close(GREEN if code == 0 else YELLOW, f"{name} {words} after {span(lasted)}")
    return 128 + number if number else os.WEXITSTATUS(status)


# -- the spec


def read_spec(path: str) -> dict[str, object]:
    """The spec's object. The file is gone afterwards: its environment may hold keys. Raises ValueError."""
    name = shown(os.fsencode(path))
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as fault:
        raise ValueError(f"{name} cannot be read ({fault.strerror})") from None
    try:
        os.unlink(path)
    except OSError:
        pass  # no reason to keep an agent from its work; pam sweeps the folder
    try:
        raw = parsed(data.decode("utf-8").strip())
    except ValueError:
        raw = None
    if not isinstance(raw, dict):
        raise ValueError(f"{name} does not hold a JSON object")
    return raw


def parsed(text: str) -> Any:
    """``json.loads`` by the scanner inside it: importing ``json`` itself costs as much as starting Python."""
    try:
        from _json import make_scanner

        value, end = make_scanner(Scanning)(text, 0)  # type: ignore[arg-type]  # any object with these attributes
        if end == len(text):
            return value
    except (ImportError, AttributeError, StopIteration, SystemError):
        pass  # another Python, or a fault of the text, which the scanner alone cannot always express
    import json

    return json.loads(text)


class Scanning:
    strict = True
    object_hook = object_pairs_hook = None
    parse_int, parse_float, parse_constant = int, float, float


class Spec:
    """What to run, as the bytes that the kernel takes, so that no locale matters. Raises ValueError."""

    def __init__(self, raw: dict[str, object]) -> None:
        if raw.get("v") != 1:
            raise ValueError("it is of another version; give this host the wrapper of the pam that wrote it")
        self.argv = [encoded(word, "argv") for word in as_list(raw, "argv")]
        if not self.argv or not self.argv[0]:
            raise ValueError("argv is empty")
        self.name = shown(encoded(raw.get("name") or "", "name") or os.path.basename(self.argv[0]))
        self.cwd = encoded(raw.get("cwd"), "cwd")
        self.hold_open_s = seconds(raw, "hold_open_s", HOLD_OPEN_S)
        self.grace_s = seconds(raw, "grace_s", GRACE_S)
        self.env = self._environment(raw)

    def _environment(self, raw: dict[str, object]) -> dict[bytes, bytes]:
        env = dict(os.environb)
        for name in as_list(raw, "unset"):
            env.pop(encoded(name, "unset"), None)
        env.pop(b"OLDPWD", None)
        env[b"PWD"] = self.cwd
        added = raw.get("env", {})
        if not isinstance(added, dict) or any(not name or "=" in name for name in added):
            raise ValueError("env is not a table of names and values")
        env.update((encoded(name, "env"), encoded(value, f"env {name}")) for name, value in added.items())
        for key in ("run", "attempt", "spool", "task"):
            env[b"PAM_" + key.upper().encode()] = encoded(str(raw.get(key, "")), key)
        env[b"PAM_SIGNAL"] = encoded(raw.get("signal_cmd", ""), "signal_cmd")
        return env

    def programs(self) -> list[bytes]:
        """The paths that argv[0] may stand for, by the PATH of the agent, not ours."""
        name = self.argv[0]
        if b"/" in name:
            return [name]
        path = self.env.get(b"PATH", os.defpath.encode())
        return [os.path.join(folder or b".", name) for folder in path.split(b":")]


def as_list(raw: dict[str, object], key: str) -> list[object]:
    value = raw.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"{key} is not a list")
    return value


def seconds(raw: dict[str, object], key: str, default: float) -> float:
    value = raw.get(key, default)
    if not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        raise ValueError(f"{key} is not a number of seconds")
    return float(value)


def encoded(text: object, key: str) -> bytes:
    if not isinstance(text, str) or "\0" in text:
        raise ValueError(f"{key} holds something that is not text without NUL")
    return text.encode("utf-8", "surrogateescape")


def shown(text: bytes) -> str:
    """For the pane: no control character of a file's name reaches the terminal."""
    return "".join(mark if mark.isprintable() else "?" for mark in text.decode("utf-8", "replace"))


# -- the agent's process


class NotStarted(Exception):
    def __init__(self, code: int, sentence: str) -> None:
        self.code, self.sentence = code, sentence


def spawn(spec: Spec, pane: Pane) -> int:
    """Start the agent in a foreground process group of its own; returns its pid once it runs. Raises NotStarted."""
    report, tell = os.pipe()  # closed by a successful exec, else it brings the error
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    try:
        pid = os.fork()
        if pid == 0:
            become(spec, pane, tell)
    except OSError as fault:
        raise NotStarted(126, f"this host starts no more processes ({fault.strerror}); end some and retry") from None
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    os.close(tell)
    try:
        os.setpgid(pid, pid)  # by both, so that neither comes too late
    except OSError:
        pass
    pane.give_to(pid)
    said = os.read(report, 256)
    os.close(report)
    if said:
        os.waitpid(pid, 0)
        raise NotStarted(*explained(spec, said.decode()))
    return pid


def become(spec: Spec, pane: Pane, tell: int) -> NoReturn:
    """The child's side: turns into the agent, or tells ``step errno index`` and ends."""
    step, index, first = "cwd", 0, (errno.ENOENT, 0)
    try:
        os.setpgid(0, 0)
        pane.give_to(os.getpid())
        signal.set_wakeup_fd(-1)
        for number in range(1, signal.NSIG):
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                pass  # KILL and STOP, and those that the C library keeps to itself
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.chdir(spec.cwd)
        step = "exec"
        for index, path in enumerate(spec.programs()):
            try:
                os.execve(path, spec.argv, spec.env)  # noqa: S606
            except OSError as fault:
                nowhere = fault.errno in (errno.ENOENT, errno.ENOTDIR) and not os.path.exists(path)
                if not nowhere and not first[1]:
                    first = (fault.errno or 0, index + 1)
        os.write(tell, b"exec %d %d" % first)
    except OSError as fault:
        os.write(tell, b"%s %d 0" % (step.encode(), fault.errno or 0))
    finally:
        os._exit(127)


def explained(spec: Spec, said: str) -> tuple[int, str]:
    """Exit code as a shell gives it, and the operator's sentence."""
    step, number, nth = said.split()
    why, cwd = os.strerror(int(number)), shown(spec.cwd)
    if step == "cwd":
        if int(number) == errno.ENOENT:
            return 126, f"the working directory {cwd} does not exist; create it or name another"
        return 126, f"the working directory {cwd} cannot be entered ({why}); name another"
    if int(nth) == 0:
        if b"/" in spec.argv[0]:
            return 127, f"{shown(spec.argv[0])} does not exist; install it or correct the provider's binary"
        return 127, f"{spec.name} is not on its PATH ({shown(spec.env.get(b'PATH', b''))}); install it or extend PATH"
    path = shown(spec.programs()[int(nth) - 1])
    if int(number) == errno.EACCES:
        return 126, f"{path} may not be executed; chmod +x it or name another binary"
    if int(number) in (errno.ENOENT, errno.ENOTDIR):
        return 126, f"{path} needs an interpreter that does not exist; install it or correct its first line"
    if int(number) == errno.E2BIG:
        return 126, f"the command line of {path} is too long; shorten the prompt"
    return 126, f"{path} cannot be started ({why}); name a program for this machine"


def follow(pid: int, pane: Pane) -> int:
    """Wait for the agent's end and return its wait status; meanwhile signals are passed on and escalate."""
    kill_at = None
    while True:
        for number in pane.wait(pane.spool.retry_at, kill_at):
            if number in STOPS and not pane.stopping:
                pane.stopping, kill_at = True, time.monotonic() + pane.grace_s
            if number in PASSED_ON:
                tell_group(pid, number)
            if number in STOPS:
                tell_group(pid, signal.SIGCONT)
        if kill_at is not None and time.monotonic() >= kill_at:
            tell_group(pid, signal.SIGKILL)
            kill_at = None
        changed, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if changed and not os.WIFSTOPPED(status):
            return status
        if changed:  # nobody could say fg here
            pane.give_to(pid)
            tell_group(pid, signal.SIGCONT)
        pane.spool.flush()


def clear_group(pid: int, pane: Pane) -> None:
    """End what the agent left behind in its group: TERM, a short wait or the next stop signal, KILL."""
    for number, patience in ((signal.SIGTERM, LEFTOVER_S), (signal.SIGKILL, KILLED_S)):
        until = time.monotonic() + patience
        left = tell_group(pid, number) and tell_group(pid, signal.SIGCONT)
        while left and time.monotonic() < until:
            if any(came in STOPS for came in pane.wait(time.monotonic() + POLL_S)):
                pane.stopping, until = True, 0.0
            left = group_lives(pid)
        if not left:
            return


def group_lives(group: int) -> bool:
    """Whether a member still runs. Where nobody reaps orphans, as in many containers, the dead keep a group filled."""
    if not tell_group(group, 0):
        return False
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return True
    wanted = b"%d" % group
    stats = (contents(f"/proc/{pid}/stat").rpartition(b")")[2].split() for pid in pids)
    return any(stat[2] == wanted and stat[0] not in (b"Z", b"X") for stat in stats if stat)


def tell_group(pid: int, number: int) -> bool:
    try:
        os.killpg(pid, number)
    except OSError:
        return False
    return True


# -- who is who


def identity(pid: int) -> dict[str, object]:
    me = os.getpid()
    boot = contents("/proc/sys/kernel/random/boot_id").decode().strip()
    pids = {"pid": pid, "pid_started": start_time(pid), "wrapper_pid": me, "wrapper_started": start_time(me)}
    return {**pids, "pane": os.environ.get("TMUX_PANE", ""), "boot": boot}


def start_time(pid: int) -> int:
    """When a process began, as its kernel counts: clock ticks since boot on Linux, else epoch seconds; 0 unknown."""
    fields = contents("/proc/%d/stat" % pid).rpartition(b")")[2].split()
    if fields:
        return int(fields[19])
    import subprocess  # macOS shows it to ps only; the agent runs already, so the cost of the import delays nobody

    env = {"LC_ALL": "C", "TZ": "UTC0", "PATH": "/bin:/usr/bin"}
    try:
        ps = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], env=env, stdout=subprocess.PIPE, timeout=2)
        return epoch_seconds(ps.stdout.decode())
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0


def epoch_seconds(lstart: str) -> int:
    """``Mon Nov 30 08:59:21 2026`` in UTC, as ps prints it in the C locale. Raises ValueError."""
    import calendar

    _, month, day, clock, year = lstart.split()
    number = "JanFebMarAprMayJunJulAugSepOctNovDec".index(month) // 3 + 1
    return calendar.timegm((int(year), number, int(day), *map(int, clock.split(":"))))


def contents(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


# -- the spool


class Spool:
    """Lines for the host's spool, kept until they are on disk: a full disk ends neither the agent nor its report."""

    def __init__(self) -> None:
        self.path = b""
        self.head = ""
        self.waiting = b""
        self.pause = 0.0
        self.retry_at: float | None = None
        self.trouble = ""
        """Why the last try failed; empty when it did not, or when somebody else held the lock."""

    def address(self, raw: dict[str, object]) -> None:
        """Where lines go and whom they speak of. Raises ValueError."""
        run, attempt, spool = raw.get("run"), raw.get("attempt"), raw.get("spool")
        if not isinstance(run, str) or not run or type(attempt) is not int or not isinstance(spool, str) or not spool:
            raise ValueError("run, attempt or spool is missing")
        self.path = encoded(spool, "spool")
        self.head = f'{{"v":1,"run":{quoted(run)},"attempt":{attempt:d},"source":"wrapper","kind":'

    def put(self, kind: str, payload: Mapping[str, object]) -> None:
        """Stamp a line now and try to write it; without an address it is for nobody."""
        if self.path:
            line = f'{self.head}"{kind}","at":"{stamp()}","payload":{to_json(payload)}}}\n'
            self.waiting += line.encode("ascii")
            self.flush(force=True)

    def flush(self, force: bool = False) -> None:
        """Write what waits if its time has come; never raises and never blocks on the lock."""
        if not self.waiting or not (force or time.monotonic() >= (self.retry_at or 0)):
            return
        try:
            append(self.path, lambda: self.waiting)
        except OSError as fault:
            locked = isinstance(fault, BlockingIOError)
            self.trouble = "" if locked else fault.strerror or str(fault)
            self.pause = min(MOST_S, max(self.pause * 2, LOCKED_S if locked else FULL_S))
            self.retry_at = time.monotonic() + self.pause
        else:
            self.waiting, self.pause, self.retry_at, self.trouble = b"", 0.0, None, ""


def append(path: bytes, compose: Callable[[], bytes]) -> None:
    """Append what is composed under the lock, whole or not at all; it is on disk on return.

    BlockingIOError when somebody else holds the lock. The wrapper and the signal helper have this function alike.
    """
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(fd).st_nlink:
            raise BlockingIOError(errno.EAGAIN, "the spool was replaced while we opened it")
        data, end = compose(), os.lseek(fd, 0, os.SEEK_END)
        if end and os.pread(fd, 1, end - 1) != b"\n":
            data = b"\n" + data  # a crash cut the last line off; it stays one bad line
        try:
            while data:
                data = data[os.write(fd, data) :]
        except OSError:
            os.ftruncate(fd, end)
            raise
        fcntl.flock(fd, fcntl.LOCK_UN)  # others append while our line sinks to the disk
        ring(path)
        os.fsync(fd)
    finally:
        os.close(fd)


def ring(spool: bytes) -> None:
    """Wake the executor that waits for the spool to grow; without one nobody is there to hear it."""
    try:
        bell = os.open(os.path.join(os.path.dirname(spool), b"bell"), os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return
    try:
        os.write(bell, b"!")
    except OSError:
        pass  # so full that it rings anyway
    finally:
        os.close(bell)


def stamp() -> str:
    now = time.time_ns() // 1000
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // 1000000)) + ".%06dZ" % (now % 1000000)


def to_json(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(key)}:{to_json(one)}" for key, one in value.items()) + "}"
    if isinstance(value, str):
        return quoted(value)
    return "null" if value is None else repr(value).lower()  # True, False, whole numbers and fractions


# -- the pane


class Pane:
    """The terminal we stand in, the signals sent to us, and what becomes of both when the agent has ended."""

    def __init__(self) -> None:
        self.spool = Spool()
        self.hold_open_s, self.grace_s = float(HOLD_OPEN_S), float(GRACE_S)
        self.stopping = False
        self.read_end, write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        os.set_blocking(write_end, False)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        for number in IGNORED:
            signal.signal(number, signal.SIG_IGN)
        for number in (*PASSED_ON, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)  # its number arrives in the pipe; nothing happens in a handler
        try:
            self.modes: Any = termios.tcgetattr(0)
        except termios.error:
            self.modes = None

    def wait(self, *until: float | None, typed: bool = False) -> bytes:
        """Numbers of the signals that came, or none when the first of the times (monotonic) is over."""
        times = [moment for moment in until if moment is not None]
        left = max(0.0, min(times) - time.monotonic()) if times else None
        sources = [self.read_end, 0] if typed and self.modes else [self.read_end]
        ready = select.select(sources, [], [], left)[0]
        if 0 in ready and not self._swallow():
            return bytes((signal.SIGHUP,))
        try:
            return os.read(self.read_end, 512)
        except BlockingIOError:
            return b""

    def _swallow(self) -> bool:
        """Drop what is typed to nobody; False when the terminal is gone."""
        try:
            return bool(os.read(0, 4096))
        except OSError:
            return False

    def give_to(self, group: int) -> None:
        """Make a process group the foreground of the terminal."""
        if self.modes:
            try:
                os.tcsetpgrp(0, group)
            except OSError:
                pass  # not our controlling terminal, or the group is gone

    def close(self, style: str, sentence: str) -> None:
        """Put the terminal right, say how it ended, and stay for a while so that it can be read."""
        stay = 0.0 if self.stopping else self.hold_open_s
        self._settle(quiet=True)
        self.say(style, f"pam: {sentence}" + (f" · this pane closes in {span(stay)}" if stay else ""), SANE_SCREEN)
        self._hold(time.monotonic() + stay)
        self._settle(quiet=False)

    def _hold(self, until: float) -> None:
        """Stay until the time is over, or a stop signal; a little longer while the end is not on disk."""
        last, told = until + self.grace_s, ""
        while True:
            self.spool.flush()
            now, unsaved = time.monotonic(), bool(self.spool.waiting)
            if now >= (last if unsaved else until):
                return
            if self.spool.trouble and not told:
                told = self.spool.trouble
                self.say(RED, f"pam: this end is not saved yet ({told}); pam tries again until this pane closes")
            elif told and not unsaved:
                told = ""
                self.say(GREEN, "pam: this end is saved now")
            came = self.wait(until if now < until else last, self.spool.retry_at, typed=True)
            if any(number in STOPS for number in came):
                self.spool.flush(force=True)
                return

    def _settle(self, quiet: bool) -> None:
        if not self.modes:
            return
        self.give_to(os.getpgrp())
        modes = [*self.modes]
        if quiet:
            modes[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
        try:
            termios.tcflow(0, termios.TCOON)  # Ctrl-S would stop our last words, and us with them
            termios.tcsetattr(0, termios.TCSANOW, modes)
        except termios.error:
            pass

    def say(self, style: str, sentence: str, before: str = "") -> None:
        data = f"{before}\r\n{style}{sentence}\x1b[m\x1b[K\r\n".encode("utf-8", "replace")
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:
            pass  # the terminal is gone; the spool has the end


def signal_name(number: int) -> str:
    for name in dir(signal):
        if name.startswith("SIG") and name[3] != "_" and getattr(signal, name) == number:
            return name
    return f"signal {number}"


def span(length: float) -> str:
    """A time as a person says it: ``0.4s``, ``45s``, ``12m 3s``, ``2h 5m``; whole minutes as ``5 min``."""
    whole = int(length)
    if whole < 60:
        return f"{length:.1f}s" if length < 10 and length % 1 else f"{whole}s"
    if whole % 60 == 0 and whole < 3600:
        return f"{whole // 60} min"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60}s"
    return f"{whole // 3600}h {whole % 3600 // 60}m"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else "usage: pam_exec.py SPEC")
