"""What held claims a candidate is compared with: by vector, predicate and entity (spec §12.1)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import reduce
from itertools import chain, islice, zip_longest
from operator import or_
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from memoryhub.subject_names import list_same_names, list_short_names
from memoryhub.tenants.models import Space
from notes.graph.identity import is_name_said, normalise_name
from notes.index.nearest import find_nearest_owners
from notes.models import Entity, Fact, Relation

# Open claims of the owners asked for, of all but them, or of anybody; whatever their predicate.
_OPEN_CLAIMS = """JOIN notes_fact f ON f.id = e.owner_id AND f.status = 'active'
  AND f.retired_at IS NULL AND f.valid_to IS NULL
  AND (asked.key = '' OR starts_with(asked.key, E'\n')
    <> (lower(f.owner) = ANY(string_to_array(lower(ltrim(asked.key, E'\n')), E'\n'))))"""
_PAST_CLAIMS = """JOIN notes_fact f ON f.id = e.owner_id AND f.status <> 'retracted'
  AND f.retired_at IS NULL AND f.valid_to IS NOT NULL"""
_MAX_OWNERS = 500  # names looked for in a text
_MAX_ROWS = 500  # the newest claims among which each of a batch finds its own
OF_ANYBODY = ""
ItemT = TypeVar("ItemT", bound=Hashable)


def name_owners(names: Iterable[str]) -> str:
    """Whose claims are looked for: those of one who goes by these names."""
    return "\n".join(names)


def name_others(names: Iterable[str]) -> str:
    """Whose claims are looked for: those of everybody who goes by none of these names."""
    return f"\n{name_owners(names)}"


def find_known_claims(
    space: Space,
    model: str,
    vectors: Sequence[Any],
    text: str,
    speakers: Collection[str],
    *,
    most: int,
    most_past: int,
) -> list[Fact]:
    """Claims that `text` may bear on: at most `most` open ones, whoever they are about, and at most
    `most_past` that are over, the nearest. The open ones are near one of the vectors, about whom
    the text names, with an edge to what it names, or the newest about who says it, under all names;
    each way has its share.

    Call inside the tenant's scope. Eight statements.
    """
    asked = [(OF_ANYBODY, vector) for vector in vectors]
    near = find_nearest_owners(space, "fact", model, asked, most, _OPEN_CLAIMS)
    over = find_past_facts(space, model, vectors, most=most_past)
    past = _rank_by_cosine(over)[:most_past]
    owners = list_open_owners(space)
    own = {n for name in speakers for n in list_same_names(name, owners, space.called_names)}
    (things,) = list_named_things(space, [text])
    (about,) = find_facts_of(space, [{*list_named_owners(owners, text)} - own])
    edges = find_facts_about(space, [(None, {*things} - {normalise_name(name) for name in own})])
    (newest,) = find_facts_of(space, [own])
    chosen = take_turns(most, _rank_by_cosine(near)[:most], about, edges.get(0, ()), newest)
    found = Fact.objects.in_bulk([*chosen, *past])
    return [found[at] for at in [*chosen, *past] if at in found]


def _rank_by_cosine(near: Iterable[Iterable[tuple[UUID, float]]]) -> list[UUID]:
    """The nearest to any of the vectors first, each once."""
    best: dict[UUID, float] = {}
    for row, cosine in (each for found in near for each in found):
        best[row] = max(cosine, best.get(row, -1.0))
    return sorted(best, key=lambda row: -best[row])


def list_relations_in_use(space: Space, most: int) -> list[str]:
    """The commonest keys of predicates that open claims of the space have, by the alphabet: in the
    same order in the next call, whatever was said since, so that its prompt begins alike."""
    rows = Fact.objects.filter(space=space, retired_at=None, valid_to=None)
    counted = rows.exclude(predicate_key="").values("predicate_key").annotate(count=Count("id"))
    return sorted(
        row["predicate_key"] for row in counted.order_by("-count", "predicate_key")[:most]
    )


def load_learned_predicates(keys: Collection[str]) -> set[str]:
    """Those of the keys that a model, or a person, has said one value at a time of before, anywhere
    in the tenant: some claim stands as the one value of its time. Call inside its scope."""
    rows = Fact.objects.filter(predicate_key__in=keys, cardinality="single", retired_at=None)
    return set(rows.values_list("predicate_key", flat=True).distinct().order_by())


def list_open_owners(space: Space) -> list[str]:
    """Whom open claims are about. One statement."""
    owners = _select_open_claims(space).order_by().values_list("owner", flat=True).distinct()
    return list(owners[:_MAX_OWNERS])


def list_named_owners(owners: Iterable[str], text: str) -> list[str]:
    """Those whose name the text holds, whole or as they are called for short, as words of their own
    where they are written in letters."""
    told = normalise_name(text)
    return [
        owner
        for owner in owners
        if any(
            is_name_said(normalise_name(n), told) for n in (owner, *list_short_names(owner)) if n
        )
    ]


def list_named_things(space: Space, texts: Sequence[str]) -> list[list[str]]:
    """By text, the keys of entities that it names. One statement: the database looks for them."""
    told = [normalise_name(text) for text in texts]
    rows = Entity.objects.filter(space=space, retired_at=None).extra(  # fixed text
        where=["strpos(%s, canonical_key) > 0"], params=["\n".join(told)]
    )
    keys = list(rows.order_by().values_list("canonical_key", flat=True)[:_MAX_ROWS])
    return [[key for key in keys if is_name_said(key, text)] for text in told]


def _select_open_claims(space: Space) -> QuerySet[Fact]:
    return Fact.objects.filter(
        space=space, status=Fact.Status.ACTIVE, retired_at=None, valid_to=None
    )


def find_open_facts(
    space: Space, model: str, asked: Sequence[tuple[str, Any]], *, most: int
) -> list[list[tuple[UUID, float]]]:
    """For each (whose, vector), open claims of these owners with their cosines, nearest first,
    however far. Whose is said by `name_owners`, `name_others` or `OF_ANYBODY`.

    Call inside the tenant's scope. One statement.
    """
    return find_nearest_owners(space, "fact", model, asked, most, _OPEN_CLAIMS)


def find_past_facts(
    space: Space, model: str, vectors: Sequence[Any], *, most: int
) -> list[list[tuple[UUID, float]]]:
    """For each vector, claims of anybody that are over with their cosines, nearest first.

    Call inside the tenant's scope. One statement.
    """
    asked = [(OF_ANYBODY, vector) for vector in vectors]
    return find_nearest_owners(space, "fact", model, asked, most, _PAST_CLAIMS)


def find_facts_of(space: Space, named: Sequence[Collection[str]]) -> list[list[UUID]]:
    """For each group of owners, open claims about them, the newest first. One statement, and none
    where nobody is named."""
    wanted = {owner for owners in named for owner in owners}
    if not wanted:
        return [[] for _ in named]
    newest = _select_open_claims(space).filter(owner__in=wanted).order_by("-asserted_at")
    rows = list(newest.values_list("id", "owner")[:_MAX_ROWS])
    return [[row for row, owner in rows if owner in owners] for owners in named]


def find_facts_naming(space: Space, named: Sequence[Collection[str]]) -> list[list[UUID]]:
    """For each group of names, open claims about others whose words hold one of them, the newest
    first: what is told of Biscuit's people names Biscuit. One statement, and none without names."""
    wanted = {name for names in named for name in names}
    if not wanted:
        return [[] for _ in named]
    holds = reduce(or_, (Q(text__icontains=name) for name in sorted(wanted)))
    rows = _select_open_claims(space).filter(holds).exclude(owner__in=wanted)
    told = rows.order_by("-asserted_at").values_list("id", "text")[:_MAX_ROWS]
    texts = [(row, normalise_name(text)) for row, text in told]
    return [
        [row for row, text in texts if any(is_name_said(normalise_name(n), text) for n in names)]
        for names in named
    ]


