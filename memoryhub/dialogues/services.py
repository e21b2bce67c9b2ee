"""Appending what was said. One short transaction: no model, no embedding."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.background.news import News, notify_listeners
from memoryhub.dialogues.messages import Message, check_messages, clean_text, resolve_time
from memoryhub.dialogues.models import INNER, OWN_KEYS, Session, Turn
from memoryhub.dialogues.quota import check_quota
from memoryhub.dialogues.redaction import hash_buried_words
from memoryhub.engines.local.language import detect_language
from memoryhub.errors import Conflict, InvalidInput
from memoryhub.subject_names import (
    PLACEHOLDERS,
    THE_USER_BY_LANGUAGE,
    choose_display_name,
    may_name_one_person,
    reads_like_name,
)
from memoryhub.tenants.models import Space
from memoryhub.tenants.services import lock_space

_NAME_COLUMNS = ("name", "named_in", "former_names", "rename_due")
# A silence this long ends a conversation that was given no name.
SESSION_GAP = timedelta(minutes=30)
PAUSED_MESSAGE = gettext_noop(
    "memory is paused here: nothing that is said is kept until it goes on"
)


@dataclass(frozen=True, slots=True)
class AppendedTurns:
    """`turns` in the order sent; `new` are those not delivered before (E6)."""

    session: Session
    turns: list[Turn]
    new: list[Turn]


def append_turns(
    space: Space,
    messages: Sequence[Message],
    *,
    received: datetime,
    session_id: str = "",
    agent: str = "",
    channel: str = "",
    terms: Mapping[str, Any] | None = None,
    despite_pause: bool = False,
) -> AppendedTurns:
    """Store the messages that were not delivered before. Call inside the tenant's scope. Metadata
    are kept as they are sent, without what the hub alone writes there.

    `terms`: what the sender lays down for what is read from them. `despite_pause`: the person
    themselves wants these kept.

    Locks the space's row, so that `seq` has no gaps and duplicates are seen (X1, X2).
    Raises Conflict while the space is paused, QuotaReached.
    """
    messages = [_drop_own_keys(message) for message in check_messages(messages)]
    if len(session_id) > 200:
        raise InvalidInput(_("at most 200 characters"), field="session")
    lock_space(space)
    if space.paused_at and not despite_pause:
        raise Conflict(_(PAUSED_MESSAGE), code="memory_paused")
    drafts = [
        # Messages without a time keep their order, and the same words stay two messages (E7).
        _build_turn(space, message, agent, received + timedelta(microseconds=at), terms or {})
        for at, message in enumerate(messages)
    ]
    known = _load_delivered(space, session_id, drafts)
    new = _filter_unseen(drafts, known)
    if not new:
        session = known[_build_identity(drafts[0])].session
    else:
        session = _ensure_session(space, session_id, new)
        session.channel = session.channel or channel
        _store_turns(space, session, new, received)
    stored = known | {_build_identity(turn): turn for turn in new}
    return AppendedTurns(session, [stored[_build_identity(draft)] for draft in drafts], new)


def _drop_own_keys(message: Message) -> Message:
    own = OWN_KEYS & message.metadata.keys()
    if not own:
        return message
    kept = {name: value for name, value in message.metadata.items() if name not in own}
    return replace(message, metadata=kept)


def open_session(space: Space, name: str, at: datetime) -> Session:
    """The named session, begun where there is none. Call inside the tenant's scope. Raises
    InvalidInput."""
    name = clean_text(name).strip()
    if not 0 < len(name) <= 200:
        raise InvalidInput(_("from 1 to %(limit)s characters") % {"limit": 200}, field="session")
    lock_space(space)
    held = Session.objects.select_related("space").filter(space=space, external_id=name).first()
    return held or _begin_session(space, name, at)


def append_inner_turns(
    session: Session, messages: Sequence[Message], *, received: datetime, agent: str = ""
) -> list[Turn]:
    """Store an agent's own steps, or what its window or a timer tells it, behind what was said in
    its session. Each has an `external_id`; those that are there already are left out. They count
    as read: nothing is derived from them. Call inside the tenant's scope.

    Raises Conflict while the space is paused.
    """
    space = session.space
    lock_space(space)
    if space.paused_at:
        raise Conflict(_(PAUSED_MESSAGE), code="memory_paused")
    session.refresh_from_db()
    told = Turn.objects.filter(session=session, external_id__in=[m.external_id for m in messages])
    there = set(told.values_list("external_id", flat=True))
    new = [
        _build_turn(space, message, agent, received + timedelta(microseconds=at), {})
        for at, message in enumerate(check_messages(messages))
        if message.external_id not in there
    ]
    for turn in new:
        turn.state = Turn.State.PROCESSED
        turn.metadata = turn.metadata | {INNER: True, "quoted": True}
    if new:
        _store_turns(space, session, new, received)
    return new


def _store_turns(space: Space, session: Session, new: list[Turn], received: datetime) -> None:
    """Number and save them, the last of their session. Call with the space locked. Raises
    QuotaReached."""
    check_quota(space.tenant, len(new))
    for at, turn in enumerate(new):
        turn.session = session
        turn.seq, turn.ordinal = space.next_seq + at, session.turn_count + at + 1
    space.next_seq += len(new)
    Turn.objects.bulk_create(new)
    _update_bounds(space, session, new, received)
    notify_listeners(space.tenant_id, lambda: [_build_news(session, new, received)])


def _build_news(session: Session, new: Sequence[Turn], at: datetime) -> News:
    data = {"session_id": str(session.id), "session": session.external_id, "count": len(new)}
    data |= {"first_seq": new[0].seq, "last_seq": new[-1].seq}
    data["turn_ids"] = [str(turn.id) for turn in new]
    return News("turns.added", at, data, session.space_id)


def _ensure_session(space: Space, external_id: str, new: list[Turn]) -> Session:
    """The named session. Without a name, the last unnamed one unless it went quiet."""
    start = new[0].occurred_at
    last = Session.objects.filter(space=space, external_id=external_id).last()
    if last and (external_id or abs(start - last.ended_at) <= SESSION_GAP):
        return last
    return _begin_session(space, external_id, start)


def _begin_session(space: Space, external_id: str, start: datetime) -> Session:
    highest = Session.objects.filter(space=space).aggregate(last=Max("ordinal"))["last"] or 0
    return Session.objects.create(
        tenant_id=space.tenant_id,
        space=space,
        external_id=external_id,
        ordinal=highest + 1,
        started_at=start,
        ended_at=start,
    )


def _build_turn(
    space: Space, message: Message, agent: str, received: datetime, terms: Mapping[str, Any]
) -> Turn:
    occurred_at, flag = resolve_time(message.timestamp, space.timezone, received)
    placeholder = THE_USER_BY_LANGUAGE.get(detect_language(message.content), "")
    subject = choose_display_name(space.name, space.subject, placeholder)
    usual = subject if message.role == Turn.Role.USER else agent or message.role
    return Turn(
        tenant_id=space.tenant_id,
        space=space,
        role=message.role,
        speaker=message.speaker or usual,
        agent=agent,
        text=message.content,
        metadata=message.metadata,
        terms=dict(terms),
        occurred_at=occurred_at,
        time_flag=flag,
        received_at=received,
        external_id=message.external_id,
        content_hash=hashlib.sha256(message.content.encode()).hexdigest(),
    )


TurnIdentity = tuple[str, ...]


def _build_identity(turn: Turn, said: Turn | None = None) -> TurnIdentity:
    """`said`: who said what, where the words have been erased since."""
    if turn.external_id:
        return ("id", turn.external_id)
    said = said or turn
    at = turn.occurred_at.astimezone(UTC).isoformat()
    return ("text", turn.role, said.speaker, said.content_hash, at)


def _load_delivered(space: Space, session_id: str, drafts: list[Turn]) -> dict[TurnIdentity, Turn]:
    rows = Turn.objects.filter(space=space, session__external_id=session_id)
    rows = rows.select_related("session")
    named = rows.filter(external_id__in=[t.external_id for t in drafts if t.external_id])
    fresh = [turn for turn in drafts if not turn.external_id]
    erased = {hash_buried_words(turn): turn for turn in fresh}
    unnamed = rows.filter(
        external_id="", content_hash__in=[*erased, *(turn.content_hash for turn in fresh)]
    )
    return {_build_identity(t, erased.get(t.content_hash)): t for t in [*named, *unnamed]}


def _filter_unseen(drafts: list[Turn], known: dict[TurnIdentity, Turn]) -> list[Turn]:
    first = {_build_identity(draft): draft for draft in reversed(drafts)}
    return [d for d in drafts if _build_identity(d) not in known and first[_build_identity(d)] is d]


def _update_bounds(space: Space, session: Session, new: list[Turn], received: datetime) -> None:
    """Keep the session's and the space's bounds. What an agent does by itself is no activity of
    anybody's, and does not carry the conversation on."""
    said = [turn for turn in new if INNER not in turn.metadata]
    if said:
        times = [turn.occurred_at for turn in said]
        first = not session.turn_count
        session.started_at = min(times) if first else min(session.started_at, *times)
        session.ended_at = max(times) if first else max(session.ended_at, *times)
        space.last_activity_at = received
    session.turn_count += len(new)
    session.save(update_fields=["channel", "started_at", "ended_at", "turn_count"])
    _adopt_speaker(space, said)
    space.speakers = sorted({*space.speakers, *(turn.speaker for turn in said)})
    space.save(update_fields=["next_seq", "speakers", "last_activity_at", *_NAME_COLUMNS])


