"""`manage.py hub`: everything at once, as `make run` starts it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, SystemCheckError
from django.db import OperationalError, connections
from django.db.migrations.executor import MigrationExecutor
from tqdm import tqdm

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.errors import find_advice
from memoryhub.errors import MemoryHubError
from memoryhub.launcher import Hub, LauncherError, LaunchPlan, Program
from memoryhub.launcher.children import build_module_command
from memoryhub.launcher.hub import Say, Tick

URLS = (("Pages", "/"), ("API", "/api/v1/docs"), ("Admin", "/admin/"))


class Command(BaseCommand):
    help = "Starts the database, the web server and the worker, and stops them again."
    requires_system_checks = ()  # they run while the web server starts

    def handle(self, *args: Any, **options: Any) -> None:
        say = partial(print, flush=True)
        status = Hub(build_launch_plan(self), say).run()
        connections.close_all()
        if status:
            raise CommandError("The hub has stopped.", returncode=status)


def build_launch_plan(command: Command) -> LaunchPlan:
    name: str = settings.ALLOWED_HOSTS[0]  # a Host header the hub accepts from its own launcher
    return LaunchPlan(
        data_dir=settings.DATA_DIR,
        host=settings.HOST,
        port=settings.PORT,
        programs=[build_web_program(), build_worker_program()],
        postgres=EmbeddedPostgres(settings.DATA_DIR) if settings.EMBEDDED else None,
        prepare=prepare_hub,
        finish_setup=partial(finish_setup, command),
        after_start=seed_demo_once,
        health_host="" if name == "*" else name.removeprefix("."),
        urls=URLS,
    )


def prepare_hub(say: Say) -> None:
    """Counts of processes that are gone begin anew."""
    shutil.rmtree(settings.DATA_DIR / "metrics", ignore_errors=True)
    build_metrics_environment()
    migrate_database(say)


def build_web_program() -> Program:
    where = ["--host", settings.HOST, "--port", str(settings.PORT)]
    # Backpressure counts connections: idle ones and open streams as well. Where HTTP/2 is looked
    # for, a connection that says nothing is never cut.
    how = ["--interface", "asginl", "--http", "1", "--no-ws"]
    how += ["--backlog", "4096", "--backpressure", "4096"]
    quiet = ["--log-level", "error", "--workers-kill-timeout", "4"]
    return Program(
        "web server",
        build_module_command("granian", *where, *how, *quiet, "memoryhub.asgi:application"),
        {"MEMORYHUB_PROCESS": "web", **build_metrics_environment()},
    )


def build_worker_program() -> Program:
    """Worker and schedule in one process: threads, as the model's work releases the GIL."""
    schedule = settings.DATA_DIR / "schedule"
    how = [
        "--pool",
        "threads",
        "--concurrency",
        str(settings.WORKER_THREADS),
        "--beat",
        "--schedule",
        str(schedule),
    ]
    # Workers need not know of each other: what is to be done, and by whom, stands in the database.
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]
    return Program(
        "worker",
        build_module_command("celery", "--quiet", "-A", "memoryhub", "worker", *how, *quiet),
        # Celery warns of root for the sake of pickle, which is off.
        {
            "MEMORYHUB_PROCESS": "worker",
            "PYTHONWARNINGS": "ignore:You're running the worker",
            **build_metrics_environment(),
        },
    )


def build_metrics_environment() -> dict[str, str]:
    """Where both processes count, so that either can tell of both. Nothing where nobody asks."""
    if not settings.METRICS_TOKEN:
        return {}
    folder = settings.DATA_DIR / "metrics"
    folder.mkdir(exist_ok=True)
    return {"PROMETHEUS_MULTIPROC_DIR": str(folder)}


def migrate_database(say: Say) -> None:
    """If there is something to migrate: looking is quick, migrating nothing is not."""
    with explain_database_errors():
        executor = MigrationExecutor(connections["owner"])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            say("Preparing the database.")
            call_command("migrate", database="owner", interactive=False, verbosity=0)


def finish_setup(command: Command, say: Say) -> None:
    """Accounts and keys of the first start, and what the system checks have to say."""
    from memoryhub import bootstrap  # it takes a second that a later start has while waiting

    with explain_database_errors():
        bootstrap.bootstrap_hub(sys.stdout)
        command.check(databases=["default"])


@contextmanager
def explain_database_errors() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise LauncherError(f"The database refuses: {find_advice(str(error))}") from error
    except SystemCheckError as error:
        raise LauncherError(str(error)) from error
    finally:
        connections.close_all()


def seed_demo_once(say: Say, tick: Tick) -> None:
    """The demo, once. Failing at it leaves a hub that works."""
    from memoryhub import bootstrap

    bar: tqdm[Any] | None = None

    def progress(done: int, total: int) -> None:
        nonlocal bar
        often = 0.1 if sys.stderr.isatty() else 5
        bar = bar or tqdm(total=total, desc="Loading the demo", unit="turn", mininterval=often)
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
