"""Append what a hook or an agent says about its run to the host's spool: the end of ``$PAM_SIGNAL``.

Started as ``python3 -I -S -E pam_signal.py KIND …``: standard library only, Python 3.8 or newer, Linux and macOS.
It never disturbs the CLI that calls it: nothing on standard output, about a second at the most, always exit code 0.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import time

try:
    from _json import encode_basestring_ascii as quoted
except ImportError:  # not CPython
    from json.encoder import encode_basestring_ascii as quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Mapping

USAGE = """usage: pam_signal progress [--message T] [--percent 0-100] [--activity working|waiting|idle] [--note T]
       pam_signal completed [--result success|partial_success|user_rejected] [--reason T]
       pam_signal failed --error T
       with any: --source agent|hook:NAME   --stdin (the text comes from standard input)"""

FIELDS = {
    "progress": ("message", "percent", "activity", "note"),
    "completed": ("result", "reason"),
    "failed": ("error",),
}
SPOKEN = {"progress": "message", "completed": "reason", "failed": "error"}  # what --stdin fills
CHOICES = {"activity": ("working", "waiting", "idle"), "result": ("success", "partial_success", "user_rejected")}
PATIENCE_S = 1.0  # for a held lock, a full disk, a standard input that does not end
LOCKED_S, FULL_S = 0.005, 0.05  # waits before the next try
TEXT_MAX = 4000  # characters of one value; a spool is no transcript


def main(words: list[str]) -> None:
    """Say one thing about the run that the environment names, or say on standard error why not."""
    deadline = time.monotonic() + PATIENCE_S
    try:
        if not words or words[0] in ("-h", "--help"):
            raise Refused(USAGE)
        kind, source, payload, from_stdin = understood(words)
        run, attempt, spool = addressed()
        if from_stdin and SPOKEN[kind] not in payload:
            payload[SPOKEN[kind]] = cleaned(standard_input(deadline))
        checked(kind, payload)
        send(run, attempt, spool, kind, source, payload, deadline)
    except Refused as why:
        complain(str(why))
    except OSError as fault:
        complain(f"not recorded: {fault.strerror or fault}")
    except Exception as fault:  # noqa: BLE001  # the border to the CLI that called us: it must never see us fail
        complain(f"not recorded, a fault of pam's: {fault!r}")


class Refused(Exception):
    """Nothing is recorded; the text is the line for standard error."""


def understood(words: list[str]) -> tuple[str, str, dict[str, object], bool]:
    """Kind, source, payload and whether the text comes from standard input. Raises Refused."""
    kind, source, payload, from_stdin = words[0], "agent", {}, False  # type: str, str, dict[str, object], bool
    if kind not in FIELDS:
        raise Refused(f"{kind!r} is no kind of signal; it is one of {', '.join(FIELDS)}")
    rest = iter(words[1:])
    for word in rest:
        name, equals, value = word[2:].partition("=")
        if word == "--stdin":
            from_stdin = True
            continue
        if not word.startswith("--") or name not in (*FIELDS[kind], "source"):
            raise Refused(f"{kind} does not know {word!r}; it takes --{', --'.join(FIELDS[kind])}, --source, --stdin")
        given = value if equals else next(rest, None)
        if given is None:
            raise Refused(f"--{name} needs a value")
        if name == "source":
            source = cleaned(os.fsencode(given))
        else:
            payload[name] = cleaned(os.fsencode(given))
    label, _, who = source.partition(":")
    if source != "agent" and (label != "hook" or not who.replace("-", "").replace("_", "").isalnum()):
        raise Refused(f"{source!r} is no source; it is agent or hook:NAME")
    return kind, source, payload, from_stdin


def cleaned(text: bytes) -> str:
    """UTF-8 whatever the locale says; no lone surrogate reaches a reader."""
    return text.decode("utf-8", "replace")[:TEXT_MAX]


def addressed() -> tuple[str, int, bytes]:
    """Run, attempt and spool from the environment; guessing would put words into another run's mouth."""
    env = os.environb
    run, attempt, spool = env.get(b"PAM_RUN", b""), env.get(b"PAM_ATTEMPT", b""), env.get(b"PAM_SPOOL", b"")
    missing = [name for name in ("PAM_RUN", "PAM_ATTEMPT", "PAM_SPOOL") if not env.get(name.encode())]
    if missing:
        raise Refused(f"not inside a pam run ({', '.join(missing)} not set); nothing recorded")
    if not run.replace(b"-", b"").isalnum() or not attempt.isdigit() or not spool.startswith(b"/"):
        raise Refused("PAM_RUN, PAM_ATTEMPT or PAM_SPOOL is not what pam sets; nothing recorded")
    return run.decode("ascii", "replace"), int(attempt), spool


