"""The line that narrows the journal: ``run. @hook:claude -run.usage words``.

A word with a dot in it is the beginning of a topic, ``@who`` of an actor; several of a kind are alternatives. A minus
in front of a topic leaves it out. Any other word has to stand in what the event says, or in its item's title.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from screens.sentences import TOPICS
from store.history import Wanted

GRAMMAR: Final = "run.  work_item.  run.prompt  -run.signal  @operator  words"
"""What can be typed, by example."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A part of the journal with a name: what the keys choose between."""

    name: str
    topics: tuple[str, ...] = ()


KINDS: Final = (
    Kind("All"),
    Kind("Runs", ("run.",)),
    Kind("Signals", ("run.signal_received",)),
    Kind("Prompts", ("run.prompt", "run.keys", "run.first_run")),
    Kind("Trouble", ("run.failed", "run.restart", "run.integrity", "run.alive", "run.silent", "run.orphan",
                     "worker.offline", "worker.instance", "run.prompt_ref", "run.prompt_unc", "run.keys_ref")),
    Kind("Items", ("work_item.",)),
    Kind("Projects", ("project.",)),
    Kind("Hosts", ("host.", "worker.")),
)  # fmt: skip


def wanted(text: str, kind: Kind = KINDS[0]) -> Wanted:
    """Read what was typed; never raises. Topics that are typed stand before those of the kind."""
    topics, without, actors, words = [], [], [], []
    for word in text.split():
        if word.startswith("-") and "." in word[1:]:
            without.append(word[1:])
        elif word.startswith("@"):
            actors += [word[1:]] if word[1:] else []
        elif "." in word and _is_topic(word):
            topics.append(word)
        elif word != "-":
            words.append(word)
    return Wanted(tuple(topics) or kind.topics, tuple(without), tuple(actors), tuple(words))


def _is_topic(word: str) -> bool:
    """A file's name has a dot, too: only what some topic begins with is one."""
    return any(topic.startswith(word.lower()) for topic in TOPICS)


def lets(wanted: Wanted, topic: str, actor: str, counted: bool) -> bool:
    """Whether an event of this topic and actor may match; words are left for the store to look for."""
    if counted and not wanted.topics:
        return False
    if wanted.topics and not topic.startswith(tuple(each.lower() for each in wanted.topics)):
        return False
    if wanted.without and topic.startswith(tuple(each.lower() for each in wanted.without)):
        return False
    return not wanted.actors or actor.lower().startswith(tuple(each.lower() for each in wanted.actors))
