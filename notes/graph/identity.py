"""When two names are one entity's, and who stands for whom (Mem0g, spec R3, R4). Mostly pure.

A merged entity keeps its row and its relations and only points at the one it is: undoing the
merge is taking the pointer back. Readers follow it with `family` and `survivor`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Literal
from uuid import UUID

from memoryhub.dialogues.messages import normalise_text
from memoryhub.subject_names import reads_like_name
from memoryhub.tenants.models import Space
from notes.models import Entity

MergeVerdict = Literal["merge", "ask", "apart"]
MAX_NAME_LENGTH = 200
_PRONOUNS = frozenset(
    {
        *("he", "she", "it", "they", "we", "you", "him", "her", "them", "us", "his", "hers"),
        *("他们", "她们", "它们", "我们", "你们"),
    }
)


def normalise_name(name: str) -> str:
    """The form under which two names are one entity; the display name is kept (R4)."""
    return normalise_text(name)[:MAX_NAME_LENGTH]


def decide_name_merge(cosine: float, *, merge_at: float, ask_at: float) -> MergeVerdict:
    """What the similarity of two names' vectors comes to (GR5)."""
    near = round(cosine, 6)
    if near >= round(merge_at, 6):
        return "merge"
    return "ask" if near >= round(ask_at, 6) else "apart"


def may_be_same_entity(left: str, right: str, left_type: str = "", right_type: str = "") -> bool:
    """Whether names can be one entity's at all: not "room 101" and "room 102", nor Ana and Ana's
    aunt, nor a person and a place, however near their vectors are."""
    numbers = [re.findall(r"\d+", normalise_text(name)) for name in (left, right)]
    types = {kind for kind in (left_type, right_type) if kind}
    return (
        numbers[0] == numbers[1]
        and len(types) < 2
        and normalise_name(left) != normalise_name(right)
        and not (_is_owned_by(left, right) or _is_owned_by(right, left))
    )


def _is_owned_by(name: str, owner: str) -> bool:
    """Ana's aunt, 安娜的姑姑, of Ana."""
    return re.match(rf"{re.escape(owner)}(?:['’]s? |的)", name, re.I) is not None


def may_be_alias(name: str) -> bool:
    """Whether something may be found by it: no pronoun and no role, which mean another next time.
    ("Bob"), ("NYC"), ("小王") → True; ("he"), ("my boss"), ("Ana's aunt") → False."""
    owned = re.search(r"['’]|的", name)
    short = len(name.strip()) < 2 or name[0].islower()
    return reads_like_name(name) and not (short or owned or normalise_name(name) in _PRONOUNS)


def is_name_said(name: str, said: str) -> bool:
    """As a word, not within one; Chinese has no spaces to go by. Both are normalised."""
    return (
        name in said and re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", said) is not None
    )


def load_known_entities(space: Space, keys: Collection[str]) -> dict[str, Entity]:
    """By key, the entities of that name. Not by alias: two people may be called Bob."""
    rows = Entity.objects.filter(space=space, canonical_key__in=keys) if keys else []
    return {entity.canonical_key: entity for entity in rows}


def load_taken_names(space: Space, keys: Collection[str]) -> set[str]:
    """Those of the keys that are an entity's name or alias. Call inside the tenant's scope."""
    rows = Entity.objects.filter(space=space).extra(  # fixed text
        where=[
            "canonical_key = ANY(%s) OR EXISTS ("
            "SELECT 1 FROM unnest(aliases) a WHERE lower(a) = ANY(%s))"
        ],
        params=[list(keys), list(keys)],
    )
    names = {n for key, more in rows.values_list("canonical_key", "aliases") for n in (key, *more)}
    return {normalise_name(name) for name in names} & set(keys)


def find_survivor(entity: Entity, others: Mapping[UUID, Entity]) -> Entity:
    """Who stands for an entity after all merges, as far as `others` knows them."""
    seen = {entity.id}
    while (into := entity.merged_into_id) and into in others and into not in seen:
        entity = others[into]
        seen.add(into)
    return entity
