"""The people and things of a space: one that was merged can be split again."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from memoryhub.pipeline import corrections
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import MAY, make_entity, make_member


def merge_pair(world: ConsoleWorld) -> tuple[Entity, Entity]:
    """(merged, the one that stands for it)."""
    with tenant_scope(world.tenant.id):
        merged, kept = (
            make_entity(world.space, "Ghent-Sud"),
            make_entity(world.space, "Ghent South"),
        )
    corrections.merge_memories(world.space, "entity", merged.id, kept.id, "ida", MAY)
    return merged, kept


def find_standing_id(entity: Entity) -> object:
    with tenant_scope(entity.tenant_id):
        return Entity.objects.get(id=entity.id).merged_into_id


def test_a_merged_entity_is_split_and_the_split_taken_back(
    browser: Client, world: ConsoleWorld
) -> None:
    merged, kept = merge_pair(world)
    assert find_standing_id(merged) == kept.id
    listed = reverse("space-entities", args=[world.space.id])
    split = reverse("space-entity-split", args=[world.space.id, merged.id])
    page = browser.get(listed).content.decode()
    assert "merged into Ghent South" in page
    assert page.count(split) == 1
    answer = browser.post(split, follow=True).content.decode()
    assert "it stands for itself" in answer
    assert "Undo" in answer
    assert "merged into" not in answer
    assert find_standing_id(merged) is None
    assert "Nothing was changed" in browser.post(split, follow=True).content.decode()


def test_who_may_only_look_splits_nothing(client: Client, world: ConsoleWorld) -> None:
    merged, kept = merge_pair(world)
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    page = client.get(reverse("space-entities", args=[world.space.id])).content.decode()
    assert "merged into Ghent South" in page
    assert "/split" not in page
    split = reverse("space-entity-split", args=[world.space.id, merged.id])
    assert client.post(split).status_code == 403
    assert find_standing_id(merged) == kept.id


def test_chosen_entities_are_merged_into_the_one_mentioned_most(
    browser: Client, world: ConsoleWorld
) -> None:
    stranger = make_world("Orchard")
    with tenant_scope(world.tenant.id):
        few, many, other = (
            make_entity(world.space, name, mention_count=count)
            for name, count in (("Ghent-Sud", 1), ("Ghent South", 9), ("Gent-Zuid", 2))
        )
    with tenant_scope(stranger.tenant.id):
        theirs = make_entity(stranger.space, "Gand", mention_count=99)
    listed = reverse("space-entities", args=[world.space.id])
    chosen = reverse("space-entities-chosen", args=[world.space.id])
    assert f'action="{chosen}"' in browser.get(listed).content.decode()
    for ids in ([], [few.id], [few.id, theirs.id]):
        refused = browser.post(chosen, {"ids": ids, "action": "merge"}, follow=True)
        assert "select two entities or more" in refused.content.decode()
    ids = [few.id, many.id, other.id]
    answer = browser.post(chosen, {"ids": ids, "action": "merge"}, follow=True).content.decode()
    assert "Merged: Ghent South stands for all of them." in answer
    assert [find_standing_id(each) for each in (few, many, other)] == [many.id, None, many.id]
    split = reverse("space-entity-split", args=[world.space.id, few.id])
    assert "it stands for itself" in browser.post(split, follow=True).content.decode()
    assert [find_standing_id(each) for each in (few, other)] == [None, many.id]
