"""What to put in front of a model: sections of memories under a budget of tokens (§12.2 step 8).

Always in this order: core, window, shelf, facts, notes, episodes, pages with the summary of their
chain, what was said, the latest exchanges. Every item carries its id, times and sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import pending_count
from memoryhub.engines.embedding.packaged import count_tokens
from memoryhub.errors import InvalidInput
from memoryhub.policies.schema import Channel, Policy, Select
from memoryhub.recall import channels as finding
from memoryhub.recall import conflicts, reinforcing
from memoryhub.recall.arms import Visibility
from memoryhub.recall.asking import NOBODY, Ask, Asker, Clock, Override, prepare
from memoryhub.recall.channels import core
from memoryhub.recall.channels.hits import Hit
from memoryhub.recall.gathering import gather, read
from memoryhub.recall.results import Conflicting, Item
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import live, rolling_text
from notes.models import Episode
from personas.models import Window

ORDER = ("core", "window", "shelf", "facts", "notes", "episodes", "pages", "raw", "stm")
_SECTION_OF = {
    "fact": "facts",
    "note": "notes",
    "episode": "episodes",
    "page": "pages",
    "turn": "raw",
}
# What may be filled before the findings, each at most this share of the budget: findings would
# else push out what nobody asked for but the model can't do without.
_FIRST = {"core": 0.25, "window": 0.5, "stm": 0.25}
# Shown whatever is asked: recall says nothing about their worth.
_UNASKED = frozenset({"core", "window", "stm"})
LEAST_TOKENS, MOST_TOKENS = 100, 1_000_000


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Context:
    """`tokens` of `text` at most those asked for. `left_out`: items there was no room for.

    The other fields are those of a search.
    """

    sections: Sequence[Section]
    text: str
    tokens: int
    left_out: int = 0
    insufficient: bool = False
    degraded: Sequence[str] = ()
    unverified: bool = False
    conflicts: Sequence[Conflicting] = ()
    pending_turns: int = 0
    rounds: int = 1
    took_ms: dict[str, float] = field(default_factory=dict)

    def items(self, *sections: str) -> list[Item]:
        """Those of the sections, or all."""
        return [i for s in self.sections if not sections or s.name in sections for i in s.items]


def context(
    space: Space,
    query: str,
    *,
    session_id: UUID | None = None,
    budget_tokens: int = 2000,
    agent: str = "",
    as_of: datetime | None = None,
    include_past: bool = False,
    deep: bool = False,
    policy: Policy | None = None,
    channels: Sequence[Channel] | None = None,
    select: Select | None = None,
    asked_by: Asker = NOBODY,
    now: datetime | None = None,
    reinforce: bool = True,
) -> Context:
    """What of the space's memory to hand to a model that is to answer `query`.

    `policy`, or `channels` and `select` of it, answer this one question in place of the space's
    own. What made it into the text is remembered better for it, unless not to `reinforce`: then
    nothing is left of the question. Raises
    InvalidInput for an empty query or a budget out of bounds. Opens its own scopes.
    """
    if not LEAST_TOKENS <= budget_tokens <= MOST_TOKENS:
        raise InvalidInput(f"from {LEAST_TOKENS} to {MOST_TOKENS}", field="budget_tokens")
    clock, now = Clock(), now or timezone.now()
    visibility = Visibility(now, as_of, include_past, deep)
    ask, consultant = prepare(
        space,
        query,
        visibility,
        clock,
        session_id=session_id,
        name_entities=True,
        override=Override(policy, channels, select),
    )
    with clock.stage("always"), tenant_scope(space.tenant_id):
        parts = _always(ask, agent)
        pending = pending_count(space.id)
    with clock.stage("gather"):
        seen = {item.id for items in parts.values() for item in items}
        judged = gather(ask, consultant, seen)
    for item in judged.items:
        parts.setdefault(_SECTION_OF[item.kind], []).append(item)
    with tenant_scope(space.tenant_id):
        clashing = conflicts.among([*parts.get("shelf", ()), *judged.items], visibility.at)
    with clock.stage("pack"):
        packed = pack(parts, budget_tokens, count_tokens)
    kept = [Section(name, packed[name]) for name in ORDER if packed.get(name)]
    text = "\n\n".join(_section_text(section) for section in kept)
    if reinforce:
        asked = [item for s in kept if s.name not in _UNASKED for item in s.items]
        reinforcing.recalled(space, asked, now)
    return Context(
        sections=kept,
        text=text,
        tokens=count_tokens([text])[0],
        left_out=sum(map(len, parts.values())) - sum(map(len, packed.values())),
        insufficient=not judged.enough,
        degraded=consultant.degraded,
        unverified=judged.unverified,
        conflicts=[*clashing, *judged.conflicts],
        pending_turns=pending,
        rounds=judged.rounds,
        took_ms=clock.took,
    )


def _always(ask: Ask, agent: str) -> dict[str, list[Item]]:
    """What is there whatever is asked, as far as its channel is on."""
    on = ask.policy.recall.channels
    found = finding.find(ask, [channel for channel in on if channel in ("shelf", "stm")])
    parts: dict[str, list[Item]] = {name: read(hits) for name, hits in found.items()}
    if "core" in on:
        parts["core"] = core.read(ask, agent)
    if "episodes" in on and ask.visibility.as_of is None:
        parts["episodes"] = _global(ask)
    window = _window(ask)
    if window:
        parts["window"] = window
        there = {item.id for item in window}
        parts["stm"] = [item for item in parts.get("stm", ()) if item.id not in there]
    return {name: items for name, items in parts.items() if items}


def _global(ask: Ask) -> list[Item]:
    """The digest of everything is handed over whole, alike or not (spec B9)."""
    rows = Episode.objects.filter(live(), space=ask.space, kind=Episode.Kind.GLOBAL)
    newest = rows.order_by("-to_at").values_list("id", flat=True)[:1]
    return read([Hit("episode", at, 1.0, "all there is, in brief") for at in newest])


def _window(ask: Ask) -> list[Item]:
    """The session's own window, where it has one: the summary so far and the turns behind it."""
    if ask.session_id is None or ask.policy.window.mode == "off":
        return []
    window = Window.objects.filter(session_id=ask.session_id).select_related("session").first()
    if window is None:
        return []
    turns = Turn.objects.filter(session_id=ask.session_id, seq__gte=window.head_seq)
    ids = turns.exclude(state=Turn.State.REDACTED).order_by("seq").values_list("id", flat=True)
    said = read([Hit("turn", at, 1.0, "in the window") for at in ids])
    summary = rolling_text(ask.space, window.session)
    if not summary:
        return said
    return [Item("core", window.id, f"So far: {summary}", 1.0, {}, ask.visibility.at), *said]


