"""What somebody may mean who asks for something to be forgotten: claims to choose from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from memoryhub.engines.local.claims.predicates import find_question_predicates, get_search_words
from memoryhub.engines.local.comparison.forget import split_wish_parts
from memoryhub.engines.local.comparison.pairs import describe_meaning
from memoryhub.engines.local.grammar.speech import extract_wish_words
from memoryhub.inference.selection import embed_or_none, select_embedder
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.index.nearest import find_nearest_owners
from notes.models import Fact

MAX_CANDIDATES = 12
_MAX_READ = 120  # of those with the relation or a word in common
_MAX_WISH_CHARACTERS = 500
# What a word in common and the relation asked for add to the cosine.
_WORD_WORTH, _RELATION_WORTH = 0.3, 0.5
# Of each thing that is named, so many are offered by their meaning alone, as far as this.
_NEAREST, _LEAST_COSINE = 4, 0.08
_KNOWN_CLAIMS = "JOIN notes_fact f ON f.id = e.owner_id"  # held or over, of anybody


@dataclass(frozen=True, slots=True)
class ErasureCandidate:
    """`worth`: how likely it is meant, for the order alone. `by`: the ways that found it."""

    fact: Fact
    worth: float
    by: tuple[str, ...]


def find_erasure_candidates(
    space: Space, wish: str, meant: Collection[UUID] = ()
) -> list[ErasureCandidate]:
    """Claims that hold or held and that the words may mean, the likeliest first: by meaning, by
    the relation asked for and by words in common. Those `meant` already lead. Opens its own scope;
    embeds with nothing open."""
    text = wish[:_MAX_WISH_CHARACTERS]
    parts = split_wish_parts(extract_wish_words(text) or text) if text.strip() else []
    embedder = select_embedder(space)
    vectors = embed_or_none(lambda: embedder.embed(parts)) if parts else None
    with tenant_scope(space.tenant_id):
        near = _find_near(space, embedder.name, vectors)
        keys = {key for part in (text, *parts) for key in find_question_predicates(part)}
        names = space.called_names
        stems = describe_meaning(" ".join(parts), names).stems
        told = Q(predicate_key__in=keys)
        for stem in stems:
            told |= Q(text__icontains=stem)
        held = Fact.objects.filter(space=space)
        known = held.filter(id__in={*near, *meant})
        others = held.filter(told).exclude(id__in={*near, *meant}).order_by("-asserted_at")
        rows = [*known, *others[:_MAX_READ]]
        found = [_weigh(fact, near, keys, stems, names) for fact in rows]
    chosen = set(meant)
    likely = [each for each in found if each.by or each.fact.id in chosen]
    likely.sort(key=lambda each: (each.fact.id in chosen, each.worth), reverse=True)
    return likely[: max(MAX_CANDIDATES, len(chosen))]


def _find_near(space: Space, model: str, vectors: Any) -> dict[UUID, float]:
    """The claims nearest to each of the vectors, with their cosines."""
    asked = [("", vector) for vector in vectors] if vectors is not None else []
    best: dict[UUID, float] = {}
    for found in (
        find_nearest_owners(space, "fact", model, asked, _NEAREST, _KNOWN_CLAIMS) if asked else []
    ):
        for row, cosine in found:
            if cosine >= _LEAST_COSINE:
                best[row] = max(cosine, best.get(row, 0.0))
    return best


def _weigh(
    fact: Fact,
    near: dict[UUID, float],
    keys: Collection[str],
    stems: frozenset[str],
    names: tuple[str, ...],
) -> ErasureCandidate:
    told = describe_meaning(f"{fact.text} {get_search_words(fact.predicate_key)}", names)
    shared = len(stems & told.stems)
    related = bool(fact.predicate_key) and fact.predicate_key in keys
    cosine = near.get(fact.id, 0.0)
    ways = {"relation": related, "words": bool(shared), "meaning": fact.id in near}
    worth = cosine + _WORD_WORTH * min(2, shared) + _RELATION_WORTH * related
    return ErasureCandidate(fact, worth, tuple(way for way, by in ways.items() if by))