def standard_input(deadline: float) -> bytes:
    """What stands on standard input until its end, or until the time is over."""
    import select

    text = b""
    while len(text) < 4 * TEXT_MAX and select.select([0], [], [], max(0.0, deadline - time.monotonic()))[0]:
        more = os.read(0, 65536)
        if not more:
            break
        text += more
    return text.strip()


def checked(kind: str, payload: dict[str, object]) -> None:
    """Refuse values that no reader would take; ``percent`` becomes a whole number."""
    for name, choices in CHOICES.items():
        if payload.get(name, choices[0]) not in choices:
            raise Refused(f"--{name} is one of {', '.join(choices)}, not {payload[name]!r}")
    percent = str(payload.get("percent", "0"))
    if not (percent.isascii() and percent.isdigit() and int(percent) <= 100):
        raise Refused(f"--percent is a whole number from 0 to 100, not {percent!r}")
    if "percent" in payload:
        payload["percent"] = int(percent)
    if kind == "completed":
        payload.setdefault("result", "success")
    elif not payload:
        raise Refused(f"{kind} says nothing; give it --{' or --'.join(FIELDS[kind])}")


def send(
    run: str, attempt: int, spool: bytes, kind: str, source: str, payload: Mapping[str, object], deadline: float
) -> None:
    """Append the line; a one-shot kind waits out a full disk, progress only a held lock. Raises OSError."""
    head = f'{{"v":1,"run":{quoted(run)},"attempt":{attempt},"source":{quoted(source)},"kind":"{kind}"'
    tail = f',"at":"{stamp()}","payload":{to_json(payload)}}}\n'
    counter = b"%s/seq/%s-%d" % (os.path.dirname(spool), run.encode(), attempt)

    def compose() -> bytes:
        # Under the lock, so that the order of the lines is the order of their seq.
        return (head + (f',"seq":{next_seq(counter)}' if kind == "progress" else "") + tail).encode("ascii")

    while True:
        try:
            return append(spool, compose)
        except OSError as fault:
            locked = isinstance(fault, BlockingIOError)
            if time.monotonic() + FULL_S > deadline or not (locked or kind != "progress"):
                raise
            time.sleep(LOCKED_S if locked else FULL_S)


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


def next_seq(counter: bytes) -> int:
    """One more than the last seq given out. Stored before it is used: a failure leaves a gap, never a repeat."""
    os.makedirs(os.path.dirname(counter), 0o700, exist_ok=True)
    fd = os.open(counter, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        said = os.read(fd, 21).strip()
        # What is no number was damaged; the clock is above any count before it.
        seq = (int(said) if said.isdigit() else int(time.time()) if said else 0) + 1
        os.pwrite(fd, b"%020d\n" % seq, 0)  # of one width: nothing is cut off, so nothing is ever half there
    finally:
        os.close(fd)
    return seq


def stamp() -> str:
    now = time.time_ns() // 1000
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // 1000000)) + ".%06dZ" % (now % 1000000)


def to_json(payload: Mapping[str, object]) -> str:
    parts = (f'"{key}":{quoted(value) if isinstance(value, str) else value}' for key, value in payload.items())
    return "{" + ",".join(parts) + "}"


def complain(line: str) -> None:
    try:
        os.write(2, f"pam_signal: {line}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass  # nobody listens


if __name__ == "__main__":
    main(sys.argv[1:])
