"""aider's one hook."""

from __future__ import annotations

import shlex

from providers.recipes.aider import Aider
from providers.recipes.recipe import Setting

AT = Setting("/home/mara/pam", "/home/mara", "/work", ("/usr/bin/python3", "/home/mara/pam/a b.py"))


def test_it_is_given_a_command_that_waits_for_no_payload() -> None:
    flag, option, command = Aider().setup(AT).args
    assert (flag, option) == ("--notifications", "--notifications-command")
    assert shlex.split(command) == [*AT.signal, "hook", "aider", "rests", "{}"]


def test_it_says_that_it_takes_input_and_no_more() -> None:
    said = Aider().read("rests", {})
    assert said is not None
    assert (said.activity, said.completed) == ("idle", False)
    assert Aider().read("", {}) is None
