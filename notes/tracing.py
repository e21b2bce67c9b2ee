"""What an erasure reaches: the closure of its targets over derivations (spec §11.9, steps 2-5).

Reads only, so that a dry run and the erasure itself see the same. Call inside the tenant's scope.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import CASCADE, ForeignKey, Q

from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import Space
from notes import registry
from notes.evidence import gives_away, tokens
from notes.models import Chain, Derivation, Entity, Episode, Fact, Page, Relation, Segment
from notes.workbench import Key

# Summaries of a span are written anew without what was erased; other rows go.
REWRITTEN = frozenset({"chain", "segment", "episode"})


@dataclass
class Trace:
    """`turns` will be redacted; `named` are the claims asked for. `gone` rows rested on those
    alone; `tainted` ones on other turns too, which are in `remaining`; `rewritten` ones sum up a
    span with some of them in it. `names` are those that `entities`, which stay, may keep, the
    display name first. `released` claims were ended by the turns and by nothing else.
    """

    space: Space
    turns: list[Turn]
    named: list[Fact] = field(default_factory=list)
    gone: dict[Key, Any] = field(default_factory=dict)
    tainted: dict[Key, Any] = field(default_factory=dict)
    rewritten: dict[Key, Any] = field(default_factory=dict)
    entities: dict[UUID, Entity] = field(default_factory=dict)
    names: dict[UUID, list[str]] = field(default_factory=dict)
    released: set[UUID] = field(default_factory=set)
    remaining: set[UUID] = field(default_factory=set)

    @property
    def erased(self) -> set[UUID]:
        return {turn.id for turn in self.turns}

    def facts_gone(self) -> list[Fact]:
        return [row for (kind, _), row in self.gone.items() if kind == "fact"]


def trace(space: Space, turns: list[Turn], facts: Iterable[Fact] = ()) -> Trace:
    """Everything that erasing these turns and these facts touches."""
    found = Trace(space, turns, list(facts))
    for fact in found.named:
        found.gone["fact", fact.id] = fact
    _by_derivation(found)
    _pages(found)
    _summaries(found)
    _dependents(found)
    _entities(found)
    for key in found.gone:
        found.tainted.pop(key, None)
        found.rewritten.pop(key, None)
    return found


def _by_derivation(found: Trace) -> None:
    """Rows made from the turns, and from the facts that go with them."""
    touching = Derivation.objects.filter(space=found.space).filter(
        Q(turn__in=found.erased) | Q(via_id__in=[row for _, row in found.gone])
    )
    against = touching.filter(role=Derivation.Role.CONTRADICTION)
    found.released = set(against.values_list("child_id", flat=True)) - _ended_by_others(found)
    made = touching.exclude(role=Derivation.Role.CONTRADICTION)
    children = set(made.values_list("child_type", "child_id")) - set(found.gone)
    links = Derivation.objects.filter(child_id__in=[row for _, row in children])
    support: dict[Key, set[UUID]] = defaultdict(set)
    for link in links.exclude(via_id__in=[row for _, row in found.gone]):
        if link.role == Derivation.Role.SUPPORT:
            support[link.child_type, link.child_id].add(link.turn_id)
    rows = rows_of(children)
    texts = _texts_of({turn for turns in support.values() for turn in turns})
    names = _names(found.space)
    for key, row in rows.items():
        others = support[key] - found.erased
        if key[0] == "page" or registry.kind_of(key[0]).scrubbed:
            continue  # what is left of it stays: see _pages, and personas.erasing
        if key[0] == "entity":
            found.entities[row.id] = row
        elif not others:
            found.gone[key] = row
        elif key[0] in REWRITTEN:
            found.rewritten[key] = row
        elif support[key] & found.erased or _betrays(found, row, others, texts, names):
            found.tainted[key] = row
            found.remaining |= others


def _ended_by_others(found: Trace) -> set[UUID]:
    links = Derivation.objects.filter(space=found.space, role=Derivation.Role.CONTRADICTION)
    return set(links.exclude(turn__in=found.erased).values_list("child_id", flat=True))


def rows_of(keys: Iterable[Key]) -> dict[Key, Any]:
    """The rows that are still there. One statement a kind."""
    wanted: dict[str, list[UUID]] = defaultdict(list)
    for kind, row_id in keys:
        wanted[kind].append(row_id)
    known = {kind.name: kind.model for kind in registry.kinds()}
    return {
        (kind, row_id): row
        for kind, ids in wanted.items()
        if kind in known
        for row_id, row in known[kind]._default_manager.in_bulk(ids).items()
    }


def _texts_of(turns: set[UUID]) -> dict[UUID, str]:
    return dict(Turn.objects.filter(id__in=turns).values_list("id", "text"))


def _names(space: Space) -> set[str]:
    keys = Entity.objects.filter(space=space).values_list("canonical_key", flat=True)
    return {word for key in keys for word in str(key).split()}


def text_of(row: Any) -> str:
    """All words of a row's text columns."""
    columns = registry.kind_of(row._meta.model_name).texts
    return "\n".join(str(getattr(row, column) or "") for column in columns)


