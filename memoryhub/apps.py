from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class MemoryHubConfig(AppConfig):
    name = "memoryhub"
    verbose_name = "MemoryHub"

    def ready(self) -> None:
        # Registers the system checks, and the Celery app that shared tasks belong to.
        from memoryhub import celery, checks  # noqa: F401
        from memoryhub.declarations import load_declarations

        load_declarations()
        # Of an app with tables, or no signal is sent; by then all apps' tables are there.
        post_migrate.connect(_install_noting, sender=apps.get_app_config("pipeline"))


def _install_noting(using: str, **_sent: Any) -> None:
    from memoryhub.tenants.database.row_images import install_noting

    install_noting(using)
