"""Checks of the providers: is the program here, does its version fit, and could an agent be started (PAM-PROV-011)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from providers import detection, versions
from providers.catalog import Catalog
from providers.check import Check, Practice
from providers.doctor_setup import setup_checks
from providers.program import find, machine_values, named_program
from providers.provider import Provider
from providers.reach import gateway_check
from store.errors import ProviderUnavailable

_PROBES_AT_ONCE = 4
_ROOT = Path("/")


def checks(
    catalog: Catalog, environ: Mapping[str, str], *, only: str | None = None, practice: Practice | None = None
) -> list[Check]:
    """The checks of all providers, or of the one asked for; and of the gateway where there is one.

    A program that is not installed is a problem only for the provider asked for: nobody installs them all.

    Raises:
        ProviderUnavailable: ``only`` is no provider.
    """
    practice = practice or Practice()
    providers = [catalog.get(only)] if only else [catalog.get(name) for name in catalog.names()]
    with ThreadPoolExecutor(_PROBES_AT_ONCE) as pool:
        reached = pool.submit(gateway_check, practice.gateway, environ) if practice.gateway else None
        found = pool.map(lambda each: list(_check(each, environ, practice, asked=only is not None)), providers)
        return [*([reached.result()] if reached else []), *(check for each in found for check in each)]


def _check(provider: Provider, environ: Mapping[str, str], practice: Practice, *, asked: bool) -> Iterable[Check]:
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
    check, version = _check_version(provider, program, environ)
    yield check
    yield from setup_checks(provider, environ, practice, version)


def _check_version(provider: Provider, program: str, environ: Mapping[str, str]) -> tuple[Check, str | None]:
    """The line about the program, and the version it names."""
    name = f"provider {provider.name}"
    if not provider.installed_detection:
        return Check(name, "ok", program), None
    by_hand = f"run `{detection.command(provider, program)}` by hand"
    try:
        version = detection.version_of(provider, program, environ)
    except ProviderUnavailable as error:
        return Check(name, "problem", error.message, by_hand), None
    if version is None:
        if provider.versions:
            return Check(name, "problem", f"`{detection.command(provider, program)}` names no version", by_hand), None
        return Check(name, "ok", program), None
    if not versions.within(version, provider.versions):
        fix = f"install a version in the range, or change `versions` under [{provider.name}] in providers.toml"
        return Check(name, "problem", f"{version} is outside {provider.versions} ({program})", fix), version
    return Check(name, "ok", f"{version} ({program})"), version
