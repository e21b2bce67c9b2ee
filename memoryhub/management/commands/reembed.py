"""`manage.py reembed TENANT`: vectors of the embedder in use for what another one has embedded."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memoryhub.errors import EngineError
from memoryhub.pipeline import reembedding
from memoryhub.pipeline.tasks import ring
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import find_tenant


class Command(BaseCommand):
    help = "Have the embedder in use embed what another one did, space by space, by the workers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument(
            "--force",
            action="store_true",
            help="search by the new vectors at once, and by words where there are none yet",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options["tenant"])
        if tenant is None:
            raise CommandError(f"There is no tenant {options['tenant']}.")
        begin = reembedding.force if options["force"] else reembedding.start
        try:
            with tenant_scope(tenant.id):
                begun = [s for s in Space.objects.all() if begin(s, timezone.now()) is not None]
        except EngineError as error:
            raise CommandError(error.message) from error
        for space in begun:
            ring(tenant.id, space.id)
        self.stdout.write(f"{len(begun)} spaces are being embedded anew.")
