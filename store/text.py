"""What operators and agents may type into a field, and what becomes of it."""

from __future__ import annotations

import re
import unicodedata

from store.errors import InvalidValue

TITLE_LIMIT = 500
LABEL_LIMIT = 50
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, and halves of surrogate pairs: JSON may spell those, but no database can store them."""
_LABEL = re.compile(r"[^\s,#]+")


def one_line(value: str, field: str, *, limit: int = TITLE_LIMIT) -> str:
    """A trimmed, non-empty single line of at most ``limit`` characters. Raises InvalidValue."""
    line = " ".join(_CONTROL.sub(" ", value).split())
    if not line:
        raise InvalidValue(f"The {field} is empty. Give it at least one visible character.", field=field)
    if len(line) > limit:
        raise InvalidValue(
            f"The {field} has {len(line)} characters; at most {limit} fit. Put the rest into the description.",
            field=field,
            limit=limit,
        )
    return line


def optional_line(value: str | None, field: str, *, limit: int = TITLE_LIMIT) -> str | None:
    """As ``one_line``; nothing or blank becomes None."""
    return one_line(value, field, limit=limit) if value and value.strip() else None


def paragraphs(value: str) -> str:
    """Text of several lines, without control characters that could reach a terminal."""
    return _CONTROL.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))


def label(value: str) -> str:
    """A label as it is stored: lower case, without ``#`` in front. Raises InvalidValue."""
    word = unicodedata.normalize("NFC", value.strip().lstrip("#").lower())
    if not _LABEL.fullmatch(word) or len(word) > LABEL_LIMIT or _CONTROL.search(word):
        raise InvalidValue(
            f"{value!r} is not a label: one word of at most {LABEL_LIMIT} characters, without spaces or commas.",
            field="label",
        )
    return word


def slug(value: str) -> str:
    """A URL-safe slug made from a name; may be empty when the name has no letters or digits of ASCII."""
    plain = unicodedata.normalize("NFKD", value).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60].strip("-")


def checked_slug(value: str) -> str:
    """A slug given by the operator. Raises InvalidValue when it is not URL-safe."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", value) or len(value) > 60:
        raise InvalidValue(
            f"{value!r} is not a slug: use lower-case letters, digits and single dashes, at most 60 characters.",
            field="slug",
        )
    return value
