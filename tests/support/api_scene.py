"""A row of every kind in one space, and the paths that lead to them."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from api.urls import urlpatterns
from memoryhub.tenants.models import Membership, Tenant, User
from memoryhub.tenants.scope import hub_scope, tenant_scope
from memoryhub.tenants.services import create_key
from notes.models import Relation
from personas.models import ProfileAttribute
from personas.window import open_window
from tests.support.factories import (
    make_block,
    make_call,
    make_delivery,
    make_entity,
    make_episode,
    make_event,
    make_fact,
    make_import,
    make_item,
    make_job,
    make_link,
    make_note,
    make_person_link,
    make_proposal,
    make_question,
    make_reading,
    make_receipt,
    make_replay,
    make_request,
    make_rule,
    make_segment,
    make_space,
    make_trait,
    make_turns,
    make_webhook,
)

TIME_QUERIES = {"as-of": "?at=2030-01-01T00:00:00Z", "changes": "?since=2026-01-01T00:00:00Z"}


def make_row_of_every_kind(tenant: Tenant, subject: str = "ana") -> dict[str, Any]:
    """By the name of their kind in the API. Needs no scope."""
    with tenant_scope(tenant.id):
        space = make_space(tenant, subject)
        (turn,) = make_turns(space, "I play chess in Porto.")
        keys = {"tenant_id": tenant.id, "space": space}
        fact = make_fact(space, "Ana plays chess in Porto", turn, predicate_key="plays")
        notes = make_note(space, "Chess in Porto"), make_note(space, "Porto again")
        porto, ana = make_entity(space, "Porto x"), make_entity(space, "Ana x")
        relation = Relation.objects.create(fact=fact, src=ana, label="in", dst=porto, **keys)
        attribute = ProfileAttribute.objects.create(
            owner="ana", key="home_town", value="Porto", **keys
        )
        hook = make_webhook(tenant, name="Porto", space=space)
        golden = make_question(space, "Porto?", fact)
        key, _ = create_key(tenant, "Porto", ["read"])
        make_request(tenant, key_id=key.id)
        return {
            "webhook": hook,
            "delivery": make_delivery(hook, space, reply="Porto"),
            "space": space,
            "session": turn.session,
            "turn": turn,
            "job": make_job(space, "dead"),
            "fact": fact,
            "note": notes[0],
            "link": make_link(*notes),
            "entity": porto,
            "relation": relation,
            "segment": make_segment(space, "Porto"),
            "episode": make_episode(space, "A day in Porto.", turn),
            "trait": make_trait(space, "openness", "high", turn, rationale="Porto"),
            "profile": attribute,
            "block": make_block(space, "human", "Lives in Porto."),
            "window": open_window(turn.session, 8000, "tutor"),
            "event": make_event(space, reason="Porto"),
            "conflict": make_proposal(space, reason="Porto or Rome"),
            "receipt": make_receipt(tenant),
            "person-link": make_person_link(space, note="Porto"),
            "quality": make_reading(space),
            "review": make_rule(tenant, space, reason="Porto"),
            "key": key,
            "call": make_call(space),
            "item": make_item(space, "Porto", {"text": "Ana lives in Porto"}),
            "import": make_import(tenant, word="Porto"),
            "golden": golden,
            "member": _make_members(tenant, subject),
            "replay": make_replay(golden, space=space, tag="Porto"),
        }


def _make_members(tenant: Tenant, subject: str) -> Membership:
    """Two admins, so that one may go. Nobody signs in: a password takes long to keep."""
    with hub_scope():
        users = [
            User.objects.create(
                username=f"{name}@{tenant.slug}.{subject}", email="porto@example.com"
            )
            for name in ("ida", "eve")
        ]
    made = [
        Membership.objects.create(tenant=tenant, user=user, role=Membership.Role.ADMIN)
        for user in users
    ]
    return made[0]


def build_route_path(name: str, rows: dict[str, Any], *, subject: str) -> str:
    """The path of a route about these rows."""
    wanted = list_route_parameters(name)
    values: dict[str, Any] = {"subject": subject, "row_id": get_row_id(name, rows)}
    return reverse(f"api:{name}", kwargs={k: values[k] for k in wanted}) + TIME_QUERIES.get(
        name, ""
    )


def list_route_parameters(name: str) -> list[str]:
    route = next(each for each in urlpatterns if each.name == name)
    return list(route.pattern.converters)


def get_row_id(name: str, rows: dict[str, Any]) -> Any:
    kind = next((each for each in (name, name.rpartition("-")[0]) if each in rows), "")
    kind = kind or name.split("-")[0]
    return rows[kind].id if kind in rows else None
