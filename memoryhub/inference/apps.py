from __future__ import annotations

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    name = "memoryhub.inference"
    label = "inference"
    verbose_name = "Inference"
