"""A space's persona, and the blocks in front of its agents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q
from django.http import Http404
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import FilterChoice, Filters, has_all_words
from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.console.frame.text.quotes import SourceQuote, load_sources
from memoryhub.console.frame.text.trait_levels import TRAIT_CONTEXT, describe_level
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from notes.facts import fact_shelf
from notes.facts.validity import filter_current
from notes.models import Fact
from personas.blocks import build_past_blocks
from personas.dimensions import DIMENSIONS, Dimension, list_allowed_keys
from personas.models import BlockAttachment, BlockVersion, CoreBlock, ProfileAttribute, Trait
from personas.profile import load_profile
from personas.traits import get_owner_name

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

TRAIT_GROUPS: dict[str, StrOrPromise] = {
    "personality": _("Needs and personality"),
    "alignment": _("What is expected of an assistant"),
    "interests": _("Interests"),
    "extras": _("More"),
}
TRAIT_CATEGORY_CHOICE = FilterChoice(
    "category", _("About"), (("", _("All")), *TRAIT_GROUPS.items())
)
TRAIT_LEVEL_CHOICE = FilterChoice(
    "level", _("Level"), (("", _("Any")), *Trait.Level.choices, ("over", _("Nothing at present")))
)
BLOCK_KIND = FilterChoice(
    "kind",
    _("Kind"),
    (
        ("", _("All")),
        ("own", _("Of this space")),
        ("shared", _("Shared")),
        ("generated", _("Generated")),
    ),
)


@dataclass(frozen=True, slots=True)
class TraitLife:
    """A dimension with what is thought now, what was thought before, and the words it rests on."""

    dimension: Dimension
    now: Trait | None
    before: list[Trait]
    sources: list[SourceQuote]

    @property
    def words(self) -> str:
        return describe_level(self.dimension, self.now.level) if self.now else ""

    @property
    def label(self) -> str:
        return pgettext(TRAIT_CONTEXT, self.dimension.label)

    @property
    def words_before(self) -> str:
        return self.earlier[0][1] if self.before else ""

    @property
    def earlier(self) -> list[tuple[Trait, str]]:
        """What was thought before, each with its words."""
        return [(each, describe_level(self.dimension, each.level)) for each in self.before]

    @property
    def others(self) -> list[tuple[str, str]]:
        """The levels that are not held, each with its words."""
        held = self.now.level if self.now else ""
        levels = [each for each in Trait.Level.values if each != held]
        return [(each, describe_level(self.dimension, each)) for each in levels]


@dataclass(frozen=True, slots=True)
class ShelfView:
    """A shelf: what is on it, and how many fell off."""

    title: str
    heading: str
    facts: list[Fact]
    cap: int
    overflow_count: int

    @property
    def pinned(self) -> int:
        return sum(fact.pinned for fact in self.facts)


@dataclass(frozen=True, slots=True)
class Persona:
    groups: list[tuple[StrOrPromise, list[TraitLife]]]
    traits: int
    profile: list[ProfileAttribute]
    shelves: list[ShelfView]
    portrait: CoreBlock | None
    owner: str
    choices: list[tuple[str, str]]

    @property
    def is_empty(self) -> bool:
        shelved = any(shelf.facts for shelf in self.shelves)
        return not (self.traits or self.profile or shelved)

    @property
    def total(self) -> int:
        """Of the traits that the filters leave."""
        return sum(len(lives) for _, lives in self.groups)


def load_persona(
    space: Space, policy: Policy, moment: SpaceMoment, filters: Filters | None = None
) -> Persona:
    """A dozen statements at most, however much there is. Filters are of the traits."""
    keys = list_allowed_keys(extras=policy.traits.extras, sensitive=policy.traits.sensitive)
    lives = _load_trait_lives(space, keys, moment)
    by: dict[str, list[TraitLife]] = defaultdict(list)
    for life in lives:
        if filters is None or _fits_trait_filters(life, filters):
            by[life.dimension.category].append(life)
    return Persona(
        groups=[(title, by[name]) for name, title in TRAIT_GROUPS.items() if by[name]],
        traits=len(lives),
        profile=_load_profile_entries(space, moment),
        shelves=[_load_shelf(space, kind, policy, moment) for kind in _SHELF_TITLES],
        portrait=next((b for b in load_held_blocks(space, moment) if b.generated), None),
        owner=get_owner_name(space),
        choices=[(key, _format_poles(DIMENSIONS[key])) for key in keys],
    )


def _load_trait_lives(space: Space, keys: Iterable[str], moment: SpaceMoment) -> list[TraitLife]:
    """Those switched off by the policy are not shown, whatever was assessed before."""
    rows = moment.rows(space, Trait).filter(owner__in=space.called_names, retired_at=None)
    held: dict[str, list[Trait]] = defaultdict(list)
    for row in map(moment.row, rows.filter(key__in=list(keys)).order_by("key", "-valid_from")):
        held[row.key].append(row)
    newest = [rows[0] for rows in held.values()]
    quotes = load_sources("trait", [row.id for row in newest], moment)
    lives = []
    for key, (first, *earlier) in held.items():
        holds = first.valid_to is None or first.valid_to > moment.at
        now, before = (first, earlier) if holds else (None, [first, *earlier])
        lives.append(TraitLife(DIMENSIONS[key], now, before, quotes[first.id]))
    return lives


def _fits_trait_filters(life: TraitLife, filters: Filters) -> bool:
    level = life.now.level if life.now else "over"
    words = f"{life.label} {life.words} {life.now.rationale if life.now else ''}"
    return (
        filters["category"] in ("", life.dimension.category)
        and filters["level"] in ("", level)
        and has_all_words(words, filters.q)
    )


def _load_profile_entries(space: Space, moment: SpaceMoment) -> list[ProfileAttribute]:
    """Entries have no time of the world but their facts'."""
    if not moment.is_rewound:
        return load_profile(space, moment.at)
    rows = moment.rows(space, ProfileAttribute).filter(owner__in=space.called_names)
    return [moment.row(row) for row in rows.order_by("key")]


