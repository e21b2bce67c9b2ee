"""The application's role gets rows, not tables; each tenant's rows are its own."""

from __future__ import annotations

from django.db import migrations

from memoryhub.tenants.database.grants import grant_application
from memoryhub.tenants.database.row_security import CURRENT, CURRENT_USER, definer_function, isolate, policy

_MEMBER_OF = f"SELECT tenant_id FROM tenants_membership WHERE user_id = {CURRENT_USER}"


class Migration(migrations.Migration):
    dependencies = [("tenants", "0001_initial")]

    operations = [
        migrations.RunPython(grant_application, migrations.RunPython.noop),
        *isolate("tenants_space", "tenants_apikey"),
        # A person may read, before choosing one, the tenants they belong to.
        policy(
            "tenants_membership",
            f"tenant_id = {CURRENT} OR user_id = {CURRENT_USER}",
            f"tenant_id = {CURRENT}",
        ),
        policy("tenants_tenant", f"id = {CURRENT} OR id IN ({_MEMBER_OF})", f"id = {CURRENT}"),
        definer_function(
            "memoryhub_api_key(wanted text)",
            "TABLE (id uuid, tenant_id uuid, space_id uuid, digest varchar, scopes varchar[], "
            "expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz)",
            "SELECT id, tenant_id, space_id, digest, scopes, expires_at, revoked_at, "
            "last_used_at "
            "FROM tenants_apikey WHERE prefix = wanted",
        ),
        definer_function(
            "memoryhub_tenant_id(wanted text)",
            "uuid",
            "SELECT id FROM tenants_tenant WHERE slug = wanted",
        ),
    ]
