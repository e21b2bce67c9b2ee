"""What an erasure reaches: the closure of its targets over derivations (spec §11.9, steps 2-5).

Reads only, so that a dry run and the erasure itself see the same. Call inside the tenant's scope.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import CASCADE, ForeignKey, Q

from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import Space
from notes.erasure.clauses import TurnCut, has_own_words
from notes.erasure.evidence import has_erased_words, split_tokens
from notes.history import row_kinds
from notes.history.unit_of_work import RowKey
from notes.models import Chain, Derivation, Entity, Episode, Fact, Page, Relation, Segment

# Summaries of a span are written anew without what was erased; other rows go.
REWRITTEN_KINDS = frozenset({"chain", "segment", "episode"})
# Made of some words of a turn: of one that is cut they stay, unless they say what goes.
_WORDED_KINDS = frozenset({"fact", "note", "profileattribute", "relation"})


@dataclass
class ErasureTrace:
    """`turns` will be redacted, `cuts` lose a clause; `named` are the claims asked for. `gone` rows
    rested on those
    alone; `tainted` ones on other turns too, which are in `remaining`; `rewritten` ones sum up a
    span with some of them in it. `names` are those that `entities`, which stay, may keep, the
    display name first. `released` claims were ended by the turns and by nothing else.
    """

    space: Space
    turns: list[Turn]
    cuts: list[TurnCut] = field(default_factory=list)
    named_facts: list[Fact] = field(default_factory=list)
    doomed_rows: dict[RowKey, Any] = field(default_factory=dict)
    tainted_rows: dict[RowKey, Any] = field(default_factory=dict)
    rewritten_rows: dict[RowKey, Any] = field(default_factory=dict)
    entities: dict[UUID, Entity] = field(default_factory=dict)
    names: dict[UUID, list[str]] = field(default_factory=dict)
    released_ids: set[UUID] = field(default_factory=set)
    remaining_turn_ids: set[UUID] = field(default_factory=set)
    event_id: UUID | None = None  # of the change-set, once it is carried out

    @property
    def erased_turn_ids(self) -> set[UUID]:
        return {turn.id for turn in self.turns}

    @property
    def cut_turns(self) -> dict[UUID, TurnCut]:
        return {cut.turn.id: cut for cut in self.cuts}

    @property
    def touched_turns(self) -> list[Turn]:
        return [*self.turns, *(cut.turn for cut in self.cuts)]

    @property
    def touched_turn_ids(self) -> set[UUID]:
        return {turn.id for turn in self.touched_turns}

    @property
    def lost_words(self) -> dict[UUID, str]:
        """By turn, what goes of it."""
        whole = {turn.id: turn.text for turn in self.turns}
        return whole | {cut.turn.id: cut.lost for cut in self.cuts}

    def is_spared(self, link: Derivation) -> bool:
        """Whether it rests on words of a cut turn that stay."""
        cut, start, end = self.cut_turns.get(link.turn_id), link.span_start, link.span_end
        if cut is None or start is None or end is None:
            return False
        return not any(start < b and a < end for a, b in cut.spans)

    def list_doomed_facts(self) -> list[Fact]:
        return [row for (kind, _), row in self.doomed_rows.items() if kind == "fact"]


def trace_erasure(
    space: Space, turns: list[Turn], cuts: Iterable[TurnCut] = (), facts: Iterable[Fact] = ()
) -> ErasureTrace:
    """Everything that erasing these turns, clauses and facts touches."""
    found = ErasureTrace(space, turns, list(cuts), list(facts))
    for fact in found.named_facts:
        found.doomed_rows["fact", fact.id] = fact
    _trace_derivations(found)
    _trace_pages(found)
    _trace_summaries(found)
    _trace_dependents(found)
    _trace_entities(found)
    for key in found.doomed_rows:
        found.tainted_rows.pop(key, None)
        found.rewritten_rows.pop(key, None)
    return found


def _trace_derivations(found: ErasureTrace) -> None:
    """Rows made from the turns, and from the facts that go with them."""
    touching = Derivation.objects.filter(space=found.space).filter(
        Q(turn__in=found.touched_turn_ids) | Q(via_id__in=[row for _, row in found.doomed_rows])
    )
    against = touching.filter(role=Derivation.Role.CONTRADICTION)
    found.released_ids = {link.child_id for link in against if not found.is_spared(link)}
    found.released_ids -= _load_ended_by_others(found)
    children = {
        (link.child_type, link.child_id)
        for link in touching.exclude(role=Derivation.Role.CONTRADICTION)
        if link.child_type != "fact" or not found.is_spared(link)
    }
    children -= set(found.doomed_rows)
    links = Derivation.objects.filter(child_id__in=[row for _, row in children])
    support: dict[RowKey, set[UUID]] = defaultdict(set)
    for link in links.exclude(via_id__in=[row for _, row in found.doomed_rows]):
        if link.role == Derivation.Role.SUPPORT:
            support[link.child_type, link.child_id].add(link.turn_id)
    rows = load_rows_by_key(children)
    said = Turn.objects.filter(id__in={turn for turns in support.values() for turn in turns})
    texts = dict(said.values_list("id", "text"))
    names = _load_entity_words(found.space)
    for key, row in rows.items():
        others = support[key] - found.erased_turn_ids
        if key[0] == "page" or row_kinds.get_row_kind(key[0]).is_scrubbed:
            continue  # what is left of it stays: see _pages, and personas.scrub
        if key[0] == "entity":
            found.entities[row.id] = row
        elif not others:
            found.doomed_rows[key] = row
        elif key[0] in REWRITTEN_KINDS:
            found.rewritten_rows[key] = row
        elif (
            others & set(found.cut_turns)
            and key[0] in _WORDED_KINDS
            and (_says_lost_words(found, row, others, texts))
        ):
            found.doomed_rows[key] = row
            found.remaining_turn_ids |= others
        elif (
            support[key] & found.erased_turn_ids
            or (others & set(found.cut_turns) and key[0] not in _WORDED_KINDS)
            or _is_tainted(found, row, others, texts, names)
        ):
            found.tainted_rows[key] = row
            found.remaining_turn_ids |= others


def _load_ended_by_others(found: ErasureTrace) -> set[UUID]:
    links = Derivation.objects.filter(
        space=found.space, role=Derivation.Role.CONTRADICTION, child_id__in=found.released_ids
    )
    return {
        link.child_id
        for link in links
        if link.turn_id not in found.touched_turn_ids or found.is_spared(link)
    }


def load_rows_by_key(keys: Iterable[RowKey]) -> dict[RowKey, Any]:
    """The rows that are still there. One statement a kind."""
    wanted: dict[str, list[UUID]] = defaultdict(list)
    for kind, row_id in keys:
        wanted[kind].append(row_id)
    known = {kind.name: kind.model for kind in row_kinds.list_row_kinds()}
    return {
        (kind, row_id): row
        for kind, ids in wanted.items()
        if kind in known
        for row_id, row in known[kind]._default_manager.in_bulk(ids).items()
    }


def _load_entity_words(space: Space) -> set[str]:
    keys = Entity.objects.filter(space=space).values_list("canonical_key", flat=True)
    return {word for key in keys for word in str(key).split()}


def collect_row_text(row: Any) -> str:
    """All words of a row's text columns."""
    columns = row_kinds.get_row_kind(row._meta.model_name).texts
    return "\n".join(str(getattr(row, column) or "") for column in columns)


