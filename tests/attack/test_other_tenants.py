"""Everything of another tenant, asked for at every door: told to nobody, changed by nobody.

Doors are taken from the URL resolver: a new one fails until a suite has decided it. All of it is
done again with the application's own filters off, so that only row-level security stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.console.admin.actions import list_actions
from memoryhub.console.pages.own.views import urlpatterns as own_pages
from memoryhub.console.urls import urlpatterns as console_patterns
from memoryhub.tenants.models import Membership, Tenant, TenantModel, User
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, ensure_space, revoke_key
from tests.api import test_strangers as api_doors
from tests.api.mcp import test_mcp_door as mcp_doors
from tests.api.mcp.conftest import McpHost
from tests.api.mem0 import test_mem0_strangers as mem0_doors
from tests.api.openai import test_openai_strangers as openai_doors
from tests.console import test_access as console_doors
from tests.console.conftest import ConsoleWorld, make_world
from tests.support import api_scene
from tests.support.attack import read_answer, take_fingerprints, without_own_filters
from tests.support.factories import make_member, make_tenant

# Words that stand in the victim's rows and nowhere else.
SECRETS = ("Porto", "Ghent", "bees", "nora-of-", "Quarry", "porto@example.com")
# Views of Django's admin that are about no row.
ADMIN_FRAME = {
    *("index", "login", "logout", "password_change", "password_change_done"),
    *("autocomplete", "jsi18n", "view_on_site", "app_list"),
}
ROW_VIEWS = ("change", "history", "delete")


@dataclass(frozen=True)
class Quarry:
    """The victim: what it has, and where that is found."""

    tenant: Tenant
    world: ConsoleWorld
    paths: dict[str, str]
    tool_ids: dict[str, str]


@pytest.fixture(scope="module")
def quarry(kept_for_module: None) -> Quarry:
    tenant = make_tenant("Quarry")
    world = make_world("Quarry", tenant)
    rows = api_scene.make_row_of_every_kind(tenant)
    named = (name for name in api_doors.ROUTES if name != "not-found")
    paths = {name: api_scene.build_route_path(name, rows, subject="ana") for name in named}
    fact = rows["fact"]
    ids = {"fact": str(fact.id), "lineage": str(fact.lineage), "event": str(rows["event"].id)}
    return Quarry(tenant, world, paths, ids)


@pytest.fixture
def stranger(db: None, quarry: Quarry) -> Tenant:
    """Another tenant, with a subject of the same name."""
    tenant = make_tenant("Stranger")
    with tenant_scope(tenant.id):
        ensure_space(tenant.id, "ana")
    return tenant


@pytest.fixture
def unfiltered() -> Iterator[None]:
    """What row-level security alone keeps back, it keeps back with the application's help too;
    that help is tested with each group of doors."""
    with without_own_filters():
        yield


def make_api_client(tenant: Tenant, *scopes: str, **values: Any) -> APIClient:
    _, key = create_key(tenant, "attack", scopes or ("read", "write", "admin"), **values)
    return APIClient(headers={"Authorization": f"Bearer {key}"})


def find_leaks(words: str) -> list[str]:
    return [secret for secret in SECRETS if secret in words]


def list_doors(resolver: URLResolver, space: str = "") -> Iterator[tuple[str, str]]:
    """(namespace, name) of every address that is served."""
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            yield from list_doors(each, each.namespace or space)
        else:
            yield space, str(each.name or "")


def list_admin_doors() -> set[str]:
    models = {f"{m._meta.app_label}_{m._meta.model_name}" for m in admin.site._registry}
    views = ("changelist", "add", *ROW_VIEWS)
    # The nameless ones lead from a row's old address to its page.
    return ADMIN_FRAME | {f"{model}_{view}" for model in models for view in views} | {""}


def test_every_door_is_decided() -> None:
    decided: dict[str, set[str]] = {
        "admin": list_admin_doors(),
        "api": set(api_doors.ROUTES),
        "mem0": set(mem0_doors.ROUTES),
        "openai": set(openai_doors.ROUTES),
        # What a host has to know before it has a key, under both of its addresses.
        "mcp": {"mcp", "oauth-metadata", ""},
        # Whatever stands behind a person's link takes that link: tests/console/test_own_page.py.
        "": {
            # They tell of no tenant: tests/wiring/test_watching_over.py.
            "healthz",
            "readyz",
            "metrics",
            *console_doors.DECIDED,
            *console_doors.OPEN,
            *(str(p.name) for p in own_pages),
        },
    }
    found: dict[str, set[str]] = {}
    for space, name in list_doors(get_resolver()):
        found.setdefault(space, set()).add(name)
    for space in found.keys() | decided.keys():
        assert found[space] ^ decided[space] == set(), space


def test_every_table_of_a_tenant_can_be_looked_at_in_the_admin() -> None:
    ours = {m for m in apps.get_models() if issubclass(m, TenantModel)}
    assert ours <= set(admin.site._registry)


def call_api(client: APIClient, paths: dict[str, str]) -> Iterator[tuple[str, int, str]]:
    for name, method in api_doors.GUARDED:
        answer = api_doors.call_as_stranger(client, paths, name, method)
        yield f"{method} {paths[name]}", *read_answer(answer)


def test_keys_of_another_tenant_open_nothing(
    quarry: Quarry, stranger: Tenant, unfiltered: None
) -> None:
    before = take_fingerprints(quarry.tenant.id)
    client = make_api_client(stranger)
    leaks = [
        (door, found)
        for door, _, words in call_api(client, quarry.paths)
        if (found := find_leaks(words))
    ]
    for name in sorted(mcp_doors.EVERY):
        _, key = create_key(stranger, "host", ["admin"])
        sent = mcp_doors.build_arguments_about(name, quarry.tool_ids)
        told = McpHost(key).request_result("tools/call", name=name, arguments=sent)
        if found := find_leaks(str(told)):
            leaks.append((name, found))
    assert leaks == []
    assert take_fingerprints(quarry.tenant.id) == before


def test_what_is_not_yours_and_what_is_not_there_are_answered_alike(
    quarry: Quarry, stranger: Tenant
) -> None:
    client = make_api_client(stranger)
    differing = []
    for name, method in api_doors.GUARDED:
        path = quarry.paths[name]
        if (row_id := find_id(path)) is None:
            continue
        calls = [
            read_answer(api_doors.call_as_stranger(client, {name: each}, name, method))
            for each in (path, path.replace(row_id, str(uuid4())))
        ]
        if calls[0] != calls[1]:
            differing.append((method, path, *calls))
    assert differing == []


def find_id(path: str) -> str | None:
    return next((part for part in path.partition("?")[0].split("/") if part.count("-") == 4), None)


def test_filters_reach_no_further_than_the_key(
    quarry: Quarry, stranger: Tenant, unfiltered: None
) -> None:
    """What another tenant has, looked for by its ids and names in every list that the stranger
    sees, by its address and in a body."""
    client, found, taken = make_api_client(stranger), [], set[tuple[str, str]]()
    wanted = ("ana", quarry.tool_ids["fact"], str(quarry.world.space.id), str(quarry.tenant.id))
    for name in api_doors.list_list_names():
        path = quarry.paths[name].partition("?")[0]
        if client.get(path).status_code != 200:
            continue
        for field, value in product(("id", "subject", "tenant", "space"), wanted):
            condition = {"OR": [{field: value}]}
            for answer in (
                client.get(path, {"filter": json.dumps(condition)}),
                client.post(f"{path}/query", {"filter": condition}, format="json"),
            ):
                status, words = read_answer(answer)
                if status == 200:
                    taken.add((name, str(answer.wsgi_request.method)))
                if leaks := find_leaks(words):
                    found.append((path, field, leaks))
    assert found == []
    assert {("spaces", "GET"), ("spaces", "POST"), ("jobs", "GET"), ("jobs", "POST")} <= taken


def test_keys_that_are_over_open_nothing(quarry: Quarry) -> None:
    """Expired, revoked, or with a right beginning and a wrong end; nor does a page's session."""
    now = timezone.now()
    row, revoked = create_key(quarry.tenant, "revoked", ["admin"])
    revoke_key(row, now)
    _, expired = create_key(quarry.tenant, "expired", ["admin"], expires_at=now - timedelta(1))
    _, good = create_key(quarry.tenant, "good", ["admin"])
    wrong = good[:-6] + good[-6:][::-1].swapcase() + "x"
    opened = []
    for key in (revoked, expired, wrong):
        client = APIClient(headers={"Authorization": f"Bearer {key}"})
        opened += [d for d, status, _ in call_api(client, quarry.paths) if status != 401]
        told = client.post(
            "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, format="json"
        )
        opened += ["/mcp"] * (told.status_code != 401)
        for method, path, body in openai_doors.CALLS:
            told = openai_doors.call_as_stranger(client, method, path, body)
            opened += [path] * (told.status_code != 401)
        for path in ("/v1/memories/?user_id=ana", "/v1/entities/", "/v1/events/"):
            opened += [path] * (client.get(path).status_code != 401)
    signed_in = APIClient()
    signed_in.force_login(quarry.world.admin)
    opened += [d for d, status, _ in call_api(signed_in, quarry.paths) if status != 401]
    assert opened == []


