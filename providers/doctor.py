"""Checks of the providers: is the program here, does its version fit the range, is a key set (PAM-PROV-011)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from providers import versions
from providers.catalog import Catalog
from providers.environment import inherited
from providers.program import find, machine_values, named_program
from providers.provider import Provider
from store.errors import ProviderUnavailable

_PROBE_TIMEOUT_S = 15.0
_PROBES_AT_ONCE = 4
_ROOT = Path("/")

State = Literal["ok", "problem", "na"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor: what was looked at, how it is, and what to do about it."""

    name: str
    state: State
    detail: str
    fix: str = ""


def checks(catalog: Catalog, environ: Mapping[str, str], *, only: str | None = None) -> list[Check]:
    """The checks of all providers, or of the one asked for.

    A program that is not installed is a problem only for the provider asked for: nobody installs them all.

    Raises:
        ProviderUnavailable: ``only`` is no provider.
    """
    providers = [catalog.get(only)] if only else [catalog.get(name) for name in catalog.names()]
    with ThreadPoolExecutor(_PROBES_AT_ONCE) as pool:
        found = pool.map(lambda provider: list(_check(provider, environ, asked=only is not None)), providers)
        return [check for each in found for check in each]


def _check(provider: Provider, environ: Mapping[str, str], *, asked: bool) -> Iterable[Check]:
    name = f"provider {provider.name}"
    named = named_program(provider, machine_values(environ))
    if named is None:
        yield Check(name, "na", "runs the command it is given")
        return
    try:
        program = find(provider, named, environ, _ROOT)
    except ProviderUnavailable as error:
        fix = provider.install or f"set `bin` under [{provider.name}] in providers.toml"
        yield Check(name, "problem" if asked else "na", error.message if asked else "not installed", fix)
        return
    yield _check_version(provider, program, environ)
    if provider.keys:
        yield _check_keys(provider, environ)


def _check_version(provider: Provider, program: str, environ: Mapping[str, str]) -> Check:
    name = f"provider {provider.name}"
    if not provider.installed_detection:
        return Check(name, "ok", program)
    command = " ".join([provider.bin or program, *provider.installed_detection])
    try:
        said = _probe([program, *provider.installed_detection], environ)
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name, "problem", f"`{command}` failed: {_reason(error)}", f"run `{command}` by hand")
    version = versions.find_version(said)
    if version is None:
        if provider.versions:
            return Check(name, "problem", f"`{command}` names no version", f"run `{command}` by hand")
        return Check(name, "ok", program)
    if not versions.within(version, provider.versions):
        fix = f"install a version in the range, or change `versions` under [{provider.name}] in providers.toml"
        return Check(name, "problem", f"{version} is outside {provider.versions} ({program})", fix)
    return Check(name, "ok", f"{version} ({program})")


def _check_keys(provider: Provider, environ: Mapping[str, str]) -> Check:
    name = f"provider {provider.name} key"
    present = [key for key in provider.keys if environ.get(key) or key in provider.env]
    if present:
        return Check(name, "ok", f"{', '.join(present)} is set")
    return Check(name, "na", f"none of {', '.join(provider.keys)} is set; the program's own login counts")


def _probe(argv: list[str], environ: Mapping[str, str]) -> str:
    """What the program prints; away from any repository, whose files could change what it does."""
    done = subprocess.run(
        argv,
        env=inherited(environ),
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_PROBE_TIMEOUT_S,
        check=True,
        text=True,
        errors="replace",
    )
    return done.stdout + done.stderr


def _reason(error: OSError | subprocess.SubprocessError) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"exit code {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {_PROBE_TIMEOUT_S:g} s"
    return str(error)
