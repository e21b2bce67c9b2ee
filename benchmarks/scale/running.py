"""The whole of it: load what is not there, start the hub, measure, report."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command

from benchmarks.scale import approximate, measuring, report
from benchmarks.scale.language import Language
from benchmarks.scale.loading import load, sizes
from benchmarks.scale.measuring import Asked
from benchmarks.scale.serving import Served, hub
from memoryhub import models_in_use
from memoryhub.embedded import EmbeddedPostgres
from memoryhub.engines.types import Embedder

SEED = 7
# Spaces to be measured, by subject; the largest only where they are a part of the whole.
MEASURED = {"1k": 1_000, "3k": 3_000, "10k": 10_000, "30k": 30_000, "100k": 100_000}
Connection = psycopg.Connection[Any]
Say = Callable[[str], None]

_HELD = "SELECT count(*) FROM notes_indexentry WHERE kind IN ('turn', 'fact', 'note')"
_PLACES = """
SELECT s.subject, s.tenant_id, s.id FROM tenants_space s JOIN tenants_tenant t ON t.id = s.tenant_id
WHERE t.slug = 'demo' AND s.subject = ANY(%s)
"""
# Sentences of some length, so that a question can be made of their words.
_SAID = """
SELECT text FROM dialogues_turn WHERE space_id = %s AND length(text) > 60
ORDER BY md5(text) LIMIT 300
"""


def run(memories: int, count: int, out: Path | None, *, measure: bool) -> None:
    begun = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - begun:6.0f} s  {text}", flush=True)

    language, embedder = Language(SEED), models_in_use.embedder()
    postgres = EmbeddedPostgres(settings.DATA_DIR)
    postgres.start()
    call_command("migrate", database="owner", interactive=False, verbosity=0)
    with psycopg.connect(postgres.dsn("superuser")) as owner:
        held = _loaded(owner, language, embedder, memories, say)
        places = _places(owner)
    if not measure:
        return
    with hub() as served, _as_the_hub(postgres) as app:
        say(f"the hub answers, with {held:,} memories")
        found = {}
        for subject, place in places.items():
            asked = measuring.asked_of(language, place["said"], count)
            found[subject] = _measured(app, served, embedder, subject, place, asked)
            say(f"searched {subject}")
        figures: dict[str, Any] = {"memories": held, "spaces": found}
        if "100k" in places:
            say("building an approximate index of the largest space")
            asked = measuring.asked_of(language, places["100k"]["said"], count)
            figures["approximate"] = approximate.measured(
                app, served, embedder, places["100k"], asked
            )
    say("measured")
    print(report.table(figures))
    if out:
        out.write_text(json.dumps(figures, indent=1))


def _as_the_hub(postgres: EmbeddedPostgres) -> Connection:
    """Values in the statement, nothing prepared: a plan for any value suits none."""
    return psycopg.connect(
        postgres.dsn("app"),
        autocommit=True,
        cursor_factory=psycopg.ClientCursor,
        prepare_threshold=None,
    )


def _loaded(
    owner: Connection, language: Language, embedder: Embedder, memories: int, say: Say
) -> int:
    """How many turns, facts and notes there are, loaded now or before."""
    if held := _count(owner):
        return held
    wanted = {name: size for name, size in MEASURED.items() if size <= max(1_000, memories // 4)}
    centres = language.centres(embedder)
    load(owner, language, centres, sizes(memories, wanted, language.random), embedder.name, say)
    return _count(owner)


def _count(owner: Connection) -> int:
    (count,) = owner.execute(_HELD).fetchone() or (0,)
    return int(count)


def _places(owner: Connection) -> dict[str, dict[str, Any]]:
    """Of each subject that is measured, the smallest first: tenant, space, some that was said."""
    found = {subject: ids for subject, *ids in owner.execute(_PLACES, [list(MEASURED)]).fetchall()}
    places = {}
    for subject in (each for each in MEASURED if each in found):
        tenant, space = found[subject]
        said = [text for (text,) in owner.execute(_SAID, [space]).fetchall()]
        places[subject] = {"tenant": tenant, "space": space, "said": said}
    return places


def _measured(
    app: Connection,
    served: Served,
    embedder: Embedder,
    subject: str,
    place: Mapping[str, Any],
    asked: Asked,
) -> dict[str, Any]:
    searched = measuring.searched(served, subject, asked)
    return {**searched, "bare": asdict(measuring.bare(app, embedder, place, asked))}
