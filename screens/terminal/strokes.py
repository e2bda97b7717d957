"""Keys: read from any encoding a terminal may use, and written in the one that a program asked for.

Encodings are the plain one of old, xterm's ``modifyOtherKeys`` and the kitty keyboard protocol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

SHIFT, ALT, CTRL, SUPER, HYPER, META = 1, 2, 4, 8, 16, 32
_MODIFIERS: Final = {"shift": SHIFT, "alt": ALT, "ctrl": CTRL, "super": SUPER, "hyper": HYPER, "meta": META}
_LOCKS: Final = 64 | 128
"""Caps lock and num lock, which a terminal reports beside the modifiers."""

_LETTERS: Final = {
    "A": "up", "B": "down", "C": "right", "D": "left", "E": "begin", "F": "end", "H": "home",
    "P": "f1", "Q": "f2", "R": "f3", "S": "f4",
}  # fmt: skip
_NUMBERS: Final = {
    1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageup", 6: "pagedown", 7: "home", 8: "end",
    11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8", 20: "f9", 21: "f10",
    23: "f11", 24: "f12", 25: "f13", 26: "f14", 28: "f15", 29: "f16", 31: "f17", 32: "f18", 33: "f19", 34: "f20",
}  # fmt: skip
_CODES: Final = {9: "tab", 13: "enter", 27: "escape", 127: "backspace"}
_KEYPAD: Final = {
    57409: ".", 57410: "/", 57411: "*", 57412: "-", 57413: "+", 57414: "enter", 57415: "=", 57416: ",",
    57417: "left", 57418: "right", 57419: "up", 57420: "down", 57421: "pageup", 57422: "pagedown",
    57423: "home", 57424: "end", 57425: "insert", 57426: "delete", 57427: "begin",
    **{57399 + digit: str(digit) for digit in range(10)}, **{57376 + n: f"f{13 + n}" for n in range(8)},
}  # fmt: skip
_LETTER_OF: Final = {name: letter for letter, name in _LETTERS.items()}
_NUMBER_OF: Final = {name: number for number, name in _NUMBERS.items() if number not in (1, 4, 7, 8, 11, 12, 13, 14)}
_CODE_OF: Final = {name: code for code, name in _CODES.items()}
_CONTROLS: Final = {" ": 0, "@": 0, "2": 0, "3": 27, "4": 28, "5": 29, "6": 30, "7": 31, "8": 127, "?": 127, "/": 31,
                    "-": 31, **{chr(code + 64): code for code in range(27, 32)}}  # fmt: skip
_NAMES_OF_CONTROLS: Final = {0: "@", **{code: chr(code + 96) for code in range(1, 27)},
                             **{code: chr(code + 64) for code in range(28, 32)}}  # fmt: skip

_KEY = re.compile(r"\x1b\[(?P<fields>[0-9:;]*)(?P<final>[u~A-HP-SZ])")
_DISAMBIGUATE, _EVENTS, _ALTERNATES, _ALL_KEYS, _TEXT = 1, 2, 4, 8, 16


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key that was pressed: a character, or a name such as ``enter``, ``f12``, ``up``; lower case where shifted."""

    key: str
    modifiers: int = 0
    text: str = ""
    """What it types, if anything."""
    base: str = ""
    """The key's character on a US keyboard, where the terminal tells."""

    def is_key(self, named: Stroke) -> bool:
        """Whether it is the key of that name, with the same modifiers, on whatever layout."""
        return self.modifiers == named.modifiers and bool(named.key) and named.key in (self.key, self.base)


@lru_cache(maxsize=256)
def named(name: str) -> Stroke:
    """The key that Textual or the configuration calls so: ``ctrl+right_square_bracket``, ``ctrl+]``, ``f12``."""
    *modifiers, key = name.split("+") if name != "+" else ["+"]
    bits = sum(_MODIFIERS.get(modifier, 0) for modifier in modifiers)
    if len(key) > 1:
        key = _TEXTUAL.get(key, key)
    if len(key) == 1 and key.isupper():
        return Stroke(key.lower(), bits | SHIFT, "" if bits & ~SHIFT else key)
    return Stroke(key, bits, key if len(key) == 1 and not bits else "")


