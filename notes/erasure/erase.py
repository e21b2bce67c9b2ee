"""Removing rows and every trace of what they said (spec §11.9, steps 2 to 6).

The part of an erasure that concerns dialogue and memories. Nothing here asks a model: what has to
be written or embedded anew is left to jobs. Call inside the tenant's scope, in one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet

from memoryhub.dialogues.models import IS_INNER, Session, Turn
from memoryhub.dialogues.queries import load_turns_around
from memoryhub.dialogues.redaction import bury_words, draw_bars, hash_with_secret
from memoryhub.tenants.models import Space
from notes.erasure.clauses import has_own_words
from notes.erasure.trace import ErasureTrace
from notes.facts.intervals import is_claim_held, repair_interval
from notes.history import row_kinds
from notes.history.change_set import ChangeSet
from notes.history.unit_of_work import RowKey
from notes.index import indexer
from notes.index.indexer import load_event_date_words
from notes.models import (
    Derivation,
    EvolutionEvent,
    Fact,
    Feedback,
    Fingerprint,
    IndexEntry,
    Page,
    Proposal,
    Relation,
    Revision,
    SegmentPage,
    Tombstone,
)


def erase_traced(found: ErasureTrace, actor: str, now: datetime, *, strict: bool) -> Counter[str]:
    """Carry out what was traced. Returns how many of each kind went."""
    counts: Counter[str] = Counter()
    _write_tombstones(found, now)
    counts["clauses"] = _cut_turns(found)
    changes = ChangeSet(found.space, EvolutionEvent.Kind.ERASE, actor, now, trigger="erase")
    found.event_id = changes.event.id
    if strict:
        found.doomed_rows |= found.tainted_rows
        _requeue_trait_pages(found, changes)
    gone = set(found.doomed_rows)
    purged = gone | set(found.rewritten_rows) | {("entity", i) for i in found.entities}
    purged |= _clear_themes(found)
    repaired = _plan_repairs(found.space, found.list_doomed_facts(), found.released_ids)
    _bridge_gaps(repaired)
    _blank_summaries(found, changes)
    counts["revisions"] = _purge_revisions(found.space, purged)
    counts.update(_delete_index_entries(found, purged))
    counts.update(_delete_what_tells_of_it(found))
    counts.update(_delete_rows(found, changes))
    counts["reopened"] = sum(_is_reopened(fact, values) for fact, values in repaired)
    for fact, values in repaired:
        changes.update_row(fact, **values)
    counts["withheld"] = len(found.rewritten_rows)
    Derivation.objects.filter(space=found.space, turn__in=found.erased_turn_ids).delete()
    counts["turns"] = redact_turns(found.space, found.turns)
    if not changes.revisions and found.touched_turns:
        changes.event.save(force_insert=True)
    changes.save()
    return counts


def find_reopened_facts(found: ErasureTrace, *, strict: bool) -> list[Fact]:
    """The claims that were over, and that hold again once it is carried out."""
    gone = found.doomed_rows | (found.tainted_rows if strict else {})
    facts = [row for (kind, _), row in gone.items() if kind == "fact"]
    repaired = _plan_repairs(found.space, facts, found.released_ids)
    return [fact for fact, values in repaired if _is_reopened(fact, values)]


def _is_reopened(fact: Fact, values: dict[str, Any]) -> bool:
    after = copy(fact)
    for name, value in values.items():
        setattr(after, name, value)
    return _is_open(after) and not _is_open(fact)


def _is_open(fact: Fact) -> bool:
    return is_claim_held(fact) and fact.valid_to is None


def _plan_repairs(
    space: Space, doomed: Iterable[Fact], released_ids: Collection[UUID]
) -> list[tuple[Fact, dict[str, Any]]]:
    """The claims that those which go had bounded, with their intervals anew (X7, GR9)."""
    gone = {fact.id: fact for fact in doomed}
    if not gone and not released_ids:
        return []
    places = Q(id__in=[f.supersedes_id for f in gone.values()]) | Q(supersedes__in=gone)
    released = list(Fact.objects.filter(id__in=released_ids).exclude(id__in=gone))
    places |= Q(id__in=released_ids)
    places |= Q(lineage__in={f.lineage for f in gone.values()})
    places |= Q(lineage__in={f.lineage for f in released})
    for fact in [*gone.values(), *released]:
        if fact.predicate_key:
            places |= Q(owner=fact.owner, predicate_key=fact.predicate_key)
    remaining = list(Fact.objects.filter(places, space=space).exclude(id__in=gone))
    changed = []
    for fact in remaining:
        values = _repair_supersedes(fact, gone)
        free = fact.id in released_ids
        interval = repair_interval(fact, list(gone.values()), remaining, released=free)
        if fact.corrected_by:
            interval = None
        values |= asdict(interval) if interval else {}
        if any(getattr(fact, name) != value for name, value in values.items()):
            changed.append((fact, values))
    return changed


def _bridge_gaps(repaired: Iterable[tuple[Fact, dict[str, Any]]]) -> None:
    """Point past what goes before it does, or the database would clear the pointers without a
    revision."""
    for fact, values in repaired:
        if "supersedes_id" in values:
            Fact.objects.filter(id=fact.id).update(supersedes_id=values["supersedes_id"])


def _repair_supersedes(fact: Fact, gone: dict[UUID, Fact]) -> dict[str, Any]:
    """What it superseded, if that goes: what that one had superseded."""
    before = fact.supersedes_id
    while before in gone:
        before = gone[before].supersedes_id
    return {"supersedes_id": before} if before != fact.supersedes_id else {}


def _requeue_trait_pages(found: ErasureTrace, changes: ChangeSet) -> None:
    """Traits rest on many pages: those that remain are read again at the next promotion."""
    traits = [row for kind, row in found.doomed_rows if kind == "trait"]
    if not traits:
        return
    turns = Turn.objects.filter(
        id__in=Derivation.objects.filter(child_id__in=traits).values("turn_id")
    ).exclude(id__in=found.erased_turn_ids)
    for turn in turns:
        page = Page.objects.filter(
            session=turn.session_id, first_seq__lte=turn.seq, last_seq__gte=turn.seq
        ).first()
        if page and page.analysed_at and ("page", page.id) not in found.doomed_rows:
            changes.update_row(page, analysed_at=None)


_EMPTY_VALUES: dict[str, Any] = {"keywords": [], "aliases": [], "tags": [], "details": {}}


def _blank_summaries(found: ErasureTrace, changes: ChangeSet) -> None:
    """Summaries lose their words at once and are withheld until they are written anew."""
    for (kind, _), row in found.rewritten_rows.items():
        texts = row_kinds.get_row_kind(kind).texts
        values: dict[str, Any] = {name: _EMPTY_VALUES.get(name, "") for name in texts}
        if hasattr(row, "stale"):
            values["stale"] = True
        if hasattr(row, "coverage_hash"):
            values["coverage_hash"] = ""
        changes.update_row(row, **values)
        changes.revisions[-1].before = None  # these words go
    for entity in found.entities.values():
        name, *aliases = found.names[entity.id]
        # Renamed, it leaves the key free, which may be that of an entity merged into it.
        renamed = name != entity.name
        known = hash_with_secret("entity", entity.id) if renamed else entity.canonical_key
        changes.update_row(entity, name=name, aliases=aliases, canonical_key=known, summary="")
        changes.revisions[-1].before = None


def _clear_themes(found: ErasureTrace) -> set[RowKey]:
    """Memberships of segments to be rewritten: a theme named several pages in the same words."""
    segments = [row_id for kind, row_id in found.rewritten_rows if kind == "segment"]
    rows = SegmentPage.objects.filter(segment__in=segments)
    keys: set[RowKey] = {("segmentpage", row_id) for row_id in rows.values_list("id", flat=True)}
    rows.update(theme="")
    return keys


def _purge_revisions(space: Space, keys: Iterable[RowKey]) -> int:
    """Their values go, in every version; their events can't be undone any more."""
    rows = Revision.objects.filter(space=space, row_id__in=[row for _, row in keys])
    events = set(rows.values_list("event_id", flat=True))
    EvolutionEvent.objects.filter(id__in=events).update(is_purged=True, reason="")
    purged: int = rows.exclude(before=None, after=None).update(before=None, after=None)
    return purged


