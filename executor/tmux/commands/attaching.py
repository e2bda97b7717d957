"""What makes a client of a process or a terminal, and how the operator leaves again."""

from __future__ import annotations

from collections.abc import Sequence

from executor.tmux.commands.targets import HUB_PANE, pane_target
from executor.tmux.commands.words import Command, command

WAY_OUT = "ctrl+] leaves; the agent goes on"
HINT_MS = "4000"

FEATURES = "256,RGB,usstyle,extkeys,clipboard,cstyle,focus,mouse,overline,strikethrough,title,sync,hyperlinks"
"""What our own terminal can do, for ``tmux -T``; at a name it does not know tmux stops reading, so new ones last."""

_TMUX_MODIFIERS = {"ctrl": "C", "alt": "M", "meta": "M", "shift": "S"}
_TMUX_KEYS = {"right_square_bracket": "]", "left_square_bracket": "[", "backslash": "\\", "space": "Space",
              "circumflex_accent": "^", "underscore": "_", "escape": "Escape", "enter": "Enter", "tab": "Tab",
              "pageup": "PageUp", "pagedown": "PageDown"}  # fmt: skip


def attach_control() -> Command:
    """Makes a control client of the process: attached to the hub, of no influence on window sizes."""
    return command("attach-session", "-t", HUB_PANE, "-f", "ignore-size")


def attach_terminal(session: str, *, read_only: bool) -> Command:
    """Gives the terminal to the agent's pane, and says for a moment how to leave; a reader has no input."""
    flags = ("-r", "-f", "ignore-size") if read_only else ()
    return command("attach-session", "-t", pane_target(session), *flags).then(hint(session))


def attach_reader(session: str) -> Command:
    """Shows the agent's pane, with no input and no say in its size."""
    return command("attach-session", "-t", pane_target(session), "-r", "-f", "ignore-size")


def attach_writer(session: str) -> Command:
    """Gives the terminal to the agent's pane, which follows its size until it leaves, however it leaves.

    The server itself gives the size back: a hook acts on the end of this very client, also when pam was killed.
    """
    target = pane_target(session)
    kept = (("@pam-columns", "#{window_width}"), ("@pam-rows", "#{window_height}"))
    give_back = command("run-shell", "-C", f"resize-window -t {target} -x #{{@pam-columns}} -y #{{@pam-rows}}")
    for name, _ in kept:
        give_back = give_back.then(command("set-option", "-qu", "-t", target, name))
    mine = command("if-shell", "-F", "#{==:#{hook_client},#{@pam-writer}}", give_back.line)
    return Command(
        (
            ("attach-session", "-t", target),
            *(("set-option", "-Foq", "-t", target, name, value) for name, value in kept),
            ("set-option", "-F", "-t", target, "@pam-writer", "#{client_tty}"),
            ("set-hook", "-t", target, "client-detached", mine.line),
            ("set-option", "-w", "-t", target, "window-size", "latest"),
        )
    )


def hint(session: str) -> Command:
    """Says for a moment how to leave: nothing else on the screen names the key, and no other key leaves."""
    return command("display-message", "-t", pane_target(session), "-d", HINT_MS, WAY_OUT)


def leave_by(keys: Sequence[str]) -> Command:
    """Makes these keys let go of the client they are pressed in, such as ``ctrl+]`` and ``f12``."""
    return Command(tuple(("bind-key", "-T", "root", _tmux_key(key.strip()), "detach-client") for key in keys))


def _tmux_key(name: str) -> str:
    """The key in tmux's words."""
    *modifiers, key = name.split("+") if name != "+" else ["+"]
    plain = _TMUX_KEYS.get(key) or (key.capitalize() if len(key) > 1 else key)
    return "-".join([*(_TMUX_MODIFIERS.get(modifier, modifier) for modifier in modifiers), plain])
