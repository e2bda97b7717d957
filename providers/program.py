"""Finding a provider's program on a machine (PAM-PROV-003)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from providers.provider import Provider
from providers.template import ENV_PREFIX, Values, fill
from store.errors import ProviderUnavailable

AGENTS = Path(__file__).with_name("agents")


def machine_values(environ: Mapping[str, str]) -> dict[str, str]:
    """Placeholders that depend on the machine alone."""
    variables = {ENV_PREFIX + name: value for name, value in environ.items()}
    return {**variables, "python": sys.executable, "agents": str(AGENTS)}


def named_program(provider: Provider, values: Values) -> str | None:
    """The program as the catalog names it; None where a run's first argument is the program."""
    return fill(provider.bin, values) if provider.bin else None


def find(provider: Provider, program: str, environ: Mapping[str, str], cwd: Path) -> str:
    """The absolute path of ``program``; relative ones, on the PATH too, count from ``cwd``.

    Raises:
        ProviderUnavailable: there is none that can be executed.
    """
    expanded = environ.get("HOME", "~") + program[1:] if program.startswith("~/") else program
    directories = (str(cwd / directory) for directory in environ.get("PATH", os.defpath).split(os.pathsep))
    sought = str(cwd / expanded) if "/" in expanded else expanded
    found = shutil.which(sought, path=os.pathsep.join(directories))
    if found is None:
        raise ProviderUnavailable(_missing(provider, program), provider=provider.name, program=program)
    return found


def _missing(provider: Provider, program: str) -> str:
    where = "" if "/" in program else " on the executor's PATH"
    missing = f"Provider {provider.name!r} is not available: there is no program {program!r}{where}."
    if provider.bin is None:
        return f"{missing} Install it or give its full path."
    install = f"Install it with `{provider.install}`" if provider.install else "Install it"
    return (
        f"{missing} {install}, or name its place as `bin` under [{provider.name}] in providers.toml; "
        f"`pam provider doctor {provider.name}` checks."
    )
