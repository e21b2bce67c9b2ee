"""X13: whatever is said in whatever order, the invariants of spec §11.3 hold afterwards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import uuid4

import pytest
from django.db.models import F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryhub.dialogues.messages import Message, hash_text
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.services import append_turns
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from notes.facts.resolve import Resolver, load_held_claims
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.models import Derivation, EvolutionEvent, Fact, Revision

START = datetime(2026, 1, 1, tzinfo=UTC)
Said = tuple[str, str, str, int, bool, bool]
WORDS = st.tuples(
    st.sampled_from(["lives_in", "likes"]),
    st.sampled_from(["Porto", "Braga", "Faro"]),
    st.sampled_from(["holds", "holds", "denied", "ended", "planned"]),
    st.integers(0, 20),  # the day it is about; the days it is said on only go on
    st.booleans(),  # by a person
    st.booleans(),  # as a correction
)


def build_claim(space: Space, said: Said) -> Fact:
    predicate, value, polarity, day, _, _ = said
    single = predicate == "lives_in" and polarity == "holds"
    text = f"Ana {polarity} {predicate} {value}"
    return Fact(
        tenant_id=space.tenant_id,
        space=space,
        owner="Ana",
        speaker="Ana",
        text=text,
        text_key=hash_text(text),
        predicate_key=predicate,
        cardinality="single" if single else "multi",
        polarity=polarity,
        object=value,
        valid_from=START + timedelta(days=day),
        asserted_at=START,
        recorded_at=START,
        engine="test/1",
    )


def resolve_batch(space: Space, batch: list[Said]) -> None:
    """One derivation: the batch is resolved and written as the pipeline does it."""
    (turn,) = append_turns(space, [Message("user", uuid4().hex, "Ana")], received=START).new
    facts = [build_claim(space, said) for said in batch]
    changes = ChangeSet(space, EvolutionEvent.Kind.RESOLVE, "test", START)
    resolver = Resolver(space, load_held_claims(space, facts), START)
    for fact, said in zip(facts, batch, strict=True):
        decision = resolver.decide_by_rules(fact, trusted=said[4], correction=said[5])
        resolver.apply_decision(decision, fact, [TurnEvidence(turn.id)], trusted=said[4])
    resolver.save(changes)
    changes.save()


@pytest.mark.django_db
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=6))
def test_X13_invariants_hold_after_every_derivation(batches: list[list[Said]]) -> None:
    tenant = create_tenant("Any", uuid4().hex)
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        texts: dict[object, str] = {}
        for batch in batches:
            resolve_batch(space, batch)
            texts |= dict(Turn.objects.values_list("id", "text"))
            check_claims(texts)


def check_claims(texts: dict[object, str]) -> None:
    facts = list(Fact.objects.select_related("supersedes"))
    assert dict(Turn.objects.values_list("id", "text")) == texts  # I1
    for fact in facts:
        support = Derivation.objects.filter(child_type="fact", child_id=fact.id, role="support")
        assert support.exists()  # I2
        assert supersession_ends(fact)  # I5
        revisions = list(
            Revision.objects.filter(row_id=fact.id).values_list("version_before", "version_after")
        )
        versions = sorted((after, before) for before, after in revisions)
        assert [after for after, _ in versions] == list(range(1, fact.version + 1))  # I6, I7
        assert all(before in (None, after - 1) for after, before in versions)
    assert not Fact.objects.exclude(supersedes=None).exclude(supersedes__space=F("space")).exists()
    intervals_do_not_overlap(facts)  # I4


def supersession_ends(fact: Fact) -> bool:
    seen = set()
    at: Fact | None = fact
    while at is not None and at.id not in seen:
        seen.add(at.id)
        at = at.supersedes
    return at is None


def intervals_do_not_overlap(facts: list[Fact]) -> None:
    single = [f for f in facts if f.cardinality == "single" and f.status != Fact.Status.RETRACTED]
    single = [f for f in single if f.valid_to != f.valid_from]  # empty: they hold at no time
    single.sort(key=lambda fact: fact.valid_from)
    for earlier, later in pairwise(single):
        assert earlier.valid_to is not None
        assert earlier.valid_to <= later.valid_from
