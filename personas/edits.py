"""What an edit makes of a block's text. Pure; raises InvalidInput for what it can't do (G6)."""

from __future__ import annotations

from django.utils.translation import gettext

from memoryhub.errors import InvalidInput


def swapped(value: str, old: str, new: str, *, everywhere: bool) -> str:
    """`new` in the place of `old`, which is there exactly once unless `everywhere`."""
    times = value.count(old)
    if not times:
        raise InvalidInput(
            gettext("%(old)s is not in the block: copy it exactly") % {"old": repr(old[:80])},
            field="old",
        )
    if times > 1 and not everywhere:
        raise InvalidInput(
            gettext("%(old)s is in the block %(times)s times: give more of the words around it")
            % {"old": repr(old[:80]), "times": times},
            field="old",
        )
    return value.replace(old, new)


def inserted(value: str, text: str, line: int) -> str:
    """`text` before line `line`, counted from 0; -1 is the end."""
    lines = value.split("\n") if value else []
    if not -1 <= line <= len(lines):
        raise InvalidInput(
            gettext("the block has %(count)s lines: -1 to %(count)s") % {"count": len(lines)},
            field="line",
        )
    at = len(lines) if line == -1 else line
    return "\n".join([*lines[:at], text, *lines[at:]])
