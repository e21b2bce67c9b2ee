"""A setting that is to be tried before it goes live: another policy, prompt, engine or embedder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memoryhub.engines.llm.own_prompts import PromptSet
from memoryhub.engines.llm.packaged_prompts import Purpose
from memoryhub.golden.models import ReplayRun
from memoryhub.inference.connections import describe_connection
from memoryhub.inference.selection import get_current_embedder
from memoryhub.policies.compose import compose_policy, compute_differences
from memoryhub.policies.presets import DEFAULT_PRESET
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import PolicyLayers, check_prompts_known, load_layers
from memoryhub.policies.switches import SWITCH_FAMILIES
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.services import check_engine_known

# The prompts that a search asks models by, and the switches it obeys. The others act on what is
# read from now on: no replay can show them.
SEARCH_PROMPTS: tuple[Purpose, ...] = ("route", "judge", "rerank", "query_entities", "query_terms")
SEARCH_SWITCHES: tuple[str, ...] = ("route.", "judge.", "recall.", "forget.")
SEARCH_SWITCHES += tuple(
    f"{family}.{purpose}" for family in SWITCH_FAMILIES for purpose in SEARCH_PROMPTS
)


@dataclass(frozen=True, slots=True)
class CandidateSetting:
    """`overrides` None: the policy stays as it is; else as `set_policy` takes it, made on the
    version `base` of the layer that is to change. "" for an engine or embedder that stays.
    """

    preset: str = ""
    overrides: Mapping[str, Any] | None = None
    base: int = 0
    engine: str = ""
    embedder: str = ""

    def describe_sides(
        self, tenant: Tenant, space: Space | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """(what is in force, the candidate), alike but for what differs. Inside the scope.

        Raises InvalidInput for switches, engines and embedders there are none of.
        """
        if self.engine:
            check_engine_known(self.engine)
        layers = load_layers(tenant.id, space)
        now = {
            "switches": {},
            "policy": layers.version,
            "engine": tenant.engine,
            "model": describe_connection(tenant).model,
            "prompts": _list_prompt_versions(layers.policy),
            "embedder": (space.embedding_model if space else "") or get_current_embedder().name,
        }
        policy = _compose_candidate_policy(self, layers, of_space=bool(space))
        check_prompts_known(policy, self.overrides or ())
        changed = compute_differences(layers.policy, policy)
        then = now | {
            "switches": {d.name: d.after for d in changed},
            "prompts": _list_prompt_versions(policy),
            "engine": self.engine or now["engine"],
            "embedder": self.embedder or now["embedder"],
        }
        return now | {"switches": {d.name: d.before for d in changed}}, then


def _list_prompt_versions(policy: Policy) -> dict[str, str]:
    prompts = PromptSet(names=policy.llm.prompt)
    return {purpose: prompts.get_version(purpose).partition(".")[2] for purpose in SEARCH_PROMPTS}


def _compose_candidate_policy(candidate: Any, layers: PolicyLayers, *, of_space: bool) -> Policy:
    """`candidate`: a Candidate, or the run that keeps one."""
    if candidate.overrides is None:
        return layers.policy
    tenant, own = layers.tenant, layers.own
    preset = tenant.preset if tenant else DEFAULT_PRESET
    if of_space:
        given = tenant.overrides if tenant else {}
        return compose_policy(preset, given, candidate.preset, candidate.overrides)
    over = (own.preset, own.overrides) if own else ("", {})
    return compose_policy(candidate.preset or preset, candidate.overrides, *over)


def load_policies(run: ReplayRun, space: Space) -> tuple[Policy, Policy]:
    """(in force, candidate) for one of the spaces replayed. Call inside the tenant's scope.

    A tenant's candidate reaches a space through what the space itself has changed.
    """
    layers = load_layers(run.tenant_id, space)
    return layers.policy, _compose_candidate_policy(run, layers, of_space=run.space_id is not None)


def list_ineffective_switches(run: ReplayRun) -> list[str]:
    """Switches of the candidate that change nothing about a search of what is stored already."""
    return [name for name in run.candidate["switches"] if not name.startswith(SEARCH_SWITCHES)]
