"""One model gateway for all providers: which variables and arguments lead an agent CLI through it (PAM-GW).

The catalog says for each CLI how, under ``[<provider>.gateway]``; this module fills it in. A key travels by environment
only. Whoever sets a gateway means it for policy or cost, so a CLI that the entry cannot lead is refused, not let out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from providers.provider import Provider
from providers.template import Values, fill, mentions, placeholders, render
from store.errors import InvalidValue

KEY_VARIABLE = "PAM_GATEWAY_API_KEY"
"""Names the gateway's key, in the environment and to the command of ``[secrets]``."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """The operator's gateway."""

    url: str
    api_key: str | None = field(default=None, repr=False)
    only: tuple[str, ...] = ()
    """Providers that go through it; empty for all that can."""

    @property
    def root(self) -> str:
        """The URL without ``/`` and without ``/v1`` at its end: what Anthropic's and Google's CLIs add to."""
        return self.url.rstrip("/").removesuffix("/v1").rstrip("/")

    @property
    def v1(self) -> str:
        """The URL with ``/v1``, as CLIs of OpenAI's kind want it (PAM-GW-003)."""
        return f"{self.root}/v1"

    def leads(self, provider: Provider) -> bool:
        """Whether runs of this provider go through it."""
        return bool(provider.gateway.env) and (not self.only or provider.name in self.only)

    def values(self) -> dict[str, str | None]:
        """What fills its placeholders."""
        return {"gateway_url": self.root, "gateway_url_v1": self.v1, "gateway_key": self.api_key}


@dataclass(frozen=True, slots=True)
class Lead:
    """What leads one run through the gateway."""

    args: tuple[str, ...] = ()
    """Stands for ``{gateway}`` in the command line."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    unset: tuple[str, ...] = ()
    """Variables of the operator's that would lead around it, or show the gateway a key that is not its own."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The key that ``env`` holds, by what the operator calls it."""


def lead(provider: Provider, gateway: Gateway | None, values: Values) -> Lead:
    """How this run is led; empty when it is not.

    Raises:
        InvalidValue: the entry needs a value that is not there, or its command line has no place for ``{gateway}``.
    """
    if gateway is None or not gateway.leads(provider):
        return Lead()
    use = provider.gateway
    templates = [template for template in (provider.argv, provider.conversation.resume) if template]
    if use.args and not all(mentions(template, "gateway") for template in templates):
        raise InvalidValue(
            f"Provider {provider.name!r} cannot be led through the gateway: its command line has no {{gateway}}. "
            f"Add it to `argv` and `conversation.resume` under [{provider.name}] in providers.toml.",
            provider=provider.name,
        )
    every = {**values, **gateway.values()}
    env = {name: filled for name, text in use.env.items() if (filled := _filled(provider, name, text, every))}
    secrets = {"[gateway] api_key": gateway.api_key} if gateway.api_key else {}
    own = [name for name in provider.keys if name not in env] if gateway.api_key else []
    return Lead(tuple(render(use.args, every)), env, (*use.unset, *own), secrets)


def _filled(provider: Provider, name: str, text: str, values: Values) -> str | None:
    """The variable's value; None for one that only a key or a model would fill and that leads nowhere."""
    filled = fill(text, values)
    wanted = placeholders(text)
    if filled is None and {"gateway_url", "gateway_url_v1"}.intersection(wanted):
        missing = ", ".join(one for one in wanted if not values.get(one))
        what = "set [gateway] api_key" if "gateway_key" in missing else f"give the run what fills {missing}"
        raise InvalidValue(
            f"Provider {provider.name!r} cannot be led through the gateway: {name} needs {missing}; {what}, or leave "
            f"{provider.name!r} out of [gateway] providers.",
            provider=provider.name,
        )
    return filled
