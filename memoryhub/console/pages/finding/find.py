"""Who and what a few words mean: "Ana job" is Ana's space, and there what bears on "job"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from memoryhub.recall.render.results import MemoryItem, MemoryKind
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity

MAX_PEOPLE, MAX_SEARCHED, MAX_MEMORIES = 5, 3, 5
# Outside the space that is meant, what is no more than near is not shown: most words are meant for
# a page, and a space that speaks of somebody speaks of much else.
_LIKENESS = 0.5
_KINDS: tuple[MemoryKind, ...] = ("fact", "note", "episode")


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """`route`: the address of its page, by name."""

    space: Space
    item: MemoryItem

    @property
    def route(self) -> str:
        return f"space-{self.item.kind}"


@dataclass(frozen=True, slots=True)
class Finding:
    """`entities`: people that memories speak of, and who have no space of their own."""

    spaces: Sequence[Space] = ()
    entities: Sequence[Entity] = ()
    memories: Sequence[FoundMemory] = ()


def find_people_and_memories(tenant: Tenant, asked: str, here: UUID | None = None) -> Finding:
    """What `asked` means to a person who types it. Memories are looked for in the spaces that it
    names, else in those that speak of whom it names, else in the space that is looked at (`here`),
    else in the liveliest. No model is asked and no memory is remembered better for it. Opens its
    own scopes."""
    words = _split_words(asked)
    if not words:
        return Finding()
    with tenant_scope(tenant.id):
        spaces = _find_named_spaces(words)
        entities = _find_named_people(words, spaces)
        speaking = list({row.space_id: row.space for row in entities}.values())
        searched = spaces or speaking or list(_choose_spaces(here))
    named = {word for space in spaces for word in _list_naming_words(words, space)}
    question = " ".join(word for word in words if word not in named)
    is_in_own_space = spaces or (here and not speaking)
    memories = [
        FoundMemory(space, item)
        for space in searched[:MAX_SEARCHED]
        for item in _search(space, question, None if is_in_own_space else _LIKENESS)
    ]
    memories.sort(key=lambda found: -found.item.score)
    return Finding(spaces, entities, memories[:MAX_MEMORIES])


def _split_words(asked: str) -> list[str]:
    """Without what is around them: "Rita's job?" has the words "Rita" and "job"."""
    bare = (re.sub(r"['’]s$", "", word.strip(",;:.?!，；：。？！")) for word in asked.split())
    return [word for word in bare if word]


def _find_named_spaces(words: Sequence[str]) -> list[Space]:
    """Those that most of the words name, first."""
    rows = Space.objects.filter(_build_name_condition(words, "name", "subject"))
    found = list(rows.order_by("-last_activity_at", "id")[:20])
    found.sort(key=lambda space: -len(_list_naming_words(words, space)))
    return found[:MAX_PEOPLE]


def _build_name_condition(words: Sequence[str], *columns: str) -> Q:
    """One of the words is a name or a part of it, whole, or all of them are its beginning, as long
    as it is typed: the beginning of a name is what many a word is ("an" of "Ana"). A letter names
    nobody."""
    typed = " ".join(words)
    found = Q(pk__in=[])
    for column in columns:
        if len(typed) > 1:
            found |= Q((f"{column}__istartswith", typed)) | Q((f"{column}__icontains", f" {typed}"))
        for word in words:
            if len(word) > 1:
                found |= Q((f"{column}__iregex", rf"\m{re.escape(word)}\M"))
    return found


def _list_naming_words(words: Sequence[str], space: Space) -> set[str]:
    """Those of the words that are its name, or a part of it: all of them where that is typed."""
    names = [name.casefold() for name in (space.name, space.subject) if name]
    typed = " ".join(words).casefold()
    if any(f" {typed}" in f" {name}" for name in names):
        return set(words)
    parts = {part for name in names for part in re.split(r"\W+", name)}
    return {word for word in words if len(word) > 1 and word.casefold() in {*names, *parts}}


def _find_named_people(words: Sequence[str], spaces: Sequence[Space]) -> list[Entity]:
    named = _build_name_condition(words, "name")
    rows = Entity.objects.filter(named, type="person", merged_into=None).select_related("space")
    known = {space.name.casefold() for space in spaces}
    found = [row for row in rows.order_by("name", "id")[:20] if row.name.casefold() not in known]
    return found[:MAX_PEOPLE]


def _choose_spaces(here: UUID | None) -> Sequence[Space]:
    if here and (space := Space.objects.filter(id=here).first()):
        return [space]
    rows = Space.objects.exclude(last_activity_at=None).order_by("-last_activity_at", "id")
    return list(rows[:MAX_SEARCHED])


def _search(space: Space, question: str, least: float | None) -> Sequence[MemoryItem]:
    if len(question) < 2:
        return ()
    found = search_memories(
        space,
        question,
        limit=MAX_MEMORIES,
        kinds=_KINDS,
        engine=Tenant.Engine.LOCAL,
        reinforce=False,
        unasked=False,
        min_relevance=least,
    )
    return found.items
