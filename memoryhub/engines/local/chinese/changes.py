"""What Chinese tells by its change: who holds a post now, in the words of a state.

"他不是我们经理了，现在是刘敏" is "我们经理现在是刘敏".
"""

from __future__ import annotations

import re

from memoryhub.engines.local.chinese.corrections import CorrectedStatement
from memoryhub.engines.local.chinese.people import ROLES

_NO_LONGER_IS = re.compile(
    rf"(?:[他她]|(?P<who>[\u4e00-\u9fff]{{2,3}}))(?:已经)?(?:不是|不再是|不当|不做)(?P<whose>我们?|咱们?)的?"
    rf"(?P<role>{ROLES})了[，,。 ]{{1,2}}(?:现在|目前|新来?的?)(?:是|换成了?"
    rf"|叫)(?P<name>[\u4e00-\u9fffA-Za-z]{{1,8}})"
)


def read_changes(said: str) -> list[CorrectedStatement]:
    """The states that a message leads to, each with where in it that was said."""
    return [
        CorrectedStatement(
            f"{found['whose']}{found['role']}现在是{found['name']}",
            found.start("name"),
            found.end("name"),
        )
        for found in _NO_LONGER_IS.finditer(said)
    ]
