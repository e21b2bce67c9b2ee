"""Open questions, with both texts and the words they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Case, Count, F, Min, Q, QuerySet, Value, When, Window
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.console.frame.lists import (
    PAGE_SIZE,
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.console.frame.text.quotes import SourceQuote, TextSpan, load_sources, split_pieces
from memoryhub.console.frame.text.trait_levels import describe_key_level
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.review.answers import find_common_answer, find_proposed_text, list_answers
from memoryhub.pipeline.steps.derive.name_corrections import rename_text, select_facts_to_rename
from memoryhub.tenants.models import Space, Tenant
from notes.erasure.trace import collect_row_text, load_rows_by_key
from notes.models import Entity, Fact, Proposal, Risk
from notes.review.moot import MOOT
from personas.models import Trait

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

CASE_STATE_CHOICE = FilterChoice(
    "state",
    _("Show"),
    (
        ("open", pgettext_lazy("cases", "Open")),
        # Also a new one that was rejected, where that withdrew it.
        ("accepted", _("Decided with edits")),
        ("rejected", _("Left unchanged")),
        ("settled", _("Settled without you")),
        ("all", _("All")),
    ),
)
CASE_KIND_CHOICE = FilterChoice("kind", _("Kind"), (("all", _("All")), *Proposal.Kind.choices))
CASE_RISK_CHOICE = FilterChoice("risk", _("Risk"), (("all", _("Any")), *reversed(Risk.choices)))
CASE_AGE_CHOICE = FilterChoice(
    "age",
    pgettext_lazy("how long", "Waiting"),
    (
        ("any", _("Any age")),
        ("new", _("Since yesterday")),
        ("week", _("More than a week")),
        ("month", _("More than a month")),
    ),
    spare=True,
)
_CASE_AGES = {"week": timedelta(weeks=1), "month": timedelta(days=30)}
_NEW_CASE_AGE = timedelta(days=1)
MAX_SPACE_OPTIONS, MAX_RELATED = 100, 10
SETTLED_LATELY = timedelta(days=30)
_BY_RULE = "rule of "  # how a rule signs, in the name of whoever made it
# By a rule that a person made before, because one of its claims had ended, or by the engine, which
# closes in the moment it opens what it decided and notes only so that nobody is asked.
SETTLED_CONDITION = ~Q(state=Proposal.State.OPEN) & (
    Q(rule_id__isnull=False, decided_by__startswith=_BY_RULE)
    | Q(decided_by=MOOT)
    | Q(decided_at=F("created_at"))
)

# What each answer does, in the operator's words; by kind where it differs.
ANSWER_EFFECTS = {
    "replace": _("The new memory is true from its date on, the old one until then."),
    "discard": _("The new memory is marked as never true."),
    "keep": _("Nothing changes, and the case is closed."),
    "store": _("You vouch for it: it is stored alongside the existing memories."),
    "apply": _("Something a person corrected or pinned is changed."),
    "erase": _(
        "You select what to erase, see everything affected, and confirm. Then it is "
        "permanently erased."
    ),
    "merge": _("Both names are treated as one from now on."),
    "rename": _("All these memories get the right name, as one change."),
}
_EFFECTS_BY_KIND: dict[tuple[str, str], StrOrPromise] = {
    ("conflict", "keep"): _("Both stay as they are, and the case is closed."),
    ("quarantine", "discard"): _("It is not stored."),
    ("merge", "keep"): _("They stay separate, and this is not asked again."),
    ("rename", "keep"): _("They keep the name they have, and this is not asked again."),
}
ANSWER_LABELS = {"accept": _("Accept"), "keep_both": _("Keep both"), "reject": _("Reject")}
ANSWER_KEYS = {"accept": "a", "keep_both": "b", "reject": "r"}


def describe_effect(kind: str, said: str) -> StrOrPromise:
    return _EFFECTS_BY_KIND.get((kind, said), ANSWER_EFFECTS[said])


@dataclass(frozen=True, slots=True)
class AnswerOption:
    """`name`: the kind's own; `word`: the common one, of which come the label and the key."""

    name: str
    word: str
    effect: StrOrPromise
    admin: bool

    @property
    def label(self) -> StrOrPromise:
        return _("Select what to erase") if self.name == "erase" else ANSWER_LABELS[self.word]

    @property
    def key(self) -> str:
        return ANSWER_KEYS[self.word]


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """`held`: what stands now; `new`: what is proposed. Either may have no words.

    `confidence`: how sure the reading is of the new one; for names, how alike they are. `renamed`:
    the memories in which a name would be put right, with their new words.
    `continues`: the case above is about the same memory.
    """

    proposal: Proposal
    held: str
    held_row: Any
    held_quotes: Sequence[SourceQuote]
    new: str
    quotes: Sequence[SourceQuote]
    confidence: float | None
    renamed: Sequence[tuple[Fact, str]] = ()
    continues: bool = False

    @property
    def is_moot(self) -> bool:
        """Settled, since one of its claims had ended."""
        return self.proposal.decided_by == MOOT

    @property
    def ruled_by(self) -> str:
        """Whose rule settled it; "" where none did."""
        said = self.proposal.decided_by
        ruled = self.proposal.rule_id and said.startswith(_BY_RULE)
        return said.removeprefix(_BY_RULE) if ruled else ""

    @property
    def is_by_engine(self) -> bool:
        """Settled as it was opened: nobody was asked."""
        return self.proposal.decided_at == self.proposal.created_at and not self.is_moot

    @property
    def deciding_model(self) -> str:
        """The model that settled it, of an engine's name, model and prompts; "" for the rules."""
        engine, _slash, version = self.proposal.decided_by.partition("/")
        return version.rpartition("/")[0] if engine == Tenant.Engine.LLM else ""

    @property
    def answers(self) -> list[AnswerOption]:
        kind = self.proposal.kind
        found = [
            AnswerOption(
                name, find_common_answer(kind, name), describe_effect(kind, name), name == "erase"
            )
            for name in list_answers(self.proposal)
        ]
        return sorted(found, key=lambda answer: list(ANSWER_LABELS).index(answer.word))

    @property
    def editable_text(self) -> str:
        """The new words, where they may be put differently."""
        return find_proposed_text(self.proposal)

    @property
    def editing_answer(self) -> str:
        """The answer that writes them."""
        return list_answers(self.proposal)[0]

    @property
    def outcome(self) -> str:
        return str(dict(CASE_STATE_CHOICE.options)[self.proposal.state])

    @property
    def can_be_ruled(self) -> bool:
        return self.proposal.kind != Proposal.Kind.ERASE

    @property
    def can_be_taken_back(self) -> bool:
        proposal = self.proposal
        erased = proposal.kind == Proposal.Kind.ERASE and proposal.state == "accepted"
        return proposal.state != Proposal.State.OPEN and not erased


