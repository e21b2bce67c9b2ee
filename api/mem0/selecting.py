"""Which memories a request is about: rows with mem0's names, and its filters on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Coalesce, NullIf

from api.filters import And, Field, Fields, Node, Test, leaves, parse, to_q
from api.mem0 import categories
from api.mem0.ids import NAMES, PREFIXES, is_user
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from notes.models import Derivation, Fact
from notes.queries import is_current

FIELDS: Fields = {
    **{name: Field("text", name) for name in NAMES},
    "created_at": Field("time", "asserted_at"),
    "updated_at": Field("time", "recorded_at"),
    "expiration_date": Field("time", "valid_to"),
    "categories": Field("text", "category"),
    "keywords": Field("text", "text"),
    "text": Field("text", "text"),
    "memory_ids": Field("text", "memory_id"),
    "metadata": Field("object", "metadata"),
}
_NAMED = frozenset({"eq", "in", "any", "contains", "icontains"})


@dataclass(frozen=True, slots=True)
class Selection:
    """`rows` have mem0's names as attributes. `whole`: nothing but spaces was chosen by."""

    spaces: list[Space]
    rows: QuerySet[Fact]
    whole: bool


def held() -> Q:
    """Versions that stand: also of what is over by now."""
    return Q(retired_at=None) & ~Q(status=Fact.Status.RETRACTED)


def visible(at: datetime, *, expired: bool) -> Q:
    return held() & Q(valid_from__lte=at) if expired else is_current(at)


def labelled(rows: QuerySet[Fact]) -> QuerySet[Fact]:
    """With `memory_id`, `user_id`, `agent_id`, `app_id`, `run_id` and `category`, None where there
    is none. Agent, app and run are those of the message it was first read from, or those it had
    where it was imported from."""
    first = Derivation.objects.filter(
        child_type="fact", child_id=OuterRef("id"), role=Derivation.Role.SUPPORT
    ).order_by("turn__seq")
    app = first.annotate(app=KeyTextTransform("app", "turn__terms")).values("app")
    others = reduce(or_, (Q(space__subject__startswith=prefix) for prefix in PREFIXES))
    return rows.select_related("space").annotate(
        memory_id=Cast("lineage", TextField()),
        user_id=Case(When(others, then=None), default="space__subject", output_field=TextField()),
        agent_id=_or_imported("agent_id", Subquery(first.values("turn__agent")[:1])),
        run_id=_or_imported("run_id", Subquery(first.values("turn__session__external_id")[:1])),
        app_id=_or_imported("app_id", Subquery(app[:1])),
        category=_category(),
    )


def _or_imported(name: str, told: Subquery) -> Coalesce:
    kept = KeyTextTransform(name, KeyTransform("imported_from", "metadata"))
    return Coalesce(NullIf(told, Value("")), kept, output_field=TextField())


def _category() -> Case:
    known = [
        When(predicate_key__in=keys, then=Value(name))
        for name, keys in categories.CATEGORIES.items()
    ]
    more = [
        When(predicate_key__startswith=prefix, then=Value(name))
        for prefix, name in categories.PREFIXES.items()
    ]
    return Case(*known, *more, default=None, output_field=TextField())


def select(
    key: KeyRow, filters: object, shown: Q, *, more: Mapping[str, object] | None = None
) -> Selection:
    """The memories that pass. Call inside the tenant's scope.

    `more`: further filters, by the name of the parameter each came in. Raises InvalidInput,
    also when no id of a user, agent, app or run says whose memories are meant.
    """
    node = parse(filters, FIELDS)
    if not any(_names_somebody(test, negated) for test, negated in leaves(node)):
        raise InvalidInput(f"one of {', '.join(NAMES)} is needed", field="filters")
    parts = list(_conjuncts(node))
    extra = [parse(raw, FIELDS, field=name) for name, raw in (more or {}).items()]
    users = [part for part in parts if _names_users(part)]
    rest = [part for part in parts if not _names_users(part)] + extra
    spaces = Space.objects.filter(id=key.space_id) if key.space_id else Space.objects.all()
    for part in users:
        spaces = spaces.filter(subject__in=_users(part))
    rows = labelled(Fact.objects.filter(shown))
    rows = rows.filter(space__in=spaces) if users or key.space_id else rows
    rows = rows.filter(to_q(And(tuple(rest)), FIELDS)).order_by("-asserted_at", "-id")
    if users:
        return Selection(list(spaces), rows, whole=not rest)
    ids = rows.order_by().values("space_id").distinct()
    return Selection(list(spaces.filter(id__in=ids)), rows, whole=False)


def _names_somebody(test: Test, negated: bool) -> bool:
    return test.name in NAMES and test.op in _NAMED and test.value != () and not negated


def _conjuncts(node: Node) -> Iterator[Node]:
    """What all has to hold."""
    if isinstance(node, And):
        for part in node.parts:
            yield from _conjuncts(part)
    else:
        yield node


def _names_users(node: Node) -> bool:
    return isinstance(node, Test) and node.name == "user_id" and node.op in ("eq", "in")


def _users(node: Node) -> list[str]:
    assert isinstance(node, Test)
    names = node.value if node.op == "in" else [node.value]
    return [name for name in names if name and is_user(name)]


def versions(key: KeyRow, memory_id: str) -> QuerySet[Fact]:
    """All rows of one memory, the latest first: by the memory's id, or by a version's own.
    Call inside the tenant's scope. Raises NotFound."""
    wanted = _uuid(memory_id)
    rows = Fact.objects.filter(space_id=key.space_id) if key.space_id else Fact.objects.all()
    lineages = rows.filter(Q(lineage=wanted) | Q(id=wanted)).values("lineage")
    found = labelled(rows.filter(lineage__in=lineages)).order_by("-lineage_version", "-recorded_at")
    if not found.exists():
        raise NotFound("There is no such memory.")
    return found


def standing(key: KeyRow, memory_ids: Collection[str]) -> dict[str, list[Fact]]:
    """By memory asked for, the versions that stand, also for times that are over; the latest
    first, never empty. Call inside the tenant's scope. Raises NotFound."""
    wanted = {each: _uuid(each) for each in memory_ids}
    rows = Fact.objects.filter(space_id=key.space_id) if key.space_id else Fact.objects.all()
    asked = Q(lineage__in=wanted.values()) | Q(id__in=wanted.values())
    known = dict(rows.filter(asked).values_list("id", "lineage"))
    known |= {lineage: lineage for lineage in known.values()}
    found = labelled(rows.filter(held(), lineage__in=known.values()))
    by_lineage: dict[UUID, list[Fact]] = {}
    for fact in found.order_by("-lineage_version", "-recorded_at"):
        by_lineage.setdefault(fact.lineage, []).append(fact)
    if any(known.get(each) not in by_lineage for each in wanted.values()):
        raise NotFound("There is no such memory.")
    return {name: by_lineage[known[each]] for name, each in wanted.items()}


def memory(key: KeyRow, memory_id: str) -> Fact:
    """The version that stands. Call inside the tenant's scope. Raises NotFound."""
    return standing(key, [memory_id])[memory_id][0]


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("There is no such memory.") from None


def top_level(data: Mapping[str, Any]) -> dict[str, Any]:
    """Ids outside of filters, as older clients send them, as a filter."""
    return {name: data[name] for name in NAMES if data.get(name) is not None}
