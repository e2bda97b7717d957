"""Templates of command lines and environment values: ``{placeholder}`` in strings, dropped where nothing fills it.

An argument is a string; a list in the template is a group. An argument or group with a placeholder that has no value is
left out as a whole, so ``["--model", "{model}"]`` stands or falls together. ``{args}``, ``{approvals}``, ``{hooks}``
and ``{gateway}`` hold any number of arguments and stand alone in theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain

Template = tuple[str | tuple[str, ...], ...]
"""Arguments and groups of arguments."""
Values = Mapping[str, str | tuple[str, ...] | None]

SINGLE = ("bin", "python", "agents", "prompt", "model", "conversation_id", "run_id", "cwd")
"""Placeholders for one piece of text. ``{env:NAME}`` is one more: a variable of the operator's environment."""
SEVERAL = ("args", "approvals", "hooks", "gateway")
ENV_PREFIX = "env:"
GATEWAY = ("gateway_url", "gateway_url_v1", "gateway_key")
"""Placeholders of ``[<provider>.gateway]`` only; the key in variables only."""

_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*|env:[A-Za-z_][A-Za-z0-9_]*)\}")


def placeholders(text: str) -> list[str]:
    """The names in braces; braces around anything else are text."""
    return _PLACEHOLDER.findall(text)


def mentions(template: Template, name: str) -> bool:
    """Whether a placeholder stands anywhere in the template."""
    return any(name in placeholders(text) for text in strings(template))


def strings(template: Template) -> Iterator[str]:
    """Every string of a template, those in groups too."""
    return chain.from_iterable((piece,) if isinstance(piece, str) else piece for piece in template)


def render(template: Template, values: Values) -> list[str]:
    """The arguments, in order."""
    groups = ((piece,) if isinstance(piece, str) else piece for piece in template)
    return [argument for group in groups for argument in _render_group(group, values)]


def fill(text: str, values: Values) -> str | None:
    """``text`` with its placeholders filled, or None when one has no value."""
    found = {name: values.get(name) for name in placeholders(text)}
    if not all(isinstance(value, str) and value for value in found.values()):
        return None
    return _PLACEHOLDER.sub(lambda match: str(found[match[1]]), text)


def _render_group(group: tuple[str, ...], values: Values) -> list[str]:
    rendered: list[str] = []
    for text in group:
        several = values.get(text[1:-1]) if text[1:-1] in SEVERAL and text[:1] == "{" else fill(text, values)
        if not several:
            return []
        rendered += [several] if isinstance(several, str) else several
    return rendered