@dataclass(frozen=True, slots=True)
class OpenCaseTotals:
    """Of what is open: by kind and by risk, (value, label, count), those that are there."""

    kinds: Sequence[tuple[str, StrOrPromise, int]]
    risks: Sequence[tuple[str, StrOrPromise, int]]


def load_case_choices(space: Space | None = None) -> tuple[FilterChoice, ...]:
    """Call inside the tenant's scope; one statement where it may be any space's."""
    shared = (CASE_STATE_CHOICE, CASE_KIND_CHOICE, CASE_RISK_CHOICE, CASE_AGE_CHOICE)
    return shared if space else (*shared, _load_space_choice())


def _load_space_choice() -> FilterChoice:
    rows = Space.objects.filter(id__in=Proposal.objects.values("space")).order_by("subject", "id")
    named = [(str(space.id), str(space)) for space in rows[:MAX_SPACE_OPTIONS]]
    return FilterChoice("space", _("Space"), (("all", _("All")), *named), spare=True)


def load_case_page(
    filters: Filters,
    now: datetime,
    space: Space | None = None,
    rule: UUID | None = None,
    size: int = PAGE_SIZE,
) -> ListPage[ReviewCase]:
    """Open cases stand with the riskiest first, those about one memory together; others newest
    first."""
    rows = _filter_cases(
        Proposal.objects.filter(build_text_condition(filters.q, "reason")), filters, now
    )
    if space is not None:
        rows = rows.filter(space=space)
    if rule is not None:
        rows = rows.filter(rule_id=rule)
    if filters["state"] == Proposal.State.OPEN:
        rows = sort_riskiest_first(rows)
    found = load_page(rows.select_related("space"), filters.page, size)
    return found.with_rows(_mark_related(load_cases(found.rows)))


def _mark_related(cases: Sequence[ReviewCase]) -> list[ReviewCase]:
    marked, above = [], None
    for case in cases:
        about = (case.proposal.kind, case.proposal.row_id)
        marked.append(replace(case, continues=bool(about[1]) and about == above))
        above = about
    return marked


def load_related_cases(case: ReviewCase) -> list[ReviewCase]:
    """The other open cases about the same memory. None where it is about no memory that is held."""
    proposal = case.proposal
    if proposal.row_id is None:
        return []
    rows = Proposal.objects.filter(
        space=proposal.space_id, row_id=proposal.row_id, state=Proposal.State.OPEN
    ).exclude(id=proposal.id)
    return load_cases(list(rows.select_related("space").order_by("created_at", "id")[:MAX_RELATED]))


def count_settled(now: datetime, space: Space | None = None) -> int:
    """Cases of the last days that nobody had to answer."""
    rows = Proposal.objects.filter(SETTLED_CONDITION, decided_at__gte=now - SETTLED_LATELY)
    return (rows.filter(space=space) if space is not None else rows).count()


def _filter_cases(rows: QuerySet[Proposal], filters: Filters, now: datetime) -> QuerySet[Proposal]:
    rows = rows.filter(**filters.chosen_values("kind", "risk", "space"))
    if filters["state"] == "settled":
        rows = rows.filter(SETTLED_CONDITION)
    else:
        rows = rows.filter(**filters.chosen_values("state"))
    if filters["age"] == "new":
        return rows.filter(created_at__gt=now - _NEW_CASE_AGE)
    if filters["age"] in _CASE_AGES:
        return rows.filter(created_at__lt=now - _CASE_AGES[filters["age"]])
    return rows