def _delete_index_entries(found: ErasureTrace, purged: set[RowKey]) -> dict[str, int]:
    """Entries of what goes; neighbours of the turns get windows without them at once, and their
    vectors later."""
    owners = {row for _, row in purged} | found.erased_turn_ids
    count, _ = IndexEntry.objects.filter(space=found.space, owner_id__in=owners).delete()
    count += _rewrite_windows(found)
    _reindex_entities(found, purged)
    return {"index_entries": count}


def _reindex_entities(found: ErasureTrace, purged: set[RowKey]) -> None:
    """Entities that stay, and their relations, are found by the words they have left."""
    if not found.entities:
        return
    ends = Q(src__in=found.entities) | Q(dst__in=found.entities)
    gone = [row for kind, row in purged if kind == "relation"]
    relations = Relation.objects.filter(ends, retired_at=None).exclude(id__in=gone)
    entries = indexer.build_entity_entries(found.entities.values())
    entries += indexer.build_relation_entries(relations.select_related("src", "dst", "fact"))
    indexer.write_entries(found.space, found.space.embedding_model, entries, None)


def _rewrite_windows(found: ErasureTrace) -> int:
    """Returns how many entries of turns that were cut went: such a turn has fewer chunks now."""
    if not found.touched_turns:
        return 0
    touched = {
        turn.id for turn in load_turns_around(found.touched_turn_ids, indexer.BEFORE)
    } - found.erased_turn_ids
    around = load_turns_around(touched | found.erased_turn_ids, indexer.BEFORE)
    around = [turn for turn in around if turn.id not in found.erased_turn_ids]
    held = IndexEntry.objects.filter(kind="turn", owner_id__in=touched, space=found.space)
    zone = ZoneInfo(found.space.timezone)
    owners: dict[str, set[UUID]] = {}
    for model, owner in held.values_list("model", "owner_id"):
        owners.setdefault(model, set()).add(owner)
    count, _ = held.filter(owner_id__in=found.cut_turns).delete()
    for model, own in owners.items():
        entries = indexer.build_turn_entries(
            around,
            found.space.speakers,
            only=own,
            zone=zone,
            time_words=load_event_date_words(list(own), zone),
        )
        indexer.write_entries(found.space, model, entries, None)
    return count


