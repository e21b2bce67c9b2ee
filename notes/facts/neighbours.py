"""What held claims a candidate is compared with: by vector, predicate and entity (spec §12.1)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, Q

from memoryhub.tenants.models import Space
from notes.graph.identity import normalise_name
from notes.index.nearest import find_nearest_owners
from notes.models import Fact, Relation

# Open claims of the owner asked for, or of anybody; whatever their predicate.
_OPEN_CLAIMS = """JOIN notes_fact f ON f.id = e.owner_id AND f.status = 'active'
  AND f.retired_at IS NULL AND f.valid_to IS NULL
  AND (asked.key = '' OR lower(f.owner) = ANY(string_to_array(lower(asked.key), E'\n')))"""
_PAST_CLAIMS = """JOIN notes_fact f ON f.id = e.owner_id AND f.status <> 'retracted'
  AND f.retired_at IS NULL AND f.valid_to IS NOT NULL"""
_MAX_OWNERS = 500  # names looked for in a text


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
    """Claims that `text` may bear on, the likeliest first: at most `most` open ones, near one of
    the vectors, whoever they are about, then the newest about anybody whom it names or who says it;
    and at most `most_past` that are over, the nearest.

    Call inside the tenant's scope. Five statements.
    """
    asked = [("", vector) for vector in vectors]
    near = find_nearest_owners(space, "fact", model, asked, most, _OPEN_CLAIMS)
    over = find_nearest_owners(space, "fact", model, asked, most_past, _PAST_CLAIMS)
    past = _rank_by_cosine(over)[:most_past]
    open_claims = Fact.objects.filter(
        space=space, status=Fact.Status.ACTIVE, retired_at=None, valid_to=None
    )
    owners = open_claims.order_by().values_list("owner", flat=True).distinct()[:_MAX_OWNERS]
    told = normalise_name(text)
    own = {normalise_name(speaker) for speaker in speakers}
    named = [o for o in owners if o and (normalise_name(o) in told or normalise_name(o) in own)]
    ranked = _rank_by_cosine(near)[:most]
    found = Fact.objects.in_bulk([*ranked, *past])
    newest = open_claims.filter(owner__in=named).order_by("-asserted_at")[:most]
    rows = {at: found[at] for at in ranked if at in found} | {fact.id: fact for fact in newest}
    return [*list(rows.values())[:most], *(found[at] for at in past if at in found)]


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


def find_nearest_facts(
    space: Space, model: str, asked: Sequence[tuple[str, Any]], *, floor: float, most: int
) -> list[list[UUID]]:
    """For each (owner, vector), open claims of the owner, "" for anybody's, at or above the cosine
    `floor`, nearest first.

    Call inside the tenant's scope. One statement.
    """
    found = find_open_facts(space, model, [([owner], vector) for owner, vector in asked], most=most)
    return [[fact for fact, cosine in near if cosine >= floor] for near in found]


def find_open_facts(
    space: Space, model: str, asked: Sequence[tuple[Collection[str], Any]], *, most: int
) -> list[list[tuple[UUID, float]]]:
    """For each (names of an owner, vector), open claims of that owner, [""] for anybody's, with
    their cosines, nearest first, however far.

    Call inside the tenant's scope. One statement.
    """
    keyed = [("\n".join(names), vector) for names, vector in asked]
    return find_nearest_owners(space, "fact", model, keyed, most, _OPEN_CLAIMS)


def find_facts_about(
    space: Space, names: Iterable[tuple[str, Iterable[str]]]
) -> dict[int, list[UUID]]:
    """For each (owner, names of things), open claims of the owner with an edge to one of them."""
    wanted = [(owner, {normalise_name(name) for name in found}) for owner, found in names]
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
        :500
    ]
    near: dict[int, list[UUID]] = {}
    for place, (owner, found) in enumerate(wanted):
        near[place] = [f for f, whose, s, d in rows if whose == owner and found & {s, d}]
    return near


def select_neighbours(
    most: int, vector: Sequence[UUID], predicate: Sequence[UUID], edges: Sequence[UUID]
) -> list[UUID]:
    """At most `most` of them, once each: what is near comes first (M8)."""
    return list(dict.fromkeys([*vector, *predicate, *edges]))[:most]


def find_same_predicate(held: Iterable[Fact], candidate: Fact) -> list[UUID]:
    """Open claims with the candidate's owner and predicate, newest first."""
    rows = [
        fact
        for fact in held
        if fact.predicate_key == candidate.predicate_key != ""
        and fact.owner == candidate.owner
        and fact.valid_to is None
    ]
    return [fact.id for fact in sorted(rows, key=lambda f: f.asserted_at, reverse=True)]
