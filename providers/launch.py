"""From a provider and a run to the command line and environment that start the agent."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from providers.environment import inherited
from providers.gateway import Gateway, Lead, lead
from providers.program import find, machine_values, named_program
from providers.provider import PromptRoute, Provider
from providers.recipes.recipe import HookSetup
from providers.template import Template, Values, fill, mentions, render
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
    conversation_id: str | None
    """Of the conversation that is begun or gone on with, where it is known beforehand."""
    prompt_route: PromptRoute
    prompt: str | None
    """The prompt as the agent gets it: in ``argv`` already, or for the executor to paste."""
    max_attempts: int | None
    """What the catalog says of attempts, between the run's own number and the global one."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """The keys in ``env``, for whoever writes something down."""


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
    setup: HookSetup | None = None,
    gateway: Gateway | None = None,
) -> LaunchPlan:
    """The command line and environment of a run.

    ``environ`` is the operator's environment; the program is looked up on its PATH. ``approvals`` names one of the
    provider's approval modes. ``resume`` goes on with ``conversation_id`` instead of opening it. ``setup`` is what the
    provider's recipe gives the run for its hooks. ``gateway`` counts before the operator's own variables, and
    what the catalog's entry sets counts before both (PAM-GW-002).

    Raises:
        InvalidValue: the run asks for what the provider does not take, an argument is too long, or it holds a key.
        ProviderUnavailable: the program is not installed.
    """
    _check_request(provider, model, args, approvals)
    template = _template(provider, conversation_id, resume=resume)
    inherits, given = inherited(environ), setup or HookSetup()
    run = {"prompt": clean_prompt(prompt), "model": model, "conversation_id": conversation_id, "run_id": run_id}
    flags = {"args": tuple(args), "approvals": provider.approvals[approvals] if approvals else (), "hooks": given.args}
    values = {**machine_values(inherits), **run, "cwd": str(cwd), **flags}
    values["bin"] = named_program(provider, values)
    led = lead(provider, gateway, values)
    values["gateway"] = led.args
    argv = _argv(provider, template, values, inherits, Path(cwd))
    env = {**_env(provider, {**inherits, **led.env}, values, led.unset), **given.env}
    secrets = _secrets(provider, inherits, env, led)
    _check_argv(argv, secrets)
    return LaunchPlan(
        provider=provider.name,
        name=provider.name if provider.bin else Path(argv[0]).name,
        argv=argv,
        env=env,
        unset=(*provider.unset, *led.unset),
        conversation_id=conversation_id,
        prompt_route=_route(provider, template),
        prompt=clean_prompt(prompt),
        max_attempts=provider.max_attempts,
        secrets=tuple(secret for _, secret in secrets),
    )


def agent_env(
    provider: Provider, environ: Mapping[str, str], gateway: Gateway | None, model: str | None
) -> dict[str, str]:
    """What an agent will find in its environment before its recipe adds to it. Raises InvalidValue."""
    inherits = inherited(environ)
    values = {**machine_values(inherits), "model": model}
    led = lead(provider, gateway, values)
    return _env(provider, {**inherits, **led.env}, values, led.unset)


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


def _template(provider: Provider, conversation_id: str | None, *, resume: bool) -> Template:
    """The command line of a run that begins, or of one that goes on."""
    if not resume:
        return provider.argv
    if not (conversation_id and provider.conversation.resume):
        raise InvalidValue(f"Provider {provider.name!r} cannot resume this run: no conversation of it is known.")
    return provider.conversation.resume


def _argv(
    provider: Provider, template: Template, values: Values, inherits: Mapping[str, str], cwd: Path
) -> tuple[str, ...]:
    named, *rest = render(template, values)
    return (find(provider, named, inherits, cwd), *rest)


def _env(provider: Provider, inherits: Mapping[str, str], values: Values, unset: Sequence[str]) -> dict[str, str]:
    filled = {name: fill(text, values) for name, text in provider.env.items()}
    kept = {name: value for name, value in inherits.items() if name not in unset}
    env = {**kept, **{name: value for name, value in filled.items() if value is not None}}
    return {name: value for name, value in env.items() if name not in provider.unset}


def _secrets(
    provider: Provider, inherits: Mapping[str, str], env: Mapping[str, str], led: Lead
) -> list[tuple[str, str]]:
    """Keys by the names that the operator knows them by; his own are no less secret where the gateway's stands."""
    own = [(name, found[name]) for found in (inherits, env) for name in provider.keys if found.get(name)]
    return [*own, *led.secrets.items()]


def _check_argv(argv: Sequence[str], secrets: Sequence[tuple[str, str]]) -> None:
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
    for name, secret in secrets:
        if len(secret) >= _SHORTEST_SECRET and any(secret in argument for argument in argv):
            raise InvalidValue(
                f"The value of {name} stands in the run's prompt or arguments, where every user of the machine can "
                "read it: leave it out, the agent inherits the variable."
            )


def _route(provider: Provider, template: Template) -> PromptRoute:
    """A command line that resumes may have no place for a prompt where the one that begins has."""
    return "paste" if provider.prompt == "argv" and not mentions(template, "prompt") else provider.prompt