def _betrays(
    found: Trace, row: Any, others: set[UUID], texts: dict[UUID, str], names: set[str]
) -> bool:
    """An erased turn was only context to it: it is tainted if it shows (step 4)."""
    return gives_away(
        text_of(row),
        [turn.text for turn in found.turns],
        [texts.get(turn, "") for turn in others],
        names,
    )


def _pages(found: Trace) -> None:
    """A page of nothing but erased turns goes; of others, what they are found by is made anew.

    A note on such a page is tainted by support.
    """
    covering = [page for page in _covering(found) if any(page.covers(t) for t in found.turns)]
    if not covering:
        return
    within = Q(pk=None)
    for page in covering:
        within |= Q(session=page.session_id, seq__range=(page.first_seq, page.last_seq))
    kept = Turn.objects.filter(within, space=found.space).exclude(state=Turn.State.REDACTED)
    left = list(kept.exclude(id__in=found.erased))
    for page in covering:
        if not any(page.covers(turn) for turn in left):
            found.gone["page", page.id] = page
        elif page.tier == Page.Tier.MID:
            found.rewritten["page", page.id] = page
    chains = Chain.objects.filter(id__in={page.chain_id for page in covering if page.chain_id})
    segments = Segment.objects.filter(memberships__page__in=covering).distinct()
    for kind, rows in (("chain", list(chains)), ("segment", list(segments))):
        for row in rows:
            found.rewritten[kind, row.id] = row


def _covering(found: Trace) -> list[Page]:
    if not found.turns:
        return []
    low, high = min(t.seq for t in found.turns), max(t.seq for t in found.turns)
    sessions = {turn.session_id for turn in found.turns}
    return list(Page.objects.filter(session__in=sessions, first_seq__lte=high, last_seq__gte=low))


def _summaries(found: Trace) -> None:
    """Episodes over the turns, whatever their derivations say; groups that lost all pages."""
    for episode in Episode.objects.filter(space=found.space) if found.turns else []:
        inside = (
            episode.from_seq <= turn.seq <= episode.to_seq
            and episode.session_id in (None, turn.session_id)
            for turn in found.turns
        )
        if any(inside):
            found.rewritten["episode", episode.id] = episode
    pages = [row for kind, row in found.gone if kind == "page"]
    for (kind, row_id), row in list(found.rewritten.items()):
        left = Page.objects.exclude(id__in=pages)
        if kind == "segment" and not left.filter(memberships__segment=row_id).exists():
            found.gone[kind, row_id] = row
        if kind == "chain" and not left.filter(chain=row_id).exists():
            found.gone[kind, row_id] = row


