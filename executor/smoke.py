"""A provider's program started once against the stub model: does it come up, ask nothing, and answer?

It lives on a tmux server of its own, in a home that is made for it, is led to the stub as to a gateway, and has nothing
of the operator's: no key, no login, no setting. The stub stands in as its proxy too, so nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from executor.hosts.link import NoSuchSession, PaneListing, Spawn
from executor.hosts.local import LocalLink
from executor.settings import ExecutorSettings
from executor.supervision.ending import NOBODY
from executor.tmux import oneshot
from executor.wrapper.install import programs
from providers.gateway import Gateway
from providers.launch import LaunchPlan, agent_env, plan
from providers.provider import Provider
from providers.recipes.recipe import HookSetup, Setting
from providers.recipes.registry import recipe
from providers.stub import StubModel
from providers.template import fill
from store.home import DIRECTORY_MODE, FILE_MODE

PATIENCE_S = 60.0
LOOK_S = 0.1
QUIET_S = 1.5
"""A program that takes its prompt by paste is ready when its screen has stood still for this long."""
GRACE_S = 2.0
SCREEN_LINES = 12
_PROMPT = "Say hello."
_ANSWER = "STUB-OK: Say hello."
_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SHELL", "USER", "LOGNAME", "TMPDIR")
_ISOLATED = ("-I", "-S", "-E")
_STYLE = re.compile(r"\x1b\[[0-9;:]*m")


@dataclass(frozen=True, slots=True)
class Smoke:
    """What came of it."""

    answered: bool
    took_s: float
    asked: bool
    """Whether the model was asked at all."""
    hooks: bool
    """Whether a hook said something."""
    ended: bool
    """Whether the program ended by itself."""
    screen: tuple[str, ...]
    """The last lines that are not empty."""


async def smoke(
    provider: Provider,
    settings: ExecutorSettings,
    environ: Mapping[str, str],
    *,
    patience_s: float = PATIENCE_S,
    use_hooks: bool = True,
) -> Smoke:
    """Start the program, wait for the stub's answer on its screen, and end it.

    Raises ProviderUnavailable, InvalidValue, TmuxUnavailable or OSError.
    """
    with _made_place() as place, StubModel() as stub:
        own = replace(settings, tmux_socket=f"pam-smoke-{os.getpid()}", columns=120, rows=40, gateway=None)
        link = LocalLink(own, place / "pam")
        try:
            await link.connect()
            trial = _Trial(provider, link, place, stub, use_hooks=use_hooks)
            return await trial.run(own, environ, patience_s)
        finally:
            await link.close()
            await asyncio.to_thread(oneshot.end_server, own)
            await asyncio.to_thread(oneshot.remove_socket, own)


@contextmanager
def _made_place() -> Iterator[Path]:
    """A directory by its real name, as programs see it; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="pam-smoke-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


