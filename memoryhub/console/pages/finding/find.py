"""Who and what a few words mean: "Ana job" is Ana's space, and there what bears on "job"."""

from __future__ import annotations

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
# Where nobody is named, what is no more than near is not shown: most words are meant for a page.
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
    names, else in the space that is looked at (`here`), else in the liveliest. No model is asked
    and no memory is remembered better for it. Opens its own scopes."""
    words = asked.split()
    if not words:
        return Finding()
    with tenant_scope(tenant.id):
        spaces = _find_named_spaces(words)
        entities = _find_named_people(words, spaces)
        searched = spaces or list(_choose_spaces(here))
    question = " ".join(word for word in words if not any(_is_named(word, s) for s in spaces))
    memories = [
        FoundMemory(space, item)
        for space in searched[:MAX_SEARCHED]
        for item in _search(space, question, None if spaces or here else _LIKENESS)
    ]
    memories.sort(key=lambda found: -found.item.score)
    return Finding(spaces, entities, memories[:MAX_MEMORIES])


def _find_named_spaces(words: Sequence[str]) -> list[Space]:
    """Those that most of the words name, first."""
    named = Q()
    for word in words:
        named |= _build_name_condition(word, "name", "subject")
    found = list(Space.objects.filter(named).order_by("-last_activity_at", "id")[:20])
    found.sort(key=lambda space: -sum(_is_named(word, space) for word in words))
    return found[:MAX_PEOPLE]


def _build_name_condition(word: str, *columns: str) -> Q:
    """The beginning of a name, or of a part of it."""
    found = Q()
    for column in columns:
        found |= Q(**{f"{column}__istartswith": word}) | Q(**{f"{column}__icontains": f" {word}"})
    return found


def _is_named(word: str, space: Space) -> bool:
    return any(
        part.casefold().startswith(word.casefold())
        for name in (space.name, space.subject)
        for part in (name, *name.split())
        if part
    )


def _find_named_people(words: Sequence[str], spaces: Sequence[Space]) -> list[Entity]:
    named = Q()
    for word in words:
        if len(word) > 1:
            named |= _build_name_condition(word, "name")
    if not named:
        return []
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
