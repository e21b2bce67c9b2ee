"""A space's persona, and the blocks in front of its agents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import Http404

from memoryhub.console.queries.memories import sources_of
from memoryhub.console.quoting import SourceQuote
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from notes import shelving
from notes.models import Fact
from personas.blocks import in_front_of
from personas.models import BlockAttachment, BlockVersion, CoreBlock, ProfileAttribute, Trait
from personas.profiles import attributes
from personas.registry import DIMENSIONS, Dimension, allowed
from personas.traits import owner_of

GROUPS = {
    "personality": "Needs and personality",
    "alignment": "What is expected of an assistant",
    "interests": "Interests",
    "extras": "More",
}


@dataclass(frozen=True, slots=True)
class TraitLife:
    """A dimension with what is thought now, what was thought before, and the words it rests on."""

    dimension: Dimension
    now: Trait | None
    before: list[Trait]
    sources: list[SourceQuote]

    @property
    def words(self) -> str:
        return self.dimension.says(self.now.level) if self.now else ""


@dataclass(frozen=True, slots=True)
class ShelfView:
    """A shelf: what is on it, and how many fell off."""

    title: str
    facts: list[Fact]
    cap: int
    fallen: int

    @property
    def pinned(self) -> int:
        return sum(fact.pinned for fact in self.facts)


@dataclass(frozen=True, slots=True)
class Persona:
    groups: list[tuple[str, list[TraitLife]]]
    profile: list[ProfileAttribute]
    shelves: list[ShelfView]
    portrait: CoreBlock | None
    owner: str
    choices: list[Dimension]

    @property
    def is_empty(self) -> bool:
        shelved = any(shelf.facts for shelf in self.shelves)
        return not (self.groups or self.profile or shelved)


def persona(space: Space, policy: Policy, now: datetime) -> Persona:
    """Six statements, however much there is."""
    keys = allowed(extras=policy.traits.extras, sensitive=policy.traits.sensitive)
    lives = _lives(space, keys)
    portrait = CoreBlock.objects.filter(space=space, generated=True, retired_at=None).first()
    return Persona(
        groups=_grouped(lives),
        profile=attributes(space, now),
        shelves=[
            _shelf(space, "About the person", Fact.Shelf.USER, policy, now),
            _shelf(space, "About the agent", Fact.Shelf.AGENT, policy, now),
        ],
        portrait=portrait,
        owner=owner_of(space),
        choices=[DIMENSIONS[key] for key in keys],
    )


def _lives(space: Space, keys: Iterable[str]) -> list[TraitLife]:
    """Those switched off by the policy are not shown, whatever was assessed before."""
    rows = Trait.objects.filter(space=space, owner=owner_of(space), retired_at=None)
    held: dict[str, list[Trait]] = defaultdict(list)
    for row in rows.filter(key__in=list(keys)).order_by("key", "-valid_from"):
        held[row.key].append(row)
    newest = [rows[0] for rows in held.values()]
    quotes = sources_of("trait", [row.id for row in newest])
    return [
        TraitLife(
            DIMENSIONS[key],
            rows[0] if rows[0].valid_to is None else None,
            rows[1:] if rows[0].valid_to is None else rows,
            quotes[rows[0].id],
        )
        for key, rows in held.items()
    ]


def _grouped(lives: Iterable[TraitLife]) -> list[tuple[str, list[TraitLife]]]:
    by: dict[str, list[TraitLife]] = defaultdict(list)
    for life in lives:
        by[life.dimension.category].append(life)
    return [(title, by[category]) for category, title in GROUPS.items() if by[category]]


def _shelf(space: Space, title: str, kind: str, policy: Policy, now: datetime) -> ShelfView:
    facts = shelving.on_shelf(space, kind, policy.shelf.cap, now)
    fallen = shelving.shelved(space, kind, now).count() - len(facts)
    return ShelfView(title, facts, policy.shelf.cap, fallen)


@dataclass(frozen=True, slots=True)
class BlockView:
    """A block as one sees it from a space."""

    block: CoreBlock
    attached_to: int

    @property
    def is_shared(self) -> bool:
        return self.block.space_id is None

    @property
    def left(self) -> int:
        return self.block.char_limit - len(self.block.value)


def blocks(space: Space) -> list[BlockView]:
    """Of every agent of the space, and the shared ones attached to it."""
    mine = CoreBlock.objects.filter(space=space, retired_at=None)
    places = BlockAttachment.objects.filter(space=space)
    shared = CoreBlock.objects.filter(id__in=places.values("block_id"), retired_at=None)
    found = {block.id: block for block in [*in_front_of(space), *mine, *shared]}
    counts: dict[UUID, int] = defaultdict(int)
    for block_id in BlockAttachment.objects.filter(block__in=found).values_list("block", flat=True):
        counts[block_id] += 1
    ordered = sorted(found.values(), key=lambda block: (block.label, block.agent, block.id))
    return [BlockView(block, counts[block.id]) for block in ordered]


def attachable(space: Space) -> list[CoreBlock]:
    """Shared blocks of the tenant that this space does not see yet."""
    known = BlockAttachment.objects.filter(space=space).values("block_id")
    rows = CoreBlock.objects.filter(space=None, retired_at=None).exclude(id__in=known)
    return list(rows.order_by("label"))


def block_or_404(space: Space, block_id: UUID, *, anywhere: bool = False) -> CoreBlock:
    """A block of the space or attached to it; with `anywhere`, any shared one of the tenant."""
    found: CoreBlock | None = CoreBlock.objects.filter(id=block_id, retired_at=None).first()
    if found is None or not _is_seen(space, found, anywhere):
        raise Http404
    return found


def _is_seen(space: Space, block: CoreBlock, anywhere: bool) -> bool:
    if block.space_id is not None:
        return bool(block.space_id == space.id)
    return anywhere or BlockAttachment.objects.filter(block=block, space=space).exists()


def versions(block: CoreBlock, most: int = 50) -> list[tuple[BlockVersion, str]]:
    """The newest first, each with the value before it ("" for the first)."""
    rows = list(BlockVersion.objects.filter(block=block)[: most + 1])
    before = [row.value for row in rows[1:]] + [""]
    return list(zip(rows, before, strict=True))[:most]
