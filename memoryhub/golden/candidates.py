"""A setting that is to be tried before it goes live: another policy, prompt, engine or embedder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.engines.llm.own_prompts import Prompts
from memoryhub.engines.llm.prompting import Purpose
from memoryhub.errors import InvalidInput
from memoryhub.golden.models import ReplayRun
from memoryhub.models_in_use import embedder
from memoryhub.policies.composing import composed, differences
from memoryhub.policies.presets import DEFAULT
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import Layers, layers_of, refuse_unknown_prompts
from memoryhub.policies.switches import FAMILIES
from memoryhub.tenants.models import Space, Tenant

# The prompts that a search asks models by, and the switches it obeys. The others act on what is
# read from now on: no replay can show them.
PROMPTS: tuple[Purpose, ...] = ("route", "judge", "query_entities")
READ_SIDE: tuple[str, ...] = ("route.", "judge.", "recall.", "forget.")
READ_SIDE += tuple(f"{family}.{purpose}" for family in FAMILIES for purpose in PROMPTS)


@dataclass(frozen=True, slots=True)
class Candidate:
    """`overrides` None: the policy stays as it is; else as `set_policy` takes it, made on the
    version `base` of the layer that is to change. "" for an engine or embedder that stays.
    """

    preset: str = ""
    overrides: Mapping[str, Any] | None = None
    base: int = 0
    engine: str = ""
    embedder: str = ""

    def columns(self) -> dict[str, Any]:
        return {
            "preset": self.preset,
            "overrides": None if self.overrides is None else dict(self.overrides),
            "base": self.base,
            "engine": self.engine,
            "embedder": self.embedder,
        }

    def described(
        self, tenant: Tenant, space: Space | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """(what is in force, the candidate), alike but for what differs. Inside the scope.

        Raises InvalidInput for switches, engines and embedders there are none of.
        """
        if self.engine and self.engine not in Tenant.Engine.values:
            known = ", ".join(Tenant.Engine.values)
            raise InvalidInput(
                _("there is no engine %(engine)s; known: %(known)s")
                % {"engine": repr(self.engine), "known": known},
                field="engine",
            )
        layers = layers_of(tenant.id, space)
        now = {
            "switches": {},
            "policy": layers.version,
            "engine": tenant.engine,
            "model": settings.LLM_MODEL,
            "prompts": _prompts_of(layers.policy),
            "embedder": (space.embedding_model if space else "") or embedder().name,
        }
        policy = _candidate_policy(self, layers, of_space=bool(space))
        refuse_unknown_prompts(policy, self.overrides or ())
        changed = differences(layers.policy, policy)
        then = now | {
            "switches": {d.name: d.after for d in changed},
            "prompts": _prompts_of(policy),
            "engine": self.engine or now["engine"],
            "embedder": self.embedder or now["embedder"],
        }
        return now | {"switches": {d.name: d.before for d in changed}}, then


def _prompts_of(policy: Policy) -> dict[str, str]:
    prompts = Prompts(names=policy.llm.prompt)
    return {purpose: prompts.version(purpose).partition(".")[2] for purpose in PROMPTS}


def _candidate_policy(candidate: Any, layers: Layers, *, of_space: bool) -> Policy:
    """`candidate`: a Candidate, or the run that keeps one."""
    if candidate.overrides is None:
        return layers.policy
    tenant, own = layers.tenant, layers.own
    preset = tenant.preset if tenant else DEFAULT
    if of_space:
        given = tenant.overrides if tenant else {}
        return composed(preset, given, candidate.preset, candidate.overrides)
    over = (own.preset, own.overrides) if own else ("", {})
    return composed(candidate.preset or preset, candidate.overrides, *over)


def policies_of(run: ReplayRun, space: Space) -> tuple[Policy, Policy]:
    """(in force, candidate) for one of the spaces replayed. Call inside the tenant's scope.

    A tenant's candidate reaches a space through what the space itself has changed.
    """
    layers = layers_of(run.tenant_id, space)
    return layers.policy, _candidate_policy(run, layers, of_space=run.space_id is not None)


def unseen(run: ReplayRun) -> list[str]:
    """Switches of the candidate that change nothing about a search of what is stored already."""
    return [name for name in run.candidate["switches"] if not name.startswith(READ_SIDE)]
