"""The portrait: a core block that is generated from traits and profile, and read-only to agents.

Dimensions are the record and the text follows from them (C15), so nobody edits it: whoever wants
it to say something else corrects what it is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from notes.episodes.store import find_newest
from notes.history.change_set import TurnEvidence
from notes.models import Derivation, Episode
from personas import blocks
from personas.blocks import BlockWriter
from personas.dimensions import DIMENSIONS, list_allowed_keys
from personas.models import CoreBlock, ProfileAttribute, Trait
from personas.profile import load_profile
from personas.traits import get_owner_name, load_open_traits, lock_persona

PORTRAIT_LABEL = "portrait"
PORTRAIT_DESCRIPTION = (
    "Who this person is, put together from what was said. Generated: it can't be edited."
)


def format_portrait(
    name: str,
    profile: Mapping[str, str],
    traits: Iterable[tuple[str, str, float, str]],
    insight: str,
    strategy: str,
    most: int,
) -> str:
    """The portrait in at most `most` characters. `traits`: key, level, confidence and reason.

    What is least certain is left out first; "" when there is nothing to say.
    """
    lines = [f"{key.replace('_', ' ')}: {value}" for key, value in profile.items()]
    lines += [insight] if insight else []
    lines += [f"How to reply: {strategy}"] if strategy else []
    for key, level, _, why in sorted(traits, key=lambda each: -each[2]):
        lines.append(f"- {DIMENSIONS[key].describe_level(level)}{f' ({why})' if why else ''}")
    return _select_fitting_lines([name, *lines], most) if lines else ""


def _select_fitting_lines(lines: Sequence[str], most: int) -> str:
    kept: list[str] = []
    size = 0
    for line in lines:
        if size + len(line) + 1 <= most + 1:
            kept.append(line)
            size += len(line) + 1
    return "\n".join(kept)


def renew_portrait(space: Space, policy: Policy, version: str, now: datetime) -> CoreBlock | None:
    """Write the portrait anew if it says something else by now; None when there is none.

    Call inside the tenant's scope. Switched off, or with nothing to say, it is taken away.
    """
    lock_persona(space)
    rows = CoreBlock.objects.filter(space=space, generated=True, retired_at=None)
    held = rows.filter(label=PORTRAIT_LABEL).first()
    parts = _load_parts(space, policy, now) if policy.portrait.enabled else None
    text = _format_text(space, parts, policy) if parts else ""
    if held is not None and text and text == held.value:
        return held
    writer = BlockWriter(
        "pipeline",
        "pipeline",
        now,
        space,
        reason="traits or profile changed",
        sources=_list_new_sources(parts, held) if parts and text else (),
        policy_version=version,
    )
    if held is None:
        return _create_portrait(writer, space, text, policy) if text else None
    if not text:
        blocks.delete_block(writer, held.id)
        return None
    return blocks.rethink_block(writer, held.id, text)


def _create_portrait(
    writer: BlockWriter, space: Space, text: str, policy: Policy
) -> CoreBlock | None:
    taken = CoreBlock.objects.filter(space=space, agent="", label=PORTRAIT_LABEL, retired_at=None)
    if taken.exists():
        return None  # somebody's own block of that name: it is not overwritten
    return blocks.create_block(
        writer,
        PORTRAIT_LABEL,
        text,
        tenant_id=space.tenant_id,
        space=space,
        description=PORTRAIT_DESCRIPTION,
        char_limit=policy.core.char_limit,
        read_only=True,
        generated=True,
    )


@dataclass(frozen=True, slots=True)
class PortraitParts:
    """What a portrait is made of."""

    profile: list[ProfileAttribute]
    traits: list[Trait]
    persona: Episode | None

    @property
    def ids(self) -> list[UUID]:
        rows = [*self.profile, *self.traits, *([self.persona] if self.persona else [])]
        return [row.id for row in rows]


def _load_parts(space: Space, policy: Policy, now: datetime) -> PortraitParts:
    offered = set(list_allowed_keys(extras=policy.traits.extras, sensitive=policy.traits.sensitive))
    persona = find_newest(space, Episode.Kind.GLOBAL_PERSONA, stale=False)
    held = [each for each in load_open_traits(space) if each.key in offered]
    return PortraitParts(load_profile(space, now), held, persona)


def _format_text(space: Space, parts: PortraitParts, policy: Policy) -> str:
    persona = parts.persona
    return format_portrait(
        get_owner_name(space),
        {each.key: each.value for each in parts.profile},
        [(each.key, each.level, each.confidence, each.rationale) for each in parts.traits],
        persona.text if persona else "",
        str(persona.details.get("reply_strategy", "")) if persona else "",
        policy.core.char_limit,
    )


def _list_new_sources(parts: PortraitParts, held: CoreBlock | None) -> list[TurnEvidence]:
    """The turns its parts rest on, by way of the parts; those it is known to rest on left out."""
    support = Derivation.objects.filter(role=Derivation.Role.SUPPORT)
    links = support.filter(child_id__in=parts.ids)
    if held:
        links = links.exclude(turn__in=support.filter(child_id=held.id).values("turn_id"))
    found = {each.turn_id: each for each in links}
    return [
        TurnEvidence(turn, via_type=e.child_type, via_id=e.child_id) for turn, e in found.items()
    ]
