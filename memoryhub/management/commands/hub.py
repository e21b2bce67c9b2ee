"""`manage.py hub`: everything at once, as `make run` starts it."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connections
from django.db.migrations.executor import MigrationExecutor
from tqdm import tqdm

from memoryhub import bootstrap
from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.errors import advice
from memoryhub.errors import MemoryHubError
from memoryhub.launcher import Hub, LauncherError, Plan, Program
from memoryhub.launcher.children import module
from memoryhub.launcher.hub import Say, Tick

URLS = (("Pages", "/"), ("API", "/api/v1/"), ("Admin", "/admin/"))


class Command(BaseCommand):
    help = "Starts the database, the web server and the worker, and stops them again."

    def handle(self, *args: Any, **options: Any) -> None:
        say = partial(print, flush=True)
        status = Hub(plan(self), say).run()
        connections.close_all()
        if status:
            raise CommandError("The hub has stopped.", returncode=status)


def plan(command: Command) -> Plan:
    return Plan(
        data_dir=settings.DATA_DIR,
        host=settings.HOST,
        port=settings.PORT,
        programs=[web_server(), worker()],
        postgres=EmbeddedPostgres(settings.DATA_DIR) if settings.EMBEDDED else None,
        prepare=partial(prepare, command),
        serving=seed,
        health_host=own_name(),
        urls=URLS,
    )


def own_name() -> str:
    """A Host header the hub accepts from its own launcher."""
    name: str = settings.ALLOWED_HOSTS[0]
    return "" if name == "*" else name.removeprefix(".")


def web_server() -> Program:
    where = ["--host", settings.HOST, "--port", str(settings.PORT)]
    how = ["--interface", "wsgi", "--blocking-threads", "8", "--no-ws", "--log-level", "warning"]
    ending = ["--workers-kill-timeout", "4"]
    return Program(
        "web server",
        module("granian", *where, *how, *ending, "memoryhub.wsgi:application"),
        {"MEMORYHUB_PROCESS": "web"},
    )


def worker() -> Program:
    """Worker and schedule in one process: threads, as the model's work releases the GIL."""
    schedule = settings.DATA_DIR / "schedule"
    how = ["--pool", "threads", "--concurrency", "4", "--beat", "--schedule", schedule]
    quiet = ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    return Program(
        "worker",
        module("celery", "--quiet", "-A", "memoryhub", "worker", *how, *quiet),
        {"MEMORYHUB_PROCESS": "worker"},
    )


def prepare(command: Command, say: Say) -> None:
    """Migrates if there is something to migrate; accounts and keys on the first start."""
    try:
        if pending():
            say("Preparing the database.")
            call_command("migrate", database="owner", interactive=False, verbosity=0)
        bootstrap.bootstrap(command.stdout)
    except OperationalError as error:
        raise LauncherError(f"The database refuses: {advice(str(error))}") from error
    finally:
        connections.close_all()


def pending() -> bool:
    executor = MigrationExecutor(connections["owner"])
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def seed(say: Say, tick: Tick) -> None:
    """The demo, once. Failing at it leaves a hub that works."""
    bar: tqdm[Any] | None = None

    def progress(done: int, total: int) -> None:
        nonlocal bar
        bar = bar or tqdm(total=total, desc="Loading the demo", unit="turn")
        bar.update(done - bar.n)
        tick()

    try:
        bootstrap.seed_demo(progress)
    except LauncherError:
        raise
    except MemoryHubError as error:
        say(f"The demo could not be loaded: {error}")
    finally:
        if bar is not None:
            bar.close()
        connections.close_all()
