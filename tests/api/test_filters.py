"""The filter grammar: what it takes, what it refuses, and which rows it lets through."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import Q
from hypothesis import given
from hypothesis import strategies as st

from api.rows.filter_conditions import build_condition
from api.rows.filters import (
    And,
    FieldTest,
    FilterField,
    FilterFields,
    Not,
    Or,
    list_tests,
    parse_filter,
)
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import append_turns
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support.factories import MAY, make_space

FIELDS: FilterFields = {
    "name": FilterField("text", "external_id"),
    "said": FilterField("time", "occurred_at"),
    "place": FilterField("number", "seq"),
    "people": FilterField("list", "space__speakers"),
    "page": FilterField("text", "derivations__child_type"),
    "metadata": FilterField("object", "metadata"),
}
SAID: dict[str, dict[str, Any]] = {
    "a": {"team": "red", "size": 3, "tags": ["x", "y"]},
    "b": {"team": "blue", "size": 12, "open": None},
    "c": {"team": "Reddish", "size": "3"},
    "d": {},
}


@pytest.fixture
def turns(tenant: Tenant) -> Any:
    with tenant_scope(tenant.id):
        messages = [
            Message("user", f"Said {name}.", "Ana", MAY.replace(hour=hour), name, metadata)
            for hour, (name, metadata) in enumerate(SAID.items(), 1)
        ]
        append_turns(make_space(tenant), messages, received=MAY)
        yield Turn.objects.all()


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ({}, "abcd"),
        ({"name": "a"}, "a"),
        ({"name": {"ne": "a"}}, "bcd"),
        ({"name": ["a", "c"]}, "ac"),
        ({"name": {"in": ["a", "c"]}}, "ac"),
        ({"name": "*"}, "abcd"),
        ({"name": {"gt": "a", "lte": "c"}}, "bc"),
        ({"AND": [{"name": {"gte": "b"}}, {"name": {"lt": "d"}}]}, "bc"),
        ({"OR": [{"name": "a"}, {"name": "d"}]}, "ad"),
        ({"NOT": {"name": "a"}}, "bcd"),
        ({"NOT": [{"name": "a"}, {"name": "b"}]}, "cd"),
        ({"NOT": [{"AND": [{"name": "a"}, {"place": 2}]}]}, "abcd"),
        ({"name": {"gte": "b"}, "place": {"lt": 4}}, "bc"),
        ({"said": {"gte": "2026-05-12T02:00:00Z"}}, "bcd"),
        ({"said": {"gt": "2026-05-12"}}, "abcd"),
        ({"said": {"lt": "2026-05-12"}}, ""),
        ({"people": "Ana"}, "abcd"),
        ({"people": {"in": ["Rui", "Ana"]}}, "abcd"),
        ({"people": {"ne": "Ana"}}, ""),
        ({"people": {"eq": None}}, ""),
        ({"page": "*"}, ""),
        ({"page": None}, "abcd"),
        ({"NOT": {"page": "fact"}}, "abcd"),
        ({"metadata": {"team": "red"}}, "a"),
        ({"metadata": {"team": {"ne": "red"}}}, "bcd"),
        ({"metadata": {"team": {"icontains": "RED"}}}, "ac"),
        ({"metadata": {"team": {"contains": "red"}}}, "a"),
        ({"metadata": {"tags": {"contains": "x"}}}, "a"),
        ({"metadata": {"tags": ["x", "y"]}}, "a"),
        ({"metadata": {"size": {"gte": 3}}}, "ab"),
        ({"metadata": {"size": {"gte": "3"}}}, "c"),
        ({"metadata": {"size": {"in": [3, "3"]}}}, "ac"),
        ({"metadata": {"open": "*"}}, ""),
        ({"metadata": {"team": "*"}}, "abc"),
        ({"metadata": {"open": None}}, "abcd"),
        ({"metadata": {"team": "red", "size": 3}}, "a"),
        ({"NOT": {"metadata": {"size": {"gt": 5}}}}, "acd"),
        ({"metadata": {"no__such'\"; key": 1}}, ""),
    ],
)
def test_rows_that_pass(turns: Any, raw: dict[str, Any], found: str) -> None:
    rows = turns.filter(build_condition(parse_filter(raw, FIELDS), FIELDS)).order_by("seq")
    assert "".join(rows.values_list("external_id", flat=True)) == found


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (None, "filters"),
        ([], "filters"),
        ("name", "filters"),
        ({"nobody": 1}, "filters.nobody"),
        ({"and": []}, "filters.and"),
        ({"AND": {}}, "filters.AND"),
        ({"AND": []}, "filters.AND"),
        ({"AND": [1]}, "filters.AND[0]"),
        ({"AND": [{"name": "a"}, {"place": "b"}]}, "filters.AND[1].place"),
        ({"name": 1}, "filters.name"),
        ({"name": {}}, "filters.name"),
        ({"name": {"like": "a"}}, "filters.name.like"),
        ({"name": {"any": None}}, "filters.name.any"),
        ({"name": "a\0b"}, "filters.name"),
        ({"name": "\ud800"}, "filters.name"),
        ({"name": "a" * 1001}, "filters.name"),
        ({"name": []}, "filters.name"),
        ({"name": ["a"] * 501}, "filters.name"),
        ({"name": ["a", None]}, "filters.name[1]"),
        ({"name": {"in": ["a", None]}}, "filters.name.in[1]"),
        ({"name": {"eq": 1}}, "filters.name.eq"),
        ({"said": "yesterday"}, "filters.said"),
        ({"said": {"gte": "2026-13-01"}}, "filters.said.gte"),
        ({"said": {"gte": 1e300}}, "filters.said.gte"),
        ({"said": "0001-01-01"}, "filters.said"),
        ({"place": True}, "filters.place"),
        ({"metadata": 1}, "filters.metadata"),
        ({"metadata": {}}, "filters.metadata"),
        ({"metadata": {"k\0": 1}}, "filters.metadata"),
        ({"metadata": {"k": {"gt": [1]}}}, "filters.metadata.k.gt"),
        ({"metadata": {"k": {"gt": True}}}, "filters.metadata.k.gt"),
    ],
)
def test_what_is_refused_names_the_place(raw: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_filter(raw, FIELDS)
    assert refused.value.field == field


def test_a_filter_has_its_limits() -> None:
    deep: Any = {"name": "a"}
    for _ in range(10):
        deep = {"NOT": deep}
    with pytest.raises(InvalidInput, match="at most 10 levels"):
        parse_filter(deep, FIELDS)
    with pytest.raises(InvalidInput, match="at most 100 tests"):
        parse_filter({"OR": [{"name": "a"}] * 101}, FIELDS)


def test_an_unknown_name_is_told_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="AND, OR, NOT, metadata, name, page"):
        parse_filter({"user": 1}, FIELDS)


def test_the_tree_of_a_filter() -> None:
    node = parse_filter({"AND": [{"name": "a"}, {"NOT": [{"place": {"gt": 1}}]}]}, FIELDS)
    assert node == And(
        (And((FieldTest("name", "eq", "a"),)), Not(Or((And((FieldTest("place", "gt", 1),)),))))
    )
    assert [(test.name, negated) for test, negated in list_tests(node)] == [
        ("name", False),
        ("place", True),
    ]


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*FIELDS, "AND", "OR", "NOT", "gt", "in", "eq", "contains", "?"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


def find_refused_place(raw: Any) -> str | None:
    """The place a filter is refused at; None when it becomes a condition."""
    try:
        node = parse_filter(raw, FIELDS)
    except InvalidInput as refused:
        return refused.field
    return None if isinstance(build_condition(node, FIELDS), Q) else "no condition"


@given(json)
def test_whatever_is_sent_is_a_condition_or_refused(raw: Any) -> None:
    assert (find_refused_place(raw) or "filters").startswith("filters")
