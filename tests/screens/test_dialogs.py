"""Dialogs: typed answers, the safe one focused, nothing that was typed is lost (screens.md, Dialogs)."""

from __future__ import annotations

import asyncio

import pytest

from screens.board import BoardScreen
from screens.dialogs import Confirm, EditLine, HelpKeys, NewItemDialog, NewProject, ProjectPicker, StartRun
from screens.dialogs.start_run import PromptArea
from screens.model import FirstStart, HeaderFacts, NewItem, StartRequest
from store.errors import InvalidValue, ProviderUnavailable
from tests.screens.driving import driving
from tests.screens.fake_model import bare, empty, item, project, sample, uid

CHECKOUT = "/home/mara/code/checkout"
PROMPT = (
    "Fix flaky auth tests\n\nThree tests in `tests/auth` fail about once in ten runs.\n\n"
    "- They sleep instead of moving the clock.\n- One shares a session between tests.\n\n"
    "Done when 200 runs in a row are green."
)


async def test_enter_starts_with_what_was_chosen_last() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("enter")
        await driver.said("; its card says how it goes.")
        assert model.calls == [("start_run", StartRequest(uid(10), "claude", prompt=PROMPT, cwd=CHECKOUT))]


async def test_every_field_of_a_start_is_reached_by_keys() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("right", "tab", "l", "l", "tab")
        await driver.write("gpt-5")
        await driver.press("tab")
        await driver.write("--fast 'a b'")
        await driver.press("tab")
        area = driver.room.screen.query_one(PromptArea)
        assert area.has_focus
        area.clear()
        await driver.write("one")
        await driver.press("ctrl+j")
        await driver.write("two")
        await driver.press("tab", "ctrl+u")
        await driver.write("/srv/it")
        await driver.press("enter")
        await driver.until(lambda: model.calls)
        assert model.calls == [
            ("start_run", StartRequest(uid(10), "codex", "gpu-1", "gpt-5", "one\ntwo", ("--fast", "a b"), "/srv/it"))
        ]


async def test_a_provider_that_cannot_start_says_what_to_do() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("left")
        await driver.until(lambda: "gemini is not installed here." in driver.text())
        await driver.press("enter")
        assert model.calls == []
        assert isinstance(driver.room.screen, StartRun)
        await driver.press("right")
        await driver.until(lambda: "gemini is not installed" not in driver.text())


async def test_shell_wants_a_command_and_no_prompt() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("right", "right", "right")
        await driver.until(lambda: "Prompt" not in driver.text())
        await driver.press("enter")
        await driver.until(lambda: "shell needs a command" in driver.text())
        await driver.write("make 'test")
        await driver.press("enter")
        await driver.until(lambda: "Close the quotation mark." in driver.text())
        await driver.write("'")
        await driver.press("enter")
        await driver.until(lambda: model.calls)
        assert model.calls == [("start_run", StartRequest(uid(10), "shell", arguments=("make", "test"), cwd=CHECKOUT))]


async def test_a_refused_start_keeps_what_was_typed() -> None:
    model = sample()
    model.refuse = ProviderUnavailable("claude is switched off in providers.toml.")
    async with driving(model) as driver:
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("tab", "tab")
        await driver.write("opus")
        await driver.press("enter")
        await driver.until(lambda: "✗ claude is switched off in providers.toml." in driver.text())
        assert "opus" in driver.text()
        await driver.press("enter")
        await driver.at(BoardScreen)
        assert len(model.calls) == 2


async def test_enter_twice_starts_once() -> None:
    """FR-29: two near-simultaneous starts leave one."""
    model = sample()
    model.hold = asyncio.Event()
    async with driving(model) as driver:
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("enter", "enter", "enter")
        model.hold.set()
        await driver.at(BoardScreen)
        assert len(model.calls) == 1


async def test_without_an_executor_a_start_says_how_to_get_one() -> None:
    model = sample()
    model.facts = HeaderFacts("down")
    async with driving(model) as driver:
        assert "✗ executor down" in driver.text()
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("enter")
        await driver.said("No executor runs: `pam up` starts one.")


