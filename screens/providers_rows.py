"""A provider in words: its row in the table, its facts, and what the doctor and the smoke test say of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from providers.check import Check
from providers.detection import Detection
from providers.provider import Provider
from screens.confine import one_line
from screens.model.providers import SMOKE_S, CatalogView, Fault, ProviderView, Smoke
from screens.widgets.rows import Heading, Line
from screens.widgets.sheet import Fact
from screens.widgets.spans import Span

COLUMNS: Final = (
    Heading("provider"),
    Heading("state"),
    Heading("title", 3, grows=True),
    Heading("program", 8),
    Heading("version", 1),
    Heading("range", 5),
    Heading("hooks", 2),
    Heading("prompt", 6),
    Heading("usage", 7),
    Heading("gateway", 4),
)
_PROMPTS: Final = {"argv": "argument", "paste": "pasted", "none": "none"}
_PROMPTS_LONG: Final = {
    "argv": "is an argument of the program",
    "paste": "is pasted once the program reads what is typed",
    "none": "takes none",
}
_RESUMES: Final = {
    "chosen": "pam names the conversation and goes on with it",
    "learned": "goes on with the conversation once a hook has named it",
    "none": "a restarted run begins a new conversation",
}
_CHECKS: Final = {"ok": ("✓", "good"), "problem": ("✗", "bad"), "na": ("–", "soft")}
LOOKING: Final = Span("◌ looking…", "soft")
BAR: Final = 20


def state(view: ProviderView, found: Detection | None) -> Span:
    """Whether it can be used here, in a glyph and a word."""
    provider = view.provider
    if not provider.enabled:
        return Span("◼ off", "pending")
    if provider.bin is None:
        return Span("✓ any command", "good")
    if found is None:
        return LOOKING
    if found.program is None:
        return Span("○ not here", "soft")
    if found.fault:
        return Span("✗ broken", "bad")
    return Span("✓ installed", "good") if found.fits else Span("▲ other version", "waiting")


def line_of(view: ProviderView, found: Detection | None) -> Line:
    """Its row."""
    provider = view.provider
    version = found.version or "" if found else ""
    hooks = _hooks(view)
    return Line(
        provider.name,
        (
            Span(one_line(provider.name), "ink", bold=True),
            state(view, found),
            Span(one_line(provider.title), "soft"),
            Span(_program(provider), "soft"),
            Span(one_line(version), "waiting" if found and not found.fits else "ink"),
            Span(one_line(provider.versions), "soft"),
            hooks,
            Span(_PROMPTS[provider.prompt], "soft"),
            Span("" if provider.usage == "none" else provider.usage.replace("-", " "), "soft"),
            Span("yes" if provider.gateway.env else "", "soft"),
        ),
    )


def facts(view: ProviderView, found: Detection | None) -> Iterator[Fact]:
    """What its entry says, and what of it is here."""
    provider = view.provider
    here = state(view, found)
    glyph, _, word = here.text.partition(" ")
    own = "your providers.toml says something about it" if view.own else "as pam ships it"
    yield Fact("state", _state_words(word, found), here.tone, glyph, _advice(view, found))
    yield Fact("entry", own)
    yield Fact("program", _program(provider) + (f", {one_line(found.program)}" if found and found.program else ""))
    if provider.versions:
        version = f"{one_line(found.version)} is here; " if found and found.version else ""
        yield Fact("versions", f"{version}works with {one_line(provider.versions)}")
    yield Fact("prompt", _PROMPTS_LONG[provider.prompt])
    yield Fact("model", "a run may name one" if provider.takes_model else "takes none")
    yield Fact("hooks", _hooks_words(view))
    yield Fact("resume", _RESUMES[provider.conversation.id])
    yield Fact("usage", "not reported" if provider.usage == "none" else f"its {provider.usage.replace('-', ' ')}")
    yield Fact("gateway", f"by {', '.join(provider.gateway.env)}" if provider.gateway.env else "cannot be led")
    if provider.keys:
        yield Fact("keys", ", ".join(map(one_line, provider.keys)))


def said(checks: Sequence[Check] | str | None, name: str, *, waits: bool) -> Iterator[Fact]:
    """The doctor's lines; a text in place of them is why there are none; None: it is asked now, or ``waits`` for D."""
    if checks is None:
        words = "D asks the doctor: it runs your command for keys." if waits else "looks…"
        yield Fact("doctor", words, "soft", "◌")
    elif isinstance(checks, str):
        yield Fact("doctor", checks, "bad", "✗")
    else:
        for check in checks:
            glyph, tone = _CHECKS[check.state]
            label = check.name.removeprefix(f"provider {name}").strip() or "program"
            note = one_line(check.fix) if check.state != "ok" else ""
            yield Fact(label, one_line(check.detail), tone, glyph, note)


