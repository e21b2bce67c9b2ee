from __future__ import annotations

from django.apps import AppConfig


class GoldenConfig(AppConfig):
    name = "memoryhub.golden"
    label = "golden"
    verbose_name = "Golden questions"

    def ready(self) -> None:
        from memoryhub.golden import stepping
        from memoryhub.golden.erasing import trace_questions
        from memoryhub.golden.models import GoldenQuestion
        from memoryhub.pipeline.erasing import also_trace
        from memoryhub.pipeline.models import Job
        from memoryhub.pipeline.steps import STEPS
        from notes.registry import register

        register(GoldenQuestion, texts=("text", "tags"))
        also_trace(trace_questions)
        STEPS[Job.Step.REPLAY] = stepping.run