def _dependents(found: Trace) -> None:
    """Rows that can't be without a row that goes: relations of a fact, links of a note."""
    wave = set(found.gone)
    while wave:
        following: dict[Key, Any] = {}
        for kind in registry.kinds():
            for column in kind.model._meta.concrete_fields:
                following |= _pointing(kind, column, wave)
        wave = set(following) - set(found.gone)
        found.gone |= {key: following[key] for key in wave}


def _pointing(kind: registry.RowKind, column: Any, wave: set[Key]) -> dict[Key, Any]:
    if not isinstance(column, ForeignKey) or column.remote_field.on_delete is not CASCADE:
        return {}
    target = column.remote_field.model._meta.model_name
    ids = [row for name, row in wave if name == target]
    if not ids:
        return {}
    rows = kind.model._default_manager.filter(**{f"{column.name}__in": ids})
    return {(kind.name, row.pk): row for row in rows}


def _entities(found: Trace) -> None:
    """Those that only erased words mention go (step 5); of the others, see `_names_of`."""
    gone = [row for kind, row in found.gone if kind == "relation"]
    lost = [row for (kind, _), row in found.gone.items() if kind == "relation"]
    touched = {r.src_id for r in lost} | {r.dst_id for r in lost}
    found.entities |= Entity.objects.in_bulk(touched - set(found.entities))
    if not found.entities:
        return
    left = Relation.objects.exclude(id__in=gone)
    used = set(left.filter(src__in=found.entities).values_list("src_id", flat=True))
    used |= set(left.filter(dst__in=found.entities).values_list("dst_id", flat=True))
    links = Derivation.objects.filter(child_type="entity", child_id__in=found.entities)
    used |= set(links.exclude(turn__in=found.erased).values_list("child_id", flat=True))
    used |= set(
        Entity.objects.filter(merged_into__in=found.entities)
        .exclude(id__in=found.entities)
        .values_list("merged_into_id", flat=True)
    )
    for entity_id in set(found.entities) - used:
        found.gone["entity", entity_id] = found.entities.pop(entity_id)
    _names_of(found)


def _names_of(found: Trace) -> None:
    """Of the entities that stay, what to rewrite: a summary, or names that nothing but the turns
    says. One whose names were all of that kind goes."""
    found.entities |= Entity.objects.exclude(id__in=_ids(found.gone)).in_bulk(
        {e.merged_into_id for e in _entities_of(found) if e.merged_into_id}
    )
    unsaid = _unsaid(found, {n for e in found.entities.values() for n in (e.name, *e.aliases)})
    for entity in list(found.entities.values()):
        said = [name for name in (entity.name, *entity.aliases) if name not in unsaid]
        if not said:
            found.gone["entity", entity.id] = found.entities.pop(entity.id)
        elif len(said) <= len(entity.aliases) or entity.summary:
            found.names[entity.id] = said
    _dependents(found)
    found.entities = {i: e for i, e in found.entities.items() if i in found.names}


def _ids(keys: Iterable[Key]) -> list[UUID]:
    return [row_id for _, row_id in keys]


def _entities_of(found: Trace) -> list[Entity]:
    gone = [row for (kind, _), row in found.gone.items() if kind == "entity"]
    return [*found.entities.values(), *gone]


def _unsaid(found: Trace, names: set[str]) -> set[str]:
    """Those of the names with a word that the turns say and no other turn of the space does."""
    erased = {word for turn in found.turns for word in tokens(turn.text)}
    doubted = {word for name in names for word in tokens(name)} & erased
    if not doubted:
        return set()
    asked = reduce(or_, (Q(text__icontains=word) | Q(speaker__icontains=word) for word in doubted))
    others = Turn.objects.filter(asked, space=found.space).exclude(id__in=found.erased)
    left = {w for said in others.values_list("text", "speaker") for t in said for w in tokens(t)}
    lost = doubted - left - set(tokens(f"{found.space.subject} {found.space.name}"))
    return {name for name in names if lost & set(tokens(name))}
