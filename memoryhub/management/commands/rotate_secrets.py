"""`manage.py rotate_secrets`: secrets sealed under a key of before, under the one of now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryhub.inference.connections import reseal_keys
from memoryhub.pipeline.sealed_erasures import reseal_erasures
from memoryhub.tenants.sign_in.second_factor import reseal_apps


class Command(BaseCommand):
    help = (
        "Seal the keys of models, the secrets of people's apps and what can be brought back after "
        "an erasure under MEMORYHUB_SECRET_KEY, "
        "so that older ones may go."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        apps, accounts = reseal_apps()
        self.stdout.write(f"{apps} apps of people are sealed under the hub's key of now.")
        if accounts:
            self.stderr.write(
                f"Apps of these were sealed under a key that is gone: {', '.join(accounts)}. Their "
                "codes fit no longer; `manage.py account second-factor NAME --remove` lets them in."
            )
        erasures = reseal_erasures()
        self.stdout.write(f"{erasures} erasures that can be undone are sealed under it.")
        found = reseal_keys()
        self.stdout.write(f"{found.done} keys of models are sealed under the hub's key of now.")
        if found.broken:
            raise CommandError(
                f"Sealed under a key that the hub has no longer: {', '.join(found.broken)}. "
                "Enter these keys again, or put the key of before into "
                "MEMORYHUB_SECRET_KEY_FALLBACKS."
            )
