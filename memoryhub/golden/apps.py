from __future__ import annotations

from django.apps import AppConfig


class GoldenConfig(AppConfig):
    name = "memoryhub.golden"
    verbose_name = "Golden questions"
