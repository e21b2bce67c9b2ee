from __future__ import annotations

from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    name = "memoryhub.policies"
    label = "policies"
    verbose_name = "Policies"
