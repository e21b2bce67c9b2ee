"""mem0's four ids and what they are here: a user is a subject, an agent speaks in it, a run is a
session of it, an app is laid down with its messages. Pure.

What is said about no user is kept under a subject of its own: `agent:helper`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memoryhub.dialogues.messages import clean_text, encode_text
from memoryhub.errors import InvalidInput
from memoryhub.tenants.services import refuse_hidden_characters

ID_KINDS = ("user", "agent", "app", "run")
ID_NAMES = tuple(f"{kind}_id" for kind in ID_KINDS)
# Characters of each, as the columns have them; a run's may have to follow "run:".
ID_LIMITS = {"user_id": 200, "agent_id": 120, "app_id": 120, "run_id": 190}
SUBJECT_PREFIXES = tuple(f"{kind}:" for kind in ID_KINDS if kind != "user")


@dataclass(frozen=True, slots=True)
class Mem0Ids:
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
    def display_name(self) -> str:
        """What the subject is called in memories of it."""
        return self.user or self.agent or self.app or self.run


def is_user_subject(subject: str) -> bool:
    return not subject.startswith(SUBJECT_PREFIXES)


def normalise_id(text: str) -> str:
    """An id as it is kept: composed, with nothing around it. "" for what is none."""
    return "" if "\0" in text else clean_text(text).strip()


def read_ids(data: Mapping[str, Any]) -> Mem0Ids:
    """The ids of a request. Raises InvalidInput where there is none, or one can't be kept."""
    found = Mem0Ids(**{kind: _read_id(data.get(f"{kind}_id"), f"{kind}_id") for kind in ID_KINDS})
    if found == Mem0Ids():
        raise InvalidInput(f"one of {', '.join(ID_NAMES)} is needed", field="user_id")
    return found


def _read_id(value: object, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput("text", field=name)
    encode_text(value, name)
    refuse_hidden_characters(value, name)
    text = normalise_id(value)
    if len(text) > ID_LIMITS[name]:
        raise InvalidInput(f"at most {ID_LIMITS[name]} characters", field=name)
    if name == "user_id" and not is_user_subject(text):
        raise InvalidInput(f"may not begin with {', '.join(SUBJECT_PREFIXES)}", field=name)
    return text
