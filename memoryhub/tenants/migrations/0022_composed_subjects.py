"""Subjects are kept composed (Unicode NFC) from now on, however they are sent.

Where a tenant has a subject in both forms, they are two spaces with memories of their own: the one
that was decomposed is told apart by a number behind its name, until somebody erases or exports it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import count
from typing import Any

from django.db import migrations

MAX_LENGTH = 200


def compose_subjects(apps: Any, editor: Any) -> None:
    rows = apps.get_model("tenants", "Space")._base_manager.using(editor.connection.alias)
    spaces = rows.order_by("created_at", "id")
    decomposed = [
        space
        for space in spaces.only("tenant_id", "subject", "former_names").iterator()
        if not unicodedata.is_normalized("NFC", space.subject)
    ]
    for space in decomposed:
        was = space.subject
        taken = spaces.filter(tenant_id=space.tenant_id).exclude(id=space.id)
        for name in list_free_names(unicodedata.normalize("NFC", was)):
            if not taken.filter(subject=name).exists():
                break
        # What is written under the former spelling says the new one when dialogue is read next.
        rows.filter(id=space.id).update(
            subject=name, former_names=sorted({*space.former_names, was}), rename_due=True
        )


def list_free_names(name: str) -> Iterator[str]:
    """The name, and what stands for it where it is taken; each as long as a subject may be."""
    yield name[:MAX_LENGTH]
    for number in count(2):
        mark = f" ({number})"
        yield name[: MAX_LENGTH - len(mark)].rstrip() + mark


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0021_quotas"),
    ]

    operations = [
        migrations.RunPython(compose_subjects, migrations.RunPython.noop),
    ]
