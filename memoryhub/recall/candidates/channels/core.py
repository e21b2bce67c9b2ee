"""What is always in front of the agent: its blocks, the profile, traits, the portrait.

They are no findings and have no score: `context` puts them first, as far as its budget goes.
"""

from __future__ import annotations

from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.render.results import MemoryItem
from personas import blocks, profile
from personas.models import CoreBlock, ProfileAttribute, Trait


def load_core_items(ask: PreparedQuestion, agent: str = "") -> list[MemoryItem]:
    """Call inside the tenant's scope."""
    at = ask.visibility.at
    held = Trait.objects.filter(space=ask.space, retired_at=None, valid_from__lte=at)
    traits = [t for t in held.order_by("owner", "key") if t.valid_to is None or t.valid_to > at]
    shown = blocks.load_visible_blocks(ask.space, agent, ask.visibility.as_of)
    return [
        *(_build_block_item(block) for block in shown if block.value.strip()),
        *(_build_attribute_item(ask, each) for each in profile.load_profile(ask.space, at)),
        *(_build_trait_item(trait) for trait in traits),
    ]


def _build_block_item(block: CoreBlock) -> MemoryItem:
    return MemoryItem("core", block.id, f"{block.label}: {block.value}", 1.0, {}, block.updated_at)


def _build_attribute_item(ask: PreparedQuestion, attribute: ProfileAttribute) -> MemoryItem:
    text = f"{attribute.owner}, {attribute.key.replace('_', ' ')}: {attribute.value}"
    since = attribute.fact.valid_from if attribute.fact else ask.visibility.at
    return MemoryItem("core", attribute.id, text, 1.0, {}, since, owner=attribute.owner)


def _build_trait_item(trait: Trait) -> MemoryItem:
    text = f"{trait.owner}, {trait.key.replace('_', ' ')}: {trait.level}"
    return MemoryItem(
        "core",
        trait.id,
        text,
        trait.confidence,
        {},
        trait.valid_from,
        owner=trait.owner,
        valid_from=trait.valid_from,
        valid_to=trait.valid_to,
    )
