"""A question made ready: policy, route and vector, before a memory is read (spec §12.2 step 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import perf_counter
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from memoryhub.dialogues.messages import normalise_text
from memoryhub.dialogues.models import IS_INNER, Turn
from memoryhub.dialogues.queries import LATEST_TURNS
from memoryhub.engines.local.answers import questions
from memoryhub.engines.local.language import can_search_language
from memoryhub.engines.types import Embedder, RoutedQuestion, Utterance, embed_questions
from memoryhub.errors import InvalidInput
from memoryhub.inference import selection
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.question import intents
from memoryhub.recall.question.caller import NO_OVERRIDE, SearchOverride, SearchVisibility
from memoryhub.recall.question.engine import TolerantEngine
from memoryhub.recall.question.parse import ParsedQuestion, parse_question
from memoryhub.tenants.database.prepared import open_prepared_cursor
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import reading_scope
from notes.index.indexer import MAX_CHUNK_TOKENS

Vector = NDArray[np.float32]


@dataclass
class StageTimer:
    """Milliseconds by stage."""

    took_ms: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure_stage(self, name: str) -> Iterator[None]:
        start = perf_counter()
        yield
        spent = (perf_counter() - start) * 1000
        self.took_ms[name] = round(self.took_ms.get(name, 0.0) + spent, 2)


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """Everything the channels need to look for an answer.

    `model` names the vectors to compare with `vector`, which is None where words alone can be
    searched. `names` are entities the question names, as far as it was asked for them, with a
    vector each where there are vectors: `name_vectors`. `window` is what was said before it in
    `session_id`. `version` is the space's policy's. `pending`: so many turns of the space waited
    to be read when it was asked. `has_cases`: conflicts of its claims wait for a person.
    `is_assisted`: what was said there last is talk with an assistant, or the subject's alone.
    """

    space: Space
    policy: Policy
    routed_question: RoutedQuestion
    parsed_question: ParsedQuestion
    model: str
    vector: Vector | None
    visibility: SearchVisibility
    session_id: UUID | None = None
    names: tuple[str, ...] = ()
    name_vectors: Sequence[Vector] = ()
    window: tuple[Utterance, ...] = ()
    version: str = ""
    limit: int | None = None
    pending: int = 0
    has_cases: bool = False
    is_read_by_rules: bool = True  # what is known was made of the turns by no model
    is_assisted: bool = False

    @property
    def k(self) -> int:
        """How many memories to look for: as many as were asked for, else what the router wants."""
        if self.limit is not None:
            return self.limit
        recall = self.policy.recall
        return intents.compute_memory_count(self.routed_question.want, recall.k_min, recall.k_max)

    def to_deep_question(self) -> PreparedQuestion:
        """The same, looking also at what has faded."""
        return replace(self, visibility=replace(self.visibility, deep=True))


@dataclass(frozen=True, slots=True)
class SpaceSearchState:
    """How a space stands when it is asked: its policy and the version of that, by which vectors
    it is searched, how many of its turns wait to be read, whether conflicts of its claims wait for
    a person, which engine reads them, and whether an assistant spoke among the latest."""

    policy: Policy
    version: str
    model: str
    pending: int
    has_cases: bool
    engine: str
    is_assisted: bool


def prepare_question(
    space: Space,
    query: str,
    visibility: SearchVisibility,
    clock: StageTimer,
    *,
    session_id: UUID | None = None,
    name_entities: bool = False,
    override: SearchOverride = NO_OVERRIDE,
    standing: SpaceSearchState | None = None,
) -> tuple[PreparedQuestion, TolerantEngine]:
    """Raises InvalidInput for an empty query. Opens its own scope; asks models outside of it.

    `standing`: as whoever has just read the space read it together with it.
    """
    query = strip_unstorable(query)
    if not query.strip():
        raise InvalidInput(_("ask something: the query is empty"), field="query")
    with clock.measure_stage("route"):
        if standing is None:
            with reading_scope(space.tenant_id):
                standing = load_space_state(space)
        policy = override.apply_to_policy(standing.policy)
        model = override.vectors or standing.model
        asked_of, window = _load_engine_and_window(space, policy, override.engine, session_id)
        consultant = TolerantEngine(space, policy, asked_of, visibility.now)
        asked = _route_question(query, policy, consultant, window)
        named = name_entities or policy.route.entities
        names = _find_entity_names(asked.query, policy, consultant) if named else ()
        terms = consultant.extract_terms(asked.query) if policy.route.keywords else []
    embedder = selection.embed_or_none(lambda: selection.find_embedder(model))
    way = _parse_by_rules(asked.query, space, policy, visibility.now, embedder)
    with clock.measure_stage("embed"):
        readable = embedder is not None and can_search_language(embedder.name, way.language)
        text = f"{way.text_to_embed}\n{' '.join(terms)}".rstrip()
        vectors = _embed_question(embedder, text, names) if embedder and readable else []
    vector = next(iter(vectors), None)
    if vector is None and (readable or embedder is None):
        consultant.degraded.insert(0, "dense")
    if vector is not None and not policy.recall.words:
        way = replace(way, words="")
    if way.past and visibility.as_of is None:
        visibility = replace(visibility, include_past=True)
    ask = PreparedQuestion(
        space=space,
        policy=policy,
        routed_question=asked,
        parsed_question=way,
        model=embedder.name if embedder else model,
        vector=vector,
        visibility=visibility,
        session_id=session_id,
        names=names,
        name_vectors=vectors[1:],
        window=window,
        version=standing.version,
        pending=standing.pending,
        has_cases=standing.has_cases,
        is_read_by_rules=standing.engine != Tenant.Engine.LLM,
        is_assisted=standing.is_assisted,
    )
    return ask, consultant


def strip_unstorable(query: str) -> str:
    """Without what PostgreSQL takes no text with: NULs, and halves of characters."""
    return query.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


_SPACE_STATE_SQL = """
SELECT embedding_model, (
  SELECT count(*) FROM dialogues_turn
  WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND state = 'pending'), EXISTS (
  SELECT 1 FROM notes_proposal
  WHERE tenant_id = %(tenant)s AND space_id = %(space)s AND state = 'open' AND row_type = 'fact'
), (
  SELECT engine FROM tenants_tenant WHERE id = %(tenant)s), (
  SELECT bool_or(role = 'assistant')
    OR bool_and(speaker = ANY(%(called)s)) FILTER (WHERE role = 'user')
  FROM (
    SELECT role, speaker FROM dialogues_turn
    WHERE tenant_id = %(tenant)s AND space_id = %(space)s
    ORDER BY seq DESC LIMIT %(latest)s) late)
