"""Makes a claimed run's session: a spec for the wrapper, the name free, then one tmux command that starts it all."""

from __future__ import annotations

import asyncio
import json
import logging
import shlex
import uuid
from collections.abc import Callable, Collection, Mapping

from executor.hosts.link import HostUnanswered, PaneListing, PaneState, ProcessId, SessionExists, Spawn
from executor.ledger import ACTOR
from executor.supervision.ending import NOBODY, end_pane, remove_spec
from executor.supervision.epoch import Epoch, epoch_of, mark
from executor.supervision.first_run import FirstRun
from executor.supervision.readiness import intake_of
from executor.supervision.station import Station, listing_of, marks_of, prompt_path, spec_path
from executor.wrapper.install import programs
from providers.catalog import Catalog
from providers.keys import with_keys
from providers.launch import LaunchPlan, agent_env, clean_prompt, plan
from providers.long_prompt import line_for, needs_file
from providers.provider import Provider
from store import deliveries, items, redaction, runs
from store.errors import Conflict, PamError, ProviderUnavailable, StoreUnavailable, UsageError
from store.home import FILE_MODE
from store.records import Run

log = logging.getLogger("pam.spawn")

SPEC_VERSION = 1
_HIDE = redaction.Redactor({})

ISOLATED = ("-I", "-S", "-E")
"""Python without site and environment: starts in a quarter of the time and reads nothing of the operator's."""


AS_BAD_NEXT_TIME = (ProviderUnavailable, UsageError)
"""What a restart cannot help: a program that is not there, a value or a file that the operator must change (FR-17)."""


