"""The parts of a claim's sentence are called what they are; so they are in the history and the inbox.

Revisions and proposals hold rows of facts as JSON under the names of their columns. Undo, as-of
reads and answers in the inbox pass over names that they do not know, so old ones would be lost
without an error.
"""

from __future__ import annotations

from django.db import migrations

NAMES = {"s": "subject", "v": "verb", "o": "object", "o2": "indirect_object", "c": "complement"}


def rename_keys_sql(names: dict[str, str]) -> str:
    """Statements that rename keys in every stored row of a fact."""
    held = ", ".join(f"'{name}'" for name in names)

    def renamed(row: str) -> str:
        pairs = ", ".join(f"'{new}', {row}->'{old}'" for old, new in names.items())
        # A slot is text and never null: what is stripped is what the row did not have.
        return (
            f"CASE WHEN jsonb_typeof({row}) = 'object' THEN ({row} - ARRAY[{held}]) "
            f"|| jsonb_strip_nulls(jsonb_build_object({pairs})) ELSE {row} END"
        )

    candidate = "(payload->'candidate')"
    return (
        f"UPDATE notes_revision SET before = {renamed('before')}, after = {renamed('after')} "
        f"WHERE row_type = 'fact' AND (before ?| ARRAY[{held}] OR after ?| ARRAY[{held}]);"
        "UPDATE notes_proposal SET payload = jsonb_set(payload, '{candidate}', "
        f"{renamed(candidate)}) WHERE payload->'candidate' ?| ARRAY[{held}];"
    )


FORWARDS = rename_keys_sql(NAMES)
BACKWARDS = rename_keys_sql({new: old for old, new in NAMES.items()})


class Migration(migrations.Migration):
    dependencies = [("notes", "0017_rules_isolation_and_risk")]

    operations = [
        *(migrations.RenameField("fact", old, new) for old, new in NAMES.items()),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
