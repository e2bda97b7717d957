"""Modules that are put off."""

from __future__ import annotations

import subprocess
import sys


def output_of(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_a_deferred_module_loads_on_first_use_and_is_the_module() -> None:
    code = """
import sys
from app.deferred import defer, waiting
defer("calendar")
import calendar
assert waiting() == {"calendar"} and "locale" not in sys.modules
print(calendar.isleap(2024), type(calendar).__name__, sys.modules["calendar"] is calendar, sorted(waiting()))
"""
    assert output_of(code) == "True module True []"


def test_what_is_known_costs_nothing_and_the_rest_is_there() -> None:
    code = """
from app.deferred import defer_unused, waiting
defer_unused()
from inspect import isclass
assert isclass(int) and not isclass(1) and "inspect" in waiting()
import inspect
print(inspect.cleandoc("  a"), inspect.isclass.__module__, "inspect" in waiting())
"""
    assert output_of(code) == "a inspect False"


def test_from_imports_and_subclasses_work() -> None:
    code = """
from app.deferred import defer_unused
defer_unused()
from hashlib import sha256
import socket
class Mine(socket.socket): pass
import asyncio
print(sha256(b"").hexdigest()[:8], Mine.__mro__[1].__name__)
"""
    assert output_of(code) == "e3b0c442 socket"


def test_threads_that_meet_at_a_first_use_all_get_the_module() -> None:
    code = """
import threading
from app.deferred import defer
defer("inspect")
import inspect
start, found = threading.Barrier(8), []
def use():
    start.wait()
    found.append(inspect.signature(len) is not None)
threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(found == [True] * 8)
"""
    assert output_of(code) == "True"


def test_a_module_that_is_there_or_nowhere_is_left_alone() -> None:
    code = """
import json, sys
from app.deferred import defer, waiting
before = sys.modules["json"]
defer("json")
defer("no_such_module_at_all")
print(sys.modules["json"] is before, "no_such_module_at_all" in sys.modules, sorted(waiting()))
"""
    assert output_of(code) == "True False []"


def test_a_package_loads_on_first_use_whatever_of_it_was_imported_before() -> None:
    code = """
import sys
from app.deferred import defer, waiting
defer("tomlkit")
from tomlkit.exceptions import TOMLKitError
assert "tomlkit.api" not in sys.modules
from tomlkit.items import Array
import tomlkit
assert issubclass(tomlkit.exceptions.ParseError, TOMLKitError)
print(isinstance(tomlkit.parse("a = [1]")["a"], Array), sorted(waiting()))
"""
    assert output_of(code) == "True []"
