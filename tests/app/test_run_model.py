"""The run's and the item's parts of the model over a real store and real logs (PAM-OBS-010, FR-57)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.model import StoreModel
from app.model import run as run_model
from screens.model import StartRequest
from screens.model.item import ItemChange
from screens.model.run import LogPiece
from store import hosts, items, leftovers, projects, runs, usage
from store.database import Store
from store.errors import Conflict, InvalidValue, NotFound
from store.home import Home
from store.records import Item, Run, Usage


@pytest.fixture
def store(store: Store) -> Store:
    hosts.ensure_local(store, actor="operator")
    return store


@pytest.fixture
def task(store: Store, tmp_path: Path) -> Item:
    project = projects.add(store, "Apollo", cwd=str(tmp_path), actor="operator")
    return items.create(store, project.id, "Fix it", actor="operator")


@pytest.fixture
def run(store: Store, task: Item, tmp_path: Path) -> Run:
    return runs.start(store, task.id, "claude", str(tmp_path), conversation_id="c-1", actor="operator")


@pytest.fixture
def log(home: Home, run: Run) -> Path:
    path = home.path / "runs" / f"{run.id}.log"
    path.parent.mkdir(exist_ok=True)
    return path


@asynccontextmanager
async def reading(model: StoreModel, run: Run) -> AsyncIterator[AsyncIterator[LogPiece]]:
    """A log that is let go of in the end."""
    stream = model.log(run.id)
    assert isinstance(stream, AsyncGenerator)
    try:
        yield stream
    finally:
        await stream.aclose()


async def pieces(stream: AsyncIterator[LogPiece], lines: int) -> tuple[list[str], LogPiece]:
    """So many lines of a log, and the piece that brought the last of them."""
    got: list[str] = []
    async with asyncio.timeout(10):
        while True:
            piece = await anext(stream)
            got += piece.lines
            if len(got) >= lines:
                return got, piece


async def test_a_log_comes_as_text_and_goes_on_as_it_is_written(model: StoreModel, run: Run, log: Path) -> None:
    log.write_bytes(b"\x1b[31mred\x1b[0m\r\nand a pro")
    async with reading(model, run) as stream:
        got, last = await pieces(stream, 1)
        assert (got, last.rest, last.skipped) == (["red"], "and a pro", 0)
        with log.open("ab") as file:
            file.write(b"mpt $ ls\nREADME\n")
        got, last = await pieces(stream, 2)
        assert (got, last.rest) == (["and a prompt $ ls", "README"], "")


async def test_a_run_that_has_written_nothing_has_an_empty_log_that_may_come(
    model: StoreModel, run: Run, log: Path
) -> None:
    async with reading(model, run) as stream:
        assert await anext(stream) == LogPiece()
        log.write_bytes(b"at last\n")
        got, _ = await pieces(stream, 1)
        assert got == ["at last"]


@pytest.mark.parametrize("rotated", [False, True])
async def test_of_a_long_log_the_end_is_read(
    model: StoreModel, run: Run, log: Path, rotated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_model, "SHOWN", 10_000)
    written = b"".join(b"line %06d\n" % number for number in range(5_000))
    older = log.with_name(log.name + ".1")
    if rotated:
        older.write_bytes(written[:-3_000])
        log.write_bytes(written[-3_000:])
    else:
        log.write_bytes(written)
    async with reading(model, run) as stream:
        first = await anext(stream)
        assert first.skipped == len(written) - 10_000
        assert first.lines[0] == "line 004167", "it begins with a whole line"
        assert first.lines[-1] == "line 004999"


async def test_a_log_that_is_rotated_while_it_is_looked_at_goes_on(model: StoreModel, run: Run, log: Path) -> None:
    log.write_bytes(b"one\n")
    async with reading(model, run) as stream:
        await pieces(stream, 1)
        log.rename(log.with_name(log.name + ".1"))
        log.write_bytes(b"two\n")
        got, _ = await pieces(stream, 1)
        assert got == ["two"]


async def test_an_export_holds_all_of_the_log_and_touches_no_other_file(
    model: StoreModel, run: Run, log: Path, tmp_path: Path
) -> None:
    log.with_name(log.name + ".1").write_bytes(b"\x1b[1mfirst\x1b[0m\n")
    log.write_bytes(b"second\nthird")
    target = tmp_path / "out.log"
    assert await model.export_log(run.id, str(target)) == len("first\nsecond\nthird\n")
    assert target.read_text() == "first\nsecond\nthird\n"
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Conflict, match="already"):
        await model.export_log(run.id, str(target))
    with pytest.raises(InvalidValue, match="No such file or directory"):
        await model.export_log(run.id, str(tmp_path / "no" / "out.log"))


async def test_a_run_without_a_log_exports_nothing(model: StoreModel, run: Run, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no log"):
        await model.export_log(run.id, str(tmp_path / "out.log"))
    assert not (tmp_path / "out.log").exists()


async def test_a_conversation_can_be_gone_on_with_once_its_run_is_over(
    model: StoreModel, store: Store, run: Run
) -> None:
    assert not (await model.run(run.id)).goes_on
    runs.request_stop(store, run.id, actor="operator")
    assert (await model.run(run.id)).goes_on
    made = await model.resume_run(run.id, "and now?")
    assert (made.resumed_from, made.conversation_id, made.prompt) == (run.id, "c-1", "and now?")
    with pytest.raises(Conflict, match="already"):
        await model.resume_run(run.id)


async def test_a_provider_that_cannot_go_on_says_so(model: StoreModel, store: Store, task: Item) -> None:
    shell = runs.start(store, task.id, "shell", "/", args=("true",), conversation_id="c-2", actor="operator")
    runs.request_stop(store, shell.id, actor="operator")
    assert not (await model.run(shell.id)).goes_on
    with pytest.raises(Conflict, match="shell can't go on"):
        await model.resume_run(shell.id)


async def test_cards_and_pages_tell_what_a_run_used_and_what_outlived_it(
    model: StoreModel, store: Store, task: Item, run: Run
) -> None:
    local = hosts.get(store, "local")
    usage.record_usage(store, run.id, 1, Usage(input_tokens=10, cost_usd=0.5), actor="executor")
    with store.write("test"):
        from store.models import HostRow, RunRow

        HostRow.update(status="online").where(HostRow.id == local.id).execute()
        RunRow.update(status="failed", host=local.id).where(RunRow.id == run.id).execute()
    assert leftovers.flag_alive(store, run.id, 1, {}, actor="executor")
    card = (await model.cards([task.id]))[task.id]
    assert card.alive and card.usage is not None and card.usage.input_tokens == 10
    page = await model.item(task.id)
    assert page.card == card and page.usages[run.id] == card.usage
    assert page.events[0].topic == "run.alive_after_end"
    told = (await model.run(run.id)).usage
    assert told is not None and told.cost_usd == 0.5


async def test_a_board_of_everything_leaves_archived_projects_out(
    model: StoreModel, store: Store, task: Item, tmp_path: Path
) -> None:
    other = projects.add(store, "Gemini", cwd=str(tmp_path), actor="operator")
    gone = projects.add(store, "Mercury", actor="operator")
    items.create(store, other.id, "Dock", actor="operator")
    items.create(store, gone.id, "Orbit", actor="operator")
    projects.archive(store, gone.id, actor="operator")
    one = await model.board(task.project_id)
    assert (len(one.columns["todo"]), one.projects) == (1, {})
    every = await model.board(task.project_id, everything=True)
    assert {card.item.title for card in every.columns["todo"]} == {"Fix it", "Dock"}
    assert set(every.projects) == {task.project_id, other.id}


async def test_an_item_is_changed_field_by_field(model: StoreModel, store: Store, task: Item) -> None:
    await model.change_item(task.id, ItemChange(assignee="mara", labels=("b", "a")))
    now = items.get(store, task.id)
    assert (now.title, now.assignee, now.labels) == ("Fix it", "mara", ("a", "b"))
    await model.change_item(task.id, ItemChange(assignee="", description="# Why"))
    now = items.get(store, task.id)
    assert (now.assignee, now.labels, now.description) == (None, ("a", "b"), "# Why")


async def test_a_draft_is_the_operators_alone_and_goes_when_it_was_taken(model: StoreModel, task: Item) -> None:
    path = await model.draft(task.id, "# Why\n\nBecause.")
    assert Path(path).stat().st_mode & 0o777 == 0o600
    assert await model.read_draft(path) == "# Why\n\nBecause."
    Path(path).write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidValue, match="as text"):
        await model.read_draft(path)
    await model.drop_draft(path)
    assert not Path(path).exists()
    await model.drop_draft(path)


async def test_approvals_are_started_with_and_offered_again(model: StoreModel, store: Store, task: Item) -> None:
    claude = next(each for each in (await model.start_choices(task.id)).providers if each.name == "claude")
    assert claude.approvals
    with pytest.raises(InvalidValue, match="no approval mode 'nope'"):
        await model.start_run(StartRequest(task.id, "demo", approvals="nope"))
    runs.start(store, task.id, "claude", "/", approvals=claude.approvals[0], actor="operator")
    assert (await model.start_choices(task.id)).approvals == claude.approvals[0]
