"""The steps of the write path, and what a step makes due (spec §12.1).

Each step is a module with `run(job, now)`: read in one short transaction, ask models with
nothing open, write one change-set an event in another, together with the job's end. Steps that
follow from new dialogue also have `schedule(due)`, called in the transaction that derived it.
A layer above adds steps of its own when its app is ready.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from memoryhub.pipeline.embeddings import embedding_map, fill
from memoryhub.pipeline.erasure import rederive
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.associate import associate
from memoryhub.pipeline.steps.derive import derive
from memoryhub.pipeline.steps.episodes import close_episode, rolling, write_digests
from memoryhub.pipeline.steps.maintenance import sweep
from memoryhub.pipeline.steps.topics import placement

STEP_RUNNERS: dict[Job.Step, Callable[[Job, datetime], None]] = {
    Job.Step.DERIVE: derive.run,
    Job.Step.ASSOCIATE: associate.run,
    Job.Step.PLACE: placement.run,
    Job.Step.EPISODE: close_episode.run,
    Job.Step.PROMOTE: promotion.run,
    Job.Step.FOLD: rolling.run,
    Job.Step.DIGEST: write_digests.run,
    Job.Step.REDERIVE: rederive.run,
    Job.Step.EMBED: fill.run,
    Job.Step.SWEEP: sweep.run,
    Job.Step.MAP: embedding_map.run,
}
