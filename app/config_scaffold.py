"""The config.toml of a new home: every key as a comment with its meaning, so that nothing is set and all is there."""

from __future__ import annotations

import json

from app.config_keys import FREE_SECTION, KEYS, SECTIONS, Key

_HEAD = """\
# Settings of pam. Lines that begin with "#" show the defaults; remove the "#" to change one, or use
# `pam config set KEY VALUE`. `pam config show` says what is in force and where it came from.
"""


def scaffold() -> str:
    """The text of a fresh config.toml; it sets nothing."""
    parts = [_HEAD]
    for section, meaning in SECTIONS.items():
        lines = [f"[{section}]", f"# {meaning}", "#"]
        for key in KEYS:
            if key.section == section:
                lines += [f"# {key.meaning}", f"# {key.name} = {toml(key)}"]
        if section == FREE_SECTION:
            lines.append('# help = "f1,question_mark"')
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def toml(key: Key) -> str:
    """The key's default as TOML spells it; the example where there is no default."""
    value = key.example if key.default is None else key.default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False)
