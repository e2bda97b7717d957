"""What the operator and scripts read: answers on stdout, narration on stderr, control characters on neither."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime

from store.clock import to_text

Data = Mapping[str, object] | Callable[[], Mapping[str, object]]
Text = str | Callable[[], str]
"""What is made only when it is wanted, or is there already."""

STYLES = {
    "running": "32",
    "online": "32",
    "ok": "32",
    "exited": "32",
    "done": "32",
    "doing": "36",
    "working": "36",
    "spawning": "36",
    "waiting": "1;33",
    "pending": "33",
    "suspect": "1;33",
    "failed": "31",
    "problem": "31",
    "offline": "31",
    "stopped": "2",
    "cancelled": "2",
    "disabled": "2",
    "archived": "2",
    "na": "2",
}
"""SGR parameters of the words that tell a state; the word says it all without them."""


def put(text: str) -> None:
    """A line or more of the answer."""
    sys.stdout.write(text if not text or text.endswith("\n") else text + "\n")


def put_json(data: Mapping[str, object]) -> None:
    """The answer as one JSON object; spread over lines for a person at a terminal."""
    put(to_json(data, indent=2 if is_terminal(sys.stdout) else None))


def to_json(data: object, *, indent: int | None = None) -> str:
    """JSON in the characters stdout can take; times as ISO 8601 with ``Z``."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(data, default=_plain, ensure_ascii=not unicode, indent=indent, check_circular=False)


def say(sentence: str) -> None:
    """A line of narration; when nobody can hear it, the command goes on."""
    with suppress(OSError):
        sys.stderr.write(clean(sentence) + "\n")


def clean(text: str) -> str:
    """``text`` without anything a terminal could act on; it may keep its lines."""
    if text.isascii() and text.replace("\n", " ").isprintable():
        return text
    from screens.confine import confined  # its patterns cost a millisecond that plain text need not pay

    return "\n".join(confined(line.replace("\t", "    ")) for line in text.split("\n"))


def clean_line(text: str) -> str:
    """``text`` on one line, without anything a terminal could act on."""
    if text.isascii() and text.isprintable():
        return text
    from screens.confine import one_line

    return one_line(text)


def is_terminal(stream: object) -> bool:
    """Whether a person reads ``stream``."""
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty())


def terminal_width() -> int | None:
    """Columns of the terminal that reads the answer; None when it goes elsewhere and need not be cut."""
    if not is_terminal(sys.stdout):
        return None
    named = os.environ.get("COLUMNS", "")
    if named.isdigit() and int(named) > 0:
        return int(named)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def paints() -> bool:
    """Whether colours are wanted: on a terminal, unless NO_COLOR or a dumb one says otherwise."""
    return is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(word: str, padded: str) -> str:
    """``padded`` in the colour of ``word``, where it has one and colours are wanted."""
    style = STYLES.get(word)
    return f"\x1b[{style}m{padded}\x1b[0m" if style is not None and paints() else padded


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        # As `to_text` has it; records hold UTC, and a list of them holds thousands.
        text = value.isoformat(timespec="microseconds")
        return text[:-6] + "Z" if text.endswith("+00:00") else to_text(value)
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