async def test_tab_opens_the_whole_form_with_what_was_typed() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("n")
        await driver.at(NewItemDialog)
        await driver.write("Plan it #a @mara ^split")
        await driver.press("tab")
        await driver.until(lambda: "Description" in driver.text())
        assert driver.room.screen.query_one("#line").value == "Plan it"  # type: ignore[attr-defined]
        await driver.press("left", "tab", "tab")
        await driver.write(" b, #c")
        await driver.press("tab", "tab")
        await driver.write("Why")
        await driver.press("enter")
        await driver.until(lambda: model.calls)
        new = NewItem(project().id, "Plan it", "epic", uid(2), "mara", ("a", "b", "c"), "Why")
        assert model.calls == [("create_item", new)]


async def test_what_is_wrong_with_a_new_item_is_said_before_it_is_made() -> None:
    model = sample()
    model.refuse = InvalidValue("A title has at most 200 characters.")
    async with driving(model) as driver:
        await driver.press("n")
        await driver.at(NewItemDialog)
        await driver.press("enter")
        await driver.until(lambda: "It needs a title." in driver.text())
        await driver.write("x ^nowhere")
        await driver.until(lambda: "No open item is called “nowhere”." in driver.text())
        await driver.press("enter")
        assert model.calls == []
        await driver.press(*["backspace"] * 9)
        await driver.press("enter")
        await driver.until(lambda: "A title has at most 200 characters." in driver.text())
        await driver.press("escape")
        await driver.at(BoardScreen)


async def test_of_a_pasted_text_the_first_line_is_the_title_and_the_rest_the_description() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("n")
        await driver.at(NewItemDialog)
        await driver.write("Fix the login #auth\r\n\r\nIt fails:\n  - twice\n")
        await driver.until(lambda: "- twice" in driver.text())
        await driver.press("enter")
        await driver.until(lambda: model.calls)
        new = NewItem(project().id, "Fix the login", labels=("auth",), description="It fails:\n  - twice")
        assert model.calls == [("create_item", new)]


async def test_a_field_that_takes_one_line_of_a_paste_says_so() -> None:
    async with driving(sample()) as driver:
        await driver.press("e")
        await driver.at(EditLine)
        await driver.write(" one\ntwo")
        await driver.until(lambda: "Only the first line of what was pasted is taken" in driver.text())
        assert driver.typed("line") == "Fix flaky auth tests one"


@pytest.mark.parametrize("size", [(160, 45), (80, 24)])
async def test_a_title_longer_than_its_field_is_seen_at_its_end(size: tuple[int, int]) -> None:
    model = bare().add(item(1, "A long title " + "and on " * 20 + "to the end", of=bare().the_projects[0]))
    async with driving(model, size=size) as driver:
        await driver.press("e")
        await driver.at(EditLine)
        await driver.until(lambda: "to the end" in driver.text())
        await driver.press("home")
        await driver.until(lambda: "A long title and on" in driver.text())


async def test_a_question_about_a_long_title_is_still_a_question() -> None:
    model = bare().add(item(1, "A long title " + "and on " * 20, of=bare().the_projects[0]))
    async with driving(model, size=(80, 24)) as driver:
        await driver.press("D")
        await driver.at(Confirm)
        await driver.until(lambda: "…”? ─" in driver.text())


async def test_what_a_shell_ran_stands_there_again_and_goes_with_its_provider() -> None:
    model = sample()
    model.last_arguments = "make 'a b'"
    async with driving(model) as driver:
        await driver.press("s")
        await driver.at(StartRun)
        await driver.until(lambda: driver.typed("arguments") == "make 'a b'")
        await driver.press("right")
        await driver.until(lambda: driver.typed("arguments") == "")
        await driver.press("left")
        await driver.until(lambda: driver.typed("arguments") == "make 'a b'")


async def test_a_directory_that_is_not_there_is_doubted_once() -> None:
    model = empty()
    async with driving(model) as driver:
        driver.burst("p", *"shop", "tab", *"/nope", "enter")
        await driver.at(NewProject)
        await driver.until(lambda: "There is no directory /nope. Enter again keeps it all the same." in driver.text())
        assert model.calls == []
        await driver.press("x", "enter")
        await driver.until(lambda: "There is no directory /nopex." in driver.text())
        await driver.press("enter")
        await driver.until(lambda: model.calls == [("create_project", "shop", "/nopex")])


