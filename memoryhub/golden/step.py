"""The step of the pipeline that asks golden questions: of a replay, or of two embedders."""

from __future__ import annotations

from types import MappingProxyType

from memoryhub.golden.embedder_comparison import CompareStep
from memoryhub.golden.replay_runs import ReplayStep


class GoldenStep(ReplayStep):
    """A replay, unless the job is to compare embedders."""

    variants = MappingProxyType({"compare": CompareStep})
