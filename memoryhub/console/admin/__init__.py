"""Django's admin: a look behind the pages, within the tenant in use.

Django's autodiscovery imports this package only: without the import below the admin is empty.
"""

from __future__ import annotations

from memoryhub.console.admin import model_admins

__all__ = ["model_admins"]