def _is_tainted(
    found: ErasureTrace, row: Any, others: set[UUID], texts: dict[UUID, str], names: set[str]
) -> bool:
    """An erased turn was only context to it: it is tainted if it shows (step 4)."""
    return has_erased_words(
        collect_row_text(row),
        found.lost_words.values(),
        [*_list_left_texts(found, others, texts), found.space.subject, found.space.name],
        names,
    )


def _says_lost_words(
    found: ErasureTrace, row: Any, others: set[UUID], texts: dict[UUID, str]
) -> bool:
    """Whether a row that rests on a turn that is cut says something that stood there alone."""
    lost = [cut.lost for cut in found.cuts if cut.turn.id in others]
    left = [*_list_left_texts(found, others, texts), found.space.subject, found.space.name]
    return has_own_words(collect_row_text(row), lost, left)


def _list_left_texts(
    found: ErasureTrace, turns: Iterable[UUID], texts: dict[UUID, str]
) -> list[str]:
    cuts = found.cut_turns
    return [cuts[turn].left if turn in cuts else texts.get(turn, "") for turn in turns]


def _trace_pages(found: ErasureTrace) -> None:
    """A page of nothing but erased turns goes; of others, what they are found by is made anew.

    A note on such a page is tainted by support.
    """
    turns = found.touched_turns
    covering = [page for page in _load_covering_pages(found) if any(page.covers(t) for t in turns)]
    if not covering:
        return
    within = Q(pk=None)
    for page in covering:
        within |= Q(session=page.session_id, seq__range=(page.first_seq, page.last_seq))
    kept = Turn.objects.filter(within, space=found.space).exclude(state=Turn.State.REDACTED)
    left = list(kept.exclude(id__in=found.erased_turn_ids))
    for page in covering:
        if not any(page.covers(turn) for turn in left):
            found.doomed_rows["page", page.id] = page
        elif page.tier == Page.Tier.MID:
            found.rewritten_rows["page", page.id] = page
    chains = Chain.objects.filter(id__in={page.chain_id for page in covering if page.chain_id})
    segments = Segment.objects.filter(memberships__page__in=covering).distinct()
    for kind, rows in (("chain", list(chains)), ("segment", list(segments))):
        for row in rows:
            found.rewritten_rows[kind, row.id] = row


