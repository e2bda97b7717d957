"""Makes a claimed run's session: a spec for the wrapper, the name free, then one tmux command that starts it all."""

from __future__ import annotations

import json
import logging
import shlex
from collections.abc import Callable, Mapping

from executor.hosts.link import HostUnanswered, SessionExists, Spawn
from executor.ledger import ACTOR
from executor.supervision.ingest import GENERATION
from executor.supervision.station import Station, leader_of
from executor.wrapper.install import programs
from providers.catalog import Catalog
from providers.launch import LaunchPlan, plan
from store import items, runs
from store.errors import PamError, ProviderUnavailable, StoreUnavailable
from store.home import FILE_MODE
from store.records import Run

log = logging.getLogger("pam.spawn")

SPEC_VERSION = 1

ISOLATED = ("-I", "-S", "-E")
"""Python without site and environment: starts in a quarter of the time and reads nothing of the operator's."""


class Spawner:
    """Turns runs in ``spawning`` into sessions; ``started`` from the wrapper makes them running."""

    def __init__(self, station: Station, catalog: Callable[[], Catalog], environ: Mapping[str, str]) -> None:
        self._station = station
        self._catalog = catalog
        self._environ = environ
        self._installed: tuple[str, str] | None = None

    async def spawn(self, run: Run) -> None:
        """Make the session of this attempt, whatever an earlier one left under its name (PAM-RST-005, 007).

        What cannot be made fails the run with the reason; a host that does not answer leaves it spawning, and the
        liveness loop looks again. The caller has put the run among ``station.spawning``.
        """
        try:
            await self._spawn(run)
        except (HostUnanswered, StoreUnavailable) as error:
            log.warning("Run %s stays spawning: %s", run.id, error)
        except (PamError, OSError) as error:
            log.warning("Run %s could not be started: %s", run.id, error)
            await self._station.ledger.call(
                runs.fail, run.id, run.attempt, "spawn_failed", detail=_sentence(error), actor=ACTOR
            )
        finally:
            self._station.spawning.discard(run.id)
            self._station.look_again()  # a stop may have waited for this

    async def _spawn(self, run: Run) -> None:
        link, ledger = self._station.link, self._station.ledger
        item = await ledger.call(items.get, run.task_id)
        launch = self._plan(run)
        python = (await link.find_python(), *ISOLATED)
        wrapper, helper = await self._install()
        spec = f"{link.home}/specs/{run.id}-{run.attempt}.json"
        await link.put_file(spec, self._spec(run, launch, (*python, helper)), FILE_MODE)
        await self.free_name(run)
        wanted = Spawn(
            session=run.session_name,
            argv=(*python, wrapper, spec),
            cwd=run.cwd,
            log_path=f"{link.home}/runs/{run.id}.log",
            title=item.title,
            columns=self._station.settings.columns,
            rows=self._station.settings.rows,
        )
        try:
            pane = await link.spawn(wanted)
        except SessionExists:
            await self.free_name(run)
            pane = await link.spawn(wanted)
        await ledger.call(runs.set_pane, run.id, run.attempt, pane, actor=ACTOR)

    async def free_name(self, run: Run) -> None:
        """End whatever holds the run's session name; the name is the lock against twins (FR-29)."""
        link = self._station.link
        holder = await leader_of(self._station, run)
        if holder is None and not await link.kill_session(run.session_name):
            return
        log.warning("Session %s was there before its run was started", run.session_name)
        if holder is not None:
            marks = {"PAM_RUN": run.id}
            await link.end_tree(holder, grace_s=self._station.settings.grace_s, wrapper=holder, marks=marks)
            await link.kill_session(run.session_name)

    def _plan(self, run: Run) -> LaunchPlan:
        provider = self._catalog().get(run.provider)
        if not provider.enabled:
            raise ProviderUnavailable(f"Provider {run.provider!r} is switched off in providers.toml.")
        return plan(
            provider,
            run_id=run.id,
            prompt=run.prompt,
            model=run.model,
            args=run.args,
            cwd=run.cwd,
            conversation_id=run.conversation_id,
            environ=self._environ,
        )

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
        spec = {
            "v": SPEC_VERSION,
            "run": run.id,
            "attempt": run.attempt,
            "task": run.task_id,
            "name": launch.name,
            "argv": list(launch.argv),
            # An agent that calls `pam` means the home that started it.
            "env": {**launch.env, "PAM_HOME": link.home},
            "unset": list(launch.unset),
            "cwd": run.cwd,
            "spool": f"{link.home}/spool/{GENERATION}.jsonl",
            "hold_open_s": settings.hold_open_s,
            "grace_s": settings.grace_s,
            "signal_cmd": shlex.join(helper),
        }
        return json.dumps(spec).encode()


def _sentence(error: Exception) -> str:
    return str(error) or type(error).__name__
