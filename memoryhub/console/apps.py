from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "memoryhub.console"
    label = "console"
    verbose_name = "Console"
