"""What follows when claims are changed by other means than reading: the profile (I3)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.pipeline import erasing, restoring
from memoryhub.pipeline.erasing import Target
from memoryhub.tenants.scope import tenant_scope
from notes import correcting
from notes.models import EvolutionEvent, Fact, Revision
from personas import profiles
from personas.models import ProfileAttribute
from tests.support.claims import lives, told
from tests.support.hub import Hub


@pytest.fixture
def moved(hub: Hub) -> Hub:
    """Ana lived in Lisbon and moved to Porto; her profile says so."""
    hub.policy("mem0", episodes__rolling=False)
    told(hub, "I live in Lisbon.", lives("Lisbon"))
    hub.pass_time(days=30)
    told(hub, "I moved to Porto.", lives("Porto"))
    assert home(hub) == "Porto"
    return hub


def home(hub: Hub) -> str:
    """What is stored, whether or not its fact holds."""
    with tenant_scope(hub.tenant.id):
        rows = ProfileAttribute.objects.filter(retired_at=None, key="lives_in")
        return "".join(each.value for each in rows)


def move_of(hub: Hub) -> EvolutionEvent:
    with tenant_scope(hub.tenant.id):
        porto = Fact.objects.get(o="Porto")
        return Revision.objects.select_related("event").get(row_id=porto.id, version_after=1).event


def test_the_profile_follows_an_undo_and_its_redo(moved: Hub) -> None:
    undone = restoring.undo(move_of(moved), "eva", moved.now, cascade=True)
    assert home(moved) == "Lisbon"
    restoring.undo(undone, "eva", moved.now + timedelta(minutes=1), cascade=True)
    assert home(moved) == "Porto"


def test_what_only_mirrors_a_fact_is_not_undone_but_its_fact_is(moved: Hub) -> None:
    """It would be written again at once."""
    with tenant_scope(moved.tenant.id):
        mirrored = EvolutionEvent.objects.filter(kind="refresh", trigger="profile")[0]
    with pytest.raises(Conflict) as refused:
        restoring.undo(mirrored, "eva", moved.now)
    assert refused.value.code == "mirrored"
    assert home(moved) == "Porto"


def test_a_corrected_fact_leaves_its_object_in_the_profile(moved: Hub) -> None:
    with tenant_scope(moved.tenant.id):
        fact = Fact.objects.get(o="Porto")
    text = fact.text.replace("Porto", "Braga")
    new = correcting.edit_text(moved.space, fact.id, text, "eva", moved.now)
    restoring.settle(moved.space.id, moved.tenant.id, "edit", moved.now)
    assert home(moved) == "Braga"
    assert (new.v, new.engine, new.corrected_by) == (fact.v, "", "eva")


def test_the_profile_follows_a_roll_back(moved: Hub) -> None:
    restoring.roll_back(moved.space, moved.now - timedelta(days=20), "eva", moved.now)
    assert home(moved) == "Lisbon"


def test_the_profile_follows_an_erasure(moved: Hub) -> None:
    with tenant_scope(moved.tenant.id):
        turn = Turn.objects.get(text__contains="Porto")
    erasing.execute(moved.space, Target("turns", (turn.id,)), "eva", moved.now)
    assert home(moved) == "Lisbon"


def test_what_a_person_wrote_of_the_profile_stays(moved: Hub) -> None:
    with tenant_scope(moved.tenant.id):
        profiles.write(moved.space, "lives in", "Braga", "ida", moved.now)
    restoring.undo(move_of(moved), "eva", moved.now, cascade=True)
    assert home(moved) == "Braga"


def test_following_twice_changes_nothing(moved: Hub) -> None:
    def events() -> Any:
        with tenant_scope(moved.tenant.id):
            return EvolutionEvent.objects.count()

    before = events()
    restoring.settle(moved.space.id, moved.tenant.id, "again", moved.now)
    assert events() == before
