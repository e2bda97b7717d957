"""What config.toml may say, and the line of what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.config_file import ConfigFile, check_config, from_words, read_config
from app.config_keys import BY_NAME, KEYS
from app.config_scaffold import scaffold
from store.errors import ConfigError, InvalidValue

PATH = Path("config.toml")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[tmux]\nsoket = 'a'\n", 2, "did you mean 'socket'?"),
        ("\n\n[exector]\n", 3, "did you mean 'executor'?"),
        ("[tmux]\n\nsocket = 'default'\n", 3, "your own tmux server"),
        ("[tmux]\nsocket = '/tmp/x'\n", 2, "no slash"),
        ("[tmux]\nsocket = ''\n", 2, "letters"),
        ("[tmux]\nbin = ' '\n", 2, "empty"),
        ("[tmux]\ncolumns = 2.5\n", 2, "whole number"),
        ("[tmux]\ncolumns = true\n", 2, "whole number"),
        ("[tmux]\ncolumns = 5\n", 2, "from 20 to 1000"),
        ("[executor]\ngrace_s = '1'\n", 2, "number of seconds"),
        ("[executor]\ngrace_s = nan\n", 2, "out of range"),
        ("[executor]\ngrace_s = inf\n", 2, "out of range"),
        ("[work]\nauto_mark_done = 1\n", 2, "true or false"),
        ("[gateway]\nurl = 'gateway.example'\n", 2, "http"),
        ("[gateway]\nurl = 'https://me:pass-word@g.example'\n", 2, "no user, password"),
        ("[gateway]\nurl = 'https://g.example/?key=1'\n", 2, "no user, password"),
        ("[gateway]\nurl = 'https://g.example/`'\n", 2, "no URL has"),
        ("[gateway]\napi_key = 'a b'\n", 2, "one word"),
        ("[gateway]\nproviders = 'Claude!'\n", 2, 'as in "claude, codex"'),
        ("[secrets]\ncommand = 'pass show'\n", 2, "it says nowhere {name}"),
        ('[secrets]\ncommand = "pass \'show {name}"\n', 2, "no command line"),
        ("[secrets]\ncommand = ' '\n", 2, "empty"),
        ("[providers]\ndefault = ['a']\n", 2, "text in quotes"),
        ("tmux = 1\n", 1, "write [tmux]"),
        ("[keys]\nhelp = 1\n", 2, "key in quotes"),
        ("[tmux]\nrows = 40\n[executor\n", 3, "Expected"),
        ("[tmux]\nrows = 40\nrows = 41\n", 3, "overwrite"),
        ("tmux.rows = 40\ntmux.row = 1\n", 2, "rows"),
    ],
)
def test_a_fault_is_told_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_config(text, PATH)
    assert caught.value.details == {"path": "config.toml", "line": line}
    assert str(caught.value).startswith(f"config.toml:{line}: ")
    assert words in str(caught.value)


def test_a_secret_is_never_repeated() -> None:
    """PAM-SEC-002."""
    with pytest.raises(ConfigError) as caught:
        check_config("[gateway]\napi_key = '  '\n", PATH)
    assert "this value" in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        check_config("[gateway]\nurl = 'https://me:pass-word@g.example'\n", PATH)
    assert "pass-word" not in str(caught.value)


def test_a_file_that_is_not_there_is_empty_unless_it_was_named(tmp_path: Path) -> None:
    assert read_config(tmp_path / "no.toml") == ConfigFile()
    with pytest.raises(ConfigError, match="pam init"):
        read_config(tmp_path / "no.toml", required=True)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="directory"):
        read_config(tmp_path)
    path = tmp_path / "latin.toml"
    path.write_bytes(b"# fine\n# \xff\n")
    with pytest.raises(ConfigError, match="UTF-8") as caught:
        read_config(path)
    assert caught.value.details["line"] == 2


def test_the_scaffold_sets_nothing_and_all_of_it_may_be_set() -> None:
    """Every key stands in it as a comment; without the comment signs it is valid and says the defaults."""
    text = scaffold()
    assert check_config(text, PATH) == ConfigFile()
    uncommented = "\n".join(
        line.removeprefix("# ") if line.startswith(tuple(f"# {key.name} = " for key in KEYS)) else line
        for line in text.splitlines()
    )
    said = check_config(uncommented, PATH).values
    assert set(said) == set(BY_NAME)
    for key in KEYS:
        if key.default is not None:
            assert said[key.dotted] == key.default


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    """It is read, or it is a ConfigError with a line."""
    try:
        check_config(text, PATH)
    except ConfigError as error:
        assert error.details["line"]


@pytest.mark.parametrize(
    ("key", "words", "value"),
    [
        ("tmux.rows", "60", 60),
        ("executor.grace_s", "2.5", 2.5),
        ("executor.grace_s", "3", 3.0),
        ("work.auto_mark_done", "True", True),
        ("ui.theme", "nord", "nord"),
    ],
)
def test_words_become_values(key: str, words: str, value: object) -> None:
    assert from_words(BY_NAME[key], words) == value


@pytest.mark.parametrize(("key", "words"), [("tmux.rows", "2.5"), ("tmux.rows", "nan"), ("work.auto_mark_done", "1")])
def test_other_words_do_not(key: str, words: str) -> None:
    with pytest.raises(InvalidValue):
        from_words(BY_NAME[key], words)
