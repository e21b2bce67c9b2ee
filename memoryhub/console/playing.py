"""A question a person tries on a space: what its form asks for, and what came of it, as a page
shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from typing import Any, get_args
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils.translation import gettext as _

from memoryhub.console import explained
from memoryhub.console.copying import Call
from memoryhub.console.staging import Stage, stages_of
from memoryhub.console.wording import listed
from memoryhub.errors import InvalidInput
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.schema import Channel, Policy, Select
from memoryhub.recall.asking import Asker
from memoryhub.recall.context import Context, context
from memoryhub.recall.results import Explanation, SearchResult
from memoryhub.recall.services import ALL_KINDS, search
from memoryhub.tenants.models import Space

CHANNELS = get_args(Channel)
SELECTS = get_args(Select)
LIMIT, BUDGET = "10", "2000"
# Of a longer question, its beginning: an address holds no more.
_QUERY = 2000
_TEXTS = {"q": "", "limit": LIMIT, "budget": BUDGET, "room": "", "as_of": ""}
_TEXTS |= {"session": "", "agent": ""}


@dataclass(frozen=True, slots=True)
class Wish:
    """The form's fields as they were sent. `budget`: tokens of a context; `room`: those that a
    search may take, none where empty. `policy`, `other_channels` and `other_select` are what the
    second column is asked under: a preset, and these two in place of what it says."""

    q: str = ""
    form: str = "search"
    limit: str = LIMIT
    budget: str = BUDGET
    room: str = ""
    kinds: Sequence[str] = ()
    channels: Sequence[str] = ()
    select: str = ""
    as_of: str = ""
    session: str = ""
    agent: str = ""
    past: bool = False
    deep: bool = False
    policy: str = ""
    other_channels: Sequence[str] = ()
    other_select: str = ""

    @classmethod
    def read(cls, sent: QueryDict) -> Wish:
        texts = {
            name: sent.get(name, default).replace("\0", "").strip()[:_QUERY]
            for name, default in _TEXTS.items()
        }
        return cls(
            **texts,
            form="context" if sent.get("form") == "context" else "search",
            kinds=_some_of(sent, "kinds", ALL_KINDS),
            channels=_some_of(sent, "channels", CHANNELS),
            select=_one_of(sent.get("select", ""), SELECTS),
            past="past" in sent,
            deep="deep" in sent,
            policy=_one_of(sent.get("policy", ""), tuple(PRESETS)),
            other_channels=_some_of(sent, "other_channels", CHANNELS),
            other_select=_one_of(sent.get("other_select", ""), SELECTS),
        )

    @property
    def narrowed(self) -> bool:
        """Whether an option is not as it is without the form."""
        return self.own != Wish(self.q, self.form)

    @property
    def own(self) -> Wish:
        """Without the second setting."""
        return replace(self, policy="", other_channels=(), other_select="")

    @property
    def other(self) -> Wish | None:
        """What the second column asks; None where nothing is compared."""
        if not (self.policy or self.other_channels or self.other_select):
            return None
        channels = self.other_channels or self.channels
        return replace(self.own, channels=channels, select=self.other_select or self.select)

    @property
    def other_title(self) -> str:
        named = [_("preset %(name)s") % {"name": self.policy}] if self.policy else []
        if self.other_channels:
            named.append(_("channels %(names)s") % {"names": listed(self.other_channels)})
        if self.other_select:
            named.append(_("combined %(how)s") % {"how": self.other_select})
        title = listed(named)
        return title[:1].upper() + title[1:]

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
            budget = _number(self.budget, "tokens")
            return shared | {"budget_tokens": budget, "agent": self.agent[:120]}
        room = _number(self.room, "tokens") if self.room else None
        limit = _number(self.limit, "limit")
        return shared | {"limit": limit, "budget_tokens": room, "kinds": list(self.kinds) or None}

    def body(self, subject: str, zone: str) -> dict[str, Any]:
        """The same as the API takes it, without what is usual. Raises InvalidInput."""
        said: dict[str, Any] = {"subject": subject, "query": self.q}
        given = self.options(zone) | {"session": self.session}
        if given["as_of"]:
            given["as_of"] = given["as_of"].isoformat()
        usual = {"limit": int(LIMIT)}
        if self.form == "context":
            usual = {"budget_tokens": int(BUDGET)}
        return said | {k: v for k, v in given.items() if v and v != usual.get(k)}


def _some_of(sent: QueryDict, name: str, known: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in known if each in sent.getlist(name))


def _one_of(text: str, known: Sequence[str]) -> str:
    return text if text in known else ""


def _number(text: str, name: str) -> int:
    if not (text.isdecimal() and len(text) < 8):
        raise InvalidInput(_("a whole number"), field=name)
    return int(text)


def _end_of(text: str, zone: str) -> datetime:
    """The last moment of that day, there."""
    try:
        day = date.fromisoformat(text)
        return datetime.combine(day, time.max, ZoneInfo(zone)).astimezone()
    except (ValueError, OverflowError):
        raise InvalidInput(_("a day, as 2026-05-01"), field=_("as of")) from None


@dataclass
class Column:
    """What one setting made of the question. `elsewhere`: by memory its place in the other
    column; `missed`: why the other one does not show it, where it says so. `calls`: the same
    question to the API, none where the API can't ask it."""

    title: str
    told: SearchResult | Context
    shown: Sequence[explained.Shown]
    left: Sequence[explained.Left]
    explain: Explanation
    stages: Sequence[Stage]
    calls: Sequence[Call] = ()
    text: str = ""
    left_out: int = 0
    elsewhere: Mapping[UUID, int] = field(default_factory=dict)
    missed: Mapping[UUID, str] = field(default_factory=dict)

    @property
    def milliseconds(self) -> float:
        return sum(self.told.took_ms.values())


