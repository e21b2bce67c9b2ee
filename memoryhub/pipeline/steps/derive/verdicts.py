"""Asking an engine what candidates do to the claims near them, and checking what it says.

All candidates of a batch are asked about in one call. A claim is ended or reworded at most once
by that call's verdicts: a later candidate that names it again is asked about anew, by itself,
against what is held by then (spec §5.4 M9).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memoryhub.engines.llm.grounding.attribution import split_sentences
from memoryhub.engines.local.attribution.passed_on import mask_passed_on
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimSlots,
    ClaimVerdict,
    Engine,
    HeldClaim,
    ToldMessage,
    VerdictOp,
)
from memoryhub.policies.schema import FactsPolicy
from notes.facts.decide import ClaimDecision, ResolutionOp
from notes.facts.exchanges import bear_exchange_out
from notes.facts.judge import JudgeTrust, decide_by_verdict
from notes.facts.resolve import Resolver
from notes.history.change_set import TurnEvidence
from notes.models import Fact

NAME_PUT_RIGHT = "the name was put right"


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """What an engine said, while it read, that a claim does to a row held, or to an earlier claim
    of the batch by its handle."""

    op: VerdictOp
    row: UUID | None = None
    handle: str = ""

    def place_among(self, places: Mapping[str, int]) -> TargetedVerdict:
        return TargetedVerdict(ClaimVerdict("", self.op), self.row, places.get(self.handle))


@dataclass(frozen=True, slots=True)
class TargetedVerdict:
    """A verdict with what its handle stood for when it was asked."""

    verdict: ClaimVerdict
    row: UUID | None = None
    earlier: int | None = None


@dataclass(frozen=True, slots=True)
class ClaimQuestion:
    """A candidate with what may be offered for it, nearest first: rows held, and the places of
    earlier candidates of the batch. `judged`: what the engine said of it while it read; None: it
    is still to be asked. `quoted`: the words that it rests on were found, and speak of it.
    `passed_on`: they are somebody else's, whom the speaker quotes or tells of. `withheld`: why it
    is only put before a person. `renames`: the claim that it tells with a name put right."""

    fact: Fact
    sources: Sequence[TurnEvidence]
    trusted: bool
    correction: bool
    held: Sequence[UUID] = ()
    earlier: Sequence[int] = ()
    quarantine_reason: str = ""
    judged: Sequence[TargetedVerdict] | None = None
    quoted: bool = True
    similar: Mapping[UUID, float] = field(default_factory=dict)  # cosines of claims, by their ids
    said: str = ""  # the words of the message around those it rests on
    assisted: bool = False  # told to an assistant
    passed_on: bool = False
    withheld: str = ""
    quotation: Sequence[str] = ()  # the speaker's own sentences that are quoted
    message: ToldMessage | None = None
    renames: UUID | None = None


@dataclass
class ClaimDecider:
    """One batch being decided in memory. Nothing is open; `engine` may be a model far away, whose
    word goes as far as `trust`."""

    resolver: Resolver
    engine: Engine
    questions: Sequence[ClaimQuestion]
    rows: Mapping[UUID, Fact]
    subject: str
    facts: FactsPolicy
    trust: JudgeTrust = "guarded"
    speakers: Collection[str] = ()
    aliases: tuple[str, ...] = ()  # names of the subject
    embedder: str = ""
    most: int = 10  # claims that one is compared with
    _standing_facts: dict[int, Fact] = field(
        default_factory=dict
    )  # what says a candidate, by its place
    _offered_facts: dict[UUID, Fact] = field(
        default_factory=dict
    )  # of this batch, and offered since

    def decide_candidates(self) -> list[tuple[ClaimDecision[Any], Fact | None]]:
        """For each candidate, in order, what became of it and the row that now says it."""
        asked = [
            (p, self.questions[p].held, self.questions[p].earlier) for p in self._list_open_places()
        ]
        rulings = self._ask_engine(asked)
        for place, question in enumerate(self.questions):
            if question.judged is not None:
                rulings[place] = list(question.judged)
        return [
            self._apply_decision(place, rulings.get(place, ()))
            for place in range(len(self.questions))
        ]

    def _list_open_places(self) -> list[int]:
        """Candidates that code leaves open, that nobody judged yet and that have something to be
        compared with. A model is also asked about one that the table would have take the place of
        another: it may say the same more exactly (Aberaeron, of Wales)."""
        if self.resolver.rules.resolution != "resolve":
            return []
        return [
            place
            for place, question in enumerate(self.questions)
            if not question.quarantine_reason
            and question.judged is None
            and question.renames is None
            and (question.held or question.earlier)
            and self._may_judge(self._decide_by_rules(question))
        ]

    def _may_judge(self, decision: ClaimDecision[Any]) -> bool:
        replaced = decision.op is ResolutionOp.SUPERSEDE and not self.engine.reads_by_rules
        return decision.is_open or replaced

    def _decide_by_rules(self, question: ClaimQuestion) -> ClaimDecision[Any]:
        return self.resolver.decide_by_rules(
            question.fact, trusted=question.trusted, correction=question.correction
        )

    def _apply_decision(
        self, place: int, rulings: Sequence[TargetedVerdict]
    ) -> tuple[ClaimDecision[Any], Fact | None]:
        question = self.questions[place]
        new, sources = question.fact, question.sources
        if question.quarantine_reason:
            return self.resolver.quarantine_candidate(
                new, sources, question.quarantine_reason
            ), None
        if question.renames is not None:
            return self._put_name_right(place, self.rows[question.renames])
        if question.withheld:
            judged = [self._judge_verdict(place, ruling) for ruling in rulings]
            if question.judged is None:
                judged.append(self._decide_by_rules(question))
            return self.resolver.withhold_candidate(new, sources, question.withheld, judged), None
        decision = self._decide_by_rules(question)
        if question.judged is not None and _was_told_with(decision.target, new):
            # Who read both in one breath has said what one does to the other.
            decision = ClaimDecision(ResolutionOp.ADD, "new")
        also: list[ClaimDecision[Any]] = []
        if self._leaves_beside(question, rulings):
            decision = _keep_beside(decision, is_borne_out=question.quoted)
        elif rulings and (self._may_judge(decision) or question.judged is not None):
            decision, *also = self._combine_decisions(
                decision, [self._judge_verdict(place, ruling) for ruling in rulings]
            )
        elif decision.is_open and (ended := self._find_unsaid_target(question)):
            decision = ClaimDecision(
                ResolutionOp.REVIEW, "ends something, and nobody says what", ended
            )
        if doubt := self._find_doubt(question):
            decision, *also = [_hold_back(each, doubt) for each in (decision, *also)]
        done = self.resolver.apply_decision(
            decision, new, sources, trusted=question.trusted, also=also
        )
        stands: Fact | None = done.target if done.op is ResolutionOp.SAME else None
        if done.inserts:
            stands = new
        if stands is not None:
            self._standing_facts[place] = stands
        return done, stands

    def _put_name_right(self, place: int, held: Fact) -> tuple[ClaimDecision[Any], Fact | None]:
        """The claim with the right name is a new version of it, unless two go by the wrong one."""
        question = self.questions[place]
        new, sources = question.fact, question.sources
        target = self.resolver.find_present_wording(held)
        decision: ClaimDecision[Any] = ClaimDecision(
            ResolutionOp.AUGMENT, NAME_PUT_RIGHT, target, target.valid_to, new.text, renames=True
        )
        if question.withheld:
            withheld = self.resolver.withhold_candidate(new, sources, question.withheld, [decision])
            return withheld, None
        done = self.resolver.apply_decision(decision, new, sources, trusted=question.trusted)
        if done.inserts:
            self._standing_facts[place] = new
        return done, new if done.inserts else None

    def _leaves_beside(self, question: ClaimQuestion, rulings: Sequence[TargetedVerdict]) -> bool:
        """Whether a model that was asked about it says that it is new beside what it was shown."""
        asked = question.judged is None and not self.engine.reads_by_rules
        return asked and bool(rulings) and all(each.verdict.op == "add" for each in rulings)

    def _find_unsaid_target(self, question: ClaimQuestion) -> Fact | None:
        """What an ending most likely ends of which a model that was asked says nothing at all: a
        person is asked then. Who says that it is new has said what becomes of it."""
        ends = question.correction or question.fact.polarity == "ended"
        if self.engine.reads_by_rules or question.judged is not None or not ends:
            return None
        near = (self.rows[row] for row in question.held)
        return next((f for f in near if f.polarity == "holds" and f.valid_to is None), None)

    def _find_doubt(self, question: ClaimQuestion) -> str:
        """Why nothing is ended or reworded by this claim before a person says so; "" where it may
        do so. Rules read the words themselves; a model may make them up, and one that is trusted
        may be talked into it by what it reads: its words are looked for all the same. What code
        decides of a claim rests on the model's reading of it too."""
        if question.passed_on:
            return "told of what somebody else says"
        if self.engine.reads_by_rules:
            return ""
        if self.trust == "confirm":
            return "a model's word waits for a person"
        return "" if question.quoted else "the words it rests on do not say it"

    def _combine_decisions(
        self, by_rules: ClaimDecision[Any], judged: Sequence[ClaimDecision[Any]]
    ) -> list[ClaimDecision[Any]]:
        """What becomes of the new claim, and then of each further claim that it touches. What has
        the words of a claim held repeats that one, whatever it does to others; what rules end ends
        too, where the engine did not judge that one."""
        repeated = by_rules.target if by_rules.op is ResolutionOp.SAME else None
        if repeated is not None and not any(d.mutates and d.target is repeated for d in judged):
            return [by_rules, *(each for each in judged if each.target is not repeated)]
        if not by_rules.is_open and all(each.is_open for each in judged):
            return [by_rules]
        if by_rules.mutates and all(each.target is not by_rules.target for each in judged):
            judged = [*judged, by_rules]
        weight = [ResolutionOp.SAME, ResolutionOp.AUGMENT, ResolutionOp.CORRECT]
        first = min(
            judged, key=lambda d: weight.index(d.op) if d.op in weight else len(weight) + d.is_open
        )
        return [first, *(each for each in judged if each is not first)]

    def _judge_verdict(self, place: int, ruling: TargetedVerdict) -> ClaimDecision[Any]:
        target = self._find_target(ruling)
        question = self.questions[place]
        if target is not None and question.judged is not None:
            target = self.resolver.find_present_wording(target)
        if target is not None and target.id in self.resolver.changed_fact_ids:
            again = self._ask_again(place, target) if question.judged is None else None
            target = self._find_target(again) if again else None
            if again is None or (
                target is not None and target.id in self.resolver.changed_fact_ids
            ):
                return ClaimDecision(ResolutionOp.ADD, "new")
            ruling = again
        verdict = ruling.verdict
        new: Any = question.fact
        if target is not None and verdict.op == "contradict" and self._stand_beside(new, target):
            if self.engine.reads_by_rules:
                return ClaimDecision(ResolutionOp.ADD, "a person may have several of this")
            return ClaimDecision(ResolutionOp.REVIEW, "both may be so, as a person has set", target)
        return decide_by_verdict(
            verdict.op,
            new,
            target,
            text=verdict.text or (new.text if question.judged is not None else ""),
            sure=verdict.sure,
            trusted=question.trusted,
            correction=question.correction,
            trust="guarded" if self.engine.reads_by_rules else self.trust,
            quoted=question.quoted,
            speakers=self.speakers,
            tells_state=question.judged is not None,
            is_model=not self.engine.reads_by_rules,
            bears_exchange_out=target is not None and self._bear_exchange_out(question, target),
            why=verdict.reason if self.engine.reads_by_rules else "",
        )

    def _bear_exchange_out(self, question: ClaimQuestion, target: Fact) -> bool:
        """Whether the speaker's own words bear out that one value took the place of the other.
        Rules have weighed the words already."""
        if self.engine.reads_by_rules or not question.quoted:
            return False
        around = split_sentences(mask_passed_on(question.said))
        values = [fact.object or fact.complement for fact in (question.fact, target)]
        return bear_exchange_out(question.quotation, around, *values)

    def _stand_beside(self, new: Fact, old: Fact) -> bool:
        """Whether a person has set that the relation of both has many values."""
        same = new.predicate_key == old.predicate_key != ""
        return same and self.facts.get_cardinality(new.predicate_key) == "multi"

    def _find_target(self, ruling: TargetedVerdict) -> Fact | None:
        if ruling.row is not None:
            return self._offered_facts.get(ruling.row) or self.rows.get(ruling.row)
        return self._standing_facts.get(ruling.earlier) if ruling.earlier is not None else None

    def _ask_again(self, place: int, target: Fact) -> TargetedVerdict | None:
        """Ask about one candidate by itself, against what took the place of what it named."""
        successor = self.resolver.successors[target.id]
        left = [
            row for row in self.questions[place].held if row not in self.resolver.changed_fact_ids
        ]
        if successor.id not in self.resolver.changed_fact_ids:
            self._offered_facts[successor.id] = successor
            left = [successor.id, *left]
        found = self._ask_engine([(place, left[: self.most], ())])
        return next(iter(found.get(place, ())), None)

    def _ask_engine(
        self, asked: Sequence[tuple[int, Sequence[UUID], Sequence[int]]]
    ) -> dict[int, list[TargetedVerdict]]:
        """One call about these candidates, each with the rows and earlier candidates offered."""
        held = list(dict.fromkeys(row for _, rows, _ in asked for row in rows))
        if not (held or any(earlier for _, _, earlier in asked)):
            return {}
        handles = {row: f"m{number}" for number, row in enumerate(held, 1)}
        candidates = [
            self._build_candidate(p, {handles[row]: row for row in rows}, earlier)
            for p, rows, earlier in asked
        ]
        shown = [build_held_claim(handle, self._get_fact(row)) for row, handle in handles.items()]
        named = {other for _, _, earlier in asked for other in earlier}
        settled = sorted(named - {place for place, _, _ in asked})
        shown += [
            build_held_claim(_format_handle(place), self.questions[place].fact) for place in settled
        ]
        verdicts = self.engine.resolve_claims(
            ClaimComparison(candidates, shown, self.subject, self.aliases, self.embedder)
        )
        rows = {handle: row for row, handle in handles.items()}
        places = {_format_handle(p): p for p in range(len(self.questions))}
        found: dict[int, list[TargetedVerdict]] = {}
        for each in verdicts:
            if each.candidate in places:
                meant = TargetedVerdict(each, rows.get(each.target), places.get(each.target))
                found.setdefault(places[each.candidate], []).append(meant)
        return found

    def _build_candidate(
        self, place: int, rows: Mapping[str, UUID], earlier: Sequence[int]
    ) -> ClaimCandidate:
        question = self.questions[place]
        fact = question.fact
        known = {**rows, **{_format_handle(p): self.questions[p].fact.id for p in earlier}}
        offered = list(known)[: self.most]
        return ClaimCandidate(
            handle=_format_handle(place),
            text=fact.text,
            owner=fact.owner,
            speaker=fact.speaker,
            said_at=fact.asserted_at,
            event_from=fact.event_from,
            offered=tuple(offered),
            polarity=fact.polarity,  # type: ignore[arg-type]  # a checked choice
            slots=_read_slots(fact),
            correction=question.correction,
            similar=tuple(question.similar.get(known[handle]) for handle in offered),
            said=question.said,
            assisted=question.assisted,
            message=question.message,
        )

    def _get_fact(self, row: UUID) -> Fact:
        return self._offered_facts.get(row) or self.rows[row]