def shown(name: str) -> str:
    """A key's name as the operator reads it: ``ctrl+]``, ``F12``."""
    *modifiers, key = name.split("+") if name != "+" else ["+"]
    key = _TEXTUAL.get(key, key)
    return "+".join([*modifiers, key.upper() if re.fullmatch("f[0-9]+", key) else key])


@lru_cache(maxsize=1024)
def read(sequence: str) -> Stroke | None:
    """The key of one escape sequence, or of one control character; None for what is none, or was let go."""
    if found := _KEY.fullmatch(sequence):
        return _of_fields(found["fields"], found["final"])
    if len(sequence) == 3 and sequence.startswith("\x1bO"):
        name = _LETTERS.get(sequence[2])
        return Stroke(name) if name else None
    if len(sequence) == 4 and sequence.startswith("\x1b[["):  # the Linux console
        return Stroke(f"f{ord(sequence[3]) - 64}")
    if len(sequence) == 2 and sequence[0] == "\x1b":
        plain = read(sequence[1])
        return Stroke(plain.key, plain.modifiers | ALT) if plain else None
    if len(sequence) == 1:
        return _of_character(sequence)
    return None


def write(stroke: Stroke, modes: Set[str], kitty: int) -> bytes:
    """The key in the encoding that a program has asked for; nothing for a key that has no bytes there."""
    if stroke.text and not stroke.modifiers & ~SHIFT and not kitty & _ALL_KEYS:
        return stroke.text.encode("utf-8", "replace")
    return (_kitty(stroke, kitty) if kitty else _plain(stroke, modes)).encode("utf-8", "replace")


def pasted(text: str, modes: Set[str]) -> bytes:
    """A paste, in brackets where the program asked for them; it can't end them by itself."""
    clean = text.replace("\x1b[201~", "")
    if "paste" in modes:
        clean = f"\x1b[200~{clean}\x1b[201~"
    return clean.encode("utf-8", "replace")


def _of_fields(fields: str, final: str) -> Stroke | None:
    """``code:shifted:base ; modifiers:event ; text`` before the final character."""
    groups = [group.split(":") for group in (fields or "1").split(";")]
    numbers = [[int(part) if part else 0 for part in group] for group in groups]
    if final == "~" and numbers[0][0] == 27 and len(numbers) > 2:  # modifyOtherKeys
        return _stroke(numbers[2][0], 0, numbers[1][0], ())
    code = numbers[0][0]
    pressed = numbers[1] if len(numbers) > 1 else [1]
    if len(pressed) > 1 and pressed[1] == 3:
        return None
    modifiers = max(pressed[0] - 1, 0) & ~_LOCKS
    if final == "Z":
        return Stroke("tab", modifiers | SHIFT)
    if final == "u":
        base = numbers[0][2] if len(numbers[0]) > 2 else 0
        return _stroke(code, base, modifiers + 1, numbers[2] if len(numbers) > 2 else ())
    name = _NUMBERS.get(code) if final == "~" else _LETTERS.get(final)
    return Stroke(name, modifiers) if name else None


def _stroke(code: int, base: int, modifiers: int, text: Iterable[int]) -> Stroke | None:
    bits = max(modifiers - 1, 0) & ~_LOCKS
    written = "".join(chr(part) for part in text if 31 < part < 0x110000 and part != 127)
    name = _CODES.get(code) or _KEYPAD.get(code)
    if name is None:
        if 57344 <= code <= 63743:
            return None  # a modifier by itself, or a key of a media player
        name = chr(code) if 31 < code < 0x110000 else ""
        if not name and not written:
            return None
    if not written and len(name) == 1 and not bits & ~SHIFT:
        written = name.upper() if bits & SHIFT else name
    if len(name) == 1 and name.isupper():
        name, bits = name.lower(), bits | SHIFT
    return Stroke(name, bits, written, chr(base) if 31 < base < 0x110000 else "")


def _of_character(character: str) -> Stroke:
    code = ord(character)
    if code in _CODES:
        return Stroke(_CODES[code])
    if code in _NAMES_OF_CONTROLS and code < 32:
        return Stroke(_NAMES_OF_CONTROLS[code], CTRL)
    if character.isupper() and character.lower() != character and len(character.lower()) == 1:
        return Stroke(character.lower(), SHIFT, character)
    return Stroke(character, 0, character)


