"""docs/providers.md: what works with each agent CLI, made from the shipped catalog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from providers.catalog import SHIPPED, load
from providers.provider import Provider
from providers.recipes.registry import recipe

_HEAD = """\
# Providers

What pam does with each agent CLI it ships an entry for. `pam provider doctor NAME` checks one on your machine, with
`--smoke` by starting it against a stub model. Your own entries, or single keys of these, go into the file that
`pam provider path` names; `providers/catalog.toml` explains every key.

"Proven" means that tests run the real program of that version in pam: start, prompt, hooks, resume, end. Hooks that are
not proven stay off unless `[providers] hooks = true`. Without hooks pam knows when an agent ends, how long it was
silent and what it printed, and calls the rest unknown; it never reads an agent's screen for meaning.

## Keys and the gateway

An agent inherits your environment, its provider's keys with it. Where none of them is set, `[secrets] command` of
config.toml is asked for each by name: `secret-tool lookup service pam name {name}`, `pass show {name}`,
`op read op://pam/{name}/password`, `security find-generic-password -s {name} -w`. A login that the program made itself
needs nothing of pam.

A key goes to the agent by environment: through a spec file (0600) that its wrapper removes before the agent runs.
It is in no argument, no journal, no log of pam's and no answer of a command: pam refuses prompts and arguments that
hold one, and hides keys in whatever agents and hooks say, by value and by shape. One place can hold a key: the raw log
of the run's pane, `runs/<id>.log` in the home (0600), keeps what the agent printed, and so does the pane itself.

With `[gateway] url` set, every provider below that can be led goes through it, unless `[gateway] providers` names
fewer. The gateway counts before your own variables; a key of your own is then not given to the agent when the gateway
has one (`[gateway] api_key`, `PAM_GATEWAY_API_KEY`, or `[secrets] command` asked for `PAM_GATEWAY_API_KEY`). A URL may
end in `/v1` or not. An agent that cannot be led, for want of a key, is not started. `HTTPS_PROXY`, `HTTP_PROXY` and
`NO_PROXY` reach every agent as they are.
"""

_ENV = re.compile(r"\{env:(\w+)\}")
_ROUTES = {"argv": "argument", "paste": "pasted once it is ready", "none": "takes none"}
_IDS = {"chosen": "yes, pam names it", "learned": "yes, once a hook has named it", "none": "no"}
_SIGNALS = {"native_hook": "its hooks", "exit_code": "its exit code", "idle_detection": "its silence"}


def providers() -> str:
    """docs/providers.md, without the line that says where it comes from."""
    every = list(load(Path("/nonexistent"), operator_file=SHIPPED).providers.values())
    head = ["| provider | proven with | hooks | prompt | resume | usage | gateway |", "| --- " * 7 + "|"]
    table = "\n".join([*head, *map(_row, every)])
    sections = "\n".join("\n".join(_section(each)) for each in every)
    return f"{_HEAD}\n## What works\n\n{table}\n\n{sections}"


def _row(each: Provider) -> str:
    name = f"[{each.name}](#{each.name})"
    proven = each.hooks.proven_with or "-"
    cells = (name, proven, _hooks(each), each.prompt, _resume(each), each.usage, "yes" if each.gateway.env else "no")
    return f"| {' | '.join(cells)} |"


def _hooks(each: Provider) -> str:
    if not each.hooks.recipe or recipe(each.hooks.recipe) is None:
        return "none"
    return "on" if each.hooks.proven else "off until proven"


def _resume(each: Provider) -> str:
    return "no" if each.conversation.id == "none" else "yes"


def _section(each: Provider) -> Iterator[str]:
    yield f"## {each.name}\n\n{each.title}.\n"
    pairs = {
        "program": _program(each),
        "install": f"`{each.install}`" if each.install else "",
        "versions": f"`{each.versions}`" if each.versions else "",
        "prompt": _ROUTES[each.prompt],
        "model": "`--model`" if each.takes_model else "takes none",
        "approvals": ", ".join(f"`{name}`: `{' '.join(flags)}`" for name, flags in each.approvals.items()),
        "resume": _IDS[each.conversation.id],
        "told by": ", ".join(_SIGNALS[signal] for signal in each.completion_signals),
        "usage from": "" if each.usage == "none" else f"its {each.usage.replace('-', ' ')}",
        "keys": ", ".join(f"`{key}`" for key in each.keys),
        "own login": ", ".join(f"`{_ENV.sub(_variable, path)}`" for path in each.logins),
        "gateway by": ", ".join(f"`{name}`" for name in each.gateway.env),
    }
    yield "| what | how |\n| --- | --- |"
    yield "\n".join(f"| {what} | {how} |" for what, how in pairs.items() if how) + "\n"
    if limits := list(_limits(each)):
        yield "Cannot be known or done:\n"
        yield "\n".join(f"- {limit}" for limit in limits) + "\n"


def _program(each: Provider) -> str:
    if each.bin == "{python}":
        return "pam's own"
    return f"`{each.bin}`" if each.bin else "the command after `--`"


def _variable(match: re.Match[str]) -> str:
    return f"${match[1]}"


def _limits(each: Provider) -> Iterator[str]:
    """What the entry says, and what follows from what it does not say."""
    yield from each.limits
    if not each.bin:
        return
    if _hooks(each) == "none" and each.keys:
        yield "What the agent does between its start and its end: it has no hooks."
    elif _hooks(each) == "off until proven":
        yield "What the agent does, while its hooks are off."
    if each.keys and each.usage == "none":
        yield "Tokens and cost."
    if each.keys and each.conversation.id == "none":
        yield "A conversation cannot be gone on with: a restarted run begins a new one."
    if each.keys and not each.gateway.env:
        yield "It cannot be led through the gateway by environment or arguments."
