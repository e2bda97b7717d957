"""The palettes for terminals of 256 colours, such as those reached by ssh, which does not pass on that there are more.

Reduced by rule, the dark grounds would turn navy and teal: a palette of 256 has no dark blue-greys. So grounds are
taken from its ramp of greys, and texts that would change their hue from its cube. Values are what is asked for; what a
terminal makes of them is tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from themes.palette import PALETTES, Palette

FEW_COLOURS: Final[Mapping[str, Palette]] = {
    "pam-dark": replace(
        PALETTES["pam-dark"],
        page="#121212",
        column="#1c1c1c",
        card="#262626",
        card_cursor="#00005f",
        card_rest="#303030",
        bar="#303030",
        rule="#444444",
        ink="#eeeeee",
        idle="#87afd7",
        pending="#afafff",
        bad="#ff8787",
    ),
    "pam-light": replace(
        PALETTES["pam-light"],
        page="#ebebeb",
        column="#f5f5f5",
        card="#ffffff",
        card_cursor="#d7d7ff",
        card_rest="#ebebeb",
        bar="#e0e0e0",
        rule="#c6c6c6",
        rule_strong="#005f87",
        ink="#262626",
        working="#005f00",
        waiting="#5f5f00",
        idle="#005faf",
        pending="#5f00af",
        good="#005f00",
        person="#870087",
    ),
    "pam-contrast": replace(PALETTES["pam-contrast"], card="#080808", card_cursor="#00005f"),
}
