"""A migration is run before the new processes are: those of the version before go on meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import migrations
from django.db.migrations.loader import MigrationLoader
from django.db.models import CharField, Field, IntegerField
from django.db.models.fields import NOT_PROVIDED

# The last ones before this was asked of any.
BEFORE = {
    "api": "0009", "dialogues": "0004", "golden": "0002", "importers": "0002",
    "inference": "0003", "items": "0002", "lab": "0005", "notes": "0020", "personas": "0004",
    "pipeline": "0018", "policies": "0002", "recall": "0002", "tenants": "0018",
    "webhooks": "0002",
}  # fmt: skip
_TAKEN_AWAY = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
)


def find_breaks(operation: migrations.operations.base.Operation) -> Iterator[str]:
    """What of it a version that does not know of it would fall over."""
    if isinstance(operation, _TAKEN_AWAY):
        yield f"{operation.describe()}: what the version before reads has to stay for one version"
    if isinstance(operation, migrations.AddField) and _must_be_given(operation.field):
        yield f"{operation.describe()}: give it a db_default, or let it be null"


def _must_be_given(field: Field[object, object]) -> bool:
    return not (field.null or field.many_to_many or field.db_default is not NOT_PROVIDED)


def test_no_migration_breaks_the_version_that_still_runs() -> None:
    loader = MigrationLoader(None)
    ours = {app.label for app in apps.get_app_configs() if app.label in BEFORE}
    assert ours == BEFORE.keys()
    found = [
        f"{label}.{name}: {told}"
        for (label, name), migration in loader.disk_migrations.items()
        if label in BEFORE and name[:4] > BEFORE[label]
        for operation in migration.operations
        for told in find_breaks(operation)
    ]
    assert found == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("tenant", "name"),
        migrations.RenameField("tenant", "name", "label"),
        migrations.DeleteModel("Tenant"),
        migrations.AddField("tenant", "age", IntegerField(default=1)),
    ],
)
def test_what_would_break_it_is_found(operation: migrations.operations.base.Operation) -> None:
    assert list(find_breaks(operation))


def test_what_it_does_not_notice_passes() -> None:
    safe = [
        migrations.AddField("tenant", "age", IntegerField(null=True)),
        migrations.AddField("tenant", "moved_to", CharField(max_length=1, db_default="")),
    ]
    assert [told for each in safe for told in find_breaks(each)] == []
