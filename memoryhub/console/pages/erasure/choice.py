"""What is to be erased, as an address or a form names it, and what could be meant besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q
from django.http import Http404, QueryDict
from django.shortcuts import get_object_or_404

from memoryhub.console.frame.forms import read_id, read_ids
from memoryhub.console.pages.facts.views import FactRow, load_fact_rows
from memoryhub.dialogues.models import Session, Turn
from memoryhub.engines.local.comparison.forget import split_wish_parts
from memoryhub.engines.local.comparison.pairs import describe_meaning
from memoryhub.engines.local.grammar.speech import extract_wish_words
from memoryhub.pipeline.erasure.candidates import find_erasure_candidates
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Proposal

MAX_CHOSEN = 100
MAX_SAID = 6  # turns offered beside the claims
MAX_SEARCH_LENGTH = 300


@dataclass(frozen=True, slots=True)
class ErasureChoice:
    """What is chosen so far: nothing, or a target. `wish`: the case that asked for it; `q`: the
    words by which memories are looked for; `sources`: also the words that say them, and of a
    conversation also replies in others that repeat what only it told."""

    facts: Sequence[Fact] = ()
    turns: Sequence[Turn] = ()
    session: Session | None = None
    everything: bool = False
    wish: Proposal | None = None
    wish_turns: Sequence[Turn] = ()
    q: str = ""
    sources: bool = True

    @property
    def target(self) -> ErasureTarget | None:
        """None while nothing is chosen."""
        if self.everything:
            return ErasureTarget("subject")
        if self.session is not None:
            return ErasureTarget("session", (self.session.id,), self.sources)
        wishes = tuple(turn.id for turn in self.wish_turns)
        turns = tuple(turn.id for turn in self.turns)
        if self.facts:
            ids = tuple(fact.id for fact in self.facts)
            return ErasureTarget("facts", ids, self.sources, wishes, turns)
        if turns:
            return ErasureTarget("turns", (*turns, *wishes), self.sources, wishes)
        return None

    @property
    def is_open(self) -> bool:
        """Whether it is chosen from a list: not a whole conversation, nor all there is."""
        return not self.everything and self.session is None

    @property
    def chosen_ids(self) -> set[UUID]:
        return {row.id for row in (*self.facts, *self.turns)}

    @property
    def words(self) -> str:
        """What is looked for, or what is chosen."""
        asked = " ".join(turn.words for turn in self.wish_turns)
        return self.q or asked


@dataclass(frozen=True, slots=True)
class ErasureOffer:
    """What may be meant: claims, and what people said that no claim was read from."""

    claims: Sequence[FactRow] = ()
    turns: Sequence[Turn] = field(default_factory=tuple)


def read_choice(sent: QueryDict, space: Space) -> ErasureChoice:
    """Raises Http404 for what is not of this space. Call inside the tenant's scope."""
    if sent.get("all"):
        return ErasureChoice(everything=True)
    if asked := sent.get("session"):
        rows = Session.objects.filter(space=space)
        session = get_object_or_404(rows, id=read_id(asked))
        # From a link nothing is said of it yet: what repeats the conversation is taken along.
        sources = sent.get("sources") == "yes" or "chosen" not in sent
        return ErasureChoice(session=session, sources=sources)
    wish = _read_wish(sent, space)
    facts = read_ids(sent.getlist("facts"))[:MAX_CHOSEN]
    if wish and "chosen" not in sent and not wish.payload.get("guessed"):
        facts = read_ids(str(each) for each in wish.payload.get("fact_ids", []))
    turns = read_ids(sent.getlist("turns"))[:MAX_CHOSEN]
    held = Fact.objects.filter(space=space, id__in=facts)
    said = Turn.objects.filter(space=space, id__in=turns).exclude(state=Turn.State.REDACTED)
    if ("chosen" not in sent and not wish) and len(held) + len(said) < len(facts) + len(turns):
        raise Http404
    asked_in = Turn.objects.filter(space=space, id__in=wish.turn_ids) if wish else ()
    return ErasureChoice(
        list(held),
        list(said),
        wish=wish,
        wish_turns=list(asked_in),
        q=sent.get("q", "").replace("\0", "").strip()[:MAX_SEARCH_LENGTH],
        sources=sent.get("sources") == "yes" or (wish is not None and "chosen" not in sent),
    )


def _read_wish(sent: QueryDict, space: Space) -> Proposal | None:
    asked = sent.get("wish")
    if not asked:
        return None
    rows = Proposal.objects.filter(space=space, kind=Proposal.Kind.ERASE)
    wish: Proposal = get_object_or_404(rows, id=read_id(asked), state=Proposal.State.OPEN)
    return wish


def load_offer(space: Space, choice: ErasureChoice) -> ErasureOffer:
    """Opens its own scopes: what is looked for is embedded with nothing open."""
    chosen = [fact.id for fact in choice.facts]
    if choice.wish:
        chosen += read_ids(str(each) for each in choice.wish.payload.get("fact_ids", []))
    claims = find_erasure_candidates(space, choice.words, list(dict.fromkeys(chosen)))
    with tenant_scope(space.tenant_id):
        rows = load_fact_rows(each.fact for each in claims)
        return ErasureOffer(rows, _find_said(space, choice))


def _find_said(space: Space, choice: ErasureChoice) -> list[Turn]:
    """What people said in the words looked for, those chosen first."""
    parts = split_wish_parts(extract_wish_words(choice.words) or choice.words)
    stems = {stem for part in parts for stem in describe_meaning(part).stems if len(stem) > 1}
    chosen = {turn.id for turn in choice.turns}
    says = reduce(or_, (Q(text__icontains=stem) for stem in stems), Q(id__in=chosen))
    held = Turn.objects.filter(says, space=space, role=Turn.Role.USER)
    held = held.exclude(state=Turn.State.REDACTED)
    held = held.exclude(id__in=[turn.id for turn in choice.wish_turns]).order_by("-seq")
    found = {turn.id: turn for turn in (*choice.turns, *held[:MAX_SAID])}
    return list(found.values())
