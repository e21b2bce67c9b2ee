"""The profile: a name, a home, a trade. Mirrored from facts, or written by hand (I3).

A mirrored attribute says what its fact says while the fact holds. It is brought in step whenever
dialogue was read; in between, an attribute whose fact no longer holds is simply not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import normalise_text
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space
from notes.facts.validity import filter_current, is_fact_current
from notes.history.change_set import ChangeSet, TurnEvidence, load_supports_of
from notes.models import EvolutionEvent, Fact
from personas.models import ProfileAttribute
from personas.traits import get_owner_name, lock_persona

# Predicates of facts by the attribute they fill. What two predicates say, the newer one wins.
ATTRIBUTES_BY_PREDICATE = {
    "name": "name",
    "full_name": "name",
    "nickname": "nickname",
    "age": "age",
    "birth_year": "birth_year",
    "birthday": "birthday",
    "born_on": "birthday",
    "gender": "gender",
    "lives_in": "lives_in",
    "comes_from": "comes_from",
    "nationality": "nationality",
    "works_as": "works_as",
    "works_at": "works_at",
    "studies_at": "studies_at",
    "marital_status": "marital_status",
    "native_language": "native_language",
}
MAX_KEY_LENGTH = 40  # as its column
# Of special protection: mirrored only when the policy switches sensitive traits on.
SENSITIVE_ATTRIBUTES = frozenset({"gender"})


def read_fact_value(fact: Fact) -> str:
    """What the fact's predicate says of its owner: the object, else all of it."""
    return (fact.object or fact.complement or fact.text)[:500]


def _filter_held(rows: QuerySet[ProfileAttribute], space: Space) -> QuerySet[ProfileAttribute]:
    return rows.filter(space=space, owner__in=space.called_names, retired_at=None)


def load_profile(space: Space, at: datetime) -> list[ProfileAttribute]:
    """The subject's profile at `at`, without what rests on a fact that no longer holds."""
    rows = _filter_held(ProfileAttribute.objects.select_related("fact"), space)
    return [
        each for each in rows.order_by("key") if each.fact is None or is_fact_current(each.fact, at)
    ]


# "Starts at Brightwell on 1 November", and not "hopes to".
_STARTS_POST = re.compile(
    r"(?!.*\b(?:hop\w+|want\w*|might|may|could|would|plan\w*|like)\b)"
    r".*\b(?:start(?:s|ing)?|join(?:s|ing)?|begin(?:s|ning)?|going to work)\b|入职|上班",
    re.I,
)
_POSTS = ("works_at", "works_as")


def find_source_facts(space: Space, at: datetime, *, sensitive: bool) -> dict[str, Fact]:
    """The fact that fills each attribute at `at`: the newest that holds, or a post that somebody
    was to start and whose day has come, if nothing was said against it since."""
    rows = filter_current(Fact.objects.filter(space=space, owner__in=space.called_names), at)
    known = list(rows.filter(predicate_key__in=ATTRIBUTES_BY_PREDICATE))
    held = [fact for fact in known if fact.polarity == "holds"] + _find_begun_posts(known, at)
    found: dict[str, Fact] = {}
    for fact in sorted(held, key=lambda each: (_get_start(each), each.asserted_at, each.id)):
        key = ATTRIBUTES_BY_PREDICATE[fact.predicate_key]
        if sensitive or key not in SENSITIVE_ATTRIBUTES:
            found[key] = fact
    return found


def _find_begun_posts(known: Sequence[Fact], at: datetime) -> list[Fact]:
    posts = [fact for fact in known if fact.predicate_key in _POSTS]
    over = [fact for fact in posts if fact.polarity in ("ended", "denied")]
    return [
        fact
        for fact in posts
        if fact.polarity == "planned"
        and fact.event_from is not None
        and fact.event_from <= at
        and _STARTS_POST.match(fact.text)
        and not any(each.asserted_at > fact.asserted_at and _tells_of(each, fact) for each in over)
    ]


