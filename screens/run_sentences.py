"""What happens to runs, as sentences: one for each topic that begins with ``run.``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from screens import amounts
from screens.chips import FAILURES
from screens.confine import one_line
from screens.facts import Facts, colon, counted, lasted, number, word
from store.usage import WHOLE

_ANOMALIES: Final = {
    "runs_on_wrong_kind": "works on an item that cannot have runs",
    "at_work_without_host": "is at work on no host",
    "waits_on_a_host": "is pending, and yet on a host",
    "foreign_session_name": "has a session with another name than its own",
}

_DOES: Final = {"working": "works", "waiting": "waits for you", "idle": "is idle", "unknown": "does nobody knows what"}
_KINDS: Final = {"completed": "says that its turn is over", "failed": "says that its turn failed"}


def _created(facts: Facts) -> str:
    return "asked for, to go on with a conversation" if facts.get("resumed_from") else "asked for"


def _finished(facts: Facts) -> str:
    return f"ended{_ending(facts)}{colon(facts, 'spawn_error')}{_again(facts)}"


def _failed(facts: Facts) -> str:
    return f"failed{_why(facts.get('failure_reason'), ': ')}{colon(facts, 'detail')}{_again(facts)}"


def _stopped(facts: Facts) -> str:
    how = " by force" if facts.get("killed") else ""
    alive = facts.get("survivors")
    left = f"; still alive: {', '.join(map(str, alive))}" if isinstance(alive, list) and alive else ""
    return f"stopped{how}{lasted(facts, 'took_s', ' within ')}{left}"


def _stop_requested(facts: Facts) -> str:
    if facts.get("reason") == "hung":
        return f"asked to stop: it seems to hang{lasted(facts, 'silent_s', ', silent for ')}"
    return f"asked to stop{colon(facts, 'reason')}"


def _signal(facts: Facts) -> str:
    """What the agent does, where that is said; else the kind of the signal, and all of what was said."""
    said = facts.get("said")
    told = said if isinstance(said, Mapping) else {}
    does = _DOES.get(str(told.get("activity"))) if facts.get("kind") == "progress" else None
    if does is None:
        return f"{_KINDS.get(str(facts.get('kind')), word(facts, 'kind', 'signal'))}{_said(facts)}"
    return does + _joined(told, "note", "message")


def _silent(facts: Facts) -> str:
    hint = "perhaps it hangs" if facts.get("level") == "silent" else "perhaps it is done"
    return f"has printed nothing{lasted(facts, 'silent_s', ' for ')}; {hint}"


def _released(facts: Facts) -> str:
    holder = word(facts, "holder", "somebody")
    if facts.get("forced"):
        return f"terminal taken away from {holder}"
    return f"terminal of {holder} was left idle" if facts.get("expired") else f"terminal given back by {holder}"


def _requeued(facts: Facts) -> str:
    return f"put back in the queue{_why(facts.get('last_failure_reason'), ' after: ')}"


def _exhausted(facts: Facts) -> str:
    tries = counted(facts, "attempts", "attempt")
    return f"given up{f' after {tries}' if tries else ''}{_why(facts.get('last_failure_reason'), ': ')}"


def _output(facts: Facts) -> str:
    size = facts.get("bytes")
    told = f"{amounts.compact(size)} bytes" if isinstance(size, int) else "something"
    lines = counted(facts, "lines", "line")
    return f"has written {told}{f' in {lines}' if lines else ''}; the log keeps {_kept(facts)}"


def _kept(facts: Facts) -> str:
    return "the end of it" if facts.get("rotated") else "it"


def _used(facts: Facts) -> str:
    usage = facts.get("usage")
    told = usage if isinstance(usage, Mapping) else {}
    counts = [count for name in WHOLE if isinstance(count := told.get(name), int)]
    cost = told.get("cost_usd")
    return f"has used {amounts.compact(sum(counts)) if counts else 'some'} tokens" + (
        f", {amounts.money(cost)}" if isinstance(cost, (int, float)) else ""
    )


def _orphan(what: str) -> Callable[[Facts], str]:
    return lambda facts: f"{word(facts, 'session_name', 'a session')} {what}"


RUNS: Final[Mapping[str, Callable[[Facts], str]]] = {
    "run.created": _created,
    "run.spawning": lambda facts: f"taken by {word(facts, 'host', 'a host')}",
    "run.started": lambda facts: f"agent runs{number(facts, 'pid', ', pid ')}",
    "run.finished": _finished,
    "run.failed": _failed,
    "run.stopped": _stopped,
    "run.stop_requested": _stop_requested,
    "run.requeued": _requeued,
    "run.restart_exhausted": _exhausted,
    "run.restart_called_off": lambda _: "stays failed: its restart was called off",
    "run.first_run_answered": lambda facts: f"first question answered beforehand{colon(facts, 'what')}",
    "run.signal_received": _signal,
    "run.silent": _silent,
    "run.silence_ended": lambda _: "prints again",
    "run.prompt_queued": lambda facts: f"prompt queued{colon(facts, 'first_line')}",
    "run.prompt_delivered": lambda _: "prompt typed",
    "run.prompt_confirmed": lambda _: "prompt taken up",
    "run.prompt_unconfirmed": lambda facts: f"prompt perhaps not taken up{colon(facts, 'reason')}",
    "run.prompt_refused": lambda facts: f"prompt not typed{colon(facts, 'reason')}",
    "run.keys_queued": lambda facts: f"keys queued{_keys(facts)}",
    "run.keys_sent": lambda _: "keys pressed",
    "run.keys_unconfirmed": lambda facts: f"keys perhaps not pressed{colon(facts, 'reason')}",
    "run.keys_refused": lambda facts: f"keys not typed{colon(facts, 'reason')}",
    "run.lease_acquired": lambda facts: f"terminal taken by {word(facts, 'holder', 'somebody')}",
    "run.lease_released": _released,
    "run.usage_updated": _used,
    "run.output_appended": _output,
    "run.alive_after_end": lambda facts: f"is over, and yet its agent lives{number(facts, 'agent_pid', ', pid ')}",
    "run.session_removed": lambda facts: f"a session under its name was ended{colon(facts, 'why')}",
    "run.orphan_detected": _orphan("belongs to no run"),
    "run.orphan_forgotten": _orphan("has a run after all"),
    "run.orphan_removed": _orphan("was ended: it belonged to no run"),
    "run.integrity_anomaly": lambda facts: _ANOMALIES.get(
        str(facts.get("anomaly")), f"is in a state that should not be{colon(facts, 'anomaly')}"
    ),
}
"""Topic to sentence."""


def _why(reason: object, before: str) -> str:
    return f"{before}{FAILURES.get(str(reason), one_line(str(reason)))}" if reason else ""


def _again(facts: Facts) -> str:
    """What follows a failure."""
    if facts.get("retry_at"):
        return "; it is started again"
    return "; another try would fail the same way" if facts.get("held") else ""


def _ending(facts: Facts) -> str:
    code = facts.get("exit_code")
    if isinstance(code, int) and code < 0:
        return f" by signal {-code}"
    return number(facts, "exit_code", " with ")


def _keys(facts: Facts) -> str:
    keys = facts.get("keys")
    return f": {one_line(' '.join(map(str, keys)))}" if isinstance(keys, list) and keys else ""


def _said(facts: Facts) -> str:
    said = facts.get("said")
    if isinstance(said, Mapping):
        return _joined(said, "activity", "note", "message", "result", "error")
    return colon(facts, "said")


def _joined(said: Mapping[str, object], *keys: str) -> str:
    words = [str(said[key]) for key in keys if said.get(key)]
    return ": " + one_line(", ".join(words)) if words else ""
