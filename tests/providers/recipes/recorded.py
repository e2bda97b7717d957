"""Payloads that real CLIs gave to their hooks, one of each event, with long texts cut."""

from __future__ import annotations

import json
from pathlib import Path

_PAYLOADS = Path(__file__).with_name("payloads")


def payloads(cli: str) -> dict[str, dict[str, object]]:
    """By the event's name; where one event says several things, the name goes on with ``:`` and which."""
    lines = (_PAYLOADS / f"{cli}.jsonl").read_text().splitlines()
    return {said["event"]: said["payload"] for said in map(json.loads, lines)}