FROM tenants_space WHERE tenant_id = %(tenant)s AND id = %(space)s
"""


def load_space_state(space: Space) -> SpaceSearchState:
    """Read anew, for a cutover may have come since the caller read the space (E17). Call inside
    the tenant's scope."""
    effective = load_effective_policy(space)
    with open_prepared_cursor() as cursor:
        asked: dict[str, UUID | int | list[str]] = {
            "tenant": space.tenant_id,
            "space": space.id,
            "latest": LATEST_TURNS,
            "called": list(space.called_names),
        }
        cursor.execute(_SPACE_STATE_SQL, asked)
        found = cursor.fetchone() or ("", 0, False, "", False)
        model, pending, has_cases, engine, assisted = found
    policy, version = effective.policy, effective.version
    return SpaceSearchState(
        policy, version, model or "", pending, has_cases, engine, is_assisted=bool(assisted)
    )


def _load_engine_and_window(
    space: Space, policy: Policy, engine: str | None, session_id: UUID | None
) -> tuple[Tenant | None, tuple[Utterance, ...]]:
    """The tenant, whose engine it is, where the policy has it asked at all; and the last turns of
    the session, for the engine to know who "she" is. Opens its own scope."""
    route = policy.route
    asked = (route.mode, policy.judge.mode, policy.recall.rerank)
    if "llm" not in asked and not (route.keywords or route.entities):
        return None, ()
    with reading_scope(space.tenant_id):
        tenant: Tenant = Tenant.objects.get(id=space.tenant_id)
        tenant.engine = engine or tenant.engine
        return tenant, _load_session_window(policy, session_id)


def _load_session_window(policy: Policy, session_id: UUID | None) -> tuple[Utterance, ...]:
    if session_id is None:
        return ()
    said = Turn.objects.filter(session_id=session_id).exclude(IS_INNER)
    said = said.exclude(state=Turn.State.REDACTED)
    last = list(said.order_by("-ordinal")[: policy.derive.context_turns])
    return tuple(
        Utterance(f"w{at}", turn.speaker, turn.role, turn.words, turn.occurred_at)  # type: ignore[arg-type]  # a checked choice
        for at, turn in enumerate(reversed(last), 1)
    )


def _route_question(
    query: str, policy: Policy, consultant: TolerantEngine, window: tuple[Utterance, ...]
) -> RoutedQuestion:
    """Without a router, and where it fails: the question as it is, a fact, K_m (spec §7.4)."""
    if policy.route.mode == "rules":
        return questions.route_by_words(query)
    plain = RoutedQuestion(query=query)
    if policy.route.mode == "off":
        return plain
    return consultant.route_question(query, window) or plain


def _find_entity_names(query: str, policy: Policy, consultant: TolerantEngine) -> tuple[str, ...]:
    wanted = policy.route.mode == "llm" or policy.route.entities
    asked = consultant.extract_names(query) if wanted else None
    return tuple(questions.extract_names(query) if asked is None else asked)


def _parse_by_rules(
    query: str, space: Space, policy: Policy, now: datetime, embedder: Embedder | None
) -> ParsedQuestion:
    """What the rules read of it; of a question that is not to be routed, its words alone."""
    most = embedder.max_tokens if embedder else MAX_CHUNK_TOKENS
    subject = _find_subject_name(space)
    today = now.astimezone(ZoneInfo(space.timezone))
    way = parse_question(query, space.speakers, today, most, subject, space.called_names)
    if policy.route.mode != "off":
        return way
    return replace(
        way,
        named=(),
        subject="",
        spans=(),
        asks_when=False,
        predicates=(),
        tense="",
        value="",
        kind=None,
    )


def _find_subject_name(space: Space) -> str:
    """The one who spoke here and whom the space is about, as they are called."""
    names = [normalise_text(name) for name in space.called_names]
    spoken = {normalise_text(name): name for name in space.speakers}
    return next((spoken[name] for name in names if name in spoken), "")


def _embed_question(embedder: Embedder, question: str, names: Sequence[str]) -> Sequence[Vector]:
    """The vectors of the question and of what it names; none when the embedder is down (E16)."""

    def embed() -> list[Vector]:
        named = list(embedder.embed(names)) if names else []
        return [*embed_questions(embedder, [question]), *named]

    return selection.embed_or_none(embed) or []
