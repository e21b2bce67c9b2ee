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

from memoryhub.console.frame.text.wording import join_list
from memoryhub.console.pages.search import explanation
from memoryhub.console.pages.search.api_calls import CodeExample
from memoryhub.console.pages.search.stages import SearchStage, build_search_stages
from memoryhub.errors import InvalidInput
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.schema import Channel, Policy, SelectMode
from memoryhub.recall.context import MemoryContext, build_context
from memoryhub.recall.question.caller import SearchCaller
from memoryhub.recall.render.results import ConflictingMemories, Explanation, SearchResult
from memoryhub.recall.services import ALL_KINDS, search_memories
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact

CHANNELS = get_args(Channel)
SELECTS = get_args(SelectMode)
LIMIT, BUDGET = "10", "2000"
# Of a longer question, its beginning: an address holds no more.
_MAX_QUERY_LENGTH = 2000
_TEXT_DEFAULTS = {"q": "", "limit": LIMIT, "budget": BUDGET, "room": "", "as_of": ""}
_TEXT_DEFAULTS |= {"session": "", "agent": ""}
# Each is a search of its own.
MOST_BESIDE = 4


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """The form's fields as they were sent. `budget`: tokens of a context; `room`: those that a
    search may take, none where empty. `policy`, `other_channels` and `other_select` are what the
    second column is asked under: a preset, and these two in place of what it says. `beside`:
    presets whose results stand as ranked lists beside those of the space's own policy."""

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
    beside: Sequence[str] = ()

    @classmethod
    def read(cls, sent: QueryDict) -> TrialRequest:
        texts = {
            name: sent.get(name, default).replace("\0", "").strip()[:_MAX_QUERY_LENGTH]
            for name, default in _TEXT_DEFAULTS.items()
        }
        return cls(
            **texts,
            form="context" if sent.get("form") == "context" else "search",
            kinds=_read_several_of(sent, "kinds", ALL_KINDS),
            channels=_read_several_of(sent, "channels", CHANNELS),
            select=_select_one_of(sent.get("select", ""), SELECTS),
            past="past" in sent,
            deep="deep" in sent,
            policy=_select_one_of(sent.get("policy", ""), tuple(PRESETS)),
            other_channels=_read_several_of(sent, "other_channels", CHANNELS),
            other_select=_select_one_of(sent.get("other_select", ""), SELECTS),
            beside=_read_several_of(sent, "beside", tuple(PRESETS))[:MOST_BESIDE],
        )

    @property
    def narrowed(self) -> bool:
        """Whether an option is not as it is without the form."""
        return self.without_comparison != TrialRequest(self.q, self.form)

    @property
    def without_comparison(self) -> TrialRequest:
        """Without the second setting."""
        return replace(self, policy="", other_channels=(), other_select="", beside=())

    @property
    def other(self) -> TrialRequest | None:
        """What the second column asks; None where nothing is compared."""
        if not (self.policy or self.other_channels or self.other_select):
            return None
        channels = self.other_channels or self.channels
        return replace(
            self.without_comparison, channels=channels, select=self.other_select or self.select
        )

    @property
    def other_title(self) -> str:
        named = [_("preset %(name)s") % {"name": self.policy}] if self.policy else []
        if self.other_channels:
            named.append(_("channels %(names)s") % {"names": join_list(self.other_channels)})
        if self.other_select:
            named.append(_("combined %(how)s") % {"how": self.other_select})
        title = join_list(named)
        return title[:1].upper() + title[1:]

    def build_options(self, zone: str) -> dict[str, Any]:
        """Arguments of `search` or `context`. Raises InvalidInput that names the field."""
        shared = {
            "channels": list(self.channels) or None,
            "select": self.select or None,
            "as_of": _parse_end_of_day(self.as_of, zone) if self.as_of else None,
            "include_past": self.past,
            "deep": self.deep,
        }
        if self.form == "context":
            budget = _parse_whole_number(self.budget, "tokens")
            return shared | {"budget_tokens": budget, "agent": self.agent[:120]}
        room = _parse_whole_number(self.room, "tokens") if self.room else None
        limit = _parse_whole_number(self.limit, "limit")
        return shared | {"limit": limit, "budget_tokens": room, "kinds": list(self.kinds) or None}

    def build_body(self, subject: str, zone: str) -> dict[str, Any]:
        """The same as the API takes it, without what is usual. Raises InvalidInput."""
        said: dict[str, Any] = {"subject": subject, "query": self.q}
        given = self.build_options(zone) | {"session": self.session}
        if given["as_of"]:
            given["as_of"] = given["as_of"].isoformat()
        usual = {"limit": int(LIMIT)}
        if self.form == "context":
            usual = {"budget_tokens": int(BUDGET)}
        return said | {k: v for k, v in given.items() if v and v != usual.get(k)}


def _read_several_of(sent: QueryDict, name: str, known: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in known if each in sent.getlist(name))


def _select_one_of(text: str, known: Sequence[str]) -> str:
    return text if text in known else ""


def _parse_whole_number(text: str, name: str) -> int:
    if not (text.isdecimal() and len(text) < 8):
        raise InvalidInput(_("a whole number"), field=name)
    return int(text)


