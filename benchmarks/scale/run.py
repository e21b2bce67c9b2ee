"""The whole of it: load what is not there, start the hub, measure, report."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command

from benchmarks.scale import approximate_index, report, search_times
from benchmarks.scale.language import Language
from benchmarks.scale.load import fill_tables, plan_spaces
from benchmarks.scale.search_times import QuestionSet
from benchmarks.scale.server import ServedHub, run_hub
from memoryhub.embedded import EmbeddedPostgres
from memoryhub.engines.types import Embedder
from memoryhub.inference import selection

SEED = 7
# Spaces to be measured, by subject; the largest only where they are a part of the whole.
MEASURED_SPACES = {"1k": 1_000, "3k": 3_000, "10k": 10_000, "30k": 30_000, "100k": 100_000}
Connection = psycopg.Connection[Any]
Say = Callable[[str], None]

_COUNT_QUERY = "SELECT count(*) FROM notes_indexentry WHERE kind IN ('turn', 'fact', 'note')"
_SPACES_QUERY = """
SELECT s.subject, s.tenant_id, s.id FROM tenants_space s JOIN tenants_tenant t ON t.id = s.tenant_id
WHERE t.slug = 'demo' AND s.subject = ANY(%s)
"""
# Sentences of some length, so that a question can be made of their words.
_TEXTS_QUERY = """
SELECT text FROM dialogues_turn WHERE space_id = %s AND length(text) > 60
ORDER BY md5(text) LIMIT 300
"""


def run_benchmark(memories: int, count: int, out: Path | None, *, measure: bool) -> None:
    begun = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - begun:6.0f} s  {text}", flush=True)

    language, embedder = Language(SEED), selection.get_configured_embedder()
    postgres = EmbeddedPostgres(settings.DATA_DIR)
    postgres.start()
    call_command("migrate", database="owner", interactive=False, verbosity=0)
    with psycopg.connect(postgres.dsn("superuser")) as owner:
        held = _ensure_loaded(owner, language, embedder, memories, say)
        places = _load_spaces(owner)
    if not measure:
        return
    with run_hub() as served, _connect_as_hub(postgres) as app:
        say(f"the hub answers, with {held:,} memories")
        found = {}
        for subject, place in places.items():
            asked = search_times.draw_question_set(language, place["said"], count)
            found[subject] = _measure_space(app, served, embedder, subject, place, asked)
            say(f"searched {subject}")
        figures: dict[str, Any] = {"memories": held, "spaces": found}
        if "100k" in places:
            say("building an approximate index of the largest space")
            asked = search_times.draw_question_set(language, places["100k"]["said"], count)
            figures["approximate"] = approximate_index.measure_approximate_index(
                app, served, embedder, places["100k"], asked
            )
    say("measured")
    print(report.format_report(figures))
    if out:
        out.write_text(json.dumps(figures, indent=1))


def _connect_as_hub(postgres: EmbeddedPostgres) -> Connection:
    """Values in the statement, nothing prepared: a plan for any value suits none."""
    return psycopg.connect(
        postgres.dsn("app"),
        autocommit=True,
        cursor_factory=psycopg.ClientCursor,
        prepare_threshold=None,
    )


def _ensure_loaded(
    owner: Connection, language: Language, embedder: Embedder, memories: int, say: Say
) -> int:
    """How many turns, facts and notes there are, loaded now or before."""
    if held := _count_memories(owner):
        return held
    wanted = {
        name: size for name, size in MEASURED_SPACES.items() if size <= max(1_000, memories // 4)
    }
    centres = language.embed_topic_centres(embedder)
    fill_tables(
        owner, language, centres, plan_spaces(memories, wanted, language.random), embedder.name, say
    )
    return _count_memories(owner)


def _count_memories(owner: Connection) -> int:
    (count,) = owner.execute(_COUNT_QUERY).fetchone() or (0,)
    return int(count)


def _load_spaces(owner: Connection) -> dict[str, dict[str, Any]]:
    """Of each subject that is measured, the smallest first: tenant, space, some that was said."""
    found = {
        subject: ids
        for subject, *ids in owner.execute(_SPACES_QUERY, [list(MEASURED_SPACES)]).fetchall()
    }
    places = {}
    for subject in (each for each in MEASURED_SPACES if each in found):
        tenant, space = found[subject]
        said = [text for (text,) in owner.execute(_TEXTS_QUERY, [space]).fetchall()]
        places[subject] = {"tenant": tenant, "space": space, "said": said}
    return places


def _measure_space(
    app: Connection,
    served: ServedHub,
    embedder: Embedder,
    subject: str,
    place: Mapping[str, Any],
    asked: QuestionSet,
) -> dict[str, Any]:
    searched = search_times.measure_searches(served, subject, asked)
    return searched | {"bare": search_times.measure_bare_statement(app, embedder, place, asked)}