async def test_the_first_project_is_that_of_the_directory_and_what_is_typed_takes_its_place() -> None:
    model = empty()
    model.offered = FirstStart(("claude",), "shop", "/home/mara/code/shop")
    async with driving(model) as driver:
        await driver.until(lambda: "claude is found here" in driver.text())
        driver.burst("p", "escape")
        await driver.at(BoardScreen)
        driver.burst("p", *"store", "enter")
        await driver.until(lambda: driver.board.state is not None)
        assert model.calls == [("create_project", "store", "/home/mara/code/shop")]


async def test_projects_are_narrowed_and_opened() -> None:
    model = sample()
    model.add(item(500, "Pick a palette", "doing", of=project(2, "design-tokens")))
    async with driving(model) as driver:
        await driver.press("p")
        await driver.at(ProjectPicker)
        assert "⚑ 1 waiting" in driver.text()
        await driver.write("desi")
        await driver.press("enter")
        await driver.until(lambda: driver.title == "Pick a palette")


async def test_a_project_is_made_when_none_has_the_name() -> None:
    model = empty()
    async with driving(model) as driver:
        await driver.press("p")
        await driver.at(NewProject)
        await driver.press("enter")
        await driver.until(lambda: "It needs a name." in driver.text())
        await driver.press("escape")
        await driver.at(BoardScreen)
        assert model.calls == []


@pytest.mark.parametrize(
    ("key", "fields"), [("s", ("model", "arguments", "prompt")), ("n", ("line", "kind", "description"))]
)
async def test_forms_fit_a_narrow_window_with_their_keys(key: str, fields: tuple[str, ...]) -> None:
    async with driving(sample(), size=(80, 24)) as driver:
        await driver.press(key)
        await driver.until(lambda: driver.room.screen.is_modal)
        await driver.press("tab")
        await driver.until(lambda: all(driver.room.screen.query_one(f"#{field}").size.height for field in fields))
        assert "esc leave" in driver.text()


async def test_help_lists_every_key_of_the_place() -> None:
    async with driving(sample()) as driver:
        await driver.press("question_mark")
        await driver.at(HelpKeys)
        for part in ("Move right", "Fold the column"):
            assert part in driver.text()
        await driver.press(*["j"] * 10)
        await driver.until(lambda: "Everywhere" in driver.text() and "Any action, item or run by name" in driver.text())
        await driver.press("question_mark")
        await driver.at(BoardScreen)


async def test_help_fits_a_narrow_window_and_scrolls() -> None:
    async with driving(sample(), size=(80, 24)) as driver:
        await driver.press("question_mark")
        await driver.at(HelpKeys)
        assert "esc close" in driver.text()
        for _ in range(20):
            await driver.press("j")
        await driver.until(lambda: "Any action, item or run by name" in driver.text())


async def test_leaving_says_how_many_agents_go_on_and_asks_once() -> None:
    """PAM-UI-013, FR-34: the control room never takes an agent with it."""
    model = sample()
    async with driving(model) as driver:
        await driver.press("q")
        await driver.at(Confirm)
        assert "Leave pam? 6 agents go on." in driver.text()
        await driver.press("enter")
        await driver.at(BoardScreen)
        await driver.press("q")
        await driver.at(Confirm)
        await driver.press("y")
        await driver.until(lambda: not driver.room.is_running or driver.room._exit)
        assert model.calls == []


async def test_with_nobody_at_work_q_leaves_at_once() -> None:
    async with driving(bare()) as driver:
        await driver.press("q")
        await driver.until(lambda: driver.room._exit)


async def test_ctrl_q_twice_leaves() -> None:
    async with driving(sample()) as driver:
        await driver.press("ctrl+q")
        await driver.at(Confirm)
        await driver.press("ctrl+q")
        await driver.until(lambda: driver.room._exit)