def test_a_key_bound_to_a_subject_sees_no_other_even_without_filters(quarry: Quarry) -> None:
    """Within a tenant it is the application that tells subjects apart."""
    with tenant_scope(quarry.tenant.id):
        other = ensure_space(quarry.tenant.id, "rui")
    client = make_api_client(quarry.tenant, space=other)
    leaks = [
        (door, found)
        for door, _, words in call_api(client, quarry.paths)
        if (found := [each for each in find_leaks(words) if each != "Quarry"])
    ]
    assert leaks == []


def list_people(stranger: Tenant) -> Iterator[tuple[str, User]]:
    """Who might try: members of each role elsewhere, operators of the hub, and nobody's."""
    for role in Membership.Role.values:
        yield role, make_member(stranger, role)
    yield "operator", make_member(stranger, Membership.Role.ADMIN, is_superuser=True)
    yield "of no tenant", User.objects.create_user("nobody-s")
    yield "operator of no tenant", User.objects.create_user("root-s", is_superuser=True)


def sign_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def call_pages(client: Client, ids: dict[str, str], *names: str) -> dict[str, tuple[int, str]]:
    """What the pages of these names answer that name what these are the ids of."""
    form = {"tenant": ids["tenant_id"], "space": ids["space_id"], "q": "nora"}
    told = {}
    for pattern in console_patterns:
        if pattern.name in names:
            ask = getattr(client, console_doors.DECIDED[str(pattern.name)][1])
            told[str(pattern.name)] = read_answer(
                ask(console_doors.build_address(pattern, ids), form)
            )
    return told


