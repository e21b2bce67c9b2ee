"""Open questions, with both texts and the words they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.console.queries.memories import sources_of
from memoryhub.console.quoting import SourceQuote, Span, pieces
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.answers import answers_of, common, words_of
from memoryhub.tenants.models import Space
from notes.models import Entity, Fact, Proposal, Risk
from notes.tracing import rows_of, text_of

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

STATE = Choice(
    "state",
    _("Show"),
    (
        ("open", pgettext_lazy("cases", "Open")),
        # Also a new one that was rejected, where that withdrew it.
        ("accepted", _("Answered with a change")),
        ("rejected", _("Left as it was")),
        ("all", _("All")),
    ),
)
KIND = Choice("kind", _("Kind"), (("all", _("All")), *Proposal.Kind.choices))
RISK = Choice("risk", _("Risk"), (("all", _("Any")), *reversed(Risk.choices)))
AGE = Choice(
    "age",
    pgettext_lazy("how long", "Waiting"),
    (
        ("any", _("However long")),
        ("new", _("Since today or yesterday")),
        ("week", _("More than a week")),
        ("month", _("More than a month")),
    ),
)
_AGES = {"week": timedelta(weeks=1), "month": timedelta(days=30)}
_NEW = timedelta(days=1)
MOST_SPACES = 100

# What each answer does, in the operator's words; by kind where it differs.
EFFECTS = {
    "replace": _("The new one holds from its time on, the old one until then."),
    "discard": _("The new one is withdrawn as never true."),
    "keep": _("Nothing changes, and the question is closed."),
    "store": _("You vouch for it: it is kept beside what is held."),
    "apply": _("What was corrected or pinned by hand is changed."),
    "erase": _("The memory and the turns that say it are erased for good."),
    "merge": _("Both names stand for one from now on."),
}
_OF_KIND: dict[tuple[str, str], StrOrPromise] = {
    ("conflict", "keep"): _("Both stay as they are, and the question is closed."),
    ("quarantine", "discard"): _("It is not stored."),
    ("merge", "keep"): _("They stay two, and nobody is asked again."),
}
LABELS = {"accept": _("Accept"), "keep_both": _("Keep both"), "reject": _("Reject")}
KEYS = {"accept": "a", "keep_both": "b", "reject": "r"}


def effect(kind: str, said: str) -> StrOrPromise:
    return _OF_KIND.get((kind, said), EFFECTS[said])


@dataclass(frozen=True, slots=True)
class Answer:
    """`name`: the kind's own; `word`: the common one, of which come the label and the key."""

    name: str
    word: str
    effect: StrOrPromise
    admin: bool

    @property
    def label(self) -> StrOrPromise:
        return _("Erase") if self.name == "erase" else LABELS[self.word]

    @property
    def key(self) -> str:
        return KEYS[self.word]


@dataclass(frozen=True, slots=True)
class Case:
    """`held`: what stands now; `new`: what is proposed. Either may have no words.

    `sure`: how sure the reading is of the new one; for names, how alike they are.
    """

    proposal: Proposal
    held: str
    held_row: Any
    held_quotes: Sequence[SourceQuote]
    new: str
    quotes: Sequence[SourceQuote]
    sure: float | None

    @property
    def answers(self) -> list[Answer]:
        kind = self.proposal.kind
        found = [
            Answer(name, common(kind, name), effect(kind, name), name == "erase")
            for name in answers_of(self.proposal)
        ]
        return sorted(found, key=lambda answer: list(LABELS).index(answer.word))

    @property
    def editable(self) -> str:
        """The new words, where they may be put differently."""
        return words_of(self.proposal)

    @property
    def edited(self) -> str:
        """The answer that writes them."""
        return answers_of(self.proposal)[0]

    @property
    def outcome(self) -> str:
        return str(dict(STATE.options)[self.proposal.state])

    @property
    def can_be_ruled(self) -> bool:
        return self.proposal.kind != Proposal.Kind.ERASE

    @property
    def can_be_taken_back(self) -> bool:
        proposal = self.proposal
        erased = proposal.kind == Proposal.Kind.ERASE and proposal.state == "accepted"
        return proposal.state != Proposal.State.OPEN and not erased


@dataclass(frozen=True, slots=True)
class Totals:
    """Of what is open: by kind and by risk, (value, label, count), those that are there."""

    kinds: Sequence[tuple[str, StrOrPromise, int]]
    risks: Sequence[tuple[str, StrOrPromise, int]]


def choices(space: Space | None = None) -> tuple[Choice, ...]:
    """Call inside the tenant's scope; one statement where it may be any space's."""
    return (STATE, KIND, RISK, AGE) if space else (STATE, KIND, RISK, AGE, _spaces())


