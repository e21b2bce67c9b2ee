"""One message of a chat: stored, answered from memory as it comes, and the answer stored too.

No scope is open while a model works: each step opens its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from time import perf_counter
from typing import Literal
from uuid import UUID, uuid4

from django.http import QueryDict
from django.utils.translation import gettext as _

from memoryhub.agents.turn import BlockChange
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.chat.agent import answer_with_agent, has_acting_agent
from memoryhub.console.pages.chat.memory_requests import (
    asks_to_forget,
    asks_to_forget_last,
    asks_to_keep,
    build_canned_answer,
)
from memoryhub.console.pages.chat.plain_replies import (
    add_caveat,
    address_answer,
    build_overview,
    build_talk_reply,
    build_unknown_reply,
    may_tell,
)
from memoryhub.console.pages.chat.reply import (
    StreamedReply,
    build_chat_prompt,
    gather_sections,
    parse_cited_answer,
    select_chat_model,
)
from memoryhub.console.pages.policies.switch_form import compose_candidate
from memoryhub.console.pages.search import explanation
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.queries import load_turns_before, load_turns_by_id
from memoryhub.engines.ledger import CallRecord
from memoryhub.engines.local.answers.asked import asks_for_overview
from memoryhub.engines.types import GroundedAnswer
from memoryhub.errors import EngineError, MemoryHubError, ModelsPaused
from memoryhub.inference.connections import load_prices
from memoryhub.inference.ledger import open_ledger
from memoryhub.inference.prices import compute_call_cost
from memoryhub.pipeline import corrections
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.ingest.verbatim import keep_verbatim
from memoryhub.pipeline.models import Job
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.schema import Policy, RecallPolicy
from memoryhub.policies.services import load_effective_policy, load_layers
from memoryhub.recall.answers import compose_answer
from memoryhub.recall.question.caller import SearchCaller
from memoryhub.recall.render.citations import Citation, build_citations
from memoryhub.recall.render.results import ContextSection, MemoryItem
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Derivation, Fact, Receipt
from personas.agent.executor import StepOutcome
from personas.models import AGENT_NAME


@dataclass(slots=True)
class AnswerFigures:
    """What an answer took: milliseconds by stage, and what models asked for it cost."""

    took: dict[str, float] = field(default_factory=dict)
    calls: int = 0
    prompt: int = 0
    completion: int = 0
    money: Decimal = Decimal(0)
    models: list[str] = field(default_factory=list)

    def add_calls(self, calls: Iterable[CallRecord]) -> None:
        prices = load_prices()
        for call in calls:
            self.calls += 1
            self.prompt += call.prompt_tokens
            self.completion += call.completion_tokens
            tokens = (call.prompt_tokens, call.completion_tokens)
            self.money += compute_call_cost(prices, call.model, *tokens)
            self.models = list(dict.fromkeys([*self.models, call.model]))

    @property
    def stages(self) -> list[tuple[str, float]]:
        return explanation.sort_stages(self.took)

    @property
    def milliseconds(self) -> float:
        return sum(self.took.values())


CHAT_CHANNEL = "console"
# Where all channels are ranked together; else it is the policy that says how many.
MAX_RECALLED = 6
# Asked for in excess, because some of it is left out.
MAX_CANDIDATES = 4 * MAX_RECALLED
# Of a dialogue that is handed over whole, the newest.
MAX_RECALLED_OF_WHOLE = 100
WITHOUT_MEMORY = "nothing"
# Turns of the conversation that a model is shown.
_CONTEXT_TURNS = 12
_MAX_KEY_LENGTH = 64


@dataclass(frozen=True, slots=True)
class ChatInput:
    """What the form asks for. `once` names the message, so that sending it again adds nothing.

    `keeps`: word by word. `beside`: what to answer it with as well: WITHOUT memory, or a preset.
    """

    text: str = ""
    idempotency_key: str = ""
    keep_verbatim: bool = False
    beside: str = ""

    @classmethod
    def read(cls, sent: QueryDict) -> ChatInput:
        return cls(
            sent.get("ask") or sent.get("text", ""),
            sent.get("once", "").replace("\0", "")[:_MAX_KEY_LENGTH],
            "keep" in sent,
            read_beside(sent),
        )


def read_beside(sent: QueryDict) -> str:
    asked = sent.get("beside", "")
    return asked if asked == WITHOUT_MEMORY or asked in PRESETS else ""


@dataclass(slots=True)
class ChatSide:
    """An answer as far as it has come. `remembers`: not of the one that shows what there is
    without memory. `trouble` says why it is none, or ended early; `degraded`: the model failed,
    and the rules answered. `steps` are those of an agent with tools. `unasked`:
    what the policy hands over whatever is asked; `nearest`: what a search takes for near and no
    more, which rules weigh themselves."""

    name: str
    title: str
    remembers: bool = True
    text: str = ""
    quoted: bool = False
    by: str = ""
    recalled: Sequence[MemoryItem] = ()
    nearest: Sequence[MemoryItem] = ()
    unasked: Sequence[ContextSection] = ()
    recall_id: UUID | None = None
    citations: Sequence[Citation] = ()
    steps: Sequence[StepOutcome] = ()
    blocks: Sequence[BlockChange] = ()
    degraded: str = ""
    trouble: str = ""
    reply: Turn | None = None
    figures: AnswerFigures = field(default_factory=AnswerFigures)

    @property
    def memories(self) -> list[tuple[str, list[MemoryItem]]]:
        """All that it is answered from, by section."""
        return gather_sections(self.recalled, self.unasked)

    @property
    def all_items(self) -> list[MemoryItem]:
        return [item for _, items in self.memories for item in items]

    @property
    def results(self) -> list[explanation.ShownResult]:
        return explanation.explain_sections([("", self.recalled)])


@dataclass(frozen=True, slots=True)
class ChatEvent:
    """A side has got further: memories were recalled, a piece of its answer came, or it ended."""

    what: Literal["recalled", "word", "replied"]
    side: ChatSide
    text: str = ""


def build_session_name(user_id: int, now: datetime) -> str:
    """One conversation a person and day."""
    return f"console-{user_id}-{now:%Y-%m-%d}"


@dataclass(slots=True)
class MessageExchange:
    """A message that is stored, and what comes of it. `facts`: kept of it word by word."""

    tenant: Tenant
    space: Space
    who: str
    session: str
    wish: ChatInput
    turn: Turn
    job: Job | None
    facts: Sequence[Fact]
    now: datetime
    sides: list[ChatSide] = field(default_factory=list)

    def stream_events(self) -> Iterator[ChatEvent]:
        """The answer as it comes, and the one beside it. Closed early, what was said is stored."""
        side = ChatSide("with", _("With memory"))
        yield from self._stream_side(side, self._stream_answer(side))
        if self.wish.beside:
            remembers = self.wish.beside != WITHOUT_MEMORY
            other = ChatSide("beside", self._format_beside_title(), remembers)
            yield from self._stream_side(other, self._stream_beside_answer(other))

    def _stream_side(self, side: ChatSide, words: Iterator[ChatEvent]) -> Iterator[ChatEvent]:
        self.sides.append(side)
        try:
            yield from words
        except MemoryHubError as error:
            side.trouble = _(error.message)
        finally:
            if side.name == "with":
                self._store_reply(side)
        yield ChatEvent("replied", side)

    def _format_beside_title(self) -> str:
        if self.wish.beside == WITHOUT_MEMORY:
            return _("Without memory")
        return _("Preset %(title)s") % {"title": _(PRESETS[self.wish.beside].title)}

    def _stream_answer(self, side: ChatSide) -> Iterator[ChatEvent]:
        plain = self._answer_wish()
        if plain is not None:
            side.text, side.by, side.quoted = plain.text, "rules", plain.quoted
            yield ChatEvent("word", side, plain.text)
            return
        self._recall_memories(side, None)
        yield ChatEvent("recalled", side)
        if self.tenant.engine != Tenant.Engine.LLM and asks_for_overview(self.turn.text):
            yield from self._stream_overview(side)
            return
        if has_acting_agent(self.tenant, self.space):
            yield from self._stream_agent_answer(side)
        else:
            yield from self._stream_composed_answer(side, None)

    def _stream_beside_answer(self, side: ChatSide) -> Iterator[ChatEvent]:
        """Nothing of it is stored, and no memory is strengthened by it."""
        policy = None
        if side.remembers:
            with tenant_scope(self.tenant.id):
                layers = load_layers(self.tenant.id, self.space)
            policy = compose_candidate(layers, self.wish.beside)
            self._recall_memories(side, policy)
        yield ChatEvent("recalled", side)
        yield from self._stream_composed_answer(side, policy)

    def _answer_wish(self) -> GroundedAnswer | None:
        """What a wish about memory is answered with, when the message is one."""
        if self.facts:
            return build_canned_answer("kept", self.turn)
        if asks_to_forget_last(self.turn.text):
            done = "forgotten" if self._forget_last_message() else "nothing"
            return build_canned_answer(done, self.turn)
        if not asks_to_forget(self.turn):
            return self._reply_to_talk()
        with tenant_scope(self.tenant.id):
            policy = load_effective_policy(self.space).policy
        return build_canned_answer(f"asked_{policy.erase.on_request}", self.turn)

    def _reply_to_talk(self) -> GroundedAnswer | None:
        """To what asks nothing. A model finds its own words, and a paused space notes nothing."""
        if self.tenant.engine == Tenant.Engine.LLM or self.space.paused_at:
            return None
        return build_talk_reply(self.turn, self.space.called_names)

    def _forget_last_message(self) -> int:
        with tenant_scope(self.tenant.id):
            before = load_turns_before(self.turn, _CONTEXT_TURNS)
            said = [turn for turn in before if turn.role == "user"]
            found = list_held_fact_ids(said[-1:])
        if found:
            forget_facts(self.space, found, self.who, self.now)
        return len(found)

    def _recall_memories(self, side: ChatSide, policy: Policy | None) -> None:
        """What is remembered. This conversation stands on the page already, so of it only facts."""
        by = SearchCaller("chat", self.who)
        options = {"policy": policy, "inspect": True} if policy else {}
        with tenant_scope(self.tenant.id):
            recall = (policy or load_effective_policy(self.space).policy).recall
        with open_ledger(self.tenant.id, space_id=self.space.id) as ledger:
            before = len(ledger.calls)
            found = search_memories(
                self.space,
                self.turn.text,
                limit=MAX_CANDIDATES if recall.select == "fused" else "policy",
                session_id=self.turn.session_id,
                asked_by=by,
                unasked="twice",
                nearest=None,
                **options,  # type: ignore[arg-type]  # two of its own arguments
            )
            side.figures.add_calls(call for call, _ in ledger.calls[before:])
        side.figures.took |= found.took_ms
        side.recall_id = found.recall_id
        beside = [item for section in found.unasked for item in section.items]
        named = (at for item in [*found.items, *beside] for at in _list_source_turn_ids(item))
        with tenant_scope(self.tenant.id):
            known = load_turns_by_id(named)

        def select_informative(items: Sequence[MemoryItem]) -> list[MemoryItem]:
            return [i for i in items if _is_informative(i, self.turn, self.session, known)]

        near = select_informative(found.items)
        side.recalled = _cut_to_policy([item for item in near if item.relevant], recall)
        side.nearest = _cut_to_policy([item for item in near if not item.relevant], recall)
        shown = {item.id for item in side.recalled}
        told = [
            ContextSection(
                each.name, [i for i in select_informative(each.items) if i.id not in shown]
            )
            for each in found.unasked
        ]
        side.unasked = [section for section in told if section.items]

    def _stream_agent_answer(self, side: ChatSide) -> Iterator[ChatEvent]:
        began = perf_counter()
        with open_ledger(self.tenant.id, space_id=self.space.id) as ledger:
            before = len(ledger.calls)
            try:
                acted = answer_with_agent(
                    self.space, self.turn, side.recalled, side.unasked, self.now
                )
            finally:
                side.figures.add_calls(call for call, _ in ledger.calls[before:])
                side.figures.took["answer"] = _measure_milliseconds(began)
        side.steps, side.blocks, side.by = acted.turned.steps, acted.blocks, "agent"
        side.text = "\n\n".join(acted.turned.messages)
        # Each was stored as it was said.
        side.reply = acted.replies[-1] if acted.replies else None
        yield ChatEvent("word", side, side.text)

    def _stream_composed_answer(self, side: ChatSide, policy: Policy | None) -> Iterator[ChatEvent]:
        if self.tenant.engine != Tenant.Engine.LLM:
            yield from self._stream_quoted_answer(side, policy)
            return
        try:
            yield from self._stream_model_answer(side, policy)
        except EngineError as error:
            if side.text:
                raise
            side.degraded = _format_engine_error(error)
            yield from self._stream_quoted_answer(side, policy, "local")

    def _stream_quoted_answer(
        self, side: ChatSide, policy: Policy | None, engine: str = ""
    ) -> Iterator[ChatEvent]:
        began, by = perf_counter(), self.now
        found = [*side.recalled, *side.nearest]
        made = compose_answer(
            self.space, self.turn.text, found, at=by, now=by, policy=policy, engine=engine
        )
        side.figures.took["answer"] = _measure_milliseconds(began)
        side.by, side.quoted = "rules", made.answer.quoted
        side.text = address_answer(made.answer, made.items, self.space.called_names)
        side.citations = build_citations(made.answer, made.items)
        if not side.citations and not engine:
            self._say_what_is_nearest(side)
        elif side.citations and self._is_reading_before():
            side.text = add_caveat(side.text, self.turn)
        if made.failed:
            side.degraded = _("the engine failed")
        yield ChatEvent("word", side, side.text)

    def _say_what_is_nearest(self, side: ChatSide) -> None:
        names = self.space.called_names
        reading = side.remembers and self._is_reading_before()
        side.text, nearest = build_unknown_reply(self.turn, side.recalled, names, reading=reading)
        if nearest is not None:
            used = GroundedAnswer(side.text, quoted=True, used=(0,))
            side.citations = build_citations(used, [nearest])

    def _is_reading_before(self) -> bool:
        """Whether something told before waits to be read, in this conversation or another."""
        if self.space.paused_at:
            return False
        with tenant_scope(self.tenant.id):
            said = Turn.objects.filter(space=self.space, role=Turn.Role.USER, seq__lt=self.turn.seq)
            waiting = list(said.filter(state=Turn.State.PENDING).order_by("-seq")[:_CONTEXT_TURNS])
        return any(may_tell(turn) for turn in waiting)

    def _stream_overview(self, side: ChatSide) -> Iterator[ChatEvent]:
        reading = self._is_reading_before()
        with tenant_scope(self.tenant.id):
            side.text, side.citations = build_overview(
                self.space, self.turn, self.now, reading=reading
            )
        side.by, side.quoted = "rules", True
        yield ChatEvent("word", side, side.text)

    def _stream_model_answer(self, side: ChatSide, policy: Policy | None) -> Iterator[ChatEvent]:
        with tenant_scope(self.tenant.id):
            own = policy or load_layers(self.tenant.id, self.space).policy
            before = load_turns_before(self.turn, _CONTEXT_TURNS)
        prompt = build_chat_prompt(self.space, self.turn.text, before, side.memories, self.now)
        streamed, began = (
            StreamedReply(self.tenant, self.space, select_chat_model(self.tenant, own), prompt),
            perf_counter(),
        )
        try:
            for piece in streamed:
                if not side.text:
                    side.figures.took["first word"] = _measure_milliseconds(began)
                side.text += piece
                yield ChatEvent("word", side, piece)
        finally:
            side.by = streamed.model
            side.figures.add_calls([streamed.call] if streamed.call.milliseconds else [])
            spent = _measure_milliseconds(began) - side.figures.took.get("first word", 0.0)
            side.figures.took["answer"] = round(spent, 1)
        side.citations = build_citations(
            parse_cited_answer(side.text, prompt, side.all_items), side.all_items
        )

    def _store_reply(self, side: ChatSide) -> None:
        """Nothing where something was erased meanwhile: the reply may say it again; and nothing
        anew of an agent that has kept its own words."""
        if side.reply is not None:
            return
        with tenant_scope(self.tenant.id):
            erased = Receipt.objects.filter(created_at__gte=self.now).exists()
        if not side.text.strip() or erased:
            return
        # By the facts an erasure finds the replies that repeat a memory; by all of them the reply
        # shows what it rests on when the conversation is opened again.
        named = [cited.id for cited in side.citations if cited.kind in ("fact", "note", "turn")]
        cites = [str(each) for each in dict.fromkeys(named)]
        metadata = {"quoted": side.quoted} | ({"cites": cites} if cites else {})
        once = f"{self.turn.external_id}:a"
        reply = Message("assistant", side.text, external_id=once, metadata=metadata)
        side.reply = ingest_messages(
            self.tenant.id, _build_ingest_request(self.space, reply, self.session)
        ).turns[0]


def start_exchange(
    request: ConsoleRequest, space: Space, wish: ChatInput, now: datetime
) -> MessageExchange:
    """Store the message: it is safe before anything is asked of a model.

    Raises InvalidInput and TooLarge.
    """
    session, who = build_session_name(request.user.id, now), request.user.get_username()
    message = Message("user", wish.text, external_id=wish.idempotency_key or uuid4().hex)
    # An agent that answers it looks at its window itself.
    acts = has_acting_agent(request.tenant, space)
    asked = replace(_build_ingest_request(space, message, session), follows_window=not acts)
    facts = keep_verbatim(space.tenant_id, asked, who, now) if wish.keep_verbatim else []
    done = ingest_messages(space.tenant_id, asked)
    turn = done.turns[0]
    if not facts and asks_to_keep(turn):
        facts = keep_verbatim(space.tenant_id, asked, who, now)
    return MessageExchange(request.tenant, space, who, session, wish, turn, done.job, facts, now)


def keep_turn(space: Space, turn: Turn, who: str, now: datetime) -> list[Fact]:
    """Remember word by word what was said before."""
    message = Message(turn.role, turn.text, turn.speaker, external_id=turn.external_id)
    return keep_verbatim(
        space.tenant_id, _build_ingest_request(space, message, turn.session.external_id), who, now
    )


def forget_facts(space: Space, fact_ids: Sequence[UUID], who: str, now: datetime) -> UUID:
    """Hold these no longer. Returns the event, which can be undone."""
    why = "forgotten in the chat"
    return corrections.forget_facts(space, fact_ids, who, now, reason=why).event.id


def list_held_fact_ids(turns: Sequence[Turn]) -> list[UUID]:
    """Facts read from these turns that are held. Call inside the tenant's scope."""
    rows = Derivation.objects.filter(
        child_type="fact", turn__in=turns, role=Derivation.Role.SUPPORT
    )
    held = Fact.objects.filter(id__in=rows.values("child_id"), retired_at=None)
    return list(held.filter(status=Fact.Status.ACTIVE).values_list("id", flat=True))


