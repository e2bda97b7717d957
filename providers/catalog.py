"""The provider catalog: the entries that ship with pam, and the operator's own over them.

The operator's file is ``providers.toml`` in pam's home. Its tables merge into the shipped ones key by key, its lists
replace; a fault in it names the line. ``catalog.toml`` beside this module explains every key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from providers.entries import read_entries
from providers.provider import Provider
from store.errors import ProviderUnavailable

__all__ = ["SHIPPED", "Catalog", "Provider", "load", "operator_path"]

SHIPPED = Path(__file__).with_name("catalog.toml")


@dataclass(frozen=True, slots=True)
class Catalog:
    """Every provider by name, in the order of the files."""

    providers: Mapping[str, Provider]

    def get(self, name: str) -> Provider:
        """The provider of that name.

        Raises:
            ProviderUnavailable: there is none, or it is switched off.
        """
        provider = self.providers.get(name)
        if provider is None:
            known = ", ".join(self.names())
            raise ProviderUnavailable(f"There is no provider {name!r}; known are: {known}.", known=self.names())
        if not provider.enabled:
            raise ProviderUnavailable(
                f"Provider {name!r} is switched off; set `enabled = true` under [{name}] in providers.toml.",
                provider=name,
            )
        return provider

    def names(self) -> list[str]:
        """The names a run may ask for: those switched on."""
        return [name for name, provider in self.providers.items() if provider.enabled]


def operator_path(home: Path) -> Path:
    """Where the operator's entries stand unless config.toml says otherwise (PAM-PROV-007)."""
    return home / "providers.toml"


def load(home: Path, *, operator_file: Path | None = None) -> Catalog:
    """The shipped catalog with the operator's file over it; a missing file is an empty one.

    Raises:
        ConfigError: the file cannot be read or has a fault; ``details`` hold ``path`` and, for a fault, ``line``.
    """
    return Catalog(read_entries(SHIPPED, operator_file or operator_path(home)))
