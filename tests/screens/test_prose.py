"""A description laid out: what Markdown means, and that no text of whatever shape breaks a line or takes long."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from screens.prose import LONGEST, MORE, laid_out


def plain(text: str, width: int = 40) -> list[str]:
    return ["".join(span.text for span in line) for line in laid_out(text, width)]


def tones(text: str) -> dict[str, tuple[str, bool]]:
    return {span.text: (span.tone, span.bold) for line in laid_out(text, 80) for span in line if span.text.strip()}


def test_rows_of_a_paragraph_flow_together_and_are_wrapped() -> None:
    assert plain("one two\nthree four\n\nfive", 12) == ["one two", "three four", "", "five"]


def test_lists_keep_their_marks_their_depth_and_their_ticks() -> None:
    text = "- one\n  goes on\n  - deeper\n1. first\n- [x] done\n- [ ] open"
    assert plain(text) == ["• one goes on", "  • deeper", "1. first", "☑ done", "☐ open"]
    assert plain("- a long item that is wrapped", 16) == ["• a long item", "  that is", "  wrapped"]


def test_code_stands_as_it_is() -> None:
    assert plain("```py\ndef f(x):\n    return **x\n```\nafter") == ["  def f(x):", "      return **x", "after"]
    assert plain("```\nnever ended\n# no heading") == ["  never ended", "  # no heading"]


def test_what_is_emphasised_is_told_apart() -> None:
    found = tones("A `call()` and **bold** and *light* and [here](https://x.y)\n# Head\n### Lower\n> said")
    assert found["call()"] == ("kind", False)
    assert found["bold"] == ("ink", True)
    assert found["light"] == ("label", False)
    assert found["here"] == ("accent", False)
    assert found[" (https://x.y)"] == ("soft", False)
    assert (found["Head"], found["Lower"]) == (("accent", True), ("ink", True))
    assert found["said"] == ("soft", False)


def test_marks_within_words_are_letters() -> None:
    assert plain("snake_case_word and 2*3*4 and a ** b") == ["snake_case_word and 2*3*4 and a ** b"]


def test_a_very_long_text_is_cut_with_a_word_about_it() -> None:
    laid = plain("word " * LONGEST)
    assert laid[-1] == MORE
    assert sum(map(len, laid)) < LONGEST + 100


@settings(max_examples=150)
@given(st.text(alphabet="ab `*_#>-[]()|~1.\n\t\x1b\u202e日🎉", max_size=400), st.integers(10, 60))
def test_no_text_breaks_out_of_its_width_or_acts_on_the_terminal(text: str, width: int) -> None:
    for row in plain(text, width):
        assert not set("\x1b\u202e\n\t\r") & set(row)
    prose = plain(text.replace("`", "").replace("~", "").replace("|", ""), width)
    assert all(cell_len(row) <= max(width, 24) or row.startswith("  ") for row in prose)


@given(st.text(alphabet="abc \n", max_size=300))
def test_no_word_is_lost(text: str) -> None:
    assert " ".join(plain(text, 20)).split() == text.split() or any(len(word) > 18 for word in text.split())