def test_pages_show_nothing_of_another_tenant(
    quarry: Quarry, stranger: Tenant, unfiltered: None
) -> None:
    before, shown = take_fingerprints(quarry.tenant.id), []
    ids = quarry.world.collect_ids() | {"tenant_id": str(quarry.tenant.id)}
    about_rows = console_doors.DECIDED.keys() - console_doors.OWN
    for who, person in list_people(stranger):
        # Pages that are of whoever looks are drawn in full, for whoever may see most.
        names = console_doors.DECIDED.keys() if who == "operator" else about_rows
        for name, (status, words) in call_pages(sign_in(person), ids, *names).items():
            if leaks := find_leaks(words):
                shown.append((who, name, leaks))
            if name in about_rows and status not in (403, 404):
                shown.append((who, name, [str(status)]))
    assert shown == []
    assert take_fingerprints(quarry.tenant.id) == before


def test_pages_of_others_and_of_nobody_are_alike(quarry: Quarry, stranger: Tenant) -> None:
    client = sign_in(make_member(stranger, is_superuser=True))
    ids = quarry.world.collect_ids() | {"tenant_id": str(quarry.tenant.id)}
    unknown = {name: str(uuid4()) for name in ids} | {"key": ids["key"]}
    names = console_doors.DECIDED.keys() - console_doors.OWN
    assert call_pages(client, ids, *names) == call_pages(client, unknown, *names)


def test_the_admin_shows_nothing_of_another_tenant(
    quarry: Quarry, stranger: Tenant, unfiltered: None
) -> None:
    before, shown = take_fingerprints(quarry.tenant.id), []
    with tenant_scope(quarry.tenant.id):
        rows = {model: model._base_manager.first() for model in admin.site._registry}
    for who, person in list_people(stranger):
        client = sign_in(person)
        may = client.get(reverse("admin:index")).status_code == 200
        assert may == (who in ("admin", "operator"))
        if who != "operator":
            continue
        for model, row in rows.items():
            told, base = [], f"admin:{model._meta.app_label}_{model._meta.model_name}"
            told.append(client.get(reverse(f"{base}_changelist")))
            told.append(client.post(reverse(f"{base}_add"), {"tenant": str(quarry.tenant.id)}))
            assert told[-1].status_code == 403
            for action in list_actions(model) if row else ():
                assert row is not None
                sent = {"action": action.name, "_selected_action": str(row.pk), "confirmed": "1"}
                told.append(client.post(reverse(f"{base}_changelist"), sent, follow=True))
            for view in ROW_VIEWS if row else ():
                assert row is not None
                address = reverse(f"{base}_{view}", args=[row.pk])
                told.append(client.get(address))
                assert told[-1].status_code in (302, 403), address
            for answer in told:
                if leaks := find_leaks(read_answer(answer)[1]):
                    shown.append((who, base, leaks))
    assert shown == []
    assert take_fingerprints(quarry.tenant.id) == before
