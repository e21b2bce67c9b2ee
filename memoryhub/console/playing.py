"""A question a person tries on a space: what its form asks for, and what came of it, as a page
shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any, get_args
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import QueryDict

from memoryhub.console import explained
from memoryhub.errors import InvalidInput
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.schema import Channel, Policy, Select
from memoryhub.recall.asking import Asker
from memoryhub.recall.context import Context, context
from memoryhub.recall.results import Explanation, SearchResult
from memoryhub.recall.services import search
from memoryhub.tenants.models import Space

CHANNELS = get_args(Channel)
SELECTS = get_args(Select)
LIMIT, BUDGET = "10", "2000"
# Of a longer question, its beginning: an address holds no more.
_QUERY = 2000


@dataclass(frozen=True, slots=True)
class Wish:
    """The form's fields as they were sent. `policy`: the preset of the second column."""

    q: str = ""
    form: str = "search"
    limit: str = LIMIT
    budget: str = BUDGET
    channels: Sequence[str] = ()
    select: str = ""
    as_of: str = ""
    past: bool = False
    deep: bool = False
    policy: str = ""

    @classmethod
    def read(cls, sent: QueryDict) -> Wish:
        texts = {
            name: sent.get(name, default).replace("\0", "").strip()[:_QUERY]
            for name, default in (("q", ""), ("limit", LIMIT), ("budget", BUDGET), ("as_of", ""))
        }
        return cls(
            **texts,
            form="context" if sent.get("form") == "context" else "search",
            channels=[each for each in CHANNELS if each in sent.getlist("channels")],
            select=_one_of(sent.get("select", ""), SELECTS),
            past="past" in sent,
            deep="deep" in sent,
            policy=_one_of(sent.get("policy", ""), tuple(PRESETS)),
        )

    @property
    def narrowed(self) -> bool:
        """Whether an option is not as it is without the form."""
        return self != Wish(self.q, self.form, policy=self.policy)

    def options(self, zone: str) -> dict[str, Any]:
        """Arguments of `search` or `context`. Raises InvalidInput that names the field."""
        shared = {
            "channels": list(self.channels) or None,
            "select": self.select or None,
            "as_of": _end_of(self.as_of, zone) if self.as_of else None,
            "include_past": self.past,
            "deep": self.deep,
        }
        if self.form == "context":
            return shared | {"budget_tokens": _number(self.budget, "tokens")}
        return shared | {"limit": _number(self.limit, "limit")}


def _one_of(text: str, known: Sequence[str]) -> str:
    return text if text in known else ""


def _number(text: str, name: str) -> int:
    if not (text.isdecimal() and len(text) < 8):
        raise InvalidInput("a whole number", field=name)
    return int(text)


def _end_of(text: str, zone: str) -> datetime:
    """The last moment of that day, there."""
    try:
        day = date.fromisoformat(text)
        return datetime.combine(day, time.max, ZoneInfo(zone)).astimezone()
    except (ValueError, OverflowError):
        raise InvalidInput("a day, as 2026-05-01", field="as of") from None


@dataclass
class Column:
    """What one setting made of the question. `elsewhere`: by memory its place in the other
    column."""

    title: str
    told: SearchResult | Context
    shown: Sequence[explained.Shown]
    left: Sequence[explained.Left]
    explain: Explanation
    text: str = ""
    left_out: int = 0
    elsewhere: Mapping[UUID, int] = field(default_factory=dict)

    @property
    def took(self) -> list[tuple[str, float]]:
        return explained.stages(self.told.took_ms)

    @property
    def milliseconds(self) -> float:
        return sum(self.told.took_ms.values())


def column(
    space: Space, wish: Wish, title: str, policy: Policy | None, by: Asker, now: datetime
) -> Column:
    """Ask under this policy, None for the space's own. Raises MemoryHubError. Models may be asked:
    no scope may be open. It is logged, and nothing is remembered better for it."""
    shared = {"policy": policy, "asked_by": by, "now": now, "explain": True, "inspect": True}
    options = wish.options(space.timezone) | shared
    if wish.form == "context":
        made = context(space, wish.q, **options)
        sections = [(each.name, each.items) for each in made.sections]
        text, left_out = made.text, made.left_out
        return _column(title, made, sections, text, left_out)
    found = search(space, wish.q, **options)
    return _column(title, found, [("", found.items)])


def _column(title: str, told: Any, sections: Any, text: str = "", left_out: int = 0) -> Column:
    assert told.explain is not None  # it was asked for
    return Column(
        title=title,
        told=told,
        shown=explained.of_sections(sections),
        left=explained.of_dropped(told.explain.dropped),
        explain=told.explain,
        text=text,
        left_out=left_out,
    )


def compare(columns: Sequence[Column]) -> None:
    """Tell two columns where the other one has its memories."""
    if len(columns) == 2:
        one, other = columns
        one.elsewhere = {row.memory_id: row.place for row in other.shown}
        other.elsewhere = {row.memory_id: row.place for row in one.shown}
