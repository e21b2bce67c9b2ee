from __future__ import annotations

from django.apps import AppConfig


class DialoguesConfig(AppConfig):
    name = "memoryhub.dialogues"
    label = "dialogues"
    verbose_name = "Dialogues"
