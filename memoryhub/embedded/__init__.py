"""The bundled PostgreSQL: started when no DATABASE_URL is set. Imports no Django.

`EmbeddedPostgres(data_dir).dsn("app")` tells where the server is or will be, without
starting it; `ensure_running(data_dir)` starts it on demand and is cheap when it is up.
"""

from __future__ import annotations

from memoryhub.embedded.errors import EmbeddedError
from memoryhub.embedded.server import EmbeddedPostgres, Role, ensure_running

__all__ = ["EmbeddedError", "EmbeddedPostgres", "Role", "ensure_running"]