def _load_covering_pages(found: ErasureTrace) -> list[Page]:
    turns = found.touched_turns
    if not turns:
        return []
    low, high = min(t.seq for t in turns), max(t.seq for t in turns)
    sessions = {turn.session_id for turn in turns}
    return list(Page.objects.filter(session__in=sessions, first_seq__lte=high, last_seq__gte=low))


def _trace_summaries(found: ErasureTrace) -> None:
    """Episodes over the turns, whatever their derivations say; groups that lost all pages."""
    for episode in Episode.objects.filter(space=found.space) if found.touched_turns else []:
        inside = (
            episode.from_seq <= turn.seq <= episode.to_seq
            and episode.session_id in (None, turn.session_id)
            for turn in found.touched_turns
        )
        if any(inside):
            found.rewritten_rows["episode", episode.id] = episode
    pages = [row for kind, row in found.doomed_rows if kind == "page"]
    left = Page.objects.exclude(id__in=pages)
    lookups = {"segment": "memberships__segment", "chain": "chain"}
    for (kind, row_id), row in list(found.rewritten_rows.items()):
        if kind in lookups and not left.filter(**{lookups[kind]: row_id}).exists():
            found.doomed_rows[kind, row_id] = row


def _trace_dependents(found: ErasureTrace) -> None:
    """Rows that can't be without a row that goes: relations of a fact, links of a note."""
    wave = set(found.doomed_rows)
    while wave:
        following: dict[RowKey, Any] = {}
        for kind in row_kinds.list_row_kinds():
            for column in kind.model._meta.concrete_fields:
                following |= _load_pointing_rows(kind, column, wave)
        wave = set(following) - set(found.doomed_rows)
        found.doomed_rows |= {key: following[key] for key in wave}