def _adopt_speaker(space: Space, said: Sequence[Turn]) -> None:
    """Who alone writes as a person here is the subject (E25), under an id, as applications do not
    always name people by one and the same, or under a name where none is known or the one that is
    known is theirs."""
    spoken = [turn for turn in said if turn.role == Turn.Role.USER]
    names = {turn.speaker for turn in spoken}
    if len(names) != 1:
        return
    (speaker,) = names
    if speaker in space.called_names and not (speaker == space.subject and _is_nameless(space)):
        return
    named = reads_like_name(speaker)
    known = "" if space.display_name in PLACEHOLDERS else space.display_name
    if named and known and not may_name_one_person(known, speaker):
        return
    others = Turn.objects.filter(space=space, role=Turn.Role.USER).exclude(speaker=speaker)
    if (others.exclude(speaker__in=space.called_names) if named else others).exists():
        return
    if named and not space.name:
        space.name, space.named_in = speaker, spoken[0].id
        earlier = Turn.objects.filter(space=space, seq__lt=min(turn.seq for turn in said))
        space.rename_due = earlier.exists()  # of the first words nothing is written yet
        return
    placeholder = THE_USER_BY_LANGUAGE.get(detect_language(spoken[0].text), "")
    called = choose_display_name(space.name, space.subject, placeholder)
    space.former_names = sorted({*space.former_names, speaker} - {space.subject})
    space.speakers = [*space.speakers, called]


def _is_nameless(space: Space) -> bool:
    """Whether it is not known yet in which language the subject is called "the user"."""
    return space.display_name in PLACEHOLDERS and not {*PLACEHOLDERS} & {*space.speakers}