def _plain(stroke: Stroke, modes: Set[str]) -> str:
    key, bits = stroke.key, stroke.modifiers
    if key in _LETTER_OF:
        return _by_letter(_LETTER_OF[key], bits, "app_cursor" in modes)
    if key in _NUMBER_OF:
        return f"\x1b[{_NUMBER_OF[key]};{bits + 1}~" if bits else f"\x1b[{_NUMBER_OF[key]}~"
    alt = "\x1b" if bits & (ALT | META) else ""
    other = "other_keys" in modes
    if key in _CODE_OF:
        return alt + _named_code(key, bits & ~(ALT | META), other)
    if len(key) != 1:
        return ""
    if bits & CTRL:
        code = _control(key)
        if code is not None and not (other and bits & SHIFT):
            return alt + chr(code)
        return f"\x1b[{ord(key)};{bits + 1}u" if other else alt + key
    return alt + (stroke.text or (key.upper() if bits & SHIFT else key))


def _by_letter(letter: str, bits: int, application: bool) -> str:
    if bits:
        return f"\x1b[1;{bits + 1}{letter}"
    return f"\x1bO{letter}" if application or letter in "PQRS" else f"\x1b[{letter}"


def _named_code(key: str, bits: int, other: bool) -> str:
    """Enter, Tab, Escape and Backspace, which have one character each for many ways to press them."""
    if key == "tab" and bits == SHIFT:
        return "\x1b[Z"
    if key == "backspace":
        return "\x08" if bits & CTRL else "\x7f"
    if bits and other:
        return f"\x1b[{_CODE_OF[key]};{bits + 1}u"
    return chr(_CODE_OF[key])


def _control(key: str) -> int | None:
    """The control character of a key."""
    if key.isascii() and key.isalpha():
        return ord(key.lower()) & 31
    return _CONTROLS.get(key)


def _kitty(stroke: Stroke, flags: int) -> str:
    key, bits = stroke.key, stroke.modifiers
    if key in _LETTER_OF and not (key == "f3" and bits):
        return _by_letter(_LETTER_OF[key], bits, False)
    if key in _NUMBER_OF or key == "f3":
        number = _NUMBER_OF.get(key, 13)
        return f"\x1b[{number};{bits + 1}~" if bits else f"\x1b[{number}~"
    if key in _CODE_OF:
        if not bits and key != "escape" and not flags & _ALL_KEYS:
            return chr(_CODE_OF[key])
        return _csi_u(_CODE_OF[key], bits, "")
    if not key:
        return _csi_u(0, 0, stroke.text)
    if len(key) != 1:
        return ""
    if not bits & ~SHIFT and not flags & _ALL_KEYS:
        return stroke.text or key
    return _csi_u(ord(key), bits, stroke.text if flags & _TEXT else "")


def _csi_u(code: int, bits: int, text: str) -> str:
    said = ":".join(str(ord(character)) for character in text)
    if said:
        return f"\x1b[{code};{bits + 1 if bits else ''};{said}u"
    return f"\x1b[{code};{bits + 1}u" if bits else f"\x1b[{code}u"


_TEXTUAL: Final[Mapping[str, str]] = {
    "space": " ", "exclamation_mark": "!", "quotation_mark": '"', "number_sign": "#", "dollar_sign": "$",
    "percent_sign": "%", "ampersand": "&", "apostrophe": "'", "left_parenthesis": "(", "right_parenthesis": ")",
    "asterisk": "*", "plus": "+", "comma": ",", "minus": "-", "full_stop": ".", "slash": "/", "colon": ":",
    "semicolon": ";", "less_than_sign": "<", "equals_sign": "=", "greater_than_sign": ">", "question_mark": "?",
    "at": "@", "left_square_bracket": "[", "backslash": "\\", "right_square_bracket": "]",
    "circumflex_accent": "^", "underscore": "_", "grave_accent": "`", "left_curly_bracket": "{",
    "vertical_line": "|", "right_curly_bracket": "}", "tilde": "~",
}  # fmt: skip
"""Textual's names of characters."""
