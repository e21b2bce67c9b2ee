"""Which memories a request is about: rows with mem0's names, and its filters on them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    BooleanField,
    Case,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Coalesce, Greatest, NullIf

from api.core.authentication import filter_reached
from api.mem0 import categories
from api.mem0.ids import ID_NAMES, SUBJECT_PREFIXES, is_user_subject
from api.rows.filter_conditions import build_condition
from api.rows.filters import (
    And,
    FieldTest,
    FilterField,
    FilterFields,
    FilterNode,
    list_tests,
    parse_filter,
)
from api.rows.read_views import parse_uuid
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from notes.facts.validity import build_current_q
from notes.models import Derivation, Fact, Revision

FILTER_FIELDS: FilterFields = {
    **{name: FilterField("name", name) for name in ID_NAMES},
    "created_at": FilterField("time", "asserted_at"),
    "updated_at": FilterField("time", "updated_at"),
    "expiration_date": FilterField("time", "valid_to"),
    "categories": FilterField("list", "category_names"),
    "keywords": FilterField("text", "text"),
    "text": FilterField("text", "text"),
    "memory_ids": FilterField("text", "memory_id"),
    "metadata": FilterField("object", "metadata"),
}
_IMPORTED_CATEGORIES = (
    "ARRAY(SELECT jsonb_array_elements_text("
    "jsonb_path_query_array(%(expressions)s, "
    "'$.imported_from.categories[*] ? (@.type() == \"string\")')))"
)
# What clients know of a memory besides its words, which are another row when they change.
VISIBLE_COLUMNS = ("metadata", "valid_to", "pinned", "retired_at", "status")
NO_SUCH_MEMORY = "There is no such memory."
_NAMING_OPERATORS = frozenset({"eq", "in", "any", "contains", "icontains"})


@dataclass(frozen=True, slots=True)
class MemorySelection:
    """`rows` have mem0's names as attributes. `whole`: nothing but spaces was chosen by."""

    spaces: list[Space]
    rows: QuerySet[Fact]
    covers_whole_spaces: bool


def build_standing_condition() -> Q:
    """Versions that stand: also of what is over by now."""
    return Q(retired_at=None) & ~Q(status=Fact.Status.RETRACTED)


def build_visible_condition(at: datetime, *, expired: bool) -> Q:
    return build_standing_condition() & Q(valid_from__lte=at) if expired else build_current_q(at)


def annotate_mem0_names(rows: QuerySet[Fact]) -> QuerySet[Fact]:
    """With `memory_id`, `updated_at`, the list `category_names`, and `user_id`, `agent_id`,
    `app_id`, `run_id`, None where there is none. Agent, app and run are those of the message it was
    first read from, or those it had where it was imported from."""
    supports = Derivation.objects.filter(child_type="fact", role=Derivation.Role.SUPPORT)
    first = supports.filter(child_id=OuterRef("id")).order_by("turn__seq")
    app = first.annotate(app=KeyTextTransform("app", "turn__terms")).values("app")
    others = reduce(or_, (Q(space__subject__startswith=prefix) for prefix in SUBJECT_PREFIXES))
    return rows.select_related("space").annotate(
        memory_id=Cast("lineage", TextField()),
        user_id=Case(When(others, then=None), default="space__subject", output_field=TextField()),
        agent_id=_build_imported_fallback("agent_id", first.values("turn__agent")),
        run_id=_build_imported_fallback("run_id", first.values("turn__session__external_id")),
        app_id=_build_imported_fallback("app_id", app),
        category_names=_build_category_names(),
        updated_at=Greatest("recorded_at", Subquery(_select_change_times()[:1])),
    )


def _select_change_times() -> QuerySet[Any, Any]:
    """When what clients know of a row was changed, the latest first."""
    changed = reduce(or_, (Q(_build_difference(name)) for name in VISIBLE_COLUMNS))
    rows = Revision.objects.filter(changed, row_type="fact", row_id=OuterRef("id"))
    return rows.order_by("-event__created_at").values("event__created_at")


def _build_difference(name: str) -> Func:
    """Whether a change made another value of this column; also from nothing, or to nothing."""
    values = (KeyTransform(name, F("before")), KeyTransform(name, F("after")))
    told = {"template": "(%(expressions)s)", "arg_joiner": " IS DISTINCT FROM "}
    return Func(*values, output_field=BooleanField(), **told)


def _build_imported_fallback(name: str, told: QuerySet[Any, Any]) -> Coalesce:
    kept = KeyTextTransform(name, KeyTransform("imported_from", "metadata"))
    return Coalesce(NullIf(Subquery(told[:1]), Value("")), kept, output_field=TextField())


def _build_category_names() -> Case:
    """As `list_categories` of a row in hand."""
    names = ArrayField(TextField())
    known = [
        When(predicate_key__in=keys, then=Cast(Value([name]), names))
        for name, keys in categories.PREDICATES_BY_CATEGORY.items()
    ]
    more = [
        When(predicate_key__startswith=prefix, then=Cast(Value([name]), names))
        for prefix, name in categories.CATEGORY_BY_PREFIX.items()
    ]
    brought = Func("metadata", template=_IMPORTED_CATEGORIES, output_field=names)
    return Case(*known, *more, default=brought, output_field=names)