def find_facts_about(
    space: Space, names: Iterable[tuple[Collection[str] | None, Iterable[str]]]
) -> dict[int, list[UUID]]:
    """For each (owners, names of things), open claims of these owners with an edge to one of the
    things, the newest first; None: of whomever."""
    wanted = [(owners, {normalise_name(name) for name in found}) for owners, found in names]
    keys = {name for _, found in wanted for name in found}
    if not keys:
        return {}
    edges = Relation.objects.filter(
        Q(src__canonical_key__in=keys) | Q(dst__canonical_key__in=keys),
        space=space,
        retired_at=None,
        fact__retired_at=None,
        fact__valid_to=None,
        fact__status=Fact.Status.ACTIVE,
    ).order_by("-fact__asserted_at")
    rows = edges.values_list("fact_id", "fact__owner", "src__canonical_key", "dst__canonical_key")[
        :_MAX_ROWS
    ]
    near: dict[int, list[UUID]] = {}
    for place, (owners, found) in enumerate(wanted):
        near[place] = [
            fact
            for fact, whose, src, dst in rows
            if (owners is None or whose in owners) and found & {src, dst}
        ]
    return near


def take_turns(most: int, *ways: Sequence[ItemT]) -> list[ItemT]:
    """At most `most` of what each way found, once each, in the order of the ways: what is near
    comes first (M8). Where there is more, the ways take turns: ten that are all but the same leave
    room for what another way finds."""
    found = dict.fromkeys(chain(*ways))
    turns = (one for rank in zip_longest(*ways) for one in rank if one is not None)
    chosen = set(islice(dict.fromkeys(turns), most))
    return [one for one in found if one in chosen]


def find_same_predicate(
    held: Iterable[Fact], candidate: Fact, names: Collection[str]
) -> list[UUID]:
    """Open claims with the candidate's predicate of its owner, under all `names`, newest first."""
    rows = [
        fact
        for fact in held
        if fact.predicate_key == candidate.predicate_key != ""
        and fact.owner in names
        and fact.valid_to is None
    ]
    return [fact.id for fact in sorted(rows, key=lambda f: f.asserted_at, reverse=True)]
