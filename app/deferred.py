"""Puts off modules that are imported although a short command never uses them, nor a board until it is seen.

``inspect``, which click imports, alone costs a sixth of what ``pam task list`` takes. A deferred module stands in
``sys.modules`` as usual and loads itself, for good, when anything of it is first used.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType

_waiting: set[str] = set()
_loading = RLock()


class _Deferred(ModuleType):
    def __getattr__(self, name: str) -> object:
        if name == "__path__":  # asked by every import; a package has one from its beginning
            raise AttributeError(name)
        _load(self)
        return ModuleType.__getattribute__(self, name)


def defer_unused() -> None:
    """Put off what the command line imports and its short commands never use."""
    # peewee takes `isclass` by name while it is imported.
    defer("inspect", isclass=lambda thing: isinstance(thing, type))
    for name in ("psutil", "tomlkit", "socket", "hashlib", "calendar", "ipaddress", "linecache", "textwrap"):
        defer(name)


def defer(name: str, **known: object) -> None:
    """Let the next ``import name`` cost nothing; ``known`` may be used without loading the module."""
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    module.__dict__.update(known)
    module.__class__ = _Deferred
    sys.modules[name] = module
    _waiting.add(name)


def waiting() -> frozenset[str]:
    """Names of the modules that nothing has used yet."""
    return frozenset(_waiting)


def _load(module: ModuleType) -> None:
    """Load once; another thread waits, and a use from inside the loading sees the module as far as it got."""
    with _loading:
        if module.__name__ in _waiting and module.__spec__ is not None and module.__spec__.loader is not None:
            _waiting.remove(module.__name__)
            module.__spec__.loader.exec_module(module)
            module.__class__ = ModuleType