class Spawner:
    """Turns runs in ``spawning`` into sessions; ``started`` from the wrapper makes them running."""

    def __init__(self, station: Station, catalog: Callable[[], Catalog], environ: Mapping[str, str]) -> None:
        self._station = station
        self._catalog = catalog
        self._environ = environ
        self._first_run = FirstRun(station)
        self._installed: tuple[str, str] | None = None
        self._strays: dict[str, Run] = {}

    async def spawn(self, run: Run, *, again: bool = False) -> bool:
        """Make the session of this attempt, whatever an earlier one left under its name (PAM-RST-005, 007).

        Whether it stands. The name is the lock (FR-29): a session that bears this attempt's mark is the session, who-
        ever made it. ``again`` says that it may have been made before, so what is left of that is ended first, and the
        next look makes it. What cannot be made fails the run with the reason, and holds it when only the operator can
        help. A host that does not answer leaves it spawning, and the liveness loop looks again. The caller has put the
        run among ``station.spawning``.
        """
        try:
            async with self._station.hand(run.session_name):
                return await self._spawn(run, again=again)
        except (HostUnanswered, StoreUnavailable, SessionExists) as error:
            log.warning("Run %s stays spawning: %s", run.id, error)
        except (PamError, OSError) as error:
            log.warning("Run %s could not be started: %s", run.id, error)
            await self._give_up(run, error)
        finally:
            self._station.spawning.discard(run.id)
            self._station.look_again()  # a stop may have waited for this
        return False

    async def _give_up(self, run: Run, error: PamError | OSError) -> None:
        """Fail the run; with a store that is out of reach it stays spawning, and the next try fails it."""
        hold = isinstance(error, AS_BAD_NEXT_TIME)
        await remove_spec(self._station, run)
        try:
            await self._station.ledger.call(
                runs.fail, run.id, run.attempt, "spawn_failed", detail=_sentence(error), hold=hold, actor=ACTOR
            )
        except StoreUnavailable as away:
            log.warning("Run %s stays spawning: %s", run.id, away)

    async def _spawn(self, run: Run, *, again: bool) -> bool:
        link, ledger = self._station.link, self._station.ledger
        now = await ledger.call(runs.get, run.id)
        if (now.status, now.attempt) != ("spawning", run.attempt) or now.stop_requested_at is not None:
            return False
        if again and await self._left_without_session(run):
            return False
        python = (await link.find_python(), *ISOLATED)
        wrapper, helper = await self._install()
        launch = await self._plan(run, (*python, helper))
        await self._open(run, launch)
        item = await ledger.call(items.get, run.task_id)
        if await self._take_name(run):
            return True
        spec = spec_path(link, run)
        await link.put_file(spec, self._spec(run, launch, (*python, helper)), FILE_MODE)
        wanted = Spawn(
            session=run.session_name,
            argv=(*python, wrapper, spec),
            cwd=run.cwd,
            log_path=f"{link.home}/runs/{run.id}.log",
            title=item.title,
            columns=self._station.settings.columns,
            rows=self._station.settings.rows,
            mark=mark(await self._station.home(), run.attempt),
        )
        try:
            pane = await link.spawn(wanted)
        except SessionExists:
            if await self._take_name(run):
                self._strays[spec] = run
                return True
            pane = await link.spawn(wanted)
        await ledger.call(runs.set_pane, run.id, run.attempt, pane, conversation_id=launch.conversation_id, actor=ACTOR)
        return True

    async def _left_without_session(self, run: Run) -> bool:
        """Whether something of this attempt lived without a session; it does not any more."""
        # Looked for before the sessions are listed: whose agent lives by then has its session.
        left = await self._station.link.marked(marks_of(run))
        if not left or await self._standing(run, await listing_of(self._station.link)) is not None:
            return False
        log.warning("Run %s had left processes without a session; it is made once they are gone", run.id)
        await self._end(left)
        return True

    async def _standing(self, run: Run, listing: PaneListing) -> PaneState | None:
        """The live pane of this very attempt: an earlier try was carried out after all, or another executor's."""
        present = Epoch(await self._station.home(), run.attempt)
        own = listing.of(run.session_name)
        return next((pane for pane in own if epoch_of(pane.mark) == present and not pane.dead), None)

    async def _take_name(self, run: Run) -> bool:
        """Whether the session stands already; if not, end what holds its name and what earlier attempts left.

        Raises Conflict for a session of another pam on this machine, which is not ours to end.
        """
        station = self._station
        listing = await listing_of(station.link)
        standing = await self._standing(run, listing)
        if standing is not None:
            await station.ledger.call(runs.set_pane, run.id, run.attempt, standing.pane_id, actor=ACTOR)
            return True
        pane = listing.find(run.session_name)
        if pane is not None:
            epoch = epoch_of(pane.mark)
            if epoch is not None and epoch.home != await station.home():
                raise Conflict(f"Another pam on this machine has a session {run.session_name}; start the task anew.")
            log.warning("Session %s was there before its run was started", run.session_name)
            marks = marks_of(run, epoch.attempt) if epoch is not None and epoch.attempt != run.attempt else None
            await end_pane(station, pane, grace_s=station.settings.grace_s, marks=marks)
        if run.attempt > 1:
            left = await station.link.marked(marks_of(run))
            present = await station.link.marked(marks_of(run, run.attempt))
            await self._end(set(left).difference(present))
        return False

    async def _end(self, some: Collection[ProcessId]) -> None:
        """End these and what they started, and nobody else who bears the run's marks: that may be its new agent."""
        if some:
            await self._station.link.end_tree(NOBODY, grace_s=self._station.settings.grace_s, also=some)

    async def sweep(self) -> None:
        """Remove specs that were written for a session which was there already, once its own wrapper has read one."""
        for spec, run in list(self._strays.items()):
            live = await self._station.ledger.call(runs.list_all, statuses=("spawning",), task_id=run.task_id)
            if (run.id, run.attempt) not in {(one.id, one.attempt) for one in live}:
                del self._strays[spec]
                await remove_spec(self._station, run)

    async def _plan(self, run: Run, signal: tuple[str, ...]) -> LaunchPlan:
        provider = self._catalog().get(run.provider)
        if not provider.enabled:
            raise ProviderUnavailable(f"Provider {run.provider!r} is switched off in providers.toml.")
        settings = self._station.settings
        environ, gateway = await asyncio.to_thread(
            with_keys, provider, settings.gateway, self._environ, settings.key_command
        )
        env = agent_env(provider, environ, gateway, run.model)
        setup = await self._first_run.setup(run, provider, signal, env)
        launch = plan(
            provider,
            run_id=run.id,
            prompt=await self._prompt(run, provider),
            model=run.model,
            args=run.args,
            cwd=run.cwd,
            conversation_id=_conversation_of(run, provider),
            environ=environ,
            approvals=run.approvals,
            resume=run.resumed_from is not None,
            setup=setup,
            gateway=gateway,
        )
        redaction.learn(launch.secrets)
        return launch

    async def _open(self, run: Run, launch: LaunchPlan) -> None:
        """Have the first prompt typed in, or its arrival watched where it is an argument and the program says so."""
        provider = self._catalog().providers.get(run.provider)
        hooks = intake_of(provider, unproven_hooks=self._station.settings.unproven_hooks).hooks
        given = launch.prompt_route == "argv"
        if launch.prompt and (launch.prompt_route == "paste" or (given and hooks)):
            queue = deliveries.queue_opening
            await self._station.ledger.call(queue, run.id, run.attempt, launch.prompt, given=given, actor=ACTOR)

    async def _prompt(self, run: Run, provider: Provider) -> str | None:
        """The run's prompt; in place of one too long to be given, a line that names the file it stands in."""
        if not needs_file(provider, run.prompt):
            return run.prompt
        path = prompt_path(self._station.link, run)
        await self._station.link.put_file(path, (clean_prompt(run.prompt) or "").encode(), FILE_MODE)
        return line_for(path)

    async def _install(self) -> tuple[str, str]:
        """Paths of both host-side programs there, put in place once a connection."""
        if self._installed is None:
            folder = f"{self._station.link.home}/wrapper"
            for program in programs():
                await self._station.link.put_file(f"{folder}/{program.name}", program.content, FILE_MODE)
            wrapper, helper = (f"{folder}/{program.name}" for program in programs())
            self._installed = (wrapper, helper)
        return self._installed

    def _spec(self, run: Run, launch: LaunchPlan, helper: tuple[str, ...]) -> bytes:
        settings, link = self._station.settings, self._station.link
        keys = [name for name, value in launch.env.items() if value in launch.secrets]
        spec = {
            "v": SPEC_VERSION,
            "run": run.id,
            "attempt": run.attempt,
            "task": run.task_id,
            "name": launch.name,
            "argv": list(launch.argv),
            # An agent that calls `pam` means the home that started it.
            "env": {**launch.env, "PAM_HOME": link.home, "PAM_KEYS": " ".join(keys)},
            "unset": list(launch.unset),
            "cwd": run.cwd,
            "spool": f"{link.home}/spool/{self._station.generation}.jsonl",
            "hold_open_s": settings.hold_open_s,
            "grace_s": settings.grace_s,
            "signal_cmd": shlex.join(helper),
        }
        return json.dumps(spec).encode()


def _conversation_of(run: Run, provider: Provider) -> str | None:
    """The conversation to go on with, or the name of the new one: each attempt has its own, as a name is taken once."""
    if run.resumed_from or provider.conversation.id != "chosen":
        return run.conversation_id
    return str(uuid.uuid5(uuid.UUID(run.id), str(run.attempt)))


def _sentence(error: Exception) -> str:
    return _HIDE(str(error)) or type(error).__name__