# What puts most at stake first.
_RISK_RANK = Case(
    *(When(risk=risk, then=Value(rank)) for rank, risk in enumerate(reversed(Risk.values))),
    default=Value(len(Risk.values)),
)


def sort_riskiest_first(rows: QuerySet[Proposal]) -> QuerySet[Proposal]:
    """Within one risk the cases about one memory stand together, and the oldest memory's first."""
    about = Window(Min("created_at"), partition_by=[F("risk"), F("space"), F("kind"), F("row_id")])
    ranked = rows.annotate(rank=_RISK_RANK, about_since=about)
    return ranked.order_by("rank", "about_since", "space", "kind", "row_id", "created_at", "id")


def load_riskiest_cases(space: Space, count: int) -> tuple[list[ReviewCase], int]:
    """Open cases of a space, and how many there are in all."""
    rows = Proposal.objects.filter(space=space, state=Proposal.State.OPEN)
    first = sort_riskiest_first(rows.select_related("space"))[:count]
    return load_cases(list(first)), rows.count()


def count_open_by_kind(space: Space | None = None) -> OpenCaseTotals:
    """One statement."""
    rows = Proposal.objects.filter(state=Proposal.State.OPEN)
    if space is not None:
        rows = rows.filter(space=space)
    grouped = rows.order_by().values_list("kind", "risk").annotate(number=Count("id"))
    counts: Counter[str] = Counter()  # of both: their values have no name in common
    for kind, risk, number in grouped:
        counts.update({kind: number, risk: number})
    kinds, risks = (
        [(value, label, counts[value]) for value, label in choice.options if counts[value]]
        for choice in (CASE_KIND_CHOICE, CASE_RISK_CHOICE)
    )
    return OpenCaseTotals(kinds, risks)


def load_cases(proposals: Sequence[Proposal]) -> list[ReviewCase]:
    wanted = {(p.row_type, p.row_id) for p in proposals if p.row_id}
    renames = [p for p in proposals if p.kind == Proposal.Kind.RENAME]
    wanted |= {("fact", UUID(each)) for p in renames for each in p.payload["fact_ids"]}
    held = load_rows_by_key((kind, row) for kind, row in wanted if row is not None)
    turns = Turn.objects.select_related("session").in_bulk(
        {turn for proposal in proposals for turn in proposal.turn_ids}
    )
    facts = [p.row_id for p in proposals if p.row_type == "fact" and p.row_id]
    supports = load_sources("fact", facts) if facts else {}
    others = Entity.objects.in_bulk([p.payload["into"] for p in proposals if p.kind == "merge"])
    names = {str(entity.id): entity.name for entity in others.values()}
    found = []
    for proposal in proposals:
        row = held.get((proposal.row_type, proposal.row_id)) if proposal.row_id else None
        candidate = proposal.payload.get("candidate") or {}
        case = ReviewCase(
            proposal,
            _read_held_text(row),
            row,
            supports.get(row.id, []) if row else [],
            _read_proposed_text(proposal, row, names),
            [] if proposal in renames else _quote_turns(proposal, turns),
            candidate.get("confidence", proposal.payload.get("cosine")),
            _list_renamed(proposal, held) if proposal in renames else [],
        )
        found.append(case)
    return found


def _quote_turns(proposal: Proposal, turns: Mapping[UUID, Turn]) -> list[SourceQuote]:
    """What was said for it, with the words set off that it was read from."""
    spans: dict[str, list[TextSpan]] = {}
    for source in proposal.payload.get("sources", []):
        spans.setdefault(source["turn"], []).append((source.get("start"), source.get("end")))
    return [
        SourceQuote(turns[turn], split_pieces(turns[turn].text, spans.get(str(turn), [])))
        for turn in proposal.turn_ids
        if turn in turns
    ]


def _list_renamed(proposal: Proposal, rows: Mapping[Any, Any]) -> list[tuple[Fact, str]]:
    facts = [row for row in rows.values() if isinstance(row, Fact)]
    chosen = select_facts_to_rename(proposal, facts)
    return [(fact, rename_text(proposal, fact.text)) for fact in chosen]


def _read_held_text(row: Any) -> str:
    """The first line of what it says."""
    if isinstance(row, Trait):
        return describe_key_level(row.key, row.level)
    lines = collect_row_text(row).split("\n") if row else []
    return next((line for line in lines if line.strip()), "")


def _read_proposed_text(proposal: Proposal, row: Any, names: Mapping[str, str]) -> str:
    payload = proposal.payload
    if isinstance(row, Trait) and (level := payload.get("level")):
        return describe_key_level(row.key, level)
    if proposal.kind == Proposal.Kind.MERGE:
        return names.get(str(payload.get("into")), "")
    candidate = payload.get("candidate")
    values = candidate or payload.get("values") or payload
    for name in ("text", "summary", "content", "context", "title"):
        if isinstance(values, dict) and values.get(name):
            return str(values[name])
    return ""


def get_proposal_or_404(proposal_id: UUID) -> Proposal:
    return get_object_or_404(Proposal.objects.filter(id=proposal_id).select_related("space"))