def _build_ingest_request(space: Space, message: Message, session: str) -> IngestRequest:
    return IngestRequest(space.subject, [message], session, agent=AGENT_NAME, channel=CHAT_CHANNEL)


def _measure_milliseconds(began: float) -> float:
    return round((perf_counter() - began) * 1000, 1)


def _format_engine_error(error: EngineError) -> str:
    if isinstance(error, ModelsPaused):
        return error.message
    return _("the model failed: %(why)s") % {"why": _(error.message)}


def _list_source_turn_ids(item: MemoryItem) -> set[UUID]:
    own = {item.id} if item.kind == "turn" else set()
    return own | {source.turn_id for source in item.sources}


def _cut_to_policy(items: Sequence[MemoryItem], recall: RecallPolicy) -> Sequence[MemoryItem]:
    if recall.whole:
        return items[-MAX_RECALLED_OF_WHOLE:]
    return items[:MAX_RECALLED] if recall.select == "fused" else items


def _is_informative(
    item: MemoryItem, asked: Turn, session: str, known: Mapping[UUID, Turn]
) -> bool:
    sources = [known[at] for at in _list_source_turn_ids(item) if at in known]
    own = [t for t in sources if _is_news_turn(t) and t.id != asked.id]
    if item.kind == "fact":
        return bool(own) or not sources
    return len(own) == len(sources) and all(t.session.external_id != session for t in own)


def _is_news_turn(turn: Turn) -> bool:
    """Not a reply put together from memories, which would be an echo, and no wish to forget."""
    return not turn.metadata.get("quoted") and turn.speech_act != "forget"