def _was_told_with(held: Fact | None, new: Fact) -> bool:
    """Whether a claim held is of the same moment; said again in the same words it is one claim."""
    return (
        held is not None and held.asserted_at == new.asserted_at and held.text_key != new.text_key
    )


def _keep_beside(decision: ClaimDecision[Any], *, is_borne_out: bool) -> ClaimDecision[Any]:
    """A model's word that both are so stands against the table: "I also work at the library"."""
    if not decision.mutates:
        return decision
    op = ResolutionOp.ADD if is_borne_out else ResolutionOp.REVIEW
    return ClaimDecision(op, "both are so, by a model's word", decision.target)


def _hold_back(decision: ClaimDecision[Any], doubt: str) -> ClaimDecision[Any]:
    if not decision.mutates:
        return decision
    return ClaimDecision(ResolutionOp.REVIEW, f"{doubt}: {decision.reason}", decision.target)


def _format_handle(place: int) -> str:
    return f"c{place + 1}"


def build_held_claim(handle: str, fact: Fact) -> HeldClaim:
    return HeldClaim(
        handle=handle,
        text=fact.text,
        owner=fact.owner,
        predicate_key=fact.predicate_key,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        polarity=fact.polarity,  # type: ignore[arg-type]  # a checked choice
        slots=_read_slots(fact),
        said_at=fact.asserted_at,
    )


def _read_slots(fact: Fact) -> ClaimSlots:
    return ClaimSlots(
        fact.predicate_key,
        fact.cardinality == "single",
        fact.verb,
        fact.object or fact.complement,
        fact.kind,  # type: ignore[arg-type]  # a checked choice
    )
