"""Every key of a catalog file is found on its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.toml_text import key_lines, parse
from store.errors import ConfigError

TEXT = '''\
# a comment with [brackets] and = signs
top = "x"

[claude]
argv = [
  "{bin}", # ] not the end
  ["--model", "{model}"],
]
title = """
[codex]
not = "a key"
"""
"quoted.key" = 1
[claude.env]
A = '#'
B.C = { inline = 1 }

  [ codex . "x y" ]
  last = true
'''


def test_lines_survive_comments_lists_and_text_of_several_lines() -> None:
    assert key_lines(TEXT) == {
        ("top",): 2,
        ("claude",): 4,
        ("claude", "argv"): 5,
        ("claude", "title"): 9,
        ("claude", "quoted.key"): 13,
        ("claude", "env"): 14,
        ("claude", "env", "A"): 15,
        ("claude", "env", "B"): 16,
        ("claude", "env", "B", "C"): 16,
        ("codex",): 18,
        ("codex", "x y"): 18,
        ("codex", "x y", "last"): 19,
    }


@given(
    st.lists(st.sampled_from(["", "# [x]", 'k{n} = "a"', "k{n} = [\n 1,\n 2\n]", 'k{n} = """\n[no]\n"""']), max_size=12)
)
def test_each_key_is_on_the_line_that_begins_with_it(pieces: list[str]) -> None:
    text = "\n".join(piece.replace("{n}", str(n)) for n, piece in enumerate(pieces))
    lines = text.splitlines()
    for (key,), line in key_lines(text).items():
        assert lines[line - 1].startswith(f"{key} =")
    assert {key for (key,) in key_lines(text)} == set(parse(text, Path("x.toml")))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[claude]\nbin =\n", 2),
        ('[claude]\n\nbin = "a"\nbin = "b"', 4),
        ("[claude]\n[claude]\n", 2),
        ('bin = "a', 1),
        ("a = [\n1,\n", 2),
    ],
)
def test_text_that_is_not_toml_is_a_fault_with_its_line(text: str, line: int) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, Path("providers.toml"))
    assert caught.value.details == {"path": "providers.toml", "line": line}
    assert str(caught.value).startswith(f"providers.toml:{line}: ")
