"""Subjects are one however their letters are put together (E3)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connections

from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject, create_tenant, ensure_space, find_space

MIGRATION = import_module("memoryhub.tenants.migrations.0022_composed_subjects")
COMPOSED = "André"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
# Two marks that come in another order, and a letter that composing takes apart.
HARD = ["a\u0301\u0323 b", "क़लम"]


@pytest.mark.django_db
def test_a_subject_is_one_in_either_form() -> None:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, f" {DECOMPOSED}")
        assert (space.subject, ensure_space(tenant.id, COMPOSED).id) == (COMPOSED, space.id)
        for name in (COMPOSED, DECOMPOSED, f"{DECOMPOSED} "):
            assert find_space(name) == space
        assert find_space("Andre") is None


@pytest.mark.django_db
@pytest.mark.parametrize("character", ["\0", "\n", "\t", "\x85", "\u2028"])
def test_nobody_new_is_called_by_what_can_not_be_seen(character: str) -> None:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id), pytest.raises(InvalidInput) as refused:
        ensure_space(tenant.id, f"a{character}na")
    assert refused.value.field == "subject"


@pytest.mark.django_db
def test_who_was_called_so_before_is_still_found() -> None:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        space = Space.objects.create(tenant=tenant, subject="a\nna")
        assert ensure_space(tenant.id, "a\nna") == space


@pytest.mark.parametrize("subject", HARD)
def test_what_is_composed_once_stays_as_it_is(subject: str) -> None:
    assert clean_subject(clean_subject(subject)) == clean_subject(subject)


def test_what_composing_makes_too_long_is_refused() -> None:
    with pytest.raises(InvalidInput):
        clean_subject("\u0958" * 200)  # two characters each


Migrate = Callable[[], list[tuple[str, list[str], bool]]]
as_owner = pytest.mark.django_db(databases=["owner"])


def make_space(tenant: Any, subject: str) -> None:
    Space._base_manager.using("owner").create(tenant_id=tenant.id, subject=subject)


@pytest.fixture
def old_tenant(db: None) -> Any:
    return Tenant.objects.using("owner").create(name="Old", slug="old")


@pytest.fixture
def migrate(old_tenant: Any) -> Migrate:
    """Compose the subjects as the owner of the tables, who migrates; the tenant's, by age."""

    def compose() -> list[tuple[str, list[str], bool]]:
        with connections["owner"].schema_editor(atomic=False) as editor:
            MIGRATION.compose_subjects(apps, editor)
        rows = Space._base_manager.using("owner").filter(tenant_id=old_tenant.id)
        ordered = rows.order_by("created_at", "id")
        return [(space.subject, space.former_names, space.rename_due) for space in ordered]

    return compose


@as_owner
def test_spaces_of_before_are_found_by_their_name_again(old_tenant: Any, migrate: Migrate) -> None:
    for subject in (DECOMPOSED, "ana", HARD[0], "\u0958" * 200):
        make_space(old_tenant, subject)
    told = migrate()
    assert told[:2] == [(COMPOSED, [DECOMPOSED], True), ("ana", [], False)]
    assert [clean_subject(subject) for subject, _, _ in told] == [each for each, _, _ in told]
    assert migrate() == told


@as_owner
def test_two_spaces_of_one_name_are_told_apart(old_tenant: Any, migrate: Migrate) -> None:
    make_space(Tenant.objects.using("owner").create(name="Two", slug="two"), f"{COMPOSED} (2)")
    forms = ["\u00e1\u0323", "a\u0301\u0323", "a\u0323\u0301"]  # of one letter, none composed
    for subject in (DECOMPOSED, COMPOSED, *forms):
        make_space(old_tenant, subject)
    letter = unicodedata.normalize("NFC", forms[0])
    names = [f"{COMPOSED} (2)", COMPOSED, letter, f"{letter} (2)", f"{letter} (3)"]
    assert [subject for subject, _, _ in migrate()] == names
