"""What may not be written down is hidden: by shape, by value, in texts and in what signals carry (PAM-SEC-002)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import redaction
from store.redaction import HIDDEN, Redactor, learn, secrets_in

SHAPED = "sk-ant-api03-0123456789abcdef"
PLAIN = "eight words that look like nothing in particular"

KEYS = st.text(max_size=8).filter(lambda key: key not in redaction._KEPT)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just(f"with {PLAIN}!"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
)


@pytest.fixture(autouse=True)
def unlearned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that another test taught this process."""
    monkeypatch.setattr(redaction, "_KNOWN", redaction._Known())


def test_a_shape_is_enough() -> None:
    assert Redactor({})(f"key {SHAPED}.") == f"key {HIDDEN}."


def test_a_value_is_hidden_once_it_is_learned_by_everybody() -> None:
    before = Redactor({})
    assert before(PLAIN) == PLAIN
    learn([PLAIN, "short"])
    assert before(f"{PLAIN} and short") == f"{HIDDEN} and short"
    assert Redactor({})(PLAIN) == HIDDEN


def test_names_tell_which_variables_are_secret() -> None:
    environ = {"A_KEY": "1", "MY_TOKEN": "2", "PATH": "3", "KEYBOARD": "4", "db_password": "5", "SSH_AUTH_SOCK": "6"}
    assert secrets_in(environ) == ["1", "2", "5"]


def test_a_payload_keeps_its_form_and_its_ids() -> None:
    learn([PLAIN])
    payload = {
        "note": f"is {PLAIN}",
        "ask": {"tool": "Bash", "detail": [f"echo {PLAIN}", 3, None, True]},
        "session_id": PLAIN,
        "transcript_path": f"/home/{PLAIN}/x.jsonl",
        PLAIN: 1.5,
    }
    assert Redactor({}).table(payload) == {
        "note": f"is {HIDDEN}",
        "ask": {"tool": "Bash", "detail": [f"echo {HIDDEN}", 3, None, True]},
        "session_id": PLAIN,
        "transcript_path": f"/home/{PLAIN}/x.jsonl",
        HIDDEN: 1.5,
    }


def test_a_payload_of_any_depth_is_survived() -> None:
    deep: object = PLAIN
    for _ in range(5000):
        deep = [deep]
    learn([PLAIN])
    assert PLAIN not in repr(Redactor({}).table({"deep": deep}))


@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_no_payload_lets_a_known_value_through(payload: dict[str, object]) -> None:
    learn([PLAIN])
    once = Redactor({}).table(payload)
    assert PLAIN not in repr(once)
    assert Redactor({}).table(once) == once
