"""A claim can only take the place of one recorded before it, in its own space (I5, E28)."""

from __future__ import annotations

from django.db import migrations

# After the statement, when rows written together can see each other. Ids are in the order of
# their making, which tells apart what was recorded at the same moment.
_GUARD = """
CREATE FUNCTION notes_succession_in_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM notes_fact o WHERE o.id = NEW.supersedes_id AND o.space_id = NEW.space_id
      AND (o.recorded_at, o.id) < (NEW.recorded_at, NEW.id)
  ) THEN
    RAISE check_violation USING MESSAGE = 'a claim supersedes one recorded before it',
      CONSTRAINT = 'supersedes_earlier', TABLE = 'notes_fact';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER supersedes_earlier
  AFTER INSERT OR UPDATE OF supersedes_id, recorded_at, space_id ON notes_fact
  FOR EACH ROW WHEN (NEW.supersedes_id IS NOT NULL)
  EXECUTE FUNCTION notes_succession_in_order();
"""
_UNGUARD = """
DROP TRIGGER supersedes_earlier ON notes_fact;
DROP FUNCTION notes_succession_in_order();
"""


class Migration(migrations.Migration):
    dependencies = [("notes", "0009_metadata_of_facts")]

    operations = [migrations.RunSQL(_GUARD, _UNGUARD)]
