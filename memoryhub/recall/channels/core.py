"""What is always in front of the agent: its blocks, the profile, traits, the portrait.

They are no findings and have no score: `context` puts them first, as far as its budget goes.
"""

from __future__ import annotations

from memoryhub.recall.asking import Ask
from memoryhub.recall.results import Item
from personas import blocks, profiles
from personas.models import CoreBlock, ProfileAttribute, Trait


def read(ask: Ask, agent: str = "") -> list[Item]:
    """Call inside the tenant's scope."""
    at = ask.visibility.at
    held = Trait.objects.filter(space=ask.space, retired_at=None, valid_from__lte=at)
    traits = [t for t in held.order_by("owner", "key") if t.valid_to is None or t.valid_to > at]
    shown = blocks.in_front_of(ask.space, agent, ask.visibility.as_of)
    return [
        *(_block(block) for block in shown if block.value.strip()),
        *(_attribute(ask, each) for each in profiles.attributes(ask.space, at)),
        *(_trait(trait) for trait in traits),
    ]


def _block(block: CoreBlock) -> Item:
    return Item("core", block.id, f"{block.label}: {block.value}", 1.0, {}, block.updated_at)


def _attribute(ask: Ask, attribute: ProfileAttribute) -> Item:
    text = f"{attribute.owner}, {attribute.key.replace('_', ' ')}: {attribute.value}"
    since = attribute.fact.valid_from if attribute.fact else ask.visibility.at
    return Item("core", attribute.id, text, 1.0, {}, since, owner=attribute.owner)


def _trait(trait: Trait) -> Item:
    text = f"{trait.owner}, {trait.key.replace('_', ' ')}: {trait.level}"
    return Item(
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
