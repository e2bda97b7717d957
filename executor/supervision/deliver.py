"""Types prompts and keys into agents, and finds out whether a prompt was taken up: never twice, never blindly.

A prompt is one bracketed paste, a pause, Enter. Where the agent's hooks speak, its own word confirms the prompt. A word
that does not come is told as that, and nothing is pressed again: a second Enter may answer a question meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import groupby

from executor.hosts.link import HostUnanswered, NoSuchSession, PaneState
from executor.ledger import ACTOR
from executor.supervision import readiness
from executor.supervision.epoch import Epoch, epoch_of
from executor.supervision.readiness import Intake, Refuse, Verdict, Wait, intake_of, judge, question, reads_keys
from executor.supervision.station import AWAY_RETRY_S, Bell, Station, listing_of
from executor.tmux.commands.keying import NAMED_KEYS
from providers.catalog import Catalog
from providers.launch import clean_prompt
from store import deliveries, leases, runs
from store.errors import InvalidValue, NotFound, StoreUnavailable
from store.records import Delivery, Run

log = logging.getLogger("pam.deliver")

LOOK_S = 30.0
"""How often deliveries are looked for when nothing is journaled."""

CONFIRMED_WITHIN_S = 5.0
"""How long after Enter an agent with hooks may take to say that it took the prompt up; measured are 0.1 to 2 s."""

ESCAPE_S = 0.15
"""After Escape; a key right behind it would be read as one key together with it."""

_ABOUT_RUN = ("run.signal_received", "run.started", "run.finished", "run.failed", "run.stopped", "run.requeued")
_ABOUT_DELIVERY = ("run.stop_requested", "run.prompt_confirmed", "run.keys_queued", "run.lease_released")


class Deliveries:
    """One delivery at a time for each run, any number of runs at once."""

    def __init__(self, station: Station, catalog: Callable[[], Catalog]) -> None:
        self._station = station
        self._catalog = catalog
        self._busy: set[str] = set()
        self._bell = station.bell(
            *("run.prompt_queued", "run.keys_queued", "run.started"),
            *("run.finished", "run.failed", "run.stopped", "run.requeued"),
        )

    async def loop(self) -> None:
        """Settle what an executor left in the middle, then carry out whatever is queued."""
        call, host_id = self._station.ledger.call, self._station.host_id
        self._busy.clear()
        for left in await call(deliveries.take_up_after_restart, host_id, actor=ACTOR):
            log.warning("Delivery %d of run %s was cut short: %s", left.id, left.run_id, left.reason)
        async with asyncio.TaskGroup() as typing:
            while True:
                for run_id in await call(deliveries.due, host_id):
                    if run_id not in self._busy:
                        self._busy.add(run_id)
                        typing.create_task(self._serve(run_id))
                await self._bell.wait(LOOK_S)

    async def _serve(self, run_id: str) -> None:
        """Carry out what is queued for a run, until there is nothing or it does not run yet."""
        bell = self._station.bell(*_ABOUT_RUN, *_ABOUT_DELIVERY)
        try:
            while (delivery := await self._station.ledger.call(deliveries.current, run_id)) is not None:
                if not await self._carry_out(delivery, bell):
                    return
        except NotFound:
            log.info("Run %s was deleted with what was to be typed into it", run_id)
        except StoreUnavailable as error:
            log.warning("What is queued for run %s waits: %s", run_id, error)
        finally:
            self._station.bells.remove(bell)
            self._busy.discard(run_id)
            self._bell.ring()  # something may have been queued since the last look

    async def _carry_out(self, delivery: Delivery, bell: Bell) -> bool:
        """Whether to go on with the next one."""
        intake = await self._intake(delivery)
        if delivery.status != "queued":  # it was an argument, or typed before this executor lived
            await self._await_word(delivery, bell)
            return True
        pane = await self._clear_to_type(delivery, intake, bell)
        if pane is None:
            return (await self._station.ledger.call(deliveries.get, delivery.id)).status != "queued"
        if await self._station.ledger.call(deliveries.claim, delivery.id, actor=ACTOR) is not None:
            if delivery.kind == "keys":
                await self._press(delivery, pane)
            elif await self._paste(delivery, pane, intake):
                await self._await_word(delivery, bell, enter_again=pane if intake.second_enter else None)
        return True

    async def _intake(self, delivery: Delivery) -> Intake:
        run = await self._station.ledger.call(runs.get, delivery.run_id)
        provider = self._catalog().providers.get(run.provider)
        return intake_of(provider, unproven_hooks=self._station.settings.unproven_hooks)

    # -- before anything is typed ---------------------------------------------------------------------------------

    async def _clear_to_type(self, delivery: Delivery, intake: Intake, bell: Bell) -> str | None:
        """The pane to type into once the agent takes it; None when it was refused, or has to wait for its start."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while True:
            verdict = await self._judge(delivery, intake, clock() - began)
            if verdict == "go":
                pane = await self._own_pane(delivery, intake, clock() - began)
                if isinstance(pane, str):
                    return pane
                verdict = pane
            if isinstance(verdict, Refuse):
                await self._settle(deliveries.refuse, delivery, verdict.reason)
            if not isinstance(verdict, Wait):
                return None
            if delivery.kind == "prompt" and await self._keys_first(delivery, bell):
                continue
            await bell.wait(verdict.seconds)

    async def _judge(self, delivery: Delivery, intake: Intake, waited_s: float) -> Verdict:
        call = self._station.ledger.call
        run = await call(runs.get, delivery.run_id)
        lease = await call(leases.holder_of, run.id)
        runs_for_s = (datetime.now(UTC) - run.started_at).total_seconds() if run.started_at else 0.0
        holder = lease.holder if lease else None
        return judge(run, delivery, intake, holder=holder, waited_s=waited_s, runs_for_s=runs_for_s)

    async def _own_pane(self, delivery: Delivery, intake: Intake, waited_s: float) -> str | Refuse | Wait:
        """The pane that bears the mark of this very attempt, with its agent in it; nobody else is typed to."""
        try:
            run = await self._station.ledger.call(runs.get, delivery.run_id)
            present = Epoch(await self._station.home(), delivery.attempt)
            panes = (await listing_of(self._station.link)).of(run.session_name)
        except HostUnanswered as error:
            log.warning("Nothing can be typed into run %s yet: %s", delivery.run_id, error)
            return Wait(AWAY_RETRY_S)
        pane: PaneState | None = next((one for one in panes if epoch_of(one.mark) == present), None)
        if pane is None:
            return Refuse(f"The session {run.session_name} is gone.")
        if pane.dead:
            return Refuse("The agent has just ended.")
        if delivery.kind == "keys":
            return pane.pane_id
        reads = reads_keys(run, intake, cursor_shown=pane.cursor is not None, waited_s=waited_s)
        return reads if isinstance(reads, Refuse | Wait) else pane.pane_id

    async def _keys_first(self, prompt: Delivery, bell: Bell) -> bool:
        """Keys may answer the very question that a prompt waits for: whether there were some, and they were pressed."""
        keys = await self._station.ledger.call(deliveries.queued_keys, prompt.run_id, prompt.attempt)
        return keys is not None and await self._carry_out(keys, bell)

    # -- typing ---------------------------------------------------------------------------------------------------

    async def _press(self, delivery: Delivery, pane: str) -> None:
        done = False
        try:
            for words in _bursts(delivery):
                if done:
                    await asyncio.sleep(ESCAPE_S)
                await self._station.link.send_keys(pane, words)
                done = True
            await self._settle(deliveries.typed, delivery)
        except (InvalidValue, NoSuchSession, HostUnanswered) as error:
            await self._failed(delivery, error, perhaps=done or isinstance(error, HostUnanswered))

    async def _paste(self, delivery: Delivery, pane: str, intake: Intake) -> bool:
        """Paste the prompt and press Enter; whether the agent's word is to be waited for."""
        link, pasted = self._station.link, False
        try:
            await link.paste(pane, clean_prompt(delivery.text) or "", submit=False)
            pasted = True
            await asyncio.sleep(intake.submit_delay_s)
            run = await self._station.ledger.call(runs.get, delivery.run_id)
            if run.activity == "waiting":
                await self._settle(deliveries.unconfirmed, delivery, _came_between(run))
                return False
            if intake.hooks:
                # Before Enter: the agent's word may be there before we are told that Enter was pressed.
                busy = run.activity == "working"
                await self._settle(deliveries.typed, delivery, awaited=True, while_busy=busy)
            await link.send_keys(pane, ["Enter"])
            if not intake.hooks:
                await self._settle(deliveries.typed, delivery)
        except (InvalidValue, NoSuchSession, HostUnanswered) as error:
            await self._failed(delivery, error, perhaps=pasted or isinstance(error, HostUnanswered))
            return False
        return intake.hooks

    async def _failed(self, delivery: Delivery, error: Exception, *, perhaps: bool) -> None:
        """``perhaps`` something was typed; then it is not said that nothing was."""
        if perhaps:
            said = f"{error} It may have been typed or not: look with `pam run pane {delivery.run_id[:8]}`."
            await self._settle(deliveries.unconfirmed, delivery, said)
        else:
            await self._settle(deliveries.refuse, delivery, str(error))

    # -- afterwards -----------------------------------------------------------------------------------------------

    async def _await_word(self, delivery: Delivery, bell: Bell, *, enter_again: str | None = None) -> None:
        """Wait until the agent says that it took the prompt up, and tell when it does not.

        ``enter_again`` is the pane of a program that is known to swallow an Enter: one more is pressed while it idles.
        """
        if await self._word_came(delivery, bell):
            return
        run = await self._station.ledger.call(runs.get, delivery.run_id)
        if enter_again is not None and (run.status, run.attempt, run.activity) == ("running", delivery.attempt, "idle"):
            log.info("Run %s did not take its prompt up and is idle: Enter is pressed once more", run.id)
            try:
                await self._station.link.send_keys(enter_again, ["Enter"])
            except (NoSuchSession, HostUnanswered) as error:
                log.warning("Enter could not be pressed in run %s: %s", run.id, error)
            if await self._word_came(delivery, bell):
                return
        await self._settle(deliveries.unconfirmed, delivery, _no_word(run, delivery))

    async def _word_came(self, delivery: Delivery, bell: Bell) -> bool:
        """Whether the delivery was settled within the time an agent may take."""
        call, clock = self._station.ledger.call, asyncio.get_running_loop().time
        deadline = clock() + (readiness.READY_WITHIN_S if delivery.opening else CONFIRMED_WITHIN_S)
        while True:
            if (await call(deliveries.get, delivery.id)).over:
                return True
            run = await call(runs.get, delivery.run_id)
            asks = delivery.opening and run.activity == "waiting"
            left = LOOK_S if asks else deadline - clock()
            if left <= 0 or run.status != "running" or run.attempt != delivery.attempt:
                return False
            if not await self._keys_first(delivery, bell):
                await bell.wait(left)

    async def _settle(self, verb: Callable[..., Delivery | None], delivery: Delivery, *said: str, **how: bool) -> None:
        """Write down what became of it, however long the store is away: it must not be taken for cut short."""
        while True:
            try:
                settled = await self._station.ledger.call(verb, delivery.id, *said, **how, actor=ACTOR)
            except StoreUnavailable as error:
                log.warning("What became of delivery %d cannot be written yet: %s", delivery.id, error)
                await asyncio.sleep(AWAY_RETRY_S)
            else:
                if settled is not None:
                    log.info("Delivery %d to run %s: %s %s", settled.id, settled.run_id, settled.status, " ".join(said))
                return


def _bursts(delivery: Delivery) -> Iterator[list[str]]:
    """What is typed in one go; a burst ends with Escape."""
    typed = delivery.text
    # A text that is the name of a key is typed all the same.
    words = [typed[:1], typed[1:], *delivery.keys] if typed in NAMED_KEYS else [typed, *delivery.keys]
    part = 0

    def number(word: str) -> int:
        nonlocal part
        part += word == "Escape"
        return part - (word == "Escape")

    for _, group in groupby(filter(None, words), number):
        yield list(group)


def _came_between(run: Run) -> str:
    look = f"`pam run attach {run.id[:8]}`"
    return f"{question(run)} It came up while this was typed, so Enter was not pressed: {look}."


def _no_word(run: Run, delivery: Delivery) -> str:
    if run.status != "running" or run.attempt != delivery.attempt:
        return f"The run ended ({run.status}) before the agent said that it took this up."
    look = f"Look with `pam run pane {run.id[:8]}`."
    if delivery.opening:
        return f"The agent did not say that it took up its first prompt; perhaps it is at a dialog. {look}"
    if run.activity == "working":
        return f"The agent is at work and has not said that it took this up; it may do so when its turn ends. {look}"
    return f"It was typed and submitted, and the agent did not say that it took this up. {look}"
