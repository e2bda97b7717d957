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
       with any: --source agent|hook:NAME   --stdin (the text comes from standard input)
       pam_signal hook NAME [EVENT [PAYLOAD]]   what an agent CLI calls; its payload comes from standard input"""

FIELDS = {
    "progress": ("message", "percent", "activity", "note"),
    "completed": ("result", "reason"),
    "failed": ("error",),
}
SPOKEN = {"progress": "message", "completed": "reason", "failed": "error"}  # what --stdin fills
CHOICES = {"activity": ("working", "waiting", "idle"), "result": ("success", "partial_success", "user_rejected")}
KEYS = (b"KEY", b"TOKEN", b"SECRET", b"PASSWORD", b"PASSWD", b"CREDENTIAL", b"CREDENTIALS")  # how their names end
KEY_MIN = 8  # bytes of a value that can be a key
PATIENCE_S = 1.0  # for a held lock, a full disk, a standard input that does not end
LOCKED_S, FULL_S = 0.005, 0.05  # waits before the next try
TEXT_MAX = 4000  # characters of one value; a spool is no transcript
RAW_MAX = 40000  # bytes of a hook's payload as it came; a longer one is cut down
PAYLOAD_MAX = 4 << 20  # bytes of a payload that are read at all


def main(words: list[str]) -> None:
    """Say one thing about the run that the environment names, or say on standard error why not."""
    deadline = time.monotonic() + PATIENCE_S
    try:
        if not words or words[0] in ("-h", "--help"):
            raise Refused(USAGE)
        if words[0] == "hook":
            return hook(words[1:], deadline)
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


def hook(words: list[str], deadline: float) -> None:
    """Pass a hook's payload on as it came; the executor knows what it means. Silent outside a run of pam's."""
    if not 1 <= len(words) <= 3 or not words[0].replace("-", "").replace("_", "").isalnum():
        raise Refused(USAGE)
    if not os.environb.get(b"PAM_RUN"):
        return
    run, attempt, spool = addressed()
    event = cleaned(os.fsencode(words[1]))[:100] if len(words) > 1 else ""
    said = os.fsencode(words[2]) if len(words) > 2 else standard_input(deadline, PAYLOAD_MAX)
    payload = {"event": event, "raw": shortened(said)}  # type: dict[str, object]
    send(run, attempt, spool, "hook", "hook:" + words[0], payload, deadline)


def shortened(payload: bytes) -> str:
    """The payload, with its long texts cut where it is long; what cannot be cut down is left out."""
    if len(payload) > RAW_MAX:
        import json  # 5 ms that a payload of the usual length does not pay

        def cut(value: object, most: int) -> object:
            if isinstance(value, str):
                return value[:most]
            if isinstance(value, list):
                return [cut(one, most) for one in value[:20]]
            return {key[:100]: cut(one, most) for key, one in value.items()} if isinstance(value, dict) else value

        try:
            whole = json.loads(payload.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return ""
        for most in (2000, 200):
            payload = json.dumps(cut(whole, most)).encode()
            if len(payload) <= RAW_MAX:
                break
    return payload.decode("utf-8", "replace") if len(payload) <= RAW_MAX else ""


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


def standard_input(deadline: float, most: int = 4 * TEXT_MAX) -> bytes:
    """What stands on standard input until its end, or until the time is over."""
    import select

    text = b""
    while len(text) < most and select.select([0], [], [], max(0.0, deadline - time.monotonic()))[0]:
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
    """Append the line; a one-shot kind waits out a full disk, what is repeated only a held lock. Raises OSError."""
    head = f'{{"v":1,"run":{quoted(run)},"attempt":{attempt},"source":{quoted(source)},"kind":"{kind}"'
    tail = f',"at":"{stamp()}","payload":{hidden(to_json(payload))}}}\n'
    counter = b"%s/seq/%s-%d" % (os.path.dirname(spool), run.encode(), attempt)
    repeated = kind in ("progress", "hook")

    def compose() -> bytes:
        # Under the lock, so that the order of the lines is the order of their seq.
        return (head + (f',"seq":{next_seq(counter)}' if repeated else "") + tail).encode("ascii")

    while True:
        try:
            return append(spool, compose)
        except OSError as fault:
            locked = isinstance(fault, BlockingIOError)
            if time.monotonic() + FULL_S > deadline or not (locked or not repeated):
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


def hidden(payload: str) -> str:
    """The payload without the keys that the agent was given: it repeats what it reads, and a spool holds none."""
    named = os.environb.get(b"PAM_KEYS", b"").split()
    for name, value in os.environb.items():
        if len(value) >= KEY_MIN and (name in named or name.upper().endswith(KEYS)):
            form = value.decode("utf-8", "replace")
            for _ in range(4):  # as it is, and in a text of JSON within JSON within JSON
                payload, form = payload.replace(form, "[hidden]"), quoted(form)[1:-1]
    return payload


def complain(line: str) -> None:
    try:
        os.write(2, f"pam_signal: {line}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass  # nobody listens


if __name__ == "__main__":
    main(sys.argv[1:])
