"""One message of a chat: stored, answered from memory, and the answer stored too.

No scope is open while a model works: each step opens its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memoryhub.console.acting import act, is_acting
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.wishes import asks_to_forget, noted
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import turns_by_id
from memoryhub.engines.types import Answer
from memoryhub.errors import MemoryHubError
from memoryhub.inference.ledger import accounting
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.services import Ingested, IngestRequest, ingest
from memoryhub.recall.answering import compose
from memoryhub.recall.asking import Asker
from memoryhub.recall.citations import Citation, citations
from memoryhub.recall.results import Item
from memoryhub.recall.services import search
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from personas.executor import Step

CHANNEL = "console"
RECALLED = 6
# Asked for in excess, because some of it is left out.
CANDIDATES = 4 * RECALLED


@dataclass(frozen=True, slots=True)
class Said:
    """`reply` is None when answering failed, and `trouble` says why. `citations`: what the reply
    rests on. `degraded`: the model failed, and the rules answered. `steps` are those of an agent
    with tools."""

    turn: Turn
    reply: Turn | None
    quoted: bool
    recalled: list[Item]
    citations: Sequence[Citation]
    job: Job | None
    trouble: str = ""
    degraded: bool = False
    steps: Sequence[Step] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """An answer with what was recalled for it, what of that it rests on, and the steps taken."""

    answer: Answer
    recalled: list[Item]
    citations: Sequence[Citation] = ()
    degraded: bool = False
    steps: Sequence[Step] = ()


def session_name(user_id: int, now: datetime) -> str:
    """One conversation a person and day."""
    return f"console-{user_id}-{now:%Y-%m-%d}"


def say(request: ConsoleRequest, space: Space, text: str, now: datetime) -> Said:
    """Raises InvalidInput and TooLarge. The message is safe before anything is asked of a model."""
    session = session_name(request.user.id, now)
    mine = _store(space, Message("user", text), session)
    turn = mine.turns[0]
    try:
        with accounting(space.tenant_id, space_id=space.id):
            found = _respond(request, space, turn, session, now)
        # Which tools were used, not what they found: that is somebody else's words (spec §11.9).
        used = {"tools": [step.tool for step in found.steps]} if found.steps else {}
        metadata = {"quoted": found.answer.quoted} | used
        reply = Message("assistant", found.answer.text, metadata=metadata)
        theirs = _store(space, reply, session).turns[0]
    except MemoryHubError as error:
        return Said(turn, None, False, [], (), mine.job, error.message)
    return Said(
        turn,
        theirs,
        found.answer.quoted,
        found.recalled,
        found.citations,
        mine.job,
        degraded=found.degraded,
        steps=found.steps,
    )


def _respond(
    request: ConsoleRequest, space: Space, turn: Turn, session: str, now: datetime
) -> Response:
    if asks_to_forget(turn):
        return Response(noted(turn), [])
    by = Asker("chat", request.user.get_username())
    recalled = _recall(space, turn, session, by)
    if is_acting(request.tenant, space):
        acted = act(request.tenant, space, turn, recalled, now)
        return Response(Answer(acted.text, quoted=False), recalled, steps=acted.steps)
    made = compose(space, turn.text, recalled, at=now, now=now)
    return Response(made.answer, recalled, citations(made.answer, made.items), made.failed)


def _store(space: Space, message: Message, session: str) -> Ingested:
    return ingest(
        space.tenant_id,
        IngestRequest(space.subject, [message], session, agent="MemoryHub", channel=CHANNEL),
    )


def _recall(space: Space, turn: Turn, session: str, by: Asker) -> list[Item]:
    """What is remembered. This conversation stands on the page already, so of it only facts."""
    found = search(space, turn.text, limit=CANDIDATES, asked_by=by)
    with tenant_scope(space.tenant_id):
        known = turns_by_id(at for item in found.items for at in _sources(item))
    return [item for item in found.items if _tells(item, turn, session, known)][:RECALLED]


def _sources(item: Item) -> set[UUID]:
    return {source.turn_id for source in item.sources} | (
        {item.id} if item.kind == "turn" else set()
    )


def _tells(item: Item, asked: Turn, session: str, known: dict[UUID, Turn]) -> bool:
    sources = [known[at] for at in _sources(item) if at in known]
    own = [t for t in sources if _is_news(t) and t.id != asked.id]
    if item.kind == "fact":
        return bool(own) or not sources
    return len(own) == len(sources) and all(t.session.external_id != session for t in own)


def _is_news(turn: Turn) -> bool:
    """Not a reply put together from memories, which would be an echo, and no wish to forget."""
    return not turn.metadata.get("quoted") and turn.speech_act != "forget"