class _Trial:
    """One start of one program."""

    def __init__(self, provider: Provider, link: LocalLink, place: Path, stub: StubModel, *, use_hooks: bool) -> None:
        self._provider = provider
        self._link = link
        self._stub = stub
        self._use_hooks = use_hooks
        self._home, self._cwd = place / "home", place / "work"
        self._run = str(uuid.uuid4())
        self._session = f"pam-{self._run[:8]}"
        self._spool = place / "pam" / "spool" / "1.jsonl"

    async def run(self, settings: ExecutorSettings, environ: Mapping[str, str], patience_s: float) -> Smoke:
        for folder in (self._home, self._cwd, self._spool.parent, self._spool.parents[1] / "runs"):
            folder.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        wrapper, spec = await self._prepare(environ)
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            log = str(self._spool.parents[1] / "runs" / f"{self._run}.log")
            argv = (await self._link.find_python(), *_ISOLATED, wrapper, spec)
            await self._link.spawn(
                Spawn(self._session, argv, str(self._cwd), log, columns=settings.columns, rows=settings.rows)
            )
            answered = await self._until_answered(began + patience_s)
            return Smoke(
                answered=answered,
                took_s=clock() - began,
                asked=any(request.kind == "prompt" for request in self._stub.seen),
                hooks='"kind":"hook"' in self._said(),
                ended='"kind":"finished"' in self._said(),
                screen=await self._screen(),
            )
        finally:
            await self._end()

    async def _end(self) -> None:
        """Its wrapper, the program and all it started."""
        listing = await self._link.list_panes()
        pane = listing.find(self._session) if isinstance(listing, PaneListing) else None
        leader = await self._link.identify(pane.pid) if pane is not None and not pane.dead else None
        marks = {"PAM_RUN": self._run}
        await self._link.end_tree(leader or NOBODY, grace_s=GRACE_S, wrapper=leader, marks=marks)

    async def _prepare(self, environ: Mapping[str, str]) -> tuple[str, str]:
        """Wrapper and spec in place; their paths."""
        base = self._spool.parents[1]
        for program in programs():
            await self._link.put_file(str(base / "wrapper" / program.name), program.content, FILE_MODE)
        wrapper, helper = (str(base / "wrapper" / program.name) for program in programs())
        signal = (await self._link.find_python(), *_ISOLATED, helper)
        launch = await self._plan(self._environ(environ), signal)
        spec = base / "specs" / f"{self._run}-1.json"
        data = {
            "v": 1,
            "run": self._run,
            "attempt": 1,
            "task": self._run,
            "name": launch.name,
            "argv": list(launch.argv),
            "env": {**launch.env, "PAM_HOME": str(base)},
            "unset": list(launch.unset),
            "cwd": str(self._cwd),
            "spool": str(self._spool),
            "hold_open_s": PATIENCE_S,
            "grace_s": GRACE_S,
            "signal_cmd": shlex.join(signal),
        }
        await self._link.put_file(str(spec), json.dumps(data).encode(), FILE_MODE)
        return wrapper, str(spec)

    def _environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Where programs and the language are; the stub for everything that would leave the machine."""
        kept = {name: environ[name] for name in _KEPT if environ.get(name)}
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), self._stub.url)
        spared = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        return {**kept, **proxies, **spared, "HOME": str(self._home)}

    async def _plan(self, environ: Mapping[str, str], signal: tuple[str, ...]) -> LaunchPlan:
        provider, model = self._provider, self._provider.smoke.model or None
        gateway = Gateway(self._stub.url, "stub-" + self._run)
        values = {**gateway.values(), "cwd": str(self._cwd), "model": model}
        for path, text in provider.smoke.files.items():
            await self._link.put_file(str(self._home / path), (fill(text, values) or text).encode(), FILE_MODE)
        setup = await self._setup(agent_env(provider, environ, gateway, model), signal)
        chosen = provider.conversation.id == "chosen"
        return plan(
            provider,
            run_id=self._run,
            prompt=_PROMPT,
            model=model if provider.takes_model else None,
            args=(),
            cwd=self._cwd,
            conversation_id=self._run if chosen else None,
            environ=environ,
            setup=setup,
            gateway=gateway,
        )

    async def _setup(self, env: Mapping[str, str], signal: tuple[str, ...]) -> HookSetup | None:
        known = recipe(self._provider.hooks.recipe) if self._use_hooks else None
        if known is None:
            return None
        setup = known.setup(Setting(str(self._spool.parents[1]), str(self._home), str(self._cwd), signal, env))
        for file in setup.files:
            await self._link.put_file(file.path, file.data, file.mode)
        for answer in setup.answers:
            await self._link.edit_file(answer.path, answer.edit, answer.mode)
        return setup

    async def _until_answered(self, deadline: float) -> bool:
        clock = asyncio.get_running_loop().time
        pasted, before, since = self._provider.prompt != "paste", "", clock()
        while clock() < deadline:
            screen = "\n".join(await self._screen())
            if _ANSWER in " ".join(screen.split()):
                return True
            if screen != before:
                before, since = screen, clock()
            elif not pasted and screen and clock() - since > QUIET_S:
                await self._link.paste(self._session, _PROMPT, submit=True)
                pasted = True
            if '"kind":"finished"' in self._said():
                return False
            await asyncio.sleep(LOOK_S)
        return False

    async def _screen(self) -> tuple[str, ...]:
        listing = await self._link.list_panes()
        if not isinstance(listing, PaneListing) or listing.find(self._session) is None:
            return ()
        try:
            rows = await self._link.capture(self._session)
        except NoSuchSession:
            return ()
        plain = [_STYLE.sub("", row).rstrip() for row in rows]
        return tuple(row for row in plain if row)[-SCREEN_LINES:]

    def _said(self) -> str:
        return self._spool.read_text("utf-8", "replace") if self._spool.exists() else ""
