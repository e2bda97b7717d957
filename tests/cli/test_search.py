"""``pam search``: anything by a few words, for people and for scripts."""

from __future__ import annotations

from tests.cli.conftest import Pam


def test_what_holds_every_word_is_listed(pam: Pam) -> None:
    pam("project", "add", "Apollo")
    pam("task", "add", "Fix flaky auth tests", "--project", "apollo", "--label", "api")
    pam("task", "add", "Rotate keys", "--project", "apollo", "--description", "The auth keys of 2019")
    first, second = pam.json("search", "auth")["hits"]
    told = [first[name] for name in ("title", "noun", "kind", "status")]
    assert told == ["Fix flaky auth tests", "task", "task", "todo"]
    assert [second[name] for name in ("title", "excerpt", "project")] == [
        "Rotate keys",
        "The auth keys of 2019",
        "apollo",
    ]
    assert [hit["title"] for hit in pam.json("search", "FLAKY", "api")["hits"]] == ["Fix flaky auth tests"]
    assert pam.json("search", "auth", "--limit", "1")["hits"] == [first]
    assert "The auth keys of 2019" in pam("search", "auth").out


def test_nothing_found_is_no_error(pam: Pam) -> None:
    assert pam.json("search", '"; DROP', "TABLE") == {"hits": []}
    assert pam("search", "nothing").out == "Nothing holds all of these words.\n"
    pam("search", code=2)
