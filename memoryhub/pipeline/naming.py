"""What the subject of a space is called: set by the API or a person, or learned from what they say
of themselves ("my name is Priya", 我叫李敏); and what is written follows (spec E25).

What was written while no name was known, under an id or under a former name, says the new one:
owners and words of facts, whose traits and attributes they are, and the person's entity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.dialogues.messages import clean_text, hash_text
from memoryhub.dialogues.models import Turn
from memoryhub.engines.local.attribution.own_names import find_introduced_name
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.pipeline import corrections
from memoryhub.subject_names import MAX_OWNER_LENGTH, PLACEHOLDERS, replace_names
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import lock_space
from notes.facts.trust import TRUSTED_ROLES
from notes.graph.identity import normalise_name
from notes.history.change_set import ChangeSet
from notes.history.unit_of_work import RowKey, UnitOfWork
from notes.models import Entity, Fact
from personas.models import ProfileAttribute, Trait

ACTOR = "pipeline"
REASON = gettext_noop("the subject's name")
_MAX_RENAMED = 1000  # facts of one event; what is left follows with the next dialogue
_PART_COLUMNS = ("subject", "object", "indirect_object", "complement")
_WORD_COLUMNS = ("text", *_PART_COLUMNS)


def clean_name(name: str) -> str:
    """Raises InvalidInput where it is too long."""
    name = " ".join(clean_text(name).split())
    if len(name) > MAX_OWNER_LENGTH:
        raise InvalidInput(
            _("at most %(limit)s characters") % {"limit": MAX_OWNER_LENGTH}, field="subject_name"
        )
    return name


def set_subject_name(space: Space, name: str, actor: str, now: datetime) -> None:
    """Call the subject so from now on, "" for no name known; what was written follows. Opens its
    own scopes. Raises InvalidInput."""
    with tenant_scope(space.tenant_id):
        write_subject_name(space, name)
    rename_rows(space, actor, now)


def write_subject_name(space: Space, name: str) -> None:
    """The name alone: what was written follows when dialogue is read next. Call inside the
    tenant's scope. Raises InvalidInput."""
    name = clean_name(name)
    if name != space.name or (name and space.named_in):
        lock_space(space)
        _save_name(space, name)


def _save_name(space: Space, name: str, turn: Turn | None = None) -> None:
    """Call with the space locked."""
    former = {*space.former_names, space.name} - {name, ""}
    space.name, space.former_names = name, sorted(former)
    space.named_in = turn.id if turn else None
    space.rename_due = True
    space.save(update_fields=["name", "former_names", "named_in", "rename_due"])


def follow_dialogue(space: Space, turns: Sequence[Turn], now: datetime) -> None:
    """Learn the name from what was just read, and let what is written say it. Opens its own
    scopes; most dialogue takes none."""
    told = [(turn, name) for turn in turns if (name := _find_name_told(space, turn))]
    if told:
        turn, name = told[-1]
        with tenant_scope(space.tenant_id):
            lock_space(space)
            if name != space.name and _may_learn(space):
                _save_name(space, name[:MAX_OWNER_LENGTH], turn)
    # What was read from words said before the name was known may be written under none.
    stale = {name for name in space.called_names[1:] if name in PLACEHOLDERS}
    if space.rename_due or any(turn.speaker in stale for turn in turns):
        rename_rows(space, ACTOR, now)


def _may_learn(space: Space) -> bool:
    """A name that somebody has set is not learned anew."""
    return not space.name or space.named_in is not None


def _find_name_told(space: Space, turn: Turn) -> str:
    own = turn.role in TRUSTED_ROLES and turn.speaker in space.called_names
    if not own or not _may_learn(space):
        return ""
    return find_introduced_name(turn.text, in_passing=not space.name)


def _list_names_told(turn: Turn) -> tuple[str, str]:
    """What a turn names the subject by: its speaker's name, and its words."""
    return turn.speaker, find_introduced_name(turn.text)


