"""A project whose every text comes from somebody who wants to break the screen, and how a broken one is told."""

from __future__ import annotations

import re
from dataclasses import replace

from rich.cells import cell_len
from textual.strip import Strip

from screens.model import HeaderFacts
from store.records import Event
from tests.screens.fake_model import FakeModel, sample, uid

MARK = "31337"
"""Stands in every sequence of the payloads, and nowhere else."""
PAYLOADS = {
    "sgr": f"\x1b[1;3;4;5;7;9;38;2;{MARK};0;0m never closed",
    "osc-title": f"\x1b]0;{MARK}\x07\x1b]2;{MARK}",
    "osc-unclosed": f"a\x1b]52;c;{MARK}",
    "link": f"\x1b]8;;https://example.com/{MARK}\x1b\\click",
    "dcs": f"\x1bP1;2q#{MARK}\x1b\\ \x1bP{MARK}",
    "apc": f"\x1b_G{MARK}\x1b\\ \x1b^{MARK} \x1bX{MARK}",
    "cursor": f"\x1b[{MARK};1H\x1b[2J\x1b[3J\x1bc\x1b[?1049l\x1b[?1003l",
    "c1": f"\x9b{MARK}m\x9d0;{MARK}\x9c\x90{MARK}\x9c\x85\x84",
    "controls": "\x00\x01\x07\x08\x08\x0b\x0c\r\x0e\x0f\x7fx",
    "lines": "one\ntwo\r\nthree\u2028four\u2029five\ttab",
    "wide": "日本語のとても長い題名 한국어 ｗｉｄｅ",
    "combining": "Z\u0300\u0301\u0302\u0303\u0304\u0305a\u0336\u0489l\u035cg\u0361o \u0301\u0301",
    "bidi": "\u202eesrever\u202c \u2067עברית\u2069 \u200fالعربية\u061c \u2066x",
    "emoji": "⚠\ufe0f ❤️ 👩‍👩‍👧‍👦 👍🏽 🇩🇪🇫🇷 1️⃣ 🏴\U000e0067\U000e007f ☺\ufe0e",
    "invisible": "\u200b\u200c\u200d\u2060\ufeff\u00ad\u3164\u115f\U000e0041x\u034f",
    "surrogates": "\ud800\udfff\udc00lone",
    "markup": "[bold red]x[/] [@click=app.quit]q[/] $accent [link=https://example.com]",
    "markdown": "# h\n\n![i](x) [a](javascript:x) <b>\n\n```\n\x1b[31m\n```\n\n|a|b|\n|-|-|\n|日|\u202e|",
    "long": "x" * 1_000_000,
    "long-wide": "語" * 100_000,
}
ACTING = ("sgr", "osc-title", "osc-unclosed", "link", "dcs", "apc", "cursor", "c1", "controls")
ODD = ("wide", "combining", "bidi", "emoji", "invisible", "surrogates")
MIXED = {
    "acting": " ".join(PAYLOADS[name] for name in ACTING),
    "odd": " ".join(PAYLOADS[name] for name in ODD),
    "structured": " ".join(PAYLOADS[name] for name in ("markup", "lines", "markdown", "osc-title")),
    "long": PAYLOADS["long"],
    "long-wide": PAYLOADS["long-wide"],
}
"""All of them in a few texts, for where each costs the start of a control room."""
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
DISPUTED = re.compile(
    "[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\u00ad\u3164\u115f"
    "\U0001f1e6-\U0001f1ff\U000e0000-\U000e0fff]|[\u2600-\u27bf\U0001f300-\U0001faff][\U0001f3fb-\U0001f3ff]"
)
"""What terminals reorder, or measure differently."""


def broken(rows: list[Strip], width: int) -> list[str]:
    """What is wrong with drawn rows: another width than the screen's, a control character, a disputed one."""
    found = []
    for number, row in enumerate(rows):
        text = row.text
        if cell_len(text) != width:
            found.append(f"row {number} is {cell_len(text)} cells wide: {text!r}")
        hits = [hit.group() for rule in (CONTROL, DISPUTED) if (hit := rule.search(text))]
        found += [f"row {number} holds {hit!r}: {text!r}" for hit in hits]
        if any(segment.control for segment in row):
            found.append(f"row {number} holds a control segment")
    return found


SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x1b\\|\x07|\Z)|[ -/]*[0-~]?)", re.DOTALL)


OURS = re.compile(rb"\x1b\[.*|\x1b\]22;[a-z-]*\x07", re.DOTALL)
"""CSI, and the shape of the pointer."""


def foreign(output: bytes) -> list[bytes]:
    """Sequences written to a terminal that are not the control room's own."""
    return [each for each in SEQUENCE.findall(output) if not OURS.fullmatch(each) or MARK.encode() in each]


def poisoned(text: str) -> FakeModel:
    """The sample with ``text`` wherever an agent, an operator or a file can put words."""
    model = sample()
    model.facts = HeaderFacts("here", trouble=text, unread=14)
    some, name = text[:4000], text[:60]
    model.the_projects = [replace(each, name=some, description=some) for each in model.the_projects]
    for key, item in model.items.items():
        labels = tuple(name + label for label in item.labels)
        model.items[key] = replace(item, title=text, description=text, labels=labels, assignee=some)
    for key, run in model.runs.items():
        model.runs[key] = replace(
            run, activity_note=text, prompt=text, model=some, cwd="/" + some, args=(some,), conversation_id=some
        )
    model.hosts = [replace(each, ssh_target=some) for each in model.hosts]
    model.events = [_said(event, text) for event in model.events]
    for key in model.screens:
        model.screens[key] = [text, "next row", text + "x", "", *["plain"] * 20, text]
    model.logs = {key: [text, "next", text] for key in model.runs}
    return model


def _said(event: Event, text: str) -> Event:
    extra = {"said": {"activity": "waiting", "note": text, text[:20]: text}, "error": text, "reason": text}
    return replace(event, payload={**event.payload, **extra, "run_id": uid(201)})
