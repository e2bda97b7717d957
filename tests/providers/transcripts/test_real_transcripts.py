"""What real CLIs wrote of a conversation: two answers, one that was interrupted, and one that the model refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from providers.provider import UsageSource
from providers.recipes.recipe import Said
from providers.transcripts.lines import LineCutter
from providers.transcripts.reader import TranscriptNews
from providers.transcripts.readers import reader_for
from store.records import Usage

DATA = Path(__file__).with_name("data")
"""Cut: long texts, and lines of no interest that repeat."""
INTERRUPTED = Said(activity="idle", interrupted=True)

EXPECTED: list[tuple[UsageSource, str, Usage]] = [
    ("claude-transcript", "claude", Usage(41881, 10, 0, 0, 0, 0.167724, 14001, None, "claude-opus-5-5")),
    ("codex-rollout", "codex", Usage(26931, 6, 0, 0, 0, None, 13511, 258400, "gpt-5.1")),
    ("gemini-chat", "gemini", Usage(25748, 6, 0, None, 0, None, 12894, None, "gemini-2.5-pro")),
    ("qwen-chat", "qwen", Usage(66154, 42, 0, None, 0, None, 21969, None, "stub-model")),
    ("copilot-events", "copilot", Usage(43285, 17, 0, 0, None, None, 14494, 128000, "stub-model")),
    ("kimi-wire", "kimi", Usage(41646, 6, 0, 0, None, None, 20841, None, "stub-model")),
]


def read(source: UsageSource, name: str, step: int = 1 << 20) -> list[TranscriptNews]:
    """The file, so many bytes at a time."""
    data = (DATA / f"{name}.jsonl").read_bytes()
    reader, cutter = reader_for(source), LineCutter()
    assert reader is not None
    return [reader.read(cutter.cut(data[start : start + step])) for start in range(0, len(data), step)]


def said(news: list[TranscriptNews]) -> list[Said]:
    """Everything that was said."""
    return [each for one in news for each in one.said]


@pytest.mark.parametrize(("source", "name", "usage"), EXPECTED, ids=[name for _, name, _ in EXPECTED])
@pytest.mark.parametrize("step", [1 << 20, 1000, 17])
def test_usage_is_what_the_cli_counted_however_the_bytes_come(
    source: UsageSource, name: str, usage: Usage, step: int
) -> None:
    """The totals of claude and copilot are also those that they summed up themselves at their ends."""
    news = read(source, name, step)
    last = news[-1].usage
    assert last is not None
    assert last.cost_usd == (usage.cost_usd and pytest.approx(usage.cost_usd))
    assert replace(last, cost_usd=usage.cost_usd) == usage
    assert said(news) == said(read(source, name))


def test_codex_says_that_a_turn_failed_and_that_one_was_interrupted() -> None:
    """No hook of codex tells a failed turn: the rollout is all there is."""
    working, idle = Said(activity="working"), Said(activity="idle")
    failed = Said(activity="idle", failed="model error 400")
    assert said(read("codex-rollout", "codex")) == [working, idle, working, idle, working, INTERRUPTED, working, failed]


@pytest.mark.parametrize(
    ("source", "name"), [("claude-transcript", "claude"), ("gemini-chat", "gemini"), ("kimi-wire", "kimi")]
)
def test_an_interrupted_turn_is_told(source: UsageSource, name: str) -> None:
    """No hook of claude tells it."""
    assert INTERRUPTED in said(read(source, name))


def test_gemini_says_why_a_turn_failed() -> None:
    """Its hook ends such a turn like any other."""
    assert Said(activity="idle", failed="model error 400") in said(read("gemini-chat", "gemini"))


def test_what_is_said_has_its_time() -> None:
    """So that a line older than a hook's word changes nothing."""
    for source, name, _ in EXPECTED:
        assert all(each.at is not None for news in read(source, name) for each in news.spoken)