def pack(
    parts: dict[str, list[Item]],
    budget: int,
    count: Callable[[Sequence[str]], Sequence[int]],
) -> dict[str, list[Item]]:
    """As much as fits: core and the latest turns up to their share, findings, then the rest.

    Of the latest turns the newest are kept, of everything else the first.
    """
    sizes = _sizes(parts, count)
    left, kept = budget, set[tuple[str, UUID]]()
    for name, items, most in _by_urgency(parts, budget):
        room = min(left, most)
        for item in items:
            key, size = (name, item.id), sizes[name, item.id]
            if key not in kept and size <= room:
                kept.add(key)
                room, left = room - size, left - size
    return {
        name: [item for item in items if (name, item.id) in kept] for name, items in parts.items()
    }


def _sizes(
    parts: dict[str, list[Item]], count: Callable[[Sequence[str]], Sequence[int]]
) -> dict[tuple[str, UUID], int]:
    """Tokens of each line, its break and its share of a heading included."""
    keyed = [((name, item.id), line_of(item)) for name, items in parts.items() for item in items]
    sizes = count([line for _, line in keyed])
    headed = {items[0].id for items in parts.values() if items}
    return {
        (name, at): size + 1 + (4 if at in headed else 0)
        for ((name, at), _), size in zip(keyed, sizes, strict=True)
    }


def _by_urgency(
    parts: dict[str, list[Item]], budget: int
) -> Iterable[tuple[str, Sequence[Item], int]]:
    """(section, items in the order to try them, most tokens)."""
    newest = {name: list(reversed(parts.get(name, ()))) for name in ("stm", "window")}
    for name, share in _FIRST.items():
        yield name, newest.get(name, parts.get(name, [])), int(share * budget)
    for name in ORDER:
        yield name, newest.get(name, parts.get(name, [])), budget


def _section_text(section: Section) -> str:
    return "\n".join([f"## {section.name}", *map(line_of, section.items)])


def line_of(item: Item) -> str:
    """One memory as a line: when, what, how long it holds, from where."""
    head = "" if item.kind == "core" else f"{item.occurred_at:%Y-%m-%d} "
    said_by = f"{item.speaker}: " if item.kind == "turn" else ""
    about = f"({item.summary}) " if item.summary else ""
    refs = ", ".join(dict.fromkeys(source.ref for source in item.sources))
    source = f" [{refs}]" if refs else ""
    linked = " (linked)" if item.linked else ""
    return f"- {head}{about}{said_by}{item.text}{_validity(item)}{linked}{source}"


def _validity(item: Item) -> str:
    if item.kind != "fact" or item.valid_to is None:
        return ""
    return f" (until {item.valid_to:%Y-%m-%d})"
