"""From a provider and a run to the command line and environment that start the agent."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from providers.environment import inherited
from providers.program import find, machine_values, named_program
from providers.provider import PromptRoute, Provider
from providers.template import Values, fill, mentions, render
from store.errors import InvalidValue

ARGUMENT_LIMIT = 131_071
"""Bytes that Linux lets one argument have, its end not counted."""

_SHORTEST_SECRET = 8


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How to start an agent; all of it goes into the wrapper's spec file."""

    provider: str
    name: str
    """What to call the agent on its screen: the provider, or the program where the operator gave the command."""
    argv: tuple[str, ...]
    """The program by absolute path, then its arguments."""
    env: Mapping[str, str] = field(repr=False)
    """The agent's environment but for what tmux and the wrapper add; holds keys, so it is kept out of ``repr``."""
    unset: tuple[str, ...]
    """Variables that must not reach the agent even when the pane has them."""
    prompt_route: PromptRoute
    prompt: str | None
    """The prompt as the agent gets it: in ``argv`` already, or for the executor to paste."""
    max_attempts: int | None
    """What the catalog says of attempts, between the run's own number and the global one."""


def plan(
    provider: Provider,
    *,
    run_id: str,
    prompt: str | None,
    model: str | None,
    args: Sequence[str],
    cwd: str | Path,
    conversation_id: str | None,
    environ: Mapping[str, str],
    approvals: str | None = None,
    resume: bool = False,
) -> LaunchPlan:
    """The command line and environment of a run.

    ``environ`` is the operator's environment; the program is looked up on its PATH. ``approvals`` names one of the
    provider's approval modes. ``resume`` goes on with ``conversation_id`` instead of opening it.

    Raises:
        InvalidValue: the run asks for what the provider does not take, an argument is too long, or it holds a key.
        ProviderUnavailable: the program is not installed.
    """
    _check_request(provider, model, args, approvals)
    if resume and not (conversation_id and provider.conversation.resume):
        raise InvalidValue(f"Provider {provider.name!r} cannot resume this run: no conversation of it is known.")
    inherits = inherited(environ)
    values: dict[str, str | tuple[str, ...] | None] = {
        **machine_values(inherits),
        "prompt": clean_prompt(prompt),
        "model": model,
        "conversation_id": conversation_id,
        "run_id": run_id,
        "cwd": str(cwd),
        "args": tuple(args),
        "approvals": provider.approvals[approvals] if approvals else (),
    }
    values["bin"] = named_program(provider, values)
    named, *rest = render(provider.conversation.resume if resume else provider.argv, values)
    argv = (find(provider, named, inherits, Path(cwd)), *rest)
    env = _env(provider, inherits, values)
    _check_argv(provider, argv, env)
    return LaunchPlan(
        provider=provider.name,
        name=provider.name if provider.bin else Path(argv[0]).name,
        argv=argv,
        env=env,
        unset=provider.unset,
        prompt_route=provider.prompt,
        prompt=clean_prompt(prompt),
        max_attempts=provider.max_attempts,
    )


def clean_prompt(prompt: str | None) -> str | None:
    """The prompt without control characters but newline and tab; None when nothing is left.

    A terminal acts on control characters, and a program's argument cannot hold a NUL.
    """
    unified = (prompt or "").replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(char for char in unified if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs"))
    return kept if kept.strip() else None


def _check_request(provider: Provider, model: str | None, args: Sequence[str], approvals: str | None) -> None:
    if provider.bin is None and not args:
        raise InvalidValue(
            f"Provider {provider.name!r} runs the command after `--` and there is none: "
            f"`pam run start … --provider {provider.name} -- make test`."
        )
    if model and not provider.takes_model:
        raise InvalidValue(f"Provider {provider.name!r} takes no model; leave --model out.")
    if args and not mentions(provider.argv, "args"):
        raise InvalidValue(f"Provider {provider.name!r} takes no arguments after `--`: its argv has no {{args}}.")
    if approvals and approvals not in provider.approvals:
        known = ", ".join(provider.approvals) or "none"
        raise InvalidValue(f"Provider {provider.name!r} has no approval mode {approvals!r}; it has {known}.")


def _env(provider: Provider, inherits: Mapping[str, str], values: Values) -> dict[str, str]:
    filled = {name: fill(text, values) for name, text in provider.env.items()}
    env = {**inherits, **{name: value for name, value in filled.items() if value is not None}}
    return {name: value for name, value in env.items() if name not in provider.unset}


def _check_argv(provider: Provider, argv: Sequence[str], env: Mapping[str, str]) -> None:
    for argument in argv:
        size = len(os.fsencode(argument))
        if size > ARGUMENT_LIMIT:
            raise InvalidValue(
                f"An argument of the run is {size:,} bytes long and a program takes {ARGUMENT_LIMIT:,} at most: "
                "put the text into a file and name the file in the prompt.",
                bytes=size,
                limit=ARGUMENT_LIMIT,
            )
        if "\0" in argument:
            raise InvalidValue("An argument of the run holds a NUL character; a program cannot be given one.")
    for name in provider.keys:
        secret = env.get(name, "")
        if len(secret) >= _SHORTEST_SECRET and any(secret in argument for argument in argv):
            raise InvalidValue(
                f"The value of {name} stands in the run's prompt or arguments, where every user of the machine can "
                "read it: leave it out, the agent inherits the variable."
            )
