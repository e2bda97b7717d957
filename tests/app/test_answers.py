"""Answers reach an agent through the executor, and are seen to be taken (real tmux, an agent that is a script)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.model import StoreModel, answering
from screens.model.answers import Question
from store import deliveries
from store.errors import Conflict, ExecutorNotRunning, InvalidValue
from store.records import Run
from tests.support.model import model_of
from tests.support.stage import RUN_S, Stage
from tests.support.tmux_server import eventually

ENTRY = """
[asker]
title = "Asker"
bin = "{program}"
argv = ["{{bin}}", "{{args}}"]
prompt = "none"
tui_type = "line_oriented"
[asker.answers]
yes = ["y"]
no = ["Escape"]
shows = ["Allow it?"]
"""

ASKER = r"""#!/bin/bash
stty -echo -icanon
asks() { printf '\033[2J\033[H%s' "$1"; $PAM_SIGNAL progress --activity waiting --note "$2"; }
goes_on() { printf '\033[2J\033[Hon it goes'; $PAM_SIGNAL progress --activity working; sleep 100000; }
key() { read -rsn1 pressed; echo "$pressed" >> KEYS; }
case $1 in
  plain) asks 'Allow it?' 'Bash: ls'; key; goes_on ;;
  deaf) asks 'Allow it?' 'Bash: ls'; key; key; goes_on ;;
  slow) asks 'Allow it?' 'Bash: ls'; key; printf '\033[2J\033[Hdoing it'; sleep 100000 ;;
  stubborn) asks 'Something else' 'Bash: ls'; while :; do key; done ;;
  listens) $PAM_SIGNAL progress --activity idle; while read -r line; do echo "$line" >> KEYS; done ;;
  words) asks 'Which?' 'Which colour?'; read -r line; echo "$line" >> KEYS; goes_on ;;
esac
"""


@pytest.fixture
def asker(stage: Stage, tmp_path: Path) -> Path:
    """The agent's program is in the catalog; the file of the keys it was given."""
    program, keys = tmp_path / "asker", tmp_path / "keys"
    program.write_text(ASKER.replace("KEYS", str(keys)))
    program.chmod(0o755)
    (stage.home.path / "providers.toml").write_text(ENTRY.format(program=program))
    return keys


@asynccontextmanager
async def asking(stage: Stage, how: str) -> AsyncIterator[tuple[StoreModel, Question]]:
    """A run that asks, and its question as the control room reads it."""
    with stage.executor():
        async with model_of(stage) as model:
            run = stage.start("asker", how)
            await eventually(lambda: stage.run(run).activity == "waiting", RUN_S)
            yield model, await model.question(run.id)


def _typed(stage: Stage, run: Run) -> int:
    return sum(delivery.status == "typed" for delivery in deliveries.of_run(stage.store, run.id))


async def test_a_question_is_read_with_the_answers_that_its_provider_has(stage: Stage, asker: Path) -> None:
    async with asking(stage, "plain") as (_, question):
        assert question.detail == "Bash: ls"
        assert [(choice.name, choice.keys) for choice in question.choices] == [("yes", ("y",)), ("no", ("Escape",))]
        assert question.view.item.id == stage.task.id


async def test_an_answer_is_pressed_once_and_the_agent_is_seen_to_go_on(stage: Stage, asker: Path) -> None:
    async with asking(stage, "plain") as (model, question):
        assert await model.answer(question, keys=["y"]) == "answered"
        assert stage.run(question.view.run).activity == "working"
        assert asker.read_text() == "y\n"
        with pytest.raises(Conflict, match="asks nothing now"):
            await model.question(question.view.run.id)
        with pytest.raises(Conflict, match="Nothing was typed"):
            await model.answer(question, keys=["y"])
        assert _typed(stage, question.view.run) == 1


async def test_a_dialog_that_took_no_key_is_answered_again(stage: Stage, asker: Path) -> None:
    async with asking(stage, "deaf") as (model, question):
        assert await model.answer(question, keys=["y"]) == "answered"
        assert asker.read_text() == "y\ny\n"


async def test_a_dialog_that_is_gone_is_not_answered_again(stage: Stage, asker: Path) -> None:
    """Some agents say that they were allowed to do it only when it is done."""
    async with asking(stage, "slow") as (model, question):
        assert await model.answer(question, keys=["y"]) == "pressed"
        assert _typed(stage, question.view.run) == 1


async def test_one_that_waits_all_the_same_is_no_success(
    stage: Stage, asker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "GIVEN_UP_S", 3.0)
    async with asking(stage, "stubborn") as (model, question):
        with pytest.raises(Conflict, match="still waits"):
            await model.answer(question, keys=["y"])
        assert _typed(stage, question.view.run) == 1, "what is not seen to ask is not pressed again"


async def test_words_are_typed_and_entered(stage: Stage, asker: Path) -> None:
    async with asking(stage, "words") as (model, question):
        with pytest.raises(InvalidValue):
            await model.answer(question, keys=["Enter"], text="rm $HOME; true")
        assert await model.answer(question, keys=["Enter"], text="green") == "answered"
        assert asker.read_text() == "green\n"


async def test_without_an_executor_nothing_is_queued(stage: Stage, asker: Path) -> None:
    async with asking(stage, "plain") as (_, question):
        pass
    async with model_of(stage) as model:
        with pytest.raises(ExecutorNotRunning, match="nothing was typed"):
            await model.answer(question, keys=["y"])
        assert deliveries.of_run(stage.store, question.view.run.id) == []


async def test_a_prompt_is_typed_and_submitted(stage: Stage, asker: Path) -> None:
    with stage.executor():
        async with model_of(stage) as model:
            run = stage.until_status(stage.start("asker", "listens"), "running")
            told = await model.prompt(run, "go on")
            assert told.status == "typed"  # it has no hooks that could say more
            await eventually(lambda: asker.exists() and asker.read_text() == "go on\n")


async def test_a_prompt_is_not_typed_into_a_question(stage: Stage, asker: Path) -> None:
    async with asking(stage, "stubborn") as (model, question):
        with pytest.raises(Conflict, match=r"Nothing was typed\. .*Bash: ls"):
            await model.prompt(question.view.run, "go on")
        assert not asker.exists()


async def test_without_an_executor_a_prompt_is_not_even_queued(stage: Stage, asker: Path) -> None:
    with stage.executor():
        run = stage.until_status(stage.start("asker", "listens"), "running")
    async with model_of(stage) as model:
        with pytest.raises(ExecutorNotRunning, match="nothing was typed"):
            await model.prompt(run, "go on")
    assert deliveries.of_run(stage.store, run.id) == []