def _format_poles(dimension: Dimension) -> str:
    """As a choice of a form."""
    named = {
        each: pgettext(TRAIT_CONTEXT, getattr(dimension, each)) for each in ("label", "high", "low")
    }
    return gettext("%(label)s: %(high)s or %(low)s") % named


_SHELF_TITLES = {
    Fact.Shelf.USER: (_("About the person"), _("Shelf: about the person")),
    Fact.Shelf.AGENT: (_("About the agent"), _("Shelf: about the agent")),
}


def _load_shelf(space: Space, kind: Fact.Shelf, policy: Policy, moment: SpaceMoment) -> ShelfView:
    rows = fact_shelf.sort_newest_first(
        filter_current(moment.rows(space, Fact).filter(shelf=kind), moment.at)
    )
    facts = [moment.row(row) for row in fact_shelf.select_within_cap(rows, policy.shelf.cap)]
    title, heading = map(str, _SHELF_TITLES[kind])
    return ShelfView(title, heading, facts, policy.shelf.cap, rows.count() - len(facts))


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A block as one sees it from a space."""

    block: CoreBlock
    attached_to: int

    @property
    def is_shared(self) -> bool:
        return self.block.space_id is None


def load_block_rows(space: Space, filters: Filters, moment: SpaceMoment) -> list[BlockRow]:
    """Of every agent of the space, and the shared ones attached to it."""
    found = {block.id: block for block in load_held_blocks(space, moment)}
    attached = BlockAttachment.objects.filter(block__in=found)
    counts = Counter(attached.values_list("block", flat=True))
    fitting = [block for block in found.values() if _fits_block_filters(block, filters)]
    fitting.sort(key=lambda block: (block.label, block.agent, block.id))
    return [BlockRow(block, counts[block.id]) for block in fitting]


def _fits_block_filters(block: CoreBlock, filters: Filters) -> bool:
    shared = block.space_id is None
    kinds = {"own": not shared, "shared": shared, "generated": block.generated}
    words = f"{block.label} {block.agent} {block.description} {block.value}"
    return has_all_words(words, filters.q) and kinds.get(filters["kind"], True)


def load_held_blocks(space: Space, moment: SpaceMoment) -> list[CoreBlock]:
    """Their words are those of the moment on either clock: a block has no time but the hub's."""
    shared = BlockAttachment.objects.filter(space=space).values("block_id")
    rows = CoreBlock.objects.filter(Q(space=space) | Q(space=None, id__in=shared))
    if not moment.is_past:
        return list(rows.filter(retired_at=None))
    held = rows.filter(Q(retired_at=None) | Q(retired_at__gt=moment.at))
    return build_past_blocks(list(held), moment.at)


def load_attachable_blocks(space: Space) -> list[CoreBlock]:
    """Shared blocks of the tenant that this space does not see yet."""
    known = BlockAttachment.objects.filter(space=space).values("block_id")
    rows = CoreBlock.objects.filter(space=None, retired_at=None).exclude(id__in=known)
    return list(rows.order_by("label"))


def get_block_or_404(space: Space, block_id: UUID, *, anywhere: bool = False) -> CoreBlock:
    """A block of the space or attached to it; with `anywhere`, any shared one of the tenant."""
    found: CoreBlock | None = CoreBlock.objects.filter(id=block_id, retired_at=None).first()
    if found is None:
        raise Http404
    attached = BlockAttachment.objects.filter(block=found, space=space)
    shown = anywhere or attached.exists() if found.space_id is None else found.space_id == space.id
    if not shown:
        raise Http404
    return found


def load_block_versions(block: CoreBlock, most: int = 50) -> list[tuple[BlockVersion, str]]:
    """The newest first, each with the value before it ("" for the first)."""
    rows = list(BlockVersion.objects.filter(block=block)[: most + 1])
    before = [row.value for row in rows[1:]] + [""]
    return list(zip(rows, before, strict=True))[:most]
