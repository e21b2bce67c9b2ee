"""`manage.py reembed TENANT`: another embedder's vectors, filled, compared, cut over, undone."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memoryhub.errors import Conflict, EngineError, MemoryHubError, NotFound
from memoryhub.inference.selection import get_current_embedder
from memoryhub.management.arguments import get_tenant
from memoryhub.pipeline.embeddings import cutover
from memoryhub.pipeline.models import EmbeddingMigration
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import find_space

ACTOR = "manage.py reembed"
DECISIONS: dict[str, tuple[Callable[..., object], str]] = {
    "pause": (cutover.pause_migration, "fill no further"),
    "resume": (cutover.resume_migration, "go on after a pause or a failure"),
    "cancel": (cutover.cancel_migration, "call it off and remove the new vectors"),
    "cut-over": (cutover.cut_over_migration, "search by the new vectors"),
    "roll-back": (cutover.roll_back_migration, "search by the old vectors again"),
    "drop": (cutover.drop_unused_vectors, "remove the vectors that are not searched any more"),
}


class Command(BaseCommand):
    help = "Have another embedder embed what a tenant's spaces hold, by the workers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("--space", help="only the space of this subject")
        parser.add_argument("--to", help="the embedder's name (default: the one in use)")
        doing = parser.add_mutually_exclusive_group()
        doing.add_argument("--hold", action="store_true", help="wait to be compared and cut over")
        forced = "search by the new vectors at once, and by words where there are none yet"
        doing.add_argument("--force", action="store_true", help=forced)
        doing.add_argument("--status", action="store_true", help="say how far the spaces are")
        for name, (_, meaning) in DECISIONS.items():
            doing.add_argument(f"--{name}", action="store_true", help=meaning)

    def handle(self, *args: Any, **options: Any) -> None:
        with tenant_scope(get_tenant(options["tenant"]).id):
            if options["space"]:
                spaces = [space] if (space := find_space(options["space"])) else []
            else:
                spaces = list(Space.objects.all())
        if options["space"] and not spaces:
            raise CommandError(f"There is no space {options['space']}.")
        if options["status"]:
            self._write_status(spaces)
            return
        chosen = next((n for n in DECISIONS if options[n.replace("-", "_")]), "")
        if chosen:
            self.stdout.write(self._decide_migrations(spaces, chosen))
        else:
            self.stdout.write(self._begin_migrations(spaces, options))

    def _begin_migrations(self, spaces: list[Space], options: dict[str, Any]) -> str:
        begun, now = 0, timezone.now()
        try:
            to = options["to"] or get_current_embedder().name
        except EngineError as error:
            raise CommandError(error.message) from error
        for space in spaces:
            try:
                made = cutover.begin_migration(space, to, ACTOR, now, flips=not options["hold"])
            except Conflict as error:
                if options["force"] and error.code == "under_way":
                    made = self._get_last_migration(space)
                else:
                    continue  # nothing is embedded, or it is there already
            except MemoryHubError as error:
                raise CommandError(error.message) from error
            if options["force"]:
                cutover.force_cut_over(made, now)
            begun += 1
        return f"{begun} spaces are being embedded anew."

    def _decide_migrations(self, spaces: list[Space], chosen: str) -> str:
        done = 0
        for space in spaces:
            try:
                DECISIONS[chosen][0](self._get_last_migration(space), timezone.now())
            except NotFound:
                continue
            except Conflict as error:
                self.stderr.write(f"{space.subject}: {error.message}")
            else:
                done += 1
        return f"{chosen}: {done} spaces."

    def _get_last_migration(self, space: Space) -> EmbeddingMigration:
        with tenant_scope(space.tenant_id):
            return cutover.get_migration(space)

    def _write_status(self, spaces: list[Space]) -> None:
        for space in spaces:
            try:
                last = self._get_last_migration(space)
            except NotFound:
                self.stdout.write(f"{space.subject}: {space.embedding_model or 'nothing yet'}")
                continue
            failed = f", {last.failures} failed attempts: {last.error}" if last.error else ""
            self.stdout.write(
                f"{space.subject}: {last.old} to {last.new}, {last.get_state_display().lower()}, "
                f"{last.done} of {max(last.total, last.done)} embedded{failed}"
            )