def forget_erased_name(space: Space, actor: str, now: datetime) -> None:
    """Where the words that told the name are erased, the subject has none again: what is written
    and who spoke say "the user". Call after an erasure. Opens its own scopes."""
    with tenant_scope(space.tenant_id):
        held = Space.objects.filter(id=space.id).exclude(named_in=None).first()
        told = Turn.objects.filter(id=held.named_in).first() if held and held.named_in else None
        if held is None or (told is not None and held.name in _list_names_told(told)):
            return
        lock_space(held)
        name = held.name
        held.name, held.named_in = "", None
        held.speakers = sorted({*held.speakers} - {name})
        spoken = Turn.objects.filter(space=held, speaker=name)
        if spoken.update(speaker=held.display_name):
            held.speakers = sorted({*held.speakers, held.display_name})
        held.save(update_fields=["name", "named_in", "speakers"])
    rename_rows(held, actor, now, gone=[name])


def rename_rows(space: Space, actor: str, now: datetime, gone: Collection[str] = ()) -> None:
    """Let what is written say what the subject is called, as one event that can be undone.
    `gone`: names that are known no longer."""
    with tenant_scope(space.tenant_id):
        space = Space.objects.get(id=space.id)
        old = {*space.called_names[1:], *gone}
        keys = [*_find_keys(space, old)]
    if keys:
        _rename_keys(space, keys, old, actor, now)
    if len(keys) < _MAX_RENAMED:
        with tenant_scope(space.tenant_id):
            Space.objects.filter(id=space.id, name=space.name).update(rename_due=False)


def _rename_keys(
    space: Space, keys: Sequence[RowKey], old: Collection[str], actor: str, now: datetime
) -> None:
    def edit(bench: UnitOfWork, changes: ChangeSet) -> None:
        bench.load_rows(keys)
        for kind, row_id in keys:
            row = bench.get_row(kind, row_id)
            if values := _rename_values(space, row, old):
                bench.edit_row(changes, row, **values)

    try:
        corrections.edit_rows(space, edit, actor, now, reason=str(REASON))
    except Conflict:
        # One of them holds under the new name already: that one keeps its own.
        for key in keys if len(keys) > 1 else ():
            _rename_keys(space, [key], old, actor, now)


def _find_keys(space: Space, old: Collection[str]) -> Iterable[RowKey]:
    """Rows that are under one of these names. Call inside the tenant's scope."""
    facts = Q(owner__in=old)
    for name in old:
        for column in ("owner", *_PART_COLUMNS):
            facts |= Q(**{f"{column}__startswith": f"{name}'s "})
            facts |= Q(**{f"{column}__startswith": f"{name}的"})
        for column in _PART_COLUMNS:  # "Rita taught the user to sail"
            facts |= Q(**{column: name})
    found = Fact.objects.filter(facts, space=space, retired_at=None).order_by("id")
    yield from (("fact", row) for row in found.values_list("id", flat=True)[:_MAX_RENAMED])
    for model in (Trait, ProfileAttribute):
        held = model.objects.filter(space=space, owner=space.display_name, retired_at=None)
        rows = model.objects.filter(space=space, owner__in=old, retired_at=None)
        rows = rows.exclude(key__in=held.values("key"))
        kind = str(model._meta.model_name)
        yield from ((kind, row) for row in rows.values_list("id", flat=True))
    new = normalise_name(space.display_name)
    if not Entity.objects.filter(space=space, canonical_key=new).exists():
        keys = [normalise_name(name) for name in old]
        named = Entity.objects.filter(space=space, canonical_key__in=keys, retired_at=None)
        newest = named.order_by("-mention_count", "id").values_list("id", flat=True)
        yield from (("entity", row) for row in newest[:1])


def _rename_values(space: Space, row: Any, old: Collection[str]) -> dict[str, Any]:
    new = space.display_name
    if isinstance(row, Entity):
        return {"name": new, "canonical_key": normalise_name(new)}
    values = {"owner": replace_names(row.owner, old, new)[:MAX_OWNER_LENGTH]}
    if isinstance(row, Fact):
        words = (
            {}
            if new in PLACEHOLDERS and row.owner in PLACEHOLDERS
            else _rename_words(row, old, new)
        )
        values |= words
        text = values.get("text", row.text)
        values["text_key"] = hash_text(f"{values['owner']} {text}")
    return {name: value for name, value in values.items() if value != getattr(row, name)}


def _rename_words(fact: Fact, old: Collection[str], new: str) -> dict[str, str]:
    """What tells the name itself stays as it is: "The user's name is Priya"."""
    if new in fact.text:
        return {}
    return {name: replace_names(getattr(fact, name), old, new) for name in _WORD_COLUMNS}
