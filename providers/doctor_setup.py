"""What the doctor says about how a provider's agents would be started: key, gateway, hooks, first questions.

No key is ever shown, and no file of a CLI is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from providers.check import Check, Practice
from providers.environment import inherited
from providers.gateway import lead
from providers.keys import KeyCommandFailed, find, is_set
from providers.launch import agent_env
from providers.program import machine_values
from providers.provider import Provider
from providers.recipes.recipe import Answer, Recipe, Setting
from providers.recipes.registry import recipe
from providers.template import fill
from store.errors import InvalidValue

_SIGNAL = ("pam_signal",)
"""Stands for the command of the hooks, which the questions do not depend on."""
_MODEL = "model"
"""Stands for the model that a run will name."""


def setup_checks(
    provider: Provider, environ: Mapping[str, str], practice: Practice, version: str | None
) -> Iterator[Check]:
    """The lines of a provider whose program is there; ``version`` as it was found."""
    name = f"provider {provider.name}"
    if provider.keys:
        yield _key(f"{name} key", provider, environ, practice)
    if practice.gateway is not None:
        yield _gateway(f"{name} gateway", provider, environ, practice)
    known = recipe(provider.hooks.recipe)
    if "native_hook" in provider.completion_signals and provider.hooks.recipe:
        yield _hooks(f"{name} hooks", provider, practice, version, known)
    on = provider.hooks.proven or practice.unproven_hooks
    if practice.cwd is not None and known is not None and on:
        yield _first_run(f"{name} first run", provider, environ, practice, known)


def logins(provider: Provider, environ: Mapping[str, str]) -> list[str]:
    """The files of the program's own login that are there."""
    values = machine_values(environ)
    named = (fill(text, values) for text in provider.logins)
    home = environ.get("HOME", "~")
    places = [home + path[1:] if path.startswith("~/") else path for path in named if path]
    return [path for path in places if Path(path).is_file()]


def _key(name: str, provider: Provider, environ: Mapping[str, str], practice: Practice) -> Check:
    if practice.gateway is not None and practice.gateway.leads(provider) and practice.gateway.api_key:
        return Check(name, "ok", "the gateway's is given instead")
    if present := is_set(provider, environ):
        return Check(name, "ok", f"{', '.join(present)} is set")
    if practice.key_command:
        try:
            found = next((key for key in provider.keys if find(practice.key_command, key, environ)), None)
        except KeyCommandFailed as error:
            return Check(name, "problem", f"[secrets] command: {error}", "mend `secrets.command`: `pam config show`")
        if found:
            return Check(name, "ok", f"{found} comes from [secrets] command")
    if files := logins(provider, environ):
        return Check(name, "ok", f"logged in: {', '.join(files)}")
    keys = ", ".join(provider.keys)
    detail = f"none of {keys} is set, and no login of the program's own is seen"
    return Check(name, "na", detail, f"log in with `{provider.bin or provider.name}`, or set {provider.keys[0]}")


def _gateway(name: str, provider: Provider, environ: Mapping[str, str], practice: Practice) -> Check:
    gateway = practice.gateway
    if gateway is None or not provider.gateway.env:
        table = f"[{provider.name}.gateway]"
        return Check(name, "na", f"goes its own way: its entry has no {table}", f"write {table} into providers.toml")
    if not gateway.leads(provider):
        return Check(name, "na", "goes its own way: it is not among [gateway] providers")
    try:
        led = lead(provider, gateway, {**machine_values(inherited(environ)), "model": _MODEL})
    except InvalidValue as error:
        return Check(name, "problem", error.message, "`pam config set gateway.api_key …`, or PAM_GATEWAY_API_KEY")
    over = [variable for variable in led.env if variable in provider.env]
    if over:
        fix = f"take {', '.join(over)} out of [{provider.name}.env] in providers.toml"
        return Check(name, "problem", f"{', '.join(over)} of its entry counts before the gateway", fix)
    return Check(name, "ok", f"is led by {', '.join(led.env)}")


def _hooks(name: str, provider: Provider, practice: Practice, version: str | None, known: Recipe | None) -> Check:
    hooks = provider.hooks
    if known is None:
        state = "problem" if hooks.proven else "na"
        fix = f"correct `recipe` under [{provider.name}.hooks] in providers.toml"
        return Check(name, state, f"this pam has no recipe {hooks.recipe!r}; it only tells its end", fix)  # type: ignore[arg-type] # one of the three
    if not hooks.proven and not practice.unproven_hooks:
        fix = "`pam config set providers.hooks true` uses what is not proven"
        return Check(name, "na", "off: no test with the real program has proven them", fix)
    if not hooks.proven:
        return Check(name, "ok", "on, though no test with the real program has proven them")
    other = f"; here is {version}" if version and hooks.proven_with not in ("", version) else ""
    with_ = f" with {hooks.proven_with}" if hooks.proven_with else ""
    return Check(name, "ok", f"on, proven{with_}{other}")


def _first_run(name: str, provider: Provider, environ: Mapping[str, str], practice: Practice, known: Recipe) -> Check:
    try:
        env = agent_env(provider, environ, practice.gateway, _MODEL)
    except InvalidValue:
        return Check(name, "na", "cannot be told while the gateway cannot lead it")
    at = Setting(practice.home, environ.get("HOME", ""), practice.cwd or "/", _SIGNAL, env)
    due, faults = [], []
    for answer in known.setup(at).answers:
        try:
            if _is_due(answer):
                due.append(answer.what)
        except (OSError, ValueError) as error:
            faults.append(f"{answer.path} cannot be changed for this: {answer.what} ({error})")
    if faults:
        return Check(name, "problem", "; ".join(faults), f"start `{provider.bin or provider.name}` there and answer it")
    if not due:
        return Check(name, "ok", f"asks nothing in {practice.cwd}")
    if practice.first_run_answers:
        return Check(name, "ok", f"is answered when a run starts: {'; '.join(due)}")
    fix = f"start `{provider.bin or provider.name}` there once, or `pam config set providers.first_run_answers true`"
    return Check(name, "problem", f"will ask in {practice.cwd}: {'; '.join(due)}", fix)


def _is_due(answer: Answer) -> bool:
    try:
        data = Path(answer.path).read_bytes()
    except FileNotFoundError:
        data = None
    return answer.edit(data) is not None