def smoked(came: Smoke | int | str | None) -> Iterator[Fact]:
    """What the smoke test came to; a number: seconds it has been under way; a text: why it could not be."""
    if came is None:
        return
    if isinstance(came, int):
        full = min(came * BAR // SMOKE_S, BAR)
        bar = "▰" * full + "▱" * (BAR - full)
        yield Fact("smoke", f"{bar} {came} s of {SMOKE_S} s at the most, against a stub model", "working", "●")
    elif isinstance(came, str):
        yield Fact("smoke", came, "bad", "✗")
    else:
        glyph, tone = ("✓", "good") if came.good else ("✗", "bad")
        yield Fact("smoke", came.sentence, tone, glyph)
        if came.screen:
            yield Fact("", "the last of its screen:", "soft", " ")
            yield from (Fact("  │ ", one_line(row), "soft", plain=True) for row in came.screen)


def faulty(view: CatalogView) -> Iterator[Fact]:
    """What is wrong in the operator's file, with the lines around it."""
    fault = view.fault
    if fault is None:
        return
    yield Fact("", "Your providers.toml does not count as it is", "bad")
    kept = "The catalog stays as it was before." if view.providers else "No provider can be used until it is mended."
    yield Fact("fault", _without_path(fault, view.path), "bad", "✗", f"{kept} e opens it at the line.")
    cells = len(str(fault.around[-1][0])) if fault.around else 0
    for number, text in fault.around:
        at = number == fault.line
        label = f"  {'▶' if at else ' '} {number:>{cells}} │ "
        yield Fact(label, text.replace("\t", "    "), "bad" if at else "soft", plain=True)
    yield Fact("", "")


def _without_path(fault: Fault, path: str) -> str:
    """``line 3: …`` in place of the whole path, which stands in the head."""
    return one_line(fault.sentence.replace(f"{path}:{fault.line}:", f"line {fault.line}:"))


def _hooks(view: ProviderView) -> Span:
    hooks = view.provider.hooks
    if view.hooks == "none":
        return Span("none", "soft")
    if view.hooks == "off":
        return Span("○ unproven", "soft")
    proven = f"✓ proven {one_line(hooks.proven_with)}".rstrip() if hooks.proven else "▲ unproven, on"
    return Span(proven, "good" if hooks.proven else "waiting")


def _hooks_words(view: ProviderView) -> str:
    hooks, name = view.provider.hooks, one_line(view.provider.hooks.recipe)
    if view.hooks == "none":
        return "none: pam knows its end, its silence, and what it says through `pam signal`"
    if view.hooks == "off":
        return f"recipe {name}, off until tests with the real program prove it"
    if not hooks.proven:
        return f"recipe {name}, on though no test with the real program has proven it"
    return f"recipe {name}, proven" + (f" with {one_line(hooks.proven_with)}" if hooks.proven_with else "")


def _program(provider: Provider) -> str:
    if provider.bin == "{python}":
        return "pam's own"
    return one_line(provider.bin) if provider.bin else "yours"


def _state_words(word: str, found: Detection | None) -> str:
    return f"{word}: {one_line(found.fault)}" if found and found.fault else word


def _advice(view: ProviderView, found: Detection | None) -> str:
    provider = view.provider
    if not provider.enabled:
        return "No run may use it. d switches it on."
    if provider.bin is None or found is None:
        return ""
    if found.program is None:
        install = f"`{one_line(provider.install)}` installs it. " if provider.install else ""
        return f"{install}e names its place as `bin`; r looks again."
    return "" if found.fits else "It may work all the same; S tries it."