def _tells_of(end: Fact, post: Fact) -> bool:
    """Whether an end is told of this post: by its name, or of whatever job there was since."""
    named, value = normalise_text(read_fact_value(end)), normalise_text(read_fact_value(post))
    same = end.predicate_key == post.predicate_key and (named in value or value in named)
    begun = post.event_from is not None and end.valid_from >= post.event_from
    return same or (begun and not (end.object or end.complement))


def _get_start(fact: Fact) -> datetime:
    """From when it is so: what was planned, from its day on."""
    day = fact.event_from if fact.polarity == "planned" else None
    return day or fact.valid_from


def mirror_profile(space: Space, changes: ChangeSet, *, sensitive: bool) -> int:
    """Bring the mirrored attributes in step with the facts; returns how many changed.

    What a person wrote stays. Call in a transaction that saves `changes`.
    """
    lock_persona(space)
    wanted = find_source_facts(space, changes.at, sensitive=sensitive)
    held = {each.key: each for each in _filter_held(ProfileAttribute.objects.all(), space)}
    changed = 0
    for key, fact in wanted.items():
        changed += _mirror_attribute(changes, key, held.get(key), fact)
    for key, each in held.items():
        if each.fact_id is not None and key not in wanted and not each.is_protected:
            changes.update_row(each, retired_at=changes.at)
            changed += 1
    return changed


def _mirror_attribute(
    changes: ChangeSet, key: str, old: ProfileAttribute | None, fact: Fact
) -> int:
    value = read_fact_value(fact)
    if old is None:
        _create_attribute(changes, key, value, fact=fact)
        return 1
    by_hand = old.fact_id is None or old.is_protected
    if by_hand or (old.fact_id, old.value) == (fact.id, value):
        return 0
    changes.update_row(old, fact=fact, value=value)
    changes.record_support(old, _load_fact_sources(fact))
    return 1


def _create_attribute(
    changes: ChangeSet, key: str, value: str, *, fact: Fact | None = None, actor: str = ""
) -> ProfileAttribute:
    made = ProfileAttribute.objects.create(
        tenant_id=changes.space.tenant_id,
        space=changes.space,
        owner=get_owner_name(changes.space),
        key=key,
        value=value,
        fact=fact,
        engine=fact.engine if fact else "",
        corrected_by=actor[:120],
    )
    changes.record_creation(made, _load_fact_sources(fact) if fact else [])
    return made


def _load_fact_sources(fact: Fact) -> Iterable[TurnEvidence]:
    """The turns its fact rests on, by way of the fact."""
    return [replace(each, via_type="fact", via_id=fact.id) for each in load_supports_of(fact)]


def write_attribute(
    space: Space, key: str, value: str, actor: str, now: datetime, *, reason: str = ""
) -> tuple[ChangeSet, ProfileAttribute | None]:
    """A person's own word on the profile; "" takes the attribute away, if no fact says it.

    Returns the change-set and the attribute that stands now. Call inside the tenant's scope.
    Raises InvalidInput.
    """
    key, value = key.strip().lower().replace(" ", "_"), value.strip()
    if not key or len(key) > MAX_KEY_LENGTH or not key.replace("_", "").isalnum():
        raise InvalidInput(_("a word or two: letters, digits and spaces"), field="key")
    if len(value) > 500:
        raise InvalidInput(_("at most 500 characters"), field="value")
    lock_persona(space)
    why = reason or "written by hand"
    changes = ChangeSet(space, EvolutionEvent.Kind.MANUAL, actor, now, why)
    rows = _filter_held(ProfileAttribute.objects.select_for_update(), space)
    row = old = rows.filter(key=key).first()
    if old is None and value:
        row = _create_attribute(changes, key, value, actor=actor)
    elif old is not None and not value:
        if old.fact_id is not None:
            raise InvalidInput(_("it says what a fact says: correct the fact"), field="value")
        changes.update_row(old, retired_at=changes.at)
        row = None
    elif old is not None:
        changes.update_row(old, value=value, fact=None, corrected_by=actor[:120])
    changes.save()
    return changes, row
