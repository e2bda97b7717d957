"""The agents of the fault suite: shell programs, some of them hostile, each with the ends it may come to by itself.

Every agent appends one line to the file ``starts`` when it begins, so that a second start of one attempt shows. A
gated one then waits at a named pipe for its exit code, without using the processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

STARTS = "starts"
"""File in the working directory; lines of ``RUN ATTEMPT PID``."""

MARK = f'gate="gate-$PAM_RUN-$PAM_ATTEMPT"; mkfifo "$gate" 2>/dev/null; echo "$PAM_RUN $PAM_ATTEMPT $$" >> {STARTS}; '
WAIT = 'read -r code < "$gate"; exit "${code:-0}"'


@dataclass(frozen=True)
class Kind:
    """One sort of agent. ``natural`` are the endings it comes to with nobody's help; a gated kind has none."""

    name: str
    weight: int
    body: str = ""
    setup: str = ""
    """Runs before the start is marked: what the agent ignores, it ignores from then on."""
    gated: bool = True
    natural: tuple[str, ...] = ()
    provider: str = "shell"
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def marked(self) -> bool:
        """Whether it marks its start."""
        return bool(self.body)

    @property
    def words(self) -> tuple[str, ...]:
        """Arguments of the provider."""
        return ("sh", "-c", self.setup + MARK + self.body) if self.body else ()


PLAIN = Kind("plain", 5, WAIT)
DEAF = Kind("deaf", 2, 'while :; do read -r code < "$gate" && exit "${code:-0}"; done', "trap '' TERM HUP INT; ")
BROOD = Kind(
    "brood",
    2,
    # In our group, in a session of its own, and forked twice with every polite signal ignored.
    "sleep 900 & setsid sleep 900 & (setsid sh -c \"trap '' TERM HUP INT; sleep 900; :\" &); " + WAIT,
)
BREEDER = Kind("breeder", 1, "while :; do (setsid sleep 1 &); sleep 0.05; done", "trap '' TERM HUP; ", gated=False)
QUICK = Kind("quick", 2, "exit 0", gated=False, natural=("exit:0",))
CRASH = Kind("crash", 2, "echo last words; exit 7", gated=False, natural=("exit:7",))
SUICIDE = Kind("suicide", 1, "kill -SEGV $$", gated=False, natural=("exit:-11",))
FLOOD = Kind("flood", 1, "head -c 400000 /dev/zero | tr '\\0' x | fold -w 99; " + WAIT)
DOZY = Kind("dozy", 1, "kill -STOP $$; " + WAIT)
LIAR = Kind(
    "liar",
    1,
    """say() { printf "$1" "$PAM_RUN" >> "$PAM_SPOOL"; }
say '{"v":1,"run":"%s","attempt":1,"kind":"finished","source":"wrap'
say '\\n\\377\\376\\000 %s\\n\\n{}\\n[1,2]\\n"x"\\n'
say '{"v":1,"run":"%s","attempt":99,"kind":"finished","source":"wrapper","payload":{"exit_code":0}}\\n'
say '{"v":1,"run":"%s","attempt":0,"kind":"started","source":"wrapper","payload":{}}\\n'
say '{"v":1,"run":"%s","attempt":1,"kind":"finished","source":"agent","payload":{"exit_code":0}}\\n'
say '{"v":1,"run":"no-such-run","attempt":1,"kind":"completed","source":"agent","payload":{"%s":[[[]]]}}\\n'
say '{"v":1,"run":"%s","attempt":1,"kind":"progress","source":"agent","seq":"one","payload":7}'
"""
    + WAIT,
)
TALKER = Kind(
    "talker",
    1,
    """raw() { printf '{"v":1,"run":"%s","attempt":%s,"kind":"progress","source":"agent","seq":%s,"payload":{}}\\n' \
"$PAM_RUN" "$PAM_ATTEMPT" "$1" >> "$PAM_SPOOL"; }
eval "$PAM_SIGNAL progress --message begun --percent 5 --activity working"
raw 50; raw 3; raw 50; raw 51
eval "$PAM_SIGNAL completed --result success"; eval "$PAM_SIGNAL completed --result success"
eval "$PAM_SIGNAL failed --error again"
"""
    + WAIT,
)
DEMO = Kind(
    "demo",
    1,
    gated=False,
    natural=("exit:0",),
    provider="demo",
    options={"prompt": "[[steps 1]] [[pace 0.05]]"},
)
MISSING = Kind("missing", 1, gated=False, natural=("spawn_failed",), options={"args": ("no-such-program-of-ours",)})

KINDS = (PLAIN, DEAF, BROOD, BREEDER, QUICK, CRASH, SUICIDE, FLOOD, DOZY, LIAR, TALKER, DEMO, MISSING)