def _delete_what_tells_of_it(found: ErasureTrace) -> dict[str, int]:
    """Proposals and feedback about it; fingerprints of what was given out since the oldest of the
    turns came in."""
    doomed = {row for _, row in found.doomed_rows}
    oldest = min((turn.received_at for turn in found.touched_turns), default=None)
    given = Fingerprint.objects.filter(Q(seen_at__gte=oldest) if oldest else Q(pk=None))
    rated = doomed | {row for _, row in found.rewritten_rows} | found.touched_turn_ids
    gone: dict[str, QuerySet[Any]] = {
        "proposals": _filter_proposals(found, doomed),
        "fingerprints": given,
        "feedback": Feedback.objects.filter(row_id__in=rated),
    }
    return {name: rows.filter(space=found.space).delete()[0] for name, rows in gone.items()}


def _filter_proposals(found: ErasureTrace, doomed: set[UUID]) -> QuerySet[Proposal]:
    """Those that rest on what goes, or would put a name right in nothing else; of those that rest
    on a turn that is cut, what says its words."""
    held = Proposal.objects.filter(space=found.space)
    about = Q(turn_ids__overlap=list(found.erased_turn_ids)) if found.turns else Q(pk=None)
    about |= Q(row_id__in=doomed)
    others = [str(row) for row in doomed]
    about |= Q(kind=Proposal.Kind.RENAME, payload__fact_ids__contained_by=others)
    for cut in found.cuts:
        for proposal in held.filter(turn_ids__contains=[cut.turn.id]):
            said = [str(proposal.payload), proposal.reason, proposal.decided_because]
            if has_own_words("\n".join(said), [cut.lost], [cut.left]):
                about |= Q(id=proposal.id)
    return held.filter(about)