def _load_pointing_rows(
    kind: row_kinds.RowKind, column: Any, wave: set[RowKey]
) -> dict[RowKey, Any]:
    if not isinstance(column, ForeignKey) or column.remote_field.on_delete is not CASCADE:
        return {}
    target = column.remote_field.model._meta.model_name
    ids = [row for name, row in wave if name == target]
    if not ids:
        return {}
    rows = kind.model._default_manager.filter(**{f"{column.name}__in": ids})
    return {(kind.name, row.pk): row for row in rows}


def _trace_entities(found: ErasureTrace) -> None:
    """Those that only erased words mention go (step 5); of the others, see
    `_trace_entity_names`."""
    gone = [row for kind, row in found.doomed_rows if kind == "relation"]
    lost = [row for (kind, _), row in found.doomed_rows.items() if kind == "relation"]
    touched = {r.src_id for r in lost} | {r.dst_id for r in lost}
    found.entities |= Entity.objects.in_bulk(touched - set(found.entities))
    if not found.entities:
        return
    left = Relation.objects.exclude(id__in=gone)
    used = set(left.filter(src__in=found.entities).values_list("src_id", flat=True))
    used |= set(left.filter(dst__in=found.entities).values_list("dst_id", flat=True))
    links = Derivation.objects.filter(child_type="entity", child_id__in=found.entities)
    used |= set(links.exclude(turn__in=found.touched_turn_ids).values_list("child_id", flat=True))
    staying = {word for cut in found.cuts for word in split_tokens(cut.left)}
    used |= {e.id for e in found.entities.values() if _has_name_among(e, staying)}
    used |= set(
        Entity.objects.filter(merged_into__in=found.entities)
        .exclude(id__in=found.entities)
        .values_list("merged_into_id", flat=True)
    )
    for entity_id in set(found.entities) - used:
        found.doomed_rows["entity", entity_id] = found.entities.pop(entity_id)
    _trace_entity_names(found)


def _has_name_among(entity: Entity, words: Collection[str]) -> bool:
    names = (set(split_tokens(name)) for name in (entity.name, *entity.aliases))
    return any(name and name <= set(words) for name in names)


def _trace_entity_names(found: ErasureTrace) -> None:
    """Of the entities that stay, what to rewrite: a summary, or names that nothing but the turns
    says. One whose names were all of that kind goes."""
    gone = [row for (kind, _), row in found.doomed_rows.items() if kind == "entity"]
    merged = {e.merged_into_id for e in [*found.entities.values(), *gone] if e.merged_into_id}
    left = Entity.objects.exclude(id__in=[row_id for _, row_id in found.doomed_rows])
    found.entities |= left.in_bulk(merged)
    names = {name for e in found.entities.values() for name in (e.name, *e.aliases)}
    unsaid = _find_unsaid_names(found, names)
    for entity in list(found.entities.values()):
        said = [name for name in (entity.name, *entity.aliases) if name not in unsaid]
        if not said:
            found.doomed_rows["entity", entity.id] = found.entities.pop(entity.id)
        elif len(said) <= len(entity.aliases) or entity.summary:
            found.names[entity.id] = said
    _trace_dependents(found)
    found.entities = {i: e for i, e in found.entities.items() if i in found.names}


def _find_unsaid_names(found: ErasureTrace, names: set[str]) -> set[str]:
    """Those of the names with a word that the turns say and no other turn of the space does."""
    erased = {word for lost in found.lost_words.values() for word in split_tokens(lost)}
    doubted = {word for name in names for word in split_tokens(name)} & erased
    if not doubted:
        return set()
    asked = reduce(or_, (Q(text__icontains=word) | Q(speaker__icontains=word) for word in doubted))
    others = Turn.objects.filter(asked, space=found.space).exclude(id__in=found.touched_turn_ids)
    said = [*others.values_list("text", "speaker")]
    said += [(cut.left, cut.turn.speaker) for cut in found.cuts]
    left = {word for pair in said for text in pair for word in split_tokens(text)}
    lost = doubted - left - set(split_tokens(f"{found.space.subject} {found.space.name}"))
    return {name for name in names if lost & set(split_tokens(name))}
