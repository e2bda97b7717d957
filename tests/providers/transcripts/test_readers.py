"""Readers of transcripts on lines that are rare, odd or hostile; what is unknown is never nothing."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.provider import UsageSource
from providers.recipes.recipe import Said
from providers.transcripts.claude import ClaudeTranscript
from providers.transcripts.codex import CodexRollout
from providers.transcripts.copilot import CopilotEvents
from providers.transcripts.gemini import GeminiChat
from providers.transcripts.kimi import KimiWire, wire_path
from providers.transcripts.lines import LONGEST_LINE, LineCutter
from providers.transcripts.qwen import QwenChat
from providers.transcripts.reader import TranscriptReader, reason
from providers.transcripts.readers import assumed_path, config_home, reader_for
from store.records import Usage

SOURCES: tuple[UsageSource, ...] = get_args(UsageSource)
READ = [source for source in SOURCES if reader_for(source) is not None]

KINDS = (
    *("assistant", "user", "cost-state", "event_msg", "turn_context", "gemini", "error", "info", "system"),
    *("session.usage_record", "session.shutdown", "abort", "usage.record", "llm.request", "turn.ended"),
)
KEYS = (
    *("type", "message", "usage", "payload", "info", "total_token_usage", "last_token_usage", "input_tokens"),
    *("data", "modelUsage", "model", "id", "tokens", "systemPayload", "uiEvent", "event.name"),
    *("usageMetadata", "content", "accountingSnapshot", "modelMetrics", "timestamp", "time", "error", "inputOther"),
    *("isSidechain", "totalCostUSD"),
)
WORDS = st.sampled_from(
    (*KINDS, *KEYS, "[Request interrupted by user]", "token_count", "task_complete", "api_response")
)
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)


def line(**keys: object) -> bytes:
    """A line of a transcript."""
    return json.dumps(keys).encode()


def answer(id_: str | None, sent: int, output: int, **keys: object) -> bytes:
    """An answer as claude writes it."""
    used = {"input_tokens": sent, "output_tokens": output}
    return line(type="assistant", message={"id": id_, "model": "m", "usage": used}, **keys)


def usage(reader: TranscriptReader, *lines: bytes) -> Usage:
    """The totals after these lines."""
    found = reader.read(lines).usage
    assert found is not None
    return found


def test_every_source_of_usage_is_read_or_told_by_hooks() -> None:
    """opencode keeps a database; its plugin tells."""
    assert {source for source in SOURCES if source not in READ} == {"none", "opencode-events"}


@pytest.mark.parametrize("source", READ)
def test_nothing_told_is_unknown(source: UsageSource) -> None:
    """Unknown is never zero."""
    reader = reader_for(source)
    assert reader is not None
    assert reader.read([]).usage is None
    assert (
        reader.read([b"", b"{", b"null", b'{"type":"user"}', b"\xff\xfe", b'{"usage":' + b"[" * 50_000]).usage is None
    )


@pytest.mark.parametrize("source", READ)
@settings(max_examples=50)
@given(lines=st.lists(st.dictionaries(st.sampled_from(KEYS), HOSTILE, max_size=8).map(json.dumps), max_size=6))
def test_no_line_makes_a_reader_raise_or_count_below_nothing(source: UsageSource, lines: list[str]) -> None:
    """Whatever the files of other programs hold."""
    reader = reader_for(source)
    assert reader is not None
    found = reader.read([each.encode() for each in lines]).usage
    for name in Usage.__slots__:
        value = getattr(found, name, None)
        assert value is None or isinstance(value, str) or value >= 0


def test_claude_writes_an_answer_once_for_each_block_and_it_counts_once() -> None:
    """The last line of a message has its final counts."""
    found = usage(ClaudeTranscript(), answer("a", 10, 1), answer("a", 10, 7), answer("b", 20, 2), answer("b", 20, 2))
    assert (found.input_tokens, found.output_tokens, found.context_tokens) == (30, 9, 22)
    assert (found.cache_read_tokens, found.cost_usd, found.context_limit) == (None, None, None)


def test_claude_counts_its_helpers_but_not_into_the_context() -> None:
    """A sidechain is another conversation of the same agent."""
    found = usage(ClaudeTranscript(), answer("a", 10, 1), answer("b", 500, 5, isSidechain=True))
    assert (found.input_tokens, found.context_tokens) == (510, 11)


def test_claude_goes_on_counting_from_what_a_session_summed_up() -> None:
    """``cost-state`` knows what subagents used; what comes later is added to it."""
    summed = {"m": {"inputTokens": 100, "outputTokens": 10}, "small": {"inputTokens": 5, "outputTokens": 1}}
    state = line(type="cost-state", totalCostUSD=0.5, modelUsage=summed)
    reader = ClaudeTranscript()
    assert usage(reader, answer("a", 10, 1), state).input_tokens == 105
    found = usage(reader, answer("b", 7, 2))
    assert (found.input_tokens, found.output_tokens, found.cost_usd) == (112, 13, 0.5)


def test_a_cost_that_claude_does_not_know_itself_is_unknown() -> None:
    """The part it knows is not the cost."""
    state = line(type="cost-state", totalCostUSD=0.5, hasUnknownModelCost=True, modelUsage={"m": {"inputTokens": 1}})
    assert usage(ClaudeTranscript(), state).cost_usd is None


def test_what_a_user_writes_about_an_interruption_is_none() -> None:
    """Only the line that claude writes itself, and only of the main conversation."""
    quoted = line(type="user", message={"content": "why does it say [Request interrupted by user]?"})
    aside = line(type="user", isSidechain=True, message={"content": "[Request interrupted by user]"})
    result = line(
        type="user", message={"content": [{"type": "tool_result", "content": "[Request interrupted by user]"}]}
    )
    tool = line(
        type="user", message={"content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]}
    )
    assert ClaudeTranscript().read([quoted, aside, result]).said == ()
    assert ClaudeTranscript().read([tool]).said == (Said(activity="idle", interrupted=True),)


def test_codex_counts_its_cache_into_the_input_and_we_do_not() -> None:
    """All providers are told alike."""
    total = {"input_tokens": 100, "cached_input_tokens": 80, "output_tokens": 5, "reasoning_output_tokens": 2}
    info = {"total_token_usage": total, "last_token_usage": total, "model_context_window": 1000}
    found = usage(CodexRollout(), line(type="event_msg", payload={"type": "token_count", "info": info}))
    assert (found.input_tokens, found.cache_read_tokens, found.output_tokens, found.reasoning_tokens) == (20, 80, 5, 2)
    assert (found.context_tokens, found.context_limit) == (105, 1000)


def test_a_count_of_limits_alone_tells_no_usage() -> None:
    """codex writes one without ``info`` before the first answer."""
    assert CodexRollout().read([line(type="event_msg", payload={"type": "token_count", "info": None})]).usage is None


def test_gemini_writes_an_answer_again_and_the_last_one_counts() -> None:
    """What the model thought is part of the output."""

    def tokens(sent: int, thoughts: int) -> dict[str, int]:
        return {"input": sent, "output": 3, "cached": 4, "thoughts": thoughts, "tool": 0}

    lines = [line(id="a", type="gemini", model="g", tokens=tokens(*each)) for each in ((10, 0), (10, 5))]
    found = usage(GeminiChat(), *lines, line(id="b", type="gemini", tokens=None))
    assert (found.input_tokens, found.cache_read_tokens, found.output_tokens, found.reasoning_tokens) == (6, 4, 8, 5)


@pytest.mark.parametrize(("total", "output"), [(17, 7), (15, 5)])
def test_qwen_counts_thoughts_apart_or_within_and_the_total_tells(total: int, output: int) -> None:
    """Without telemetry the answers are counted."""
    used = {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "totalTokenCount": total}
    found = usage(QwenChat(), line(type="assistant", uuid="a", usageMetadata=used, contextWindowSize=200))
    assert (found.output_tokens, found.context_limit) == (output, 200)


def test_an_old_copilot_sums_up_at_its_end() -> None:
    """Versions before 1.0.102 do not tell each call."""
    models = {"gpt": {"usage": {"inputTokens": 100, "cacheReadTokens": 60, "cacheWriteTokens": 10, "outputTokens": 5}}}
    found = usage(CopilotEvents(), line(type="session.shutdown", data={"modelMetrics": models}))
    assert (found.input_tokens, found.cache_read_tokens, found.cache_write_tokens) == (30, 60, 10)
    assert (found.model, found.context_tokens) == ("gpt", None)


def test_kimi_calls_add_up_and_a_refused_one_leaves_the_context() -> None:
    """A call that failed is a record of nothing."""
    calls = [{"inputOther": 10, "output": 1, "inputCacheRead": 5}, {"inputOther": 0, "output": 0}]
    found = usage(KimiWire(), *(line(type="usage.record", model="k", usage=each) for each in calls))
    assert (found.input_tokens, found.cache_read_tokens, found.context_tokens, found.model) == (10, 5, 16, "k")


def test_where_kimi_writes_is_known_without_its_word() -> None:
    """Its hooks name the session, never the file."""
    path = wire_path("/home/dev/.kimi-code", "/srv/work/kimi", "session_1")
    assert path == "/home/dev/.kimi-code/sessions/wd_kimi_44dddd61a1bc/session_1/agents/main/wire.jsonl"
    assert assumed_path("kimi-wire", {"HOME": "/h"}, "/w", "../x") is None
    assert assumed_path("kimi-wire", {"HOME": "/h"}, "/w", None) is None
    assert assumed_path("claude-transcript", {"HOME": "/h"}, "/w", "s") is None
    moved = assumed_path("kimi-wire", {"HOME": "/h", "KIMI_CODE_HOME": "/k"}, "/w", "s")
    assert moved is not None
    assert moved.startswith("/k/sessions/wd_w_")
    assert config_home("codex-rollout", {"CODEX_HOME": "/c"}) == "/c"
    assert config_home("codex-rollout", {}) is config_home("none", {}) is None


def test_where_copilot_writes_is_known_before_its_first_turn_ends() -> None:
    """Only the hook of a turn that ended well names the file."""
    assert assumed_path("copilot-events", {"HOME": "/h"}, "/w", "s") == "/h/.copilot/session-state/s/events.jsonl"
    moved = {"HOME": "/h", "COPILOT_HOME": "/c"}
    assert assumed_path("copilot-events", moved, "/w", "s") == "/c/session-state/s/events.jsonl"


def test_a_turn_of_copilot_that_failed_after_several_tries_says_why() -> None:
    """Of any other error the hook has told (PAM-COMP-001)."""
    error = {"errorType": "query", "message": "Failed; retried 5 times\nLast error: 529", "statusCode": 529}
    told = {"errorType": "query", "message": "400 Bad request", "statusCode": 400}
    lines = [line(type="session.error", data=data) for data in (error, told, 7)]
    spoken = CopilotEvents().read(lines).spoken
    assert [one.said.failed for one in spoken] == ["Failed; retried 5 times Last error: 529"]


def test_a_reason_is_the_message_within() -> None:
    """APIs answer with JSON, and CLIs wrap it."""
    assert reason('[API Error: {"error":{"code":400,"message":"no such\\nmodel"}}]') == "no such model"
    assert reason('{"message":"too long"}') == "too long"
    assert reason("{not json") == "{not json"
    assert reason(None) is reason("") is None


@given(st.lists(st.binary(max_size=20).filter(lambda each: b"\n" not in each), max_size=8), st.integers(1, 7))
def test_lines_come_out_whole_and_once_however_they_are_cut(lines: list[bytes], step: int) -> None:
    """A torn last line waits for its rest."""
    data, cutter = b"".join(each + b"\n" for each in lines) + b"torn", LineCutter()
    cut = [each for start in range(0, len(data), step) for each in cutter.cut(data[start : start + step])]
    assert cut == lines
    assert cutter.done == len(data) - len(b"torn")
    assert cutter.cut(b" end\n") == [b"torn end"]
    assert cutter.done == cutter.offset


def test_a_line_without_end_is_passed_over_and_takes_no_memory() -> None:
    """Pictures and whole files stand in lines of their own."""
    cutter = LineCutter()
    assert cutter.cut(b"one\n") == [b"one"]
    for _ in range(5):
        assert cutter.cut(b"x" * LONGEST_LINE) == []
        assert len(cutter._rest) <= LONGEST_LINE
    assert cutter.cut(b"x\ntwo\n") == [b"two"]
    assert cutter.cut(b"y" * (LONGEST_LINE + 1) + b"\nthree\n") == [b"three"]
