"""Which policy is in force: presets, the tenant's word, the space's, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memoryhub.errors import InvalidInput, NotFound
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import EffectivePolicy, load_effective_policy, set_policy
from memoryhub.policies.switches import SWITCHES, get_switch_value
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from tests.support.hub import ScriptedHub


def get_effective_policy(hub: ScriptedHub) -> EffectivePolicy:
    space = hub.space
    with tenant_scope(hub.tenant.id):
        return load_effective_policy(space)


def test_without_a_word_the_defaults_are_in_force(hub: ScriptedHub) -> None:
    assert get_effective_policy(hub) == EffectivePolicy(Policy(), "t0.s0")


def test_a_space_goes_before_its_tenant_which_goes_before_the_preset(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", facts__neighbours=7, stm__pages=3)
    set_policy(hub.tenant.id, actor="ana", overrides={"stm.pages": 4}, space=hub.space)
    found = get_effective_policy(hub)
    assert found.version == "t1.s1"
    assert found.policy.preset == "mem0"
    assert found.policy.facts.neighbours == 7
    assert found.policy.stm.pages == 4
    assert not found.policy.graph.enabled


def test_a_spaces_own_preset_keeps_only_the_rules_of_the_house(hub: ScriptedHub) -> None:
    hub.set_policy(
        "mem0", facts__enabled=True, erase__mode="lenient", llm__model__construct="small"
    )
    set_policy(hub.tenant.id, actor="ana", preset="rag", space=hub.space)
    policy = get_effective_policy(hub).policy
    assert policy.preset == "rag"
    assert not policy.facts.enabled
    assert policy.erase.mode == "lenient"
    assert policy.llm.model == {"construct": "small"}


def test_a_new_version_replaces_the_overrides_and_keeps_the_preset(hub: ScriptedHub) -> None:
    hub.set_policy("amem", stm__pages=3)
    hub.set_policy(notes__k=4)
    found = get_effective_policy(hub)
    assert found.version == "t2.s0"
    assert (found.policy.preset, found.policy.notes.k, found.policy.stm.pages) == ("amem", 4, 7)


def test_it_costs_one_query(hub: ScriptedHub) -> None:
    hub.set_policy("mem0")
    space = hub.space
    set_policy(hub.tenant.id, actor="ana", overrides={"stm.pages": 4}, space=space)
    with (
        tenant_scope(hub.tenant.id),
        CaptureQueriesContext(
            connection,
        ) as queries,
    ):
        load_effective_policy(space)
    assert len(queries) == 1


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"facts.neighbours": 0}, "whole number, 1 to 50"),
        ({"facts.contradiction": "guess"}, "supersede, retract, keep_both"),
        ({"forget.r_min": float("nan")}, "0 to 1"),
        ({"window.warn": 0.9, "window.flush": 0.5}, "window.warn"),
        ({"recall.k_min": 40}, "recall.k_min"),
        ({"graph.ask_at": 0.96}, "graph.ask_at"),
        ({"facts.neighbors": 3}, "facts.neighbours"),
        ({"fact.neighbours": 3}, "fact.neighbours"),
        ({"preset": "mem0"}, "preset"),
        ({"llm.model": {"construct": "x"}}, "llm.model"),
        ({"llm.model.constrict": "small"}, "llm.model.construct"),
        ({"recall.channels": ["raw", "moon"]}, "raw"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    hub: ScriptedHub, overrides: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        set_policy(hub.tenant.id, actor="ana", overrides=overrides)
    assert said in refused.value.message
    assert refused.value.field in overrides
    assert get_effective_policy(hub).version == "t0.s0"


def test_values_are_kept_as_the_schema_reads_them(hub: ScriptedHub) -> None:
    made = set_policy(hub.tenant.id, actor="ana", overrides={"stm.pages": "9"})
    assert made.overrides == {"stm.pages": 9}


def test_an_unknown_preset_is_refused_with_those_there_are(hub: ScriptedHub) -> None:
    with pytest.raises(InvalidInput, match="balanced"):
        set_policy(hub.tenant.id, actor="ana", preset="memgtp")


def test_a_space_has_no_budget_of_its_own(hub: ScriptedHub) -> None:
    with pytest.raises(InvalidInput, match="a space has no budget"):
        set_policy(
            hub.tenant.id, actor="a", overrides={"llm.budget_tokens_per_day": 5}, space=hub.space
        )


def test_another_tenants_space_is_not_found(hub: ScriptedHub) -> None:
    other = create_tenant("Other", "other")
    with tenant_scope(other.id):
        foreign = ensure_space(other.id, "Bo")
    with pytest.raises(NotFound):
        set_policy(hub.tenant.id, actor="ana", space=foreign)
    hub.set_policy("mem0")
    with tenant_scope(other.id):
        assert load_effective_policy(foreign) == EffectivePolicy(Policy(), "t0.s0")
        assert not PolicyVersion.objects.exists()


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_a_policy(hub: ScriptedHub, preset: str) -> None:
    hub.set_policy(preset)
    policy = get_effective_policy(hub).policy
    assert policy.preset == preset
    changed = {
        n: get_switch_value(policy, n)
        for n, s in SWITCHES.items()
        if get_switch_value(policy, n) != s.default
    }
    assert set(changed) <= set(PRESETS[preset].overrides)
