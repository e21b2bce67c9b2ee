"""What commands that work on a tenant have in common."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError
from tqdm import tqdm

from memoryhub.bootstrap import DEMO_SLUG
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.services import find_tenant


def add_tenant_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--tenant", default=DEMO_SLUG, help="the tenant's slug (default: demo)")


def get_tenant(slug: str) -> Tenant:
    """Raises CommandError."""
    if tenant := find_tenant(slug):
        return tenant
    raise CommandError(f"There is no tenant {slug}.")


@contextmanager
def show_progress(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal; what is given is told how many of how many are done."""
    with tqdm(unit=unit, disable=None) as bar:

        def update(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield update
