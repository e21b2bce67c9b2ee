"""One message of a chat: stored, answered from memory as it comes, and the answer stored too.

No scope is open while a model works: each step opens its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from uuid import UUID, uuid4

from django.http import QueryDict
from django.utils.translation import gettext as _

from memoryhub.console import explained
from memoryhub.console.acting import AGENT, BlockChange, act, is_acting
from memoryhub.console.chat_figures import Figures
from memoryhub.console.policies import candidate
from memoryhub.console.replying import Streamed, answer_of, model_of, prompt_of
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.wishes import (
    asks_to_forget,
    asks_to_keep,
    forgotten,
    kept,
    noted,
    takes_back,
)
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import turns_before, turns_by_id
from memoryhub.engines.types import Answer
from memoryhub.errors import EngineError, MemoryHubError, Paused
from memoryhub.inference.ledger import accounting
from memoryhub.pipeline import restoring
from memoryhub.pipeline.keeping import keep
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.services import IngestRequest, ingest
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import layers_of
from memoryhub.recall.answering import compose
from memoryhub.recall.asking import Asker
from memoryhub.recall.citations import Citation, citations
from memoryhub.recall.results import Item
from memoryhub.recall.services import search
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes import amending
from notes.models import Derivation, Fact, Receipt
from personas.executor import Step

CHANNEL = "console"
RECALLED = 6
# Asked for in excess, because some of it is left out.
CANDIDATES = 4 * RECALLED
WITHOUT = "nothing"
# Turns of the conversation that a model is shown.
_BEFORE = 12
_ONCE = 64


@dataclass(frozen=True, slots=True)
class Wish:
    """What the form asks for. `once` names the message, so that sending it again adds nothing.

    `keeps`: word by word. `beside`: what to answer it with as well: WITHOUT memory, or a preset.
    """

    text: str = ""
    once: str = ""
    keeps: bool = False
    beside: str = ""

    @classmethod
    def read(cls, sent: QueryDict) -> Wish:
        return cls(
            sent.get("ask") or sent.get("text", ""),
            sent.get("once", "").replace("\0", "")[:_ONCE],
            "keep" in sent,
            beside_of(sent),
        )


def beside_of(sent: QueryDict) -> str:
    asked = sent.get("beside", "")
    return asked if asked == WITHOUT or asked in PRESETS else ""


@dataclass(slots=True)
class Side:
    """An answer as far as it has come. `trouble` says why it is none, or ended early; `degraded`:
    the model failed, and the rules answered. `steps` are those of an agent with tools."""

    name: str
    title: str
    text: str = ""
    quoted: bool = False
    by: str = ""
    recalled: Sequence[Item] = ()
    recall_id: UUID | None = None
    citations: Sequence[Citation] = ()
    steps: Sequence[Step] = ()
    blocks: Sequence[BlockChange] = ()
    degraded: str = ""
    trouble: str = ""
    reply: Turn | None = None
    figures: Figures = field(default_factory=Figures)

    @property
    def shown(self) -> list[explained.Shown]:
        return explained.of_sections([("", self.recalled)])


@dataclass(frozen=True, slots=True)
class Recalled:
    side: Side


@dataclass(frozen=True, slots=True)
class Word:
    side: Side
    text: str


@dataclass(frozen=True, slots=True)
class Replied:
    side: Side


Event = Recalled | Word | Replied


def session_name(user_id: int, now: datetime) -> str:
    """One conversation a person and day."""
    return f"console-{user_id}-{now:%Y-%m-%d}"


@dataclass(slots=True)
class Exchange:
    """A message that is stored, and what comes of it. `facts`: kept of it word by word."""

    tenant: Tenant
    space: Space
    who: str
    session: str
    wish: Wish
    turn: Turn
    job: Job | None
    facts: Sequence[Fact]
    now: datetime
    sides: list[Side] = field(default_factory=list)

    def events(self) -> Iterator[Event]:
        """The answer as it comes, and the one beside it. Closed early, what was said is stored."""
        side = Side("with", _("With memory"))
        yield from self._told(side, self._answered(side))
        if self.wish.beside:
            other = Side("beside", self._title())
            yield from self._told(other, self._answered_beside(other))

    def _told(self, side: Side, words: Iterator[Event]) -> Iterator[Event]:
        self.sides.append(side)
        try:
            yield from words
        except MemoryHubError as error:
            side.trouble = _(error.message)
        finally:
            if side.name == "with":
                self._store_reply(side)
        yield Replied(side)

    def _title(self) -> str:
        if self.wish.beside == WITHOUT:
            return _("Without memory")
        return _("Preset %(title)s") % {"title": _(PRESETS[self.wish.beside].title)}

    def _answered(self, side: Side) -> Iterator[Event]:
        plain = self._wished()
        if plain is not None:
            side.text, side.by = plain.text, "rules"
            yield Word(side, plain.text)
            return
        self._recall(side, None)
        yield Recalled(side)
        if is_acting(self.tenant, self.space):
            yield from self._acted(side)
        else:
            yield from self._composed(side, None)

    def _answered_beside(self, side: Side) -> Iterator[Event]:
        """Nothing of it is stored, and no memory is strengthened by it."""
        policy = None
        if self.wish.beside != WITHOUT:
            with tenant_scope(self.tenant.id):
                layers = layers_of(self.tenant.id, self.space)
            policy = candidate(layers, self.wish.beside)
            self._recall(side, policy)
        yield Recalled(side)
        yield from self._composed(side, policy)

    def _wished(self) -> Answer | None:
        """What a wish about memory is answered with, when the message is one."""
        if self.facts:
            return kept(self.turn)
        if takes_back(self.turn.text):
            return forgotten(self.turn, self._take_back())
        return noted(self.turn) if asks_to_forget(self.turn) else None

    def _take_back(self) -> int:
        with tenant_scope(self.tenant.id):
            said = [turn for turn in turns_before(self.turn, _BEFORE) if turn.role == "user"]
            found = facts_of(said[-1:])
        if found:
            forget(self.space, found, self.who, self.now)
        return len(found)

    def _recall(self, side: Side, policy: Policy | None) -> None:
        """What is remembered. This conversation stands on the page already, so of it only facts."""
        by = Asker("chat", self.who)
        options = {"policy": policy, "inspect": True} if policy else {}
        with accounting(self.tenant.id, space_id=self.space.id) as ledger:
            before = len(ledger.calls)
            found = search(
                self.space,
                self.turn.text,
                limit=CANDIDATES,
                asked_by=by,
                **options,  # type: ignore[arg-type]  # two of its own arguments
            )
            side.figures.count(call for call, _ in ledger.calls[before:])
        side.figures.took |= found.took_ms
        side.recall_id = found.recall_id
        with tenant_scope(self.tenant.id):
            known = turns_by_id(at for item in found.items for at in _sources(item))
        told = [i for i in found.items if _tells(i, self.turn, self.session, known)]
        side.recalled = told[:RECALLED]

    def _acted(self, side: Side) -> Iterator[Event]:
        began = perf_counter()
        with accounting(self.tenant.id, space_id=self.space.id) as ledger:
            before = len(ledger.calls)
            try:
                acted = act(self.tenant, self.space, self.turn, side.recalled, self.now)
            finally:
                side.figures.count(call for call, _ in ledger.calls[before:])
                side.figures.took["answer"] = _since(began)
        side.steps, side.blocks, side.by = acted.steps, acted.blocks, "agent"
        side.text = acted.text
        yield Word(side, acted.text)

    def _composed(self, side: Side, policy: Policy | None) -> Iterator[Event]:
        if self.tenant.engine != Tenant.Engine.LLM:
            yield from self._quoted(side, policy)
            return
        try:
            yield from self._streamed(side, policy)
        except EngineError as error:
            if side.text:
                raise
            side.degraded = _why(error)
            yield from self._quoted(side, policy, "local")

    def _quoted(self, side: Side, policy: Policy | None, engine: str = "") -> Iterator[Event]:
        began, by = perf_counter(), self.now
        made = compose(
            self.space,
            self.turn.text,
            side.recalled,
            at=by,
            now=by,
            policy=policy,
            engine=engine,
        )
        side.figures.took["answer"] = _since(began)
        side.by, side.quoted, side.text = "rules", made.answer.quoted, made.answer.text
        side.citations = citations(made.answer, made.items)
        if made.failed:
            side.degraded = _("the engine failed")
        yield Word(side, side.text)

    def _streamed(self, side: Side, policy: Policy | None) -> Iterator[Event]:
        with tenant_scope(self.tenant.id):
            own = policy or layers_of(self.tenant.id, self.space).policy
            before = turns_before(self.turn, _BEFORE)
        prompt = prompt_of(self.space, self.turn.text, before, side.recalled, self.now)
        streamed, began = Streamed(self.space, model_of(own), prompt), perf_counter()
        try:
            for piece in streamed:
                if not side.text:
                    side.figures.took["first word"] = _since(began)
                side.text += piece
                yield Word(side, piece)
        finally:
            side.by = streamed.model
            side.figures.count([streamed.call] if streamed.call.milliseconds else [])
            spent = _since(began) - side.figures.took.get("first word", 0.0)
            side.figures.took["answer"] = round(spent, 1)
        side.citations = citations(answer_of(side.text, prompt, side.recalled), side.recalled)

    def _store_reply(self, side: Side) -> None:
        """Nothing where something was erased meanwhile: the reply may say it again."""
        with tenant_scope(self.tenant.id):
            erased = Receipt.objects.filter(created_at__gte=self.now).exists()
        if not side.text.strip() or erased:
            return
        # Which tools were used, not what they found: that is somebody else's words (spec §11.9).
        used = {"tools": [step.tool for step in side.steps]} if side.steps else {}
        metadata = {"quoted": side.quoted} | used
        once = f"{self.turn.external_id}:a"
        reply = Message("assistant", side.text, external_id=once, metadata=metadata)
        side.reply = ingest(self.tenant.id, _request(self.space, reply, self.session)).turns[0]


def begin(request: ConsoleRequest, space: Space, wish: Wish, now: datetime) -> Exchange:
    """Store the message: it is safe before anything is asked of a model.

    Raises InvalidInput and TooLarge.
    """
    session, who = session_name(request.user.id, now), request.user.get_username()
    message = Message("user", wish.text, external_id=wish.once or uuid4().hex)
    asked = _request(space, message, session)
    facts = keep(space.tenant_id, asked, who, now) if wish.keeps else []
    done = ingest(space.tenant_id, asked)
    turn = done.turns[0]
    if not facts and asks_to_keep(turn):
        facts = keep(space.tenant_id, asked, who, now)
    return Exchange(request.tenant, space, who, session, wish, turn, done.job, facts, now)


def keep_turn(space: Space, turn: Turn, who: str, now: datetime) -> list[Fact]:
    """Remember word by word what was said before."""
    message = Message(turn.role, turn.text, turn.speaker, external_id=turn.external_id)
    return keep(space.tenant_id, _request(space, message, turn.session.external_id), who, now)


def forget(space: Space, fact_ids: Sequence[UUID], who: str, now: datetime) -> UUID:
    """Hold these no longer. Returns the event, which can be undone."""
    event = amending.remove(space, fact_ids, who, now, reason="forgotten in the chat")
    restoring.settle(space.id, space.tenant_id, str(event.id), now)
    return event.id


def facts_of(turns: Sequence[Turn]) -> list[UUID]:
    """Facts read from these turns that are held. Call inside the tenant's scope."""
    rows = Derivation.objects.filter(
        child_type="fact", turn__in=turns, role=Derivation.Role.SUPPORT
    )
    held = Fact.objects.filter(id__in=rows.values("child_id"), retired_at=None)
    return list(held.filter(status=Fact.Status.ACTIVE).values_list("id", flat=True))


def _request(space: Space, message: Message, session: str) -> IngestRequest:
    return IngestRequest(space.subject, [message], session, agent=AGENT, channel=CHANNEL)


def _since(began: float) -> float:
    return round((perf_counter() - began) * 1000, 1)


def _why(error: EngineError) -> str:
    if isinstance(error, Paused):
        return error.message
    return _("the model failed: %(why)s") % {"why": _(error.message)}


def _sources(item: Item) -> set[UUID]:
    return {source.turn_id for source in item.sources} | (
        {item.id} if item.kind == "turn" else set()
    )


def _tells(item: Item, asked: Turn, session: str, known: Mapping[UUID, Turn]) -> bool:
    sources = [known[at] for at in _sources(item) if at in known]
    own = [t for t in sources if _is_news(t) and t.id != asked.id]
    if item.kind == "fact":
        return bool(own) or not sources
    return len(own) == len(sources) and all(t.session.external_id != session for t in own)


def _is_news(turn: Turn) -> bool:
    """Not a reply put together from memories, which would be an echo, and no wish to forget."""
    return not turn.metadata.get("quoted") and turn.speech_act != "forget"
