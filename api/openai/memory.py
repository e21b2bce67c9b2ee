"""The hub's part of an exchange: what it recalled for it, and what it learned from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from django.db import DatabaseError

from api.openai.messages import ChatMessage, extract_text, find_question, has_earlier_answer
from api.openai.options import MemoryOptions
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Session
from memoryhub.dialogues.services import append_inner_turns, open_session
from memoryhub.dialogues.tool_calls import ToolCall, build_call_message, build_result_message
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

if TYPE_CHECKING:
    from memoryhub.recall.context import MemoryContext

log = structlog.get_logger()
OPENAI_CHANNEL = "openai"


def recall_context(
    space: Space, wishes: MemoryOptions, messages: Sequence[ChatMessage], key_id: UUID
) -> MemoryContext | None:
    """What is remembered that bears on the last question; None where there is none. Opens its own
    scopes."""
    from memoryhub.recall.context import build_context
    from memoryhub.recall.question.caller import SearchCaller  # loads the engines

    question = find_question(messages)
    if not question:
        return None
    return build_context(
        space,
        question,
        session_id=_find_session_id(space, wishes.session),
        # What the request carries itself need not be repeated by a window.
        seen=[extract_text(each) for each in messages] if has_earlier_answer(messages) else (),
        budget_tokens=wishes.budget,
        agent=wishes.agent,
        asked_by=SearchCaller("openai", str(key_id)),
    )


def _find_session_id(space: Space, name: str) -> UUID | None:
    if not name:
        return None
    with tenant_scope(space.tenant_id):
        rows = Session.objects.filter(space=space, external_id=name)
        return rows.values_list("id", flat=True).first()


@dataclass(frozen=True, slots=True)
class LearnResult:
    """`state`: learned, off, nothing (to learn), failed (`trouble` says why) or erased."""

    state: str
    job_id: UUID | None = None
    turns: tuple[UUID, ...] = ()
    trouble: str = ""


LEARN_OFF = LearnResult("off")


def learn_messages(
    tenant_id: UUID,
    subject: str,
    wishes: MemoryOptions,
    said: Sequence[Message],
    found: MemoryContext | None,
    now: datetime,
) -> LearnResult:
    """Hand what was said to the add that everything goes through; a worker reads it later.

    What was recalled is marked as the hub's own words first, so that it is no news when the model
    repeats it (E27). Never raises: the answer is there, and is given out whatever becomes of this.
    """
    if not said:
        return LearnResult("nothing")
    wanted = IngestRequest(subject, said, wishes.session, wishes.agent, channel=OPENAI_CHANNEL)
    try:
        if found is not None:
            _guard_context(tenant_id, subject, found, now)
        done = ingest_messages(tenant_id, wanted)
    except MemoryHubError as error:
        return LearnResult("failed", trouble=error.message)
    except DatabaseError as error:
        log.error("proxy.not_learned", error=str(error))
        return LearnResult("failed", trouble="The database can't be reached.")
    return LearnResult(
        "learned", done.job.id if done.job else None, tuple(turn.id for turn in done.turns)
    )


def _guard_context(tenant_id: UUID, subject: str, found: MemoryContext, now: datetime) -> None:
    from memoryhub.recall.log.reinforcement import record_hub_texts

    with tenant_scope(tenant_id):
        space = Space.objects.filter(subject=subject).first()
        if space is not None:
            record_hub_texts(space, found.items(), now)


def keep_tool_steps(
    tenant_id: UUID, subject: str, wishes: MemoryOptions, steps: Sequence[Message], now: datetime
) -> None:
    """Put calls of tools, or their results, into the queue of the session and into recall storage,
    where it has a name; nothing is derived from them. Never raises, as `learn_messages`."""
    if not steps or not wishes.session:
        return
    try:
        with tenant_scope(tenant_id):
            space = Space.objects.filter(subject=subject).first()
            if space is not None:
                session = open_session(space, wishes.session, now)
                append_inner_turns(session, steps, received=now, agent=wishes.agent)
    except (MemoryHubError, DatabaseError) as error:
        log.warning("proxy.steps_not_kept", error=str(error))


def build_result_steps(results: Sequence[ChatMessage], once: str) -> list[Message]:
    """What the client's tools answered. `once`: as for `build_turns`."""
    return [
        build_result_message(
            str(each["tool_call_id"]),
            extract_text(each),
            external_id=f"{once or new_id().hex}:r{at}",
        )
        for at, each in enumerate(results)
    ]


def build_call_steps(calls: Sequence[Mapping[str, str]], once: str) -> list[Message]:
    """The tools that an answer calls, in one message."""
    made = [ToolCall(**call) for call in calls if call["id"] and call["name"]]
    return [build_call_message(made, external_id=f"{once or new_id().hex}:c")] if made else []


def build_turns(
    news: Sequence[ChatMessage], answer: str, about: Mapping[str, Any], *, once: str = ""
) -> list[Message]:
    """What an exchange adds to a dialogue: the user's news and the answer, if it has words.

    `about` is kept with the answer. `once`: the same exchange delivered again adds nothing.
    """
    said = [
        Message("user", extract_text(each), _read_name(each), external_id=once and f"{once}:{at}")
        for at, each in enumerate(news)
    ]
    if answer.strip():
        said.append(
            Message("assistant", answer, external_id=once and f"{once}:a", metadata=dict(about))
        )
    return said


def _read_name(message: ChatMessage) -> str:
    name = message.get("name")
    return name[:120] if isinstance(name, str) else ""


def render_report(found: MemoryContext | None, learned: LearnResult) -> dict[str, Any]:
    """What an answer tells of the hub's part, as JSON."""
    counts = ("tokens", "left_out", "pending_turns")
    return {
        "recall_id": _format_id(found.recall_id) if found else None,
        "items": _render_items(found) if found else [],
        **{name: getattr(found, name) if found else 0 for name in counts},
        "degraded": list(found.degraded) if found else [],
        "learned": learned.state,
        "job_id": _format_id(learned.job_id),
        "turns": [str(turn) for turn in learned.turns],
        "trouble": learned.trouble,
    }


def _render_items(found: MemoryContext) -> list[dict[str, Any]]:
    handles = {at: handle for handle, at in found.handles.items()}
    return [
        {
            "handle": handles.get(item.id, ""),
            "kind": item.kind,
            "id": str(item.id),
            "section": section.name,
            "text": item.text,
            "occurred_at": item.occurred_at.isoformat(),
        }
        for section in found.sections
        for item in section.items
    ]


def _format_id(given: UUID | None) -> str | None:
    return str(given) if given else None


def build_headers(told: Mapping[str, Any]) -> dict[str, str]:
    """The same in a response's headers, as far as it is known when they are sent."""
    return {
        "X-MemoryHub-Recall-Id": told["recall_id"] or "",
        "X-MemoryHub-Items": str(len(told["items"])),
        "X-MemoryHub-Pending": str(told["pending_turns"]),
    }
