"""What a run needs of its CLI before it starts: the files its hooks are told by, and its first questions answered.

A CLI asks in every directory it has not seen whether it may work there, and an agent that nobody looks at would wait at
that question for ever. Where the CLI takes no flag for it, the one key is written into its own file; the run says so.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from executor.ledger import ACTOR
from executor.supervision.station import Station
from providers.provider import Provider
from providers.recipes.recipe import Answer, HookSetup, Setting
from providers.recipes.registry import recipe
from store import runs
from store.records import Run

log = logging.getLogger("pam.first_run")


class FirstRun:
    """One host's set-up of runs."""

    def __init__(self, station: Station) -> None:
        self._station = station

    async def setup(
        self, run: Run, provider: Provider, signal: tuple[str, ...], env: Mapping[str, str]
    ) -> HookSetup | None:
        """What the provider's recipe gives the run, with its files in place; None without hooks. Raises OSError.

        ``signal`` is the command of the host-side helper, ``env`` the agent's environment.
        """
        hooks, settings = provider.hooks, self._station.settings
        known = recipe(hooks.recipe) if hooks.proven or settings.unproven_hooks else None
        if known is None:
            return None
        link = self._station.link
        cwd = await link.real_path(run.cwd)  # as CLIs note what they trust
        setup = known.setup(Setting(link.home, env.get("HOME", ""), cwd, signal, env, approvals=run.approvals))
        for file in setup.files:
            await link.put_file(file.path, file.data, file.mode)
        given: list[str] = []
        if settings.first_run_answers:
            for answer in setup.answers:
                given += await self._give(run, answer)
        return replace(setup, args=(*setup.args, *given))

    async def _give(self, run: Run, answer: Answer) -> tuple[str, ...]:
        """The arguments that give it, if any. One that cannot be given costs the operator a question, not the run."""
        try:
            if answer.args:
                return await self._told(run, answer)
            given = await self._station.link.edit_file(answer.path, answer.edit, answer.mode)
        except (OSError, ValueError) as error:
            log.warning("%s could not be changed (%s), so it may ask: %s", answer.path, error, answer.what)
            return ()
        if given:
            log.info("%s was changed: %s", answer.path, answer.what)
            facts = {"file": answer.path, "what": answer.what}
            await self._station.ledger.call(
                runs.note, run.id, run.attempt, "run.first_run_answered", facts, actor=ACTOR
            )
        return ()

    async def _told(self, run: Run, answer: Answer) -> tuple[str, ...]:
        """The arguments, where the question would come up; the file is only looked at."""
        asked: list[bool] = []

        def look(data: bytes | None) -> None:
            asked.append(answer.edit(data) is not None)

        await self._station.link.edit_file(answer.path, look, answer.mode)
        if not asked[-1]:
            return ()
        log.info("Run %s is told on its command line: %s", run.id[:8], answer.what)
        return answer.args
