"""Tokens, money and context in few characters; what is unknown is called so, and never a nought."""

from __future__ import annotations

from store.records import Usage
from store.usage import RollUp, tokens

_STEPS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))
UNKNOWN = "unknown"


def compact(number: int) -> str:
    """``999``, ``12.3k``, ``123k``, ``1.2M``."""
    for step, letter in _STEPS:
        if number >= step * 0.9995:
            shown = number / step
            return f"{shown:.0f}{letter}" if shown >= 99.95 else f"{shown:.1f}".removesuffix(".0") + letter
    return str(number)


def money(usd: float) -> str:
    """``$0.17``; a cent is the least that is shown of what is more than nothing."""
    return "<$0.01" if 0 < usd < 0.005 else f"${usd:,.2f}"


def short_tokens(usage: Usage | None) -> str:
    """All tokens of a run for a column; a dash while nothing is known."""
    known = tokens(usage) if usage else None
    return "-" if known is None else compact(known)


def short_cost(usage: Usage | None) -> str:
    """The cost for a column, likewise."""
    return "-" if usage is None or usage.cost_usd is None else money(usage.cost_usd)


def parts(usage: Usage) -> str:
    """``41.9k in, 1.2k out (300 thought), 80k from cache, 12k into cache``; what is unknown is left out."""
    thought = f" ({compact(usage.reasoning_tokens)} thought)" if usage.reasoning_tokens else ""
    told = (
        (usage.input_tokens, " in"),
        (usage.output_tokens, f" out{thought}"),
        (usage.cache_read_tokens, " from cache"),
        (usage.cache_write_tokens or None, " into cache"),
    )
    return ", ".join(f"{compact(count)}{word}" for count, word in told if count is not None)


def context(usage: Usage) -> str:
    """``38 % of 200k``, or how much it is where the limit is unknown."""
    if usage.context_tokens is None:
        return ""
    if not usage.context_limit:
        return compact(usage.context_tokens)
    return (
        f"{usage.context_tokens / usage.context_limit:.0%}".replace("%", " %") + f" of {compact(usage.context_limit)}"
    )


def all_tokens(total: RollUp) -> str:
    """``12.3k, 2 of 5 runs unknown``; empty without runs."""
    known = tokens(total.usage)
    return _partly(None if known is None else compact(known), total.unknown, total.runs)


def all_cost(total: RollUp) -> str:
    """``$1.20, 3 of 5 runs unknown``; empty without runs, or when no run told a cost."""
    cost = total.usage.cost_usd
    return "" if cost is None else _partly(money(cost), total.cost_unknown, total.runs)


def _partly(known: str | None, unknown: int, runs: int) -> str:
    if runs == 0 or known is None:
        return UNKNOWN if runs else ""
    return f"{known}, {unknown} of {runs} runs unknown" if unknown else known
