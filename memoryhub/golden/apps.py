from __future__ import annotations

from django.apps import AppConfig


class GoldenConfig(AppConfig):
    name = "memoryhub.golden"
    label = "golden"
    verbose_name = "Golden questions"

    def ready(self) -> None:
        from memoryhub.golden import step
        from memoryhub.golden.models import GoldenQuestion
        from memoryhub.golden.services import trace_erased_questions
        from memoryhub.pipeline.erasure.erase_targets import register_trace_extension
        from memoryhub.pipeline.jobs.registry import STEP_RUNNERS
        from memoryhub.pipeline.models import Job
        from notes.history.row_kinds import register_row_kind

        register_row_kind(GoldenQuestion, texts=("text", "tags"))
        register_trace_extension(trace_erased_questions)
        STEP_RUNNERS[Job.Step.REPLAY] = step.run_golden_job
