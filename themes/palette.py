"""The colours of pam's three themes, by what they mean.

The names are the CSS variables that ``pam.tcss`` uses (``$ink``, ``$card-cursor``, …). Another theme of Textual gets
the same names from its own colours, so every rule has a value in every theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from textual.theme import Theme


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme's colours as ``#rrggbb``; each text colour reads on each ground (WCAG AA, tested)."""

    page: str
    """Ground of the whole screen."""
    column: str
    """Ground of a panel on the page."""
    card: str
    card_cursor: str
    """The selected card where the keys go."""
    card_rest: str
    """The selected card of a column that the keys don't go to."""
    bar: str
    """Header and footer."""
    rule: str
    """Borders at rest."""
    rule_strong: str
    """The border of what has the focus."""
    ink: str
    soft: str
    """Second thoughts: kinds, ages, hints."""
    accent: str
    on_accent: str
    """Text on a ground of ``accent``."""
    working: str
    waiting: str
    idle: str
    pending: str
    good: str
    bad: str
    label: str
    person: str
    kind: str

    def variables(self) -> dict[str, str]:
        """CSS variables, ``card_cursor`` as ``card-cursor``."""
        return {name.replace("_", "-"): value for name, value in asdict(self).items()}


PALETTES: Final[Mapping[str, Palette]] = {
    "pam-dark": Palette(
        page="#0e1218",
        column="#131922",
        card="#1a2230",
        card_cursor="#29415f",
        card_rest="#222d3e",
        bar="#171e29",
        rule="#2c3849",
        rule_strong="#5cb8ff",
        ink="#e3e9f2",
        soft="#9fadc0",
        accent="#5cb8ff",
        on_accent="#08131f",
        working="#72e09a",
        waiting="#ffc866",
        idle="#9cc3ea",
        pending="#c6b4ff",
        good="#72e09a",
        bad="#ff9a9f",
        label="#79d8cf",
        person="#d3b8ff",
        kind="#9fadc0",
    ),
    "pam-light": Palette(
        page="#ece9e2",
        column="#f4f2ec",
        card="#ffffff",
        card_cursor="#d3e6f8",
        card_rest="#e9edf0",
        bar="#e0dcd2",
        rule="#c9c3b5",
        rule_strong="#0b66a8",
        ink="#1d2530",
        soft="#4d5766",
        accent="#0b5c99",
        on_accent="#ffffff",
        working="#116632",
        waiting="#7a4600",
        idle="#2f5580",
        pending="#5b3aa8",
        good="#116632",
        bad="#a3182b",
        label="#0b5f5a",
        person="#6a3796",
        kind="#4d5766",
    ),
    "pam-contrast": Palette(
        page="#000000",
        column="#000000",
        card="#0c0c0c",
        card_cursor="#00357a",
        card_rest="#262626",
        bar="#000000",
        rule="#8c8c8c",
        rule_strong="#ffe14d",
        ink="#ffffff",
        soft="#d9d9d9",
        accent="#ffe14d",
        on_accent="#000000",
        working="#5dff8f",
        waiting="#ffd23f",
        idle="#a8d8ff",
        pending="#d9c7ff",
        good="#5dff8f",
        bad="#ffbaba",
        label="#7dfff0",
        person="#f0c2ff",
        kind="#d9d9d9",
    ),
}

DEFAULT_THEME: Final = "pam-dark"


def pam_theme(name: str, palette: Palette) -> Theme:
    """The Textual theme made of a palette."""
    return Theme(
        name=name,
        dark=name != "pam-light",
        primary=palette.accent,
        secondary=palette.person,
        accent=palette.accent,
        foreground=palette.ink,
        background=palette.page,
        surface=palette.column,
        panel=palette.bar,
        warning=palette.waiting,
        error=palette.bad,
        success=palette.good,
        text_alpha=1.0,
        variables={**palette.variables(), **_textual_variables(palette)},
    )


def borrowed(generated: Mapping[str, str]) -> dict[str, str]:
    """pam's variables out of those that Textual generates for a theme of its own."""
    take = generated.__getitem__
    text = take("foreground")
    return {
        "page": take("background"),
        "column": take("surface"),
        "card": take("panel"),
        "card-cursor": take("primary-muted"),
        "card-rest": take("panel"),
        "bar": take("panel"),
        "rule": take("surface-lighten-2"),
        "rule-strong": take("primary"),
        "ink": text,
        "soft": text,
        "accent": take("text-accent"),
        "on-accent": take("background"),
        "working": take("text-success"),
        "waiting": take("text-warning"),
        "idle": take("text-primary"),
        "pending": take("text-secondary"),
        "good": take("text-success"),
        "bad": take("text-error"),
        "label": take("text-accent"),
        "person": take("text-secondary"),
        "kind": text,
    }


def _textual_variables(palette: Palette) -> dict[str, str]:
    """What Textual's own widgets (inputs, palette, scroll bars) read."""
    return {
        "block-cursor-background": palette.card_cursor,
        "block-cursor-foreground": palette.ink,
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": palette.card_rest,
        "block-cursor-blurred-foreground": palette.ink,
        "block-hover-background": palette.card_rest,
        "border": palette.rule_strong,
        "border-blurred": palette.rule,
        "button-color-foreground": palette.on_accent,
        "button-focus-text-style": "bold",
        "foreground-muted": palette.soft,
        "foreground-disabled": palette.soft,
        "text-muted": palette.soft,
        "text-disabled": palette.soft,
        "input-cursor-background": palette.ink,
        "input-cursor-foreground": palette.card,
        "input-selection-background": palette.card_cursor,
        "link-color": palette.accent,
        "link-background-hover": palette.card_cursor,
        "link-color-hover": palette.ink,
        "scrollbar": palette.rule,
        "scrollbar-hover": palette.soft,
        "scrollbar-active": palette.accent,
        "scrollbar-background": palette.column,
        "scrollbar-background-hover": palette.column,
        "scrollbar-background-active": palette.column,
        "scrollbar-corner-color": palette.column,
    }
