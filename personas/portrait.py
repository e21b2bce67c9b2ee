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
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space
from notes.models import Derivation, Episode
from notes.recording import Source
from personas import blocks
from personas.blocks import Writer
from personas.models import CoreBlock, ProfileAttribute, Trait
from personas.profiles import attributes
from personas.registry import DIMENSIONS, allowed
from personas.traits import open_traits, owner_of

LABEL = "portrait"
ABOUT = "Who this person is, put together from what was said. Generated: it can't be edited."


def portrait_text(
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
        lines.append(f"- {DIMENSIONS[key].says(level)}{f' ({why})' if why else ''}")
    return _within([name, *lines], most) if lines else ""


def _within(lines: Sequence[str], most: int) -> str:
    kept: list[str] = []
    size = 0
    for line in lines:
        if size + len(line) + 1 <= most + 1:
            kept.append(line)
            size += len(line) + 1
    return "\n".join(kept)


def renew(space: Space, policy: Policy, version: str, now: datetime) -> CoreBlock | None:
    """Write the portrait anew if it says something else by now; None when there is none.

    Call inside the tenant's scope. Switched off, or with nothing to say, it is taken away.
    """
    rows = CoreBlock.objects.filter(space=space, generated=True, retired_at=None)
    held = rows.filter(label=LABEL).first()
    parts = _parts(space, policy, now) if policy.portrait.enabled else None
    text = _text(space, parts, policy) if parts else ""
    if held is not None and text and text == held.value:
        return held
    writer = Writer(
        "pipeline",
        "pipeline",
        now,
        space,
        reason="traits or profile changed",
        sources=_sources(parts, held) if parts and text else (),
        policy_version=version,
    )
    if held is None:
        return _made(writer, space, text, policy) if text else None
    if not text:
        blocks.delete(writer, held.id)
        return None
    return blocks.rethink(writer, held.id, text)


def redraw(space: Space, now: datetime) -> None:
    """`renew` by the policy in force: call after a person's own word on a trait or the profile."""
    held = policy_of(space)
    renew(space, held.policy, held.version, now)


def _made(writer: Writer, space: Space, text: str, policy: Policy) -> CoreBlock | None:
    taken = CoreBlock.objects.filter(space=space, agent="", label=LABEL, retired_at=None)
    if taken.exists():
        return None  # somebody's own block of that name: it is not overwritten
    return blocks.create(
        writer,
        LABEL,
        text,
        tenant_id=space.tenant_id,
        space=space,
        description=ABOUT,
        char_limit=policy.core.char_limit,
        read_only=True,
        generated=True,
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """What a portrait is made of."""

    profile: list[ProfileAttribute]
    traits: list[Trait]
    persona: Episode | None

    @property
    def ids(self) -> list[UUID]:
        rows = [*self.profile, *self.traits, *([self.persona] if self.persona else [])]
        return [row.id for row in rows]


def _parts(space: Space, policy: Policy, now: datetime) -> Parts:
    offered = set(allowed(extras=policy.traits.extras, sensitive=policy.traits.sensitive))
    persona = (
        Episode.objects.filter(
            space=space, kind=Episode.Kind.GLOBAL_PERSONA, retired_at=None, stale=False
        )
        .order_by("-to_seq")
        .first()
    )
    held = [each for each in open_traits(space) if each.key in offered]
    return Parts(attributes(space, now), held, persona)


def _text(space: Space, parts: Parts, policy: Policy) -> str:
    persona = parts.persona
    return portrait_text(
        owner_of(space),
        {each.key: each.value for each in parts.profile},
        [_line(each) for each in parts.traits],
        persona.text if persona else "",
        str(persona.details.get("reply_strategy", "")) if persona else "",
        policy.core.char_limit,
    )


def _sources(parts: Parts, held: CoreBlock | None) -> list[Source]:
    """The turns its parts rest on, by way of the parts; those it is known to rest on left out."""
    support = Derivation.objects.filter(role=Derivation.Role.SUPPORT)
    links = support.filter(child_id__in=parts.ids)
    if held:
        links = links.exclude(turn__in=support.filter(child_id=held.id).values("turn_id"))
    found = {each.turn_id: each for each in links}
    return [Source(turn, via_type=e.child_type, via_id=e.child_id) for turn, e in found.items()]


def _line(trait: Trait) -> tuple[str, str, float, str]:
    return trait.key, trait.level, trait.confidence, trait.rationale
