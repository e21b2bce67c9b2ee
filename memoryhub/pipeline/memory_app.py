"""What the write path adds to the hub."""

from __future__ import annotations

from django.db.models import Q

from memoryhub.declarations import AppDeclaration, Growth
from memoryhub.pipeline import ageing, sealed_erasures
from memoryhub.pipeline.embeddings import embedding_map, fill, reembed
from memoryhub.pipeline.erasure import erase_targets, expire, rederive
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.associate import associate
from memoryhub.pipeline.steps.derive import derive
from memoryhub.pipeline.steps.episodes import close_episode, rolling, write_digests
from memoryhub.pipeline.steps.maintenance import merge_entities, quality_readings, sweep
from memoryhub.pipeline.steps.topics import placement

DECLARATION = AppDeclaration(
    steps=(
        derive.DeriveStep,
        associate.AssociateStep,
        placement.PlaceStep,
        close_episode.CloseEpisodeStep,
        promotion.PromoteStep,
        rolling.FoldStep,
        write_digests.DigestStep,
        rederive.RederiveStep,
        fill.EmbedStep,
        sweep.SweepStep,
        embedding_map.MapStep,
    ),
    space_sweeps=(
        write_digests.plan_renewal_if_stale,
        placement.revive_visited_segments,
        erase_targets.erase_outlived_facts,
        erase_targets.erase_outlived_turns,
        promotion.refresh_by_clock,
        reembed.start_migration_by_clock,
        merge_entities.merge_duplicate_entities,
        expire.delete_expired,
        sealed_erasures.destroy_due,
        quality_readings.measure_if_changed,
    ),
    hub_sweeps=(ageing.sweep_old_rows,),
    erasable_texts={
        "job": "pipeline.erasure empties result and error; the payload is ids alone",
        "embeddingmigration": "figures, and what an embedder said of itself",
        "spacemap": "embedding_map.remove_erased_points; ids and numbers alone",
        "qualityreading": "quality_readings.remove_erased_samples; ids alone",
        "sealederasure": "sealed under the hub's key; sealed_erasures destroys it in time",
    },
    export_kinds={
        "job": "planned anew where the space comes to",
        "embeddingmigration": "work under way",
        "spacemap": "drawn anew of the vectors",
        "qualityreading": "measured anew",
        "sealederasure": "what was asked to be forgotten goes nowhere",
    },
    growth={
        "job": Growth(
            kind="jobs", at="created_at", days="job_days", only=Q(state__in=["done", "cancelled"])
        ),
        "embeddingmigration": Growth(kind="jobs", at="created_at"),
        "spacemap": Growth(kind="memories", at="drawn_at"),
        "qualityreading": Growth(kind="memories", at="computed_at"),
        "sealederasure": Growth(kind="erasures", at="created_at"),
    },
)
