"""Whatever people said and whatever was made of it comes out as it went in."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.services import append_turns
from memoryhub.exchange.after_import import index_words
from memoryhub.exchange.id_shift import IdShift
from memoryhub.inference.selection import get_configured_embedder
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.support.export_files import (
    import_export_file,
    make_export_file,
    normalise_export_file,
    select_kind,
)
from tests.support.factories import (
    MAY,
    make_entity,
    make_fact,
    make_link,
    make_note,
    make_space,
    make_tenant,
)

# What PostgreSQL can store: no NUL, no half of a character.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=60)
SAID = TEXT.filter(lambda text: bool(text.strip()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
TIMES = st.integers(-(10**9), 10**9).map(lambda seconds: MAY + timedelta(seconds=seconds))
SPACES = st.fixed_dictionaries(
    {
        "turns": st.lists(st.tuples(SAID, st.dictionaries(TEXT, JSON, max_size=2), TIMES)),
        "facts": st.lists(st.tuples(SAID, TIMES, st.floats(0, 1)), max_size=4),
        "notes": st.lists(st.tuples(SAID, st.lists(TEXT, max_size=3)), max_size=4),
        "entities": st.sets(SAID.map(str.strip), max_size=3),
    }
)


def fill_space(tenant: Tenant, contents: dict[str, Any]) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "ana")
        messages = [
            Message("user", text, metadata=more, timestamp=at)
            for text, more, at in contents["turns"]
        ]
        turns = append_turns(space, messages, received=MAY).turns if messages else []
        before: Fact | None = None
        for text, at, sure in contents["facts"]:
            source = turns[0] if turns else None
            before = make_fact(
                space, text, source, valid_from=at, confidence=sure, supersedes=before
            )
        notes = [make_note(space, text, tags=tags) for text, tags in contents["notes"]]
        for one, other in pairwise(notes):
            make_link(one, other)
        for number, name in enumerate(contents["entities"]):
            make_entity(space, name, canonical_key=str(number))
        index_words(
            space, get_configured_embedder().name
        )  # what is held is found, as in every space


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(contents=SPACES)
def test_any_space_comes_out_as_it_went_in(elsewhere: Tenant, contents: dict[str, Any]) -> None:
    with transaction.atomic():
        home = make_tenant()
        fill_space(home, contents)
        data = make_export_file(home, "ana")
        assert len(select_kind(data, "turn")) <= len(contents["turns"])
        import_export_file(elsewhere, data)
        assert normalise_export_file(make_export_file(elsewhere, "ana")) == normalise_export_file(
            data
        )
        transaction.set_rollback(True)


@given(value=st.uuids(), step=st.integers(0, 2**41))
def test_renaming_can_be_undone_and_keeps_times(value: Any, step: int) -> None:
    moved = IdShift(step).shift_id(value)
    assert IdShift(-step).shift_id(moved) == value
    assert moved.int >> 62 == value.int >> 62


@given(value=st.uuids(), other=st.uuids())
def test_ids_are_renamed_where_ids_belong_and_nowhere_else(value: Any, other: Any) -> None:
    move = IdShift(7)
    told = {
        "fact_id": str(value),
        "turn_ids": [str(value), str(other)],
        "sources": [{"turn": str(value), "start": 3}],
        "text": str(value),
        "tags": [str(value)],
        "metadata": {"id": str(value)},
        "names": ["not one"],
    }
    moved = move.shift_json(told)
    assert moved["fact_id"] == moved["sources"][0]["turn"] == str(move.shift_id(value))
    assert moved["turn_ids"] == [str(move.shift_id(value)), str(move.shift_id(other))]
    same = ("text", "tags", "metadata", "names")
    assert [moved[name] for name in same] == [told[name] for name in same]
    assert (
        move.shift_key(f"merge:{value}:{other}")
        == f"merge:{move.shift_id(value)}:{move.shift_id(other)}"
    )