def _parse_end_of_day(text: str, zone: str) -> datetime:
    """The last moment of that day, there."""
    try:
        day = date.fromisoformat(text)
        return datetime.combine(day, time.max, ZoneInfo(zone)).astimezone()
    except (ValueError, OverflowError):
        raise InvalidInput(_("a day, as 2026-05-01"), field=_("as of")) from None


@dataclass(frozen=True, slots=True)
class NamedMemory:
    """A memory by its words; `page` is the name of its address for `page_id`, "" for none."""

    text: str
    page: str
    page_id: UUID


@dataclass(frozen=True, slots=True)
class NamedConflict:
    """Memories that can't all hold at once, as far as they are still there."""

    why: str
    memories: Sequence[NamedMemory]


@dataclass
class AnswerColumn:
    """What one setting made of the question. `other_places`: by memory its place in the other
    column; `other_reasons`: why the other one does not show it, where it says so. `calls`: the same
    question to the API, none where the API can't ask it."""

    title: str
    response: SearchResult | MemoryContext
    results: Sequence[explanation.ShownResult]
    dropped: Sequence[explanation.DroppedResult]
    explain: Explanation
    stages: Sequence[SearchStage]
    calls: Sequence[CodeExample] = ()
    conflicts: Sequence[NamedConflict] = ()
    text: str = ""
    left_out: int = 0
    other_places: Mapping[UUID, int] = field(default_factory=dict)
    other_reasons: Mapping[UUID, str] = field(default_factory=dict)

    @property
    def milliseconds(self) -> float:
        return sum(self.response.took_ms.values())


@dataclass(frozen=True, slots=True)
class ColumnSetting:
    """What a column is asked under. `policy`: None for the space's own."""

    title: str
    wish: TrialRequest
    policy: Policy | None = None


def ask_under_setting(
    space: Space, setting: ColumnSetting, session_id: UUID | None, by: SearchCaller, now: datetime
) -> AnswerColumn:
    """Ask under this setting. Raises MemoryHubError. Models may be asked: no scope may be open.
    It is logged, and nothing is remembered better for it."""
    wish = setting.wish
    shared = {"policy": setting.policy, "asked_by": by, "now": now, "session_id": session_id}
    options = wish.build_options(space.timezone) | shared | {"explain": True, "inspect": True}
    told: SearchResult | MemoryContext
    if wish.form == "context":
        told = build_context(space, wish.q, **options)
        shown = explanation.explain_sections([(each.name, each.items) for each in told.sections])
        text, left_out = told.text, told.left_out
    else:
        told = search_memories(space, wish.q, **options)
        shown = explanation.explain_sections([("", told.items)])
        text, left_out = "", 0
    assert told.explain is not None  # it was asked for
    limits = {"rounds": told.rounds, "tokens": told.tokens, "budget": options["budget_tokens"]}
    dropped = explanation.explain_dropped(told.explain.dropped)
    return AnswerColumn(
        title=setting.title,
        response=told,
        results=shown,
        dropped=dropped,
        conflicts=_name_conflicts(space, told.conflicts, shown, dropped),
        explain=told.explain,
        stages=build_search_stages(told.explain, shown, told.took_ms, **limits),
        text=text,
        left_out=left_out,
    )


def _name_conflicts(
    space: Space,
    conflicts: Sequence[ConflictingMemories],
    shown: Sequence[explanation.ShownResult],
    dropped: Sequence[explanation.DroppedResult],
) -> list[NamedConflict]:
    """In the words of what was found. What only a case of the inbox knows of is a fact."""
    named = {row.memory_id: NamedMemory(row.text, row.page, row.page_id) for row in dropped}
    named |= {
        row.memory_id: NamedMemory(row.item.text, row.page, row.page_id)
        for row in shown
        if row.item is not None
    }
    unknown = {at for each in conflicts for at in each.ids} - named.keys()
    if unknown:
        with tenant_scope(space.tenant_id):
            texts = Fact.objects.filter(space=space, id__in=unknown).values_list("id", "text")
            named |= {at: NamedMemory(text, "space-fact", at) for at, text in texts}
    return [
        NamedConflict(each.why, [named[at] for at in each.ids if at in named]) for each in conflicts
    ]


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """How two columns differ, in memories: in both, of these at another place, in one alone."""

    both: int
    moved: int
    first: int
    second: int


def compare_columns(columns: Sequence[AnswerColumn]) -> ColumnDifference | None:
    """Tell two columns where the other one has its memories, and why not. None for one."""
    if len(columns) != 2:
        return None
    one, other = columns
    for here, there in ((one, other), (other, one)):
        here.other_places = {row.memory_id: row.place for row in there.results}
        here.other_reasons = {row.memory_id: row.why for row in there.dropped}
    places = {row.memory_id: row.place for row in one.results}
    both = [row for row in other.results if row.memory_id in places]
    moved = sum(row.place != places[row.memory_id] for row in both)
    same = len(both)
    return ColumnDifference(same, moved, len(one.results) - same, len(other.results) - same)
