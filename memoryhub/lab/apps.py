from __future__ import annotations

from django.apps import AppConfig


class LabConfig(AppConfig):
    name = "memoryhub.lab"
    label = "lab"
    verbose_name = "Lab"
