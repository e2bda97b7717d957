"""Whether the gateway answers at all: one request without a key, by the proxies that agents would take.

Any HTTP answer counts, 401 and 404 among them: what a gateway has at its root is its own affair (PAM-GW-005).
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from urllib.parse import urlsplit

from providers.check import Check
from providers.gateway import Gateway

PATIENCE_S = 3.0
_NAME = "gateway"


def gateway_check(gateway: Gateway, environ: Mapping[str, str]) -> Check:
    """One line about the gateway itself."""
    proxies = proxies_for(gateway.url, environ)
    through = f" through {_place(next(iter(proxies.values())))}" if proxies else ""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _NoRedirect())
    try:
        with opener.open(urllib.request.Request(gateway.root, method="GET"), timeout=PATIENCE_S) as answer:  # noqa: S310 - settings admit http and https
            code = answer.status
    except urllib.error.HTTPError as error:
        code = error.code
        error.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = getattr(error, "reason", None) or error
        fix = "start it, or correct `gateway.url`" + (", or HTTPS_PROXY and NO_PROXY" if proxies else "")
        return Check(_NAME, "problem", f"{gateway.url} does not answer{through}: {why}", fix)
    if code in (407, 502, 503, 504):
        return Check(_NAME, "problem", f"{gateway.url} answers {code}{through}", "look at the gateway or the proxy")
    return Check(_NAME, "ok", f"{gateway.url} answers{through}")


def proxies_for(url: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The proxy that a program would take for this URL, by its scheme; empty for none (PAM-GW-004)."""
    parts = urlsplit(url)
    names = (f"{parts.scheme}_proxy", f"{parts.scheme.upper()}_PROXY")
    proxy = next((environ[name] for name in names if environ.get(name)), None)
    spared = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    if proxy is None or urllib.request.proxy_bypass_environment(parts.netloc, {"no": spared}):  # type: ignore[attr-defined] # not in typeshed
        return {}
    return {parts.scheme: proxy}


def _place(proxy: str) -> str:
    """A proxy without the user and password that may stand in it."""
    return proxy.rpartition("@")[2].removeprefix("http://").removeprefix("https://") or proxy


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An answer that leads elsewhere is an answer."""

    def redirect_request(self, *_: object) -> None:
        return None
