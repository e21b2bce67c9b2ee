"""What agents add to the hub."""

from __future__ import annotations

from memoryhub.agents import wake
from memoryhub.declarations import AppDeclaration

DECLARATION = AppDeclaration(steps=(wake.WakeStep,), space_sweeps=(wake.plan_timers,))
