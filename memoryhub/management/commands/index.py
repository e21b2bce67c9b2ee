"""`manage.py index build|drop|list`: approximate search for one large space."""

from __future__ import annotations

from argparse import ArgumentParser
from time import monotonic
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memoryhub.errors import MemoryHubError
from memoryhub.management.arguments import get_tenant
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import find_space
from notes.index import approximate


class Command(BaseCommand):
    help = "Makes, drops or lists approximate indexes, each of one large space."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["build", "drop", "list"])
        parser.add_argument("tenant", nargs="?", default="", help="the tenant's slug")
        parser.add_argument("subject", nargs="?", default="", help="whose space it is")
        fewest, refused = approximate.MIN_ENTRIES, "refuse a space of fewer vectors"
        parser.add_argument("--least", type=int, default=fewest, help=refused)
        lost = "drop those whose space has been erased"
        parser.add_argument("--lost", action="store_true", help=lost)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run_action(options)
        except MemoryHubError as error:
            raise CommandError(error.message) from error

    def run_action(self, options: dict[str, Any]) -> None:
        if options["action"] == "list":
            self.list_indexes()
            return
        if options["action"] == "drop" and options["lost"]:
            self.stdout.write(f"{approximate.drop_orphan_indexes()} dropped.")
            return
        space, begun = get_space(options["tenant"], options["subject"]), monotonic()
        if options["action"] == "build":
            count = approximate.build_indexes(space, least=options["least"])
            self.stdout.write(f"{count:,} vectors indexed in {monotonic() - begun:.0f} s.")
        else:
            dropped = approximate.drop_indexes(space)
            self.stdout.write("Dropped: search is exact." if dropped else "There was none.")

    def list_indexes(self) -> None:
        for each in approximate.list_indexes():
            of = f"space {each.space}" if each.space else "a space that is gone: drop --lost"
            state = "" if each.valid else ", not finished: build it again"
            self.stdout.write(f"{each.name}  {each.size / 1e6:.0f} MB, {of}{state}")


def get_space(slug: str, subject: str) -> Space:
    if not (slug and subject):
        raise CommandError("Name the tenant and the subject.")
    with tenant_scope(get_tenant(slug).id):
        space = find_space(subject)
    if space is None:
        raise CommandError(f"{slug} has no memories of {subject}.")
    return space