def select_memories(key: KeyRow, wanted: Mapping[str, object], shown: Q) -> MemorySelection:
    """The memories that pass. Call inside the tenant's scope.

    `wanted`: filters, all of which hold, by the name of the parameter that each came in. Raises
    InvalidInput, also when no id of a user, agent, app or run says whose memories are meant.
    """
    node = And(tuple(_parse_parameter(name, raw) for name, raw in wanted.items()))
    if not any(_is_naming_test(test, negated) for test, negated in list_tests(node)):
        raise InvalidInput(f"one of {', '.join(ID_NAMES)} is needed", field="filters")
    parts = list(_list_conjuncts(node))
    users = [part for part in parts if _is_user_test(part)]
    rest = [part for part in parts if not _is_user_test(part)]
    spaces = filter_reached(Space.objects.all(), key, "id")
    for part in users:
        spaces = spaces.filter(subject__in=_list_users(part))
    rows = annotate_mem0_names(Fact.objects.filter(shown)).order_by("-asserted_at", "-id")
    rows = rows.filter(space__in=spaces) if users or key.space_id else rows
    rows = rows.filter(build_condition(And(tuple(rest)), FILTER_FIELDS))
    if users:
        return MemorySelection(list(spaces), rows, covers_whole_spaces=not rest)
    ids = rows.order_by().values("space_id").distinct()
    return MemorySelection(list(spaces.filter(id__in=ids)), rows, covers_whole_spaces=False)


def select_everything(key: KeyRow, shown: Q) -> MemorySelection:
    """All that the key reaches, whoever it is of. Call inside the tenant's scope."""
    spaces = filter_reached(Space.objects.all(), key, "id")
    rows = annotate_mem0_names(filter_reached(Fact.objects.filter(shown), key))
    rows = rows.order_by("-asserted_at", "-id")
    return MemorySelection(list(spaces), rows, covers_whole_spaces=True)


def _parse_parameter(name: str, raw: object) -> FilterNode:
    """Of a parameter that is no filter itself, only its own name says what was sent."""
    try:
        return parse_filter(raw, FILTER_FIELDS, field=name)
    except InvalidInput as error:
        if name != "filters":
            error.field = name
        raise


def _is_naming_test(test: FieldTest, negated: bool) -> bool:
    names = test.name in ID_NAMES and test.op in _NAMING_OPERATORS
    return names and test.value != () and not negated


def _list_conjuncts(node: FilterNode) -> Iterator[FilterNode]:
    """What all has to hold."""
    if isinstance(node, And):
        for part in node.parts:
            yield from _list_conjuncts(part)
    else:
        yield node


def _is_user_test(node: FilterNode) -> bool:
    return isinstance(node, FieldTest) and node.name == "user_id" and node.op in ("eq", "in")


def _list_users(node: FilterNode) -> list[str]:
    assert isinstance(node, FieldTest)
    names = node.value if node.op == "in" else [node.value]
    return [name for name in names if name and is_user_subject(name)]


def get_versions(key: KeyRow, memory_id: str) -> QuerySet[Fact]:
    """All rows of one memory, the latest first: by the memory's id, or by a version's own.
    Call inside the tenant's scope. Raises NotFound."""
    wanted = parse_uuid(memory_id)
    rows = filter_reached(Fact.objects.all(), key)
    lineages = rows.filter(Q(lineage=wanted) | Q(id=wanted)).values("lineage")
    found = annotate_mem0_names(rows.filter(lineage__in=lineages))
    found = found.order_by("-lineage_version", "-recorded_at")
    if not found.exists():
        raise NotFound(NO_SUCH_MEMORY)
    return found


def find_standing_versions(key: KeyRow, memory_ids: Collection[str]) -> dict[str, list[Fact]]:
    """By memory asked for, as far as there is one, the versions that stand, also for times that are
    over; the latest first, never empty. Call inside the tenant's scope."""
    wanted = {each: parsed for each in memory_ids if (parsed := parse_uuid(each))}
    rows = filter_reached(Fact.objects.all(), key)
    asked = Q(lineage__in=wanted.values()) | Q(id__in=wanted.values())
    known = dict(rows.filter(asked).values_list("id", "lineage"))
    known |= {lineage: lineage for lineage in known.values()}
    found = annotate_mem0_names(rows.filter(build_standing_condition(), lineage__in=known.values()))
    by_lineage: dict[UUID, list[Fact]] = {}
    for fact in found.order_by("-lineage_version", "-recorded_at"):
        by_lineage.setdefault(fact.lineage, []).append(fact)
    return {
        name: by_lineage[known[each]]
        for name, each in wanted.items()
        if known.get(each) in by_lineage
    }


def get_standing_versions(key: KeyRow, memory_id: str) -> list[Fact]:
    """As `find_standing_versions`, of one memory. Raises NotFound."""
    found = find_standing_versions(key, [memory_id])
    if not found:
        raise NotFound(NO_SUCH_MEMORY)
    return found[memory_id]


def get_memory(key: KeyRow, memory_id: str) -> Fact:
    """The version that stands. Call inside the tenant's scope. Raises NotFound."""
    return get_standing_versions(key, memory_id)[0]


def read_top_level_ids(data: Mapping[str, Any]) -> dict[str, Any]:
    """Ids outside of filters, as older clients send them, each as a filter."""
    return {name: {name: data[name]} for name in ID_NAMES if data.get(name) is not None}