def _delete_rows(found: ErasureTrace, changes: ChangeSet) -> Counter[str]:
    """The rows, each with an empty revision that says when it went (I6)."""
    counts: Counter[str] = Counter()
    by_kind: dict[str, list[UUID]] = {}
    for (kind, row_id), row in found.doomed_rows.items():
        by_kind.setdefault(kind, []).append(row_id)
        changes.record_erasure(row)
    rows = [row for ids in by_kind.values() for row in ids]
    Derivation.objects.filter(space=found.space, child_id__in=rows).delete()
    for kind, ids in by_kind.items():
        told = row_kinds.get_row_kind(kind)
        told.model._default_manager.filter(id__in=ids).delete()
        counts[told.counted_as] = len(ids)
    return counts


def redact_turns(space: Space, turns: Sequence[Turn]) -> int:
    """What was said goes; that something was said then, by a person or an assistant, stays:
    ordinals go on meaning the same, and a repeated delivery is recognised (I1)."""
    for turn in turns:
        bury_words(turn)
        turn.text, turn.speaker, turn.lang, turn.speech_act = "", "", "", ""
        turn.metadata, turn.terms, turn.state = {}, {}, Turn.State.REDACTED
    own = ["speaker", "lang", "speech_act", "metadata", "terms"]
    columns = ["content_hash", "text", "state", *own]
    Turn.objects.bulk_update(turns, columns, batch_size=500)
    left = Turn.objects.filter(space=space).exclude(IS_INNER).exclude(speaker="")
    space.speakers = sorted(set(left.values_list("speaker", flat=True)))
    space.save(update_fields=["speakers"])
    return len(turns)


def _cut_turns(found: ErasureTrace) -> int:
    """Bars stand where the words stood: every other character stays where it was."""
    for cut in found.cuts:
        bury_words(cut.turn)
        cut.turn.text = draw_bars(cut.turn.text, cut.spans)
        if has_own_words(str(cut.turn.metadata), [cut.lost], [cut.left]):
            cut.turn.metadata = {}
    columns = ["content_hash", "text", "metadata"]
    Turn.objects.bulk_update([cut.turn for cut in found.cuts], columns, batch_size=500)
    return len(found.cuts)


def erase_session_name(session: Session) -> None:
    """A session's own words: the name it was given, and its channel."""
    session.external_id = f"erased-{hash_with_secret('session', session.id)[:16]}"
    session.channel = ""
    session.save(update_fields=["external_id", "channel"])


def _write_tombstones(found: ErasureTrace, now: datetime) -> None:
    digests = [hash_with_secret("turn", turn.id) for turn in found.turns]
    digests += [
        hash_with_secret("turn", t.session_id, t.external_id) for t in found.turns if t.external_id
    ]
    # A turn that was cut may come back as it is, but not as it was.
    digests += [hash_with_secret("words", c.turn.id, c.turn.content_hash) for c in found.cuts]
    digests += [hash_claim(found.space, fact) for fact in found.named_facts]
    Tombstone.objects.bulk_create(
        [
            Tombstone(tenant_id=found.space.tenant_id, digest=digest, created_at=now)
            for digest in dict.fromkeys(digests)
        ],
        ignore_conflicts=True,
    )


def hash_claim(space: Space, fact: Fact) -> str:
    """By which the same claim, read again from words that remain, is recognised."""
    return hash_with_secret("claim", space.id, fact.text_key)