def _spaces() -> Choice:
    rows = Space.objects.filter(id__in=Proposal.objects.values("space")).order_by("subject", "id")
    named = [(str(space.id), str(space)) for space in rows[:MOST_SPACES]]
    return Choice("space", _("Space"), (("all", _("All")), *named))


def cases(
    filters: Filters, now: datetime, space: Space | None = None, rule: UUID | None = None
) -> Page[Case]:
    rows = _narrowed(Proposal.objects.filter(containing(filters.q, "reason")), filters, now)
    if space is not None:
        rows = rows.filter(space=space)
    if rule is not None:
        rows = rows.filter(rule_id=rule)
    found = page_of(rows.select_related("space"), filters.page)
    return found.holding(cases_of(found.rows))


def _narrowed(rows: QuerySet[Proposal], filters: Filters, now: datetime) -> QuerySet[Proposal]:
    for name in ("state", "kind", "risk", "space"):
        if filters.values.get(name, "all") != "all":
            rows = rows.filter(**{name: filters[name]})
    if filters["age"] == "new":
        return rows.filter(created_at__gt=now - _NEW)
    if filters["age"] in _AGES:
        return rows.filter(created_at__lt=now - _AGES[filters["age"]])
    return rows


def totals(space: Space | None = None) -> Totals:
    """One statement."""
    rows = Proposal.objects.filter(state=Proposal.State.OPEN)
    if space is not None:
        rows = rows.filter(space=space)
    grouped = rows.order_by().values_list("kind", "risk").annotate(number=Count("id"))
    kinds: Counter[str] = Counter()
    risks: Counter[str] = Counter()
    for kind, risk, number in grouped:
        kinds[kind] += number
        risks[risk] += number
    return Totals(_shown(kinds, KIND), _shown(risks, RISK))


def _shown(counts: Mapping[str, int], choice: Choice) -> list[tuple[str, StrOrPromise, int]]:
    return [(value, label, counts[value]) for value, label in choice.options if counts.get(value)]


def case_of(proposal: Proposal) -> Case:
    return cases_of([proposal])[0]


def cases_of(proposals: Sequence[Proposal]) -> list[Case]:
    wanted = {(p.row_type, p.row_id) for p in proposals if p.row_id}
    held = rows_of((kind, row) for kind, row in wanted if row is not None)
    turns = Turn.objects.select_related("session").in_bulk(
        {turn for proposal in proposals for turn in proposal.turn_ids}
    )
    facts = [row.id for row in held.values() if isinstance(row, Fact)]
    supports = sources_of("fact", facts) if facts else {}
    others = Entity.objects.in_bulk([p.payload["into"] for p in proposals if p.kind == "merge"])
    names = {str(entity.id): entity.name for entity in others.values()}
    return [
        _case(p, held.get((p.row_type, p.row_id)) if p.row_id else None, supports, turns, names)
        for p in proposals
    ]


def _case(
    proposal: Proposal,
    row: Any,
    supports: Mapping[UUID, list[SourceQuote]],
    turns: Mapping[UUID, Turn],
    names: Mapping[str, str],
) -> Case:
    candidate = proposal.payload.get("candidate") or {}
    return Case(
        proposal,
        _first(row),
        row,
        supports.get(row.id, []) if row else [],
        _new(proposal, names),
        _quotes(proposal, turns),
        candidate.get("confidence", proposal.payload.get("cosine")),
    )


def _quotes(proposal: Proposal, turns: Mapping[UUID, Turn]) -> list[SourceQuote]:
    """What was said for it, with the words set off that it was read from."""
    spans: dict[str, list[Span]] = {}
    for source in proposal.payload.get("sources", []):
        spans.setdefault(source["turn"], []).append((source.get("start"), source.get("end")))
    return [
        SourceQuote(turns[turn], pieces(turns[turn].text, spans.get(str(turn), [])))
        for turn in proposal.turn_ids
        if turn in turns
    ]


def _first(row: Any) -> str:
    lines = [line for line in text_of(row).split("\n") if line.strip()] if row else []
    return lines[0] if lines else ""


def _new(proposal: Proposal, names: Mapping[str, str]) -> str:
    payload = proposal.payload
    if proposal.kind == Proposal.Kind.MERGE:
        return names.get(str(payload.get("into")), "")
    candidate = payload.get("candidate")
    values = candidate or payload.get("values") or payload
    for name in ("text", "summary", "content", "context", "level", "title"):
        if isinstance(values, dict) and values.get(name):
            return str(values[name])
    return ""


MOST_COUNTED = 100


def open_count() -> int:
    """At most 100, which says "many". Call inside the tenant's scope."""
    rows = Proposal.objects.filter(state=Proposal.State.OPEN).order_by()
    return rows[:MOST_COUNTED].count()
