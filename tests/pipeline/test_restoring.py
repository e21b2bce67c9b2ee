"""What follows when claims are changed by other means than reading: the profile (I3)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.pipeline import corrections
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.tenants.scope import tenant_scope
from notes.corrections import manual
from notes.models import EvolutionEvent, Fact, Revision
from personas import profile
from personas.models import ProfileAttribute
from tests.support.claims import make_home_reply, say_and_derive
from tests.support.hub import ScriptedHub


@pytest.fixture
def moved(hub: ScriptedHub) -> ScriptedHub:
    """Ana lived in Lisbon and moved to Porto; her profile says so."""
    hub.set_policy("mem0", episodes__rolling=False)
    say_and_derive(hub, "I live in Lisbon.", make_home_reply("Lisbon"))
    hub.pass_time(days=30)
    say_and_derive(hub, "I moved to Porto.", make_home_reply("Porto"))
    assert get_home(hub) == "Porto"
    return hub


def get_home(hub: ScriptedHub) -> str:
    """What is stored, whether or not its fact holds."""
    with tenant_scope(hub.tenant.id):
        rows = ProfileAttribute.objects.filter(retired_at=None, key="lives_in")
        return "".join(each.value for each in rows)


def get_move_event(hub: ScriptedHub) -> EvolutionEvent:
    with tenant_scope(hub.tenant.id):
        porto = Fact.objects.get(o="Porto")
        return Revision.objects.select_related("event").get(row_id=porto.id, version_after=1).event


def test_the_profile_follows_an_undo_and_its_redo(moved: ScriptedHub) -> None:
    undone = corrections.undo_event(get_move_event(moved), "eva", moved.now, cascade=True)
    assert get_home(moved) == "Lisbon"
    corrections.undo_event(undone, "eva", moved.now + timedelta(minutes=1), cascade=True)
    assert get_home(moved) == "Porto"


def test_what_only_mirrors_a_fact_is_not_undone_but_its_fact_is(moved: ScriptedHub) -> None:
    """It would be written again at once."""
    with tenant_scope(moved.tenant.id):
        mirrored = EvolutionEvent.objects.filter(kind="refresh", trigger="profile")[0]
    with pytest.raises(Conflict) as refused:
        corrections.undo_event(mirrored, "eva", moved.now)
    assert refused.value.code == "mirrored"
    assert get_home(moved) == "Porto"


def test_a_corrected_fact_leaves_its_object_in_the_profile(moved: ScriptedHub) -> None:
    with tenant_scope(moved.tenant.id):
        fact = Fact.objects.get(o="Porto")
    text = fact.text.replace("Porto", "Braga")
    new = manual.correct_text(moved.space, fact.id, text, "eva", moved.now)
    corrections.refresh_after_change(moved.space.id, moved.tenant.id, "edit", moved.now)
    assert get_home(moved) == "Braga"
    assert (new.v, new.engine, new.corrected_by) == (fact.v, "", "eva")


def test_the_profile_follows_a_roll_back(moved: ScriptedHub) -> None:
    corrections.roll_back_space(moved.space, moved.now - timedelta(days=20), "eva", moved.now)
    assert get_home(moved) == "Lisbon"


def test_the_profile_follows_an_erasure(moved: ScriptedHub) -> None:
    with tenant_scope(moved.tenant.id):
        turn = Turn.objects.get(text__contains="Porto")
    erase_targets.execute_erasure(moved.space, ErasureTarget("turns", (turn.id,)), "eva", moved.now)
    assert get_home(moved) == "Lisbon"


def test_what_a_person_wrote_of_the_profile_stays(moved: ScriptedHub) -> None:
    with tenant_scope(moved.tenant.id):
        profile.write_attribute(moved.space, "lives in", "Braga", "ida", moved.now)
    corrections.undo_event(get_move_event(moved), "eva", moved.now, cascade=True)
    assert get_home(moved) == "Braga"


def test_following_twice_changes_nothing(moved: ScriptedHub) -> None:
    def events() -> Any:
        with tenant_scope(moved.tenant.id):
            return EvolutionEvent.objects.count()

    before = events()
    corrections.refresh_after_change(moved.space.id, moved.tenant.id, "again", moved.now)
    assert events() == before
