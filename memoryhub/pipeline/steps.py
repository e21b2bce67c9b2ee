"""The steps of the write path, and what a step makes due (spec §12.1).

Each step is a module with `run(job, now)`: read in one short transaction, ask models with
nothing open, write one change-set an event in another, together with the job's end. Steps that
follow from new dialogue also have `schedule(due)`, called in the transaction that derived it.
A layer above adds steps of its own when its app is ready.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from memoryhub.pipeline import (
    derive,
    digesting,
    embedding,
    enriching,
    episodes,
    folding,
    mapping,
    placing,
    promoting,
    rederiving,
    sweeping,
)
from memoryhub.pipeline.models import Job

STEPS: dict[Job.Step, Callable[[Job, datetime], None]] = {
    Job.Step.DERIVE: derive.run,
    Job.Step.ASSOCIATE: enriching.run,
    Job.Step.PLACE: placing.run,
    Job.Step.EPISODE: episodes.run,
    Job.Step.PROMOTE: promoting.run,
    Job.Step.FOLD: folding.run,
    Job.Step.DIGEST: digesting.run,
    Job.Step.REDERIVE: rederiving.run,
    Job.Step.EMBED: embedding.run,
    Job.Step.SWEEP: sweeping.run,
    Job.Step.MAP: mapping.run,
}
