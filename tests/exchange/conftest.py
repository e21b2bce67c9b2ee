from __future__ import annotations

import pytest

from memoryhub.engines import registry
from memoryhub.items.models import ItemText
from memoryhub.pipeline.corrections import correct_fact, set_pinned
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Chain, Entity, Fact, Note, Page, SegmentPage
from notes.quality.echoes import save_fingerprints
from notes.quality.feedback import set_feedback
from personas.blocks import BlockWriter, append_to_block
from personas.models import ProfileAttribute, Window
from tests.pipeline.test_erasing import reply_known_changes
from tests.support.factories import (
    make_block,
    make_episode,
    make_item,
    make_link,
    make_note,
    make_proposal,
    make_question,
    make_segment,
    make_tenant,
    make_trait,
)
from tests.support.hub import ScriptedHub, TableEmbedder


@pytest.fixture
def elsewhere(db: None) -> Tenant:
    """Another tenant."""
    return make_tenant("Elsewhere")


@pytest.fixture(autouse=True)
def embedder(monkeypatch: pytest.MonkeyPatch) -> TableEmbedder:
    """The only one there is."""
    made = TableEmbedder()
    monkeypatch.setattr(registry, "get_embedder", lambda settings: made)
    monkeypatch.setattr(registry, "find_embedder", lambda *asked: None)
    return made


@pytest.fixture
def spoken(hub: ScriptedHub) -> ScriptedHub:
    """A space that was read from dialogue and put right by hand."""
    hub.model.allow("resolve", "merge_check", construct=reply_known_changes)
    # Vectors in the form that other policies have too, so that a file's can be taken elsewhere.
    hub.set_policy(
        "amem",
        notes__vector="beside",
        route__keywords=False,
        llm__combine_calls=True,
        facts__enabled=True,
        graph__enabled=True,
        notes__links=False,
        notes__evolution=False,
    )
    hub.say_exchange("I live in Lisbon — at the river 🛶.", "A nice place.")
    hub.say_exchange("I like kayaking there.", "Have fun.")
    hub.run_due_jobs()
    hub.say_exchange("I moved to Zanzibar.", "So far?")
    hub.run_due_jobs()
    _edit_by_hand(hub)
    return hub


@pytest.fixture
def full(spoken: ScriptedHub) -> ScriptedHub:
    """The same with a row of every other kind, and a message that waits."""
    _make_rows_of_other_kinds(spoken)
    spoken.say("And this was not read yet.")
    return spoken


def _edit_by_hand(hub: ScriptedHub) -> None:
    space = hub.space
    with tenant_scope(hub.tenant.id):
        fact = Fact.objects.get(object="kayaking")
    correct_fact(space, fact.id, "Ana loves kayaking.", "ida", hub.now, reason="as she says")
    with tenant_scope(hub.tenant.id):
        fact = Fact.objects.get(text="Ana loves kayaking.")
        save_fingerprints(
            space, ["This sentence was given out to an agent some time ago."], hub.now
        )
        set_feedback(fact, "positive", "ida", hub.now, reason="so it is")
    set_pinned(space, "fact", fact.id, True, "ida", hub.now)


def _make_rows_of_other_kinds(hub: ScriptedHub) -> None:
    space = hub.space
    with tenant_scope(hub.tenant.id):
        keys = {"tenant_id": hub.tenant.id, "space": space}
        fact, page = Fact.objects.get(text="Ana loves kayaking."), Page.objects.earliest("id")
        turn = page.session.turns.earliest("seq")
        page.chain = Chain.objects.create(summary="Places", page_count=1, **keys)
        page.save()
        entities = list(Entity.objects.order_by("id")[:2])
        entities[0].merged_into = entities[1]
        entities[0].save()
        notes = make_note(space, "A passage", tags=["kept"]), Note.objects.earliest("id")
        make_link(*notes, reason="both of it")
        segment = make_segment(space, "Where Ana lives")
        SegmentPage.objects.create(
            segment=segment, page=page, theme="home", score=0.5, added_at=hub.now, **keys
        )
        day = make_episode(space, "A day at the river.", turn, session=turn.session)
        make_episode(space, "Before it.", turn, parent=day, details={"points": ["river"]})
        make_trait(space, "openness", "high", turn)
        ProfileAttribute.objects.create(
            owner="Ana", key="nickname", value="Annie", fact=fact, **keys
        )
        block = make_block(space, "human", "Lives by the river.")
        append_to_block(BlockWriter("ida", "person", hub.now, space), block.id, "Paddles.")
        Window.objects.create(session=turn.session, rolling=day, head_seq=2, **keys)
        make_question(space, "What does she like?", fact, tags=["hobbies"])
        item = make_item(space, "boat", {"colour": "blue", "seats": 2})
        ItemText.objects.create(item=item, place=0, text="A blue boat.", **keys)
        make_proposal(
            space,
            row_type="fact",
            row_id=fact.id,
            turn_ids=[turn.id],
            payload={"fact_id": str(fact.id), "candidate": {"id": str(fact.id), "text": "x"}},
            dedupe_key=f"conflict:{fact.id}:abc",
        )
        make_block(space, "house rules", "Be kind.", shared=True)
