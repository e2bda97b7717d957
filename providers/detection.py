"""Which version of a provider's program is here, as the program itself says (PAM-PROV-010)."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from providers import versions
from providers.environment import inherited
from providers.program import find, machine_values, named_program
from providers.provider import Provider
from store.errors import ProviderUnavailable

TIMEOUT_S = 15.0
_ROOT = Path("/")


@dataclass(frozen=True, slots=True)
class Detection:
    """What of a provider is on this machine."""

    program: str | None = None
    """Its path; None where it is not installed, or has no program of its own."""
    version: str | None = None
    """As the program names it; None where it names none, or was not asked."""
    fits: bool = True
    """Whether the version is in the range of the entry."""
    fault: str = ""
    """Why the program would not tell its version; empty when it did, or need not."""


def sought(provider: Provider, environ: Mapping[str, str]) -> str | None:
    """Where the program is; None where the provider has none of its own. Raises ProviderUnavailable."""
    named = named_program(provider, machine_values(environ))
    return None if named is None else find(provider, named, environ, _ROOT)


def detect(provider: Provider, environ: Mapping[str, str]) -> Detection:
    """Look for the program and ask it; takes as long as it takes to answer, TIMEOUT_S at most."""
    try:
        program = sought(provider, environ)
    except ProviderUnavailable:
        return Detection()
    if program is None or not provider.installed_detection:
        return Detection(program)
    try:
        version = version_of(provider, program, environ)
    except ProviderUnavailable as error:
        return Detection(program, fault=error.message)
    if version is None:
        fault = f"`{command(provider, program)}` names no version" if provider.versions else ""
        return Detection(program, fault=fault)
    return Detection(program, version, versions.within(version, provider.versions))


def command(provider: Provider, program: str) -> str:
    """What is run to learn the version, as an operator would type it."""
    return " ".join([provider.bin or program, *provider.installed_detection])


def version_of(provider: Provider, program: str, environ: Mapping[str, str]) -> str | None:
    """The version that the program prints; None when it prints none. Raises ProviderUnavailable when it fails.

    Asked away from any repository, whose files could change what it does.
    """
    try:
        done = subprocess.run(
            [program, *provider.installed_detection],
            env=inherited(environ),
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.SubprocessError) as error:
        why = f"`{command(provider, program)}` failed: {_reason(error)}"
        raise ProviderUnavailable(why, provider=provider.name, program=program) from error
    return versions.find_version(done.stdout + done.stderr)


def _reason(error: OSError | subprocess.SubprocessError) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return f"exit code {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {TIMEOUT_S:g} s"
    return str(error)
