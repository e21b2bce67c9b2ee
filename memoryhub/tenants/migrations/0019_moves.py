"""A tenant may move to another cell: entering its scope waits meanwhile, and fails afterwards."""

from __future__ import annotations

from django.db import migrations, models

# A new look at each step, so that whoever waited sees what the move did. Within a scope it tells
# nothing.
_ENTER_SQL = """
CREATE FUNCTION memoryhub_enter(wanted uuid) RETURNS uuid LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF current_setting('memoryhub.tenant', true) <> '' THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock_shared(hashtext('memoryhub.move'), hashtext(wanted::text));
  IF EXISTS (SELECT FROM tenants_tenant WHERE id = wanted AND moved_to <> '') THEN
    RETURN NULL;
  END IF;
  RETURN wanted;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("tenants", "0018_single_sign_on")]

    operations = [
        migrations.AddField(
            "tenant",
            "moved_to",
            models.CharField(blank=True, db_default="", default="", max_length=60),
        ),
        migrations.RunSQL(_ENTER_SQL, "DROP FUNCTION memoryhub_enter(uuid)"),
    ]