@dataclass(frozen=True, slots=True)
class Setting:
    """What a column is asked under. `policy`: None for the space's own."""

    title: str
    wish: Wish
    policy: Policy | None = None


def column(
    space: Space, setting: Setting, session_id: UUID | None, by: Asker, now: datetime
) -> Column:
    """Ask under this setting. Raises MemoryHubError. Models may be asked: no scope may be open.
    It is logged, and nothing is remembered better for it."""
    wish = setting.wish
    shared = {"policy": setting.policy, "asked_by": by, "now": now, "session_id": session_id}
    options = wish.options(space.timezone) | shared | {"explain": True, "inspect": True}
    if wish.form == "context":
        made = context(space, wish.q, **options)
        sections = [(each.name, each.items) for each in made.sections]
        text, left_out = made.text, made.left_out
        return _column(setting.title, made, sections, options["budget_tokens"], text, left_out)
    found = search(space, wish.q, **options)
    return _column(setting.title, found, [("", found.items)], options["budget_tokens"])


def _column(
    title: str, told: Any, sections: Any, budget: int | None, text: str = "", left_out: int = 0
) -> Column:
    assert told.explain is not None  # it was asked for
    shown = explained.of_sections(sections)
    limits = {"rounds": told.rounds, "tokens": told.tokens, "budget": budget}
    return Column(
        title=title,
        told=told,
        shown=shown,
        left=explained.of_dropped(told.explain.dropped),
        explain=told.explain,
        stages=stages_of(told.explain, shown, told.took_ms, **limits),
        text=text,
        left_out=left_out,
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """How two columns differ, in memories: in both, of these at another place, in one alone."""

    both: int
    moved: int
    first: int
    second: int


def compare(columns: Sequence[Column]) -> Difference | None:
    """Tell two columns where the other one has its memories, and why not. None for one."""
    if len(columns) != 2:
        return None
    one, other = columns
    for here, there in ((one, other), (other, one)):
        here.elsewhere = {row.memory_id: row.place for row in there.shown}
        here.missed = {row.memory_id: row.why for row in there.left}
    places = {row.memory_id: row.place for row in one.shown}
    both = [row for row in other.shown if row.memory_id in places]
    moved = sum(row.place != places[row.memory_id] for row in both)
    same = len(both)
    return Difference(same, moved, len(one.shown) - same, len(other.shown) - same)
