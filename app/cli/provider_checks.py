"""What ``pam provider doctor`` looks at: the catalog, each provider, and with ``--smoke`` each program at work."""

from __future__ import annotations

import asyncio
import os

from app.cli import output
from app.cli.call import Call
from app.cli.doctor_executor import told
from executor.smoke import PATIENCE_S, Smoke, smoke
from executor.tmux.errors import TmuxError
from providers import doctor
from providers.check import Check, Practice
from providers.program import find, machine_values, named_program
from providers.provider import Provider
from store.errors import ConfigError, PamError, ProviderUnavailable


def practice(call: Call, *, cwd: str | None = None) -> Practice:
    """How runs are started here. Raises ConfigError."""
    settings = call.settings.executor
    return Practice(
        gateway=settings.gateway,
        key_command=settings.key_command,
        unproven_hooks=settings.unproven_hooks,
        first_run_answers=settings.first_run_answers,
        home=str(call.home.path),
        cwd=cwd,
    )


def provider_checks(call: Call, name: str | None, *, with_smoke: bool) -> list[Check]:
    """Every line, a fault of the catalog instead of all others. Raises ProviderUnavailable or ConfigError."""
    here = practice(call, cwd=os.getcwd())  # noqa: PTH109 - a text
    try:
        catalog = call.catalog
    except ConfigError as error:
        return [told("catalog", error, "mend the line; `pam provider path` says in which file")]
    found = doctor.checks(catalog, call.environ, only=name, practice=here)
    if with_smoke:
        asked = [catalog.get(name)] if name else [catalog.get(each) for each in catalog.names()]
        found += [_smoke(call, each, asked=name is not None) for each in asked if name or _is_here(call, each)]
    return found


def _is_here(call: Call, provider: Provider) -> bool:
    named = named_program(provider, machine_values(call.environ))
    try:
        return named is not None and bool(find(provider, named, call.environ, call.home.path))
    except ProviderUnavailable:
        return False


def _smoke(call: Call, provider: Provider, *, asked: bool) -> Check:
    name = f"provider {provider.name} smoke"
    if not provider.can_smoke:
        return Check(name, "problem" if asked else "na", f"is led to no model: its entry has no {_TABLES}", _ENTRY)
    output.say(f"Starting {provider.title} against the stub model, for {PATIENCE_S:g} s at the most.")
    try:
        came = asyncio.run(smoke(provider, call.settings.executor, call.environ))
    except PamError as error:
        return told(name, error)
    except (TmuxError, OSError) as error:
        return Check(name, "problem", f"it could not be started: {error}", "see what `pam doctor` says")
    return _told(name, provider, came)


_TABLES = "table `gateway` or `smoke`"
_ENTRY = "write one of them into providers.toml"


def _told(name: str, provider: Provider, came: Smoke) -> Check:
    if came.answered:
        hooks = "; its hooks spoke" if came.hooks else "; no hook spoke" if provider.hooks.proven else ""
        state = "problem" if provider.hooks.proven and not came.hooks else "ok"
        return Check(name, state, f"answered in {came.took_s:.1f} s{hooks}", _BY_HAND.format(provider.program))  # type: ignore[arg-type] # one of the three
    why = "ended" if came.ended else "asks something" if not came.asked else "did not show the answer"
    output.say("\n".join([f"The last of {provider.name}'s screen:", *(f"  {line}" for line in came.screen)]))
    last = " | ".join(line.strip() for line in came.screen[-3:]) or "an empty screen"
    detail = f"no answer in {came.took_s:.0f} s: it {why}: {last}"
    return Check(name, "problem", detail, _BY_HAND.format(provider.program))


_BY_HAND = "start `{}` by hand in a new home and see what it says"
