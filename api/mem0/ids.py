"""mem0's four ids and what they are here: a user is a subject, an agent speaks in it, a run is a
session of it, an app is laid down with its messages. Pure.

What is said about no user is kept under a subject of its own: `agent:helper`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memoryhub.dialogues.messages import clean_text
from memoryhub.errors import InvalidInput

KINDS = ("user", "agent", "app", "run")
NAMES = tuple(f"{kind}_id" for kind in KINDS)
# Characters of each, as the columns have them; a run's may have to follow "run:".
LIMITS = {"user_id": 200, "agent_id": 120, "app_id": 120, "run_id": 190}
PREFIXES = tuple(f"{kind}:" for kind in KINDS if kind != "user")


@dataclass(frozen=True, slots=True)
class Ids:
    user: str = ""
    agent: str = ""
    app: str = ""
    run: str = ""

    @property
    def subject(self) -> str:
        """The subject whose space it is."""
        others = (("agent", self.agent), ("app", self.app), ("run", self.run))
        return self.user or next(f"{kind}:{name}" for kind, name in others if name)

    @property
    def called(self) -> str:
        """What the subject is called in memories of it."""
        return self.user or self.agent or self.app or self.run


def is_user(subject: str) -> bool:
    return not subject.startswith(PREFIXES)


def ids_of(data: Mapping[str, Any]) -> Ids:
    """The ids of a request. Raises InvalidInput where there is none, or one can't be kept."""
    found = Ids(**{kind: _checked(data.get(f"{kind}_id"), f"{kind}_id") for kind in KINDS})
    if found == Ids():
        raise InvalidInput(f"one of {', '.join(NAMES)} is needed", field="user_id")
    return found


def _checked(value: object, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput("text", field=name)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput("half a surrogate pair is no character", field=name) from None
    text = clean_text(value).strip()
    if len(text) > LIMITS[name]:
        raise InvalidInput(f"at most {LIMITS[name]} characters", field=name)
    if name == "user_id" and not is_user(text):
        raise InvalidInput(f"may not begin with {', '.join(PREFIXES)}", field=name)
    return text
