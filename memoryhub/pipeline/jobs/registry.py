"""The steps that the apps declare, by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from memoryhub.declarations import load_declarations
from memoryhub.pipeline.jobs.step import Step
from memoryhub.pipeline.models import Job


@cache
def load_steps() -> Mapping[Job.Step, type[Step[Any, Any]]]:
    declared = load_declarations().values()
    return MappingProxyType({step.name: step for app in declared for step in app.steps})
