"""Files for those who run the hub: what they name is there."""

from __future__ import annotations

import json
import re

import pytest
from prometheus_client.core import REGISTRY

from memoryhub.metrics import counters
from memoryhub.metrics.views import HubState
from tests.docs.pages import ROOT

pytestmark = pytest.mark.django_db
_SUFFIX = re.compile(r"_(bucket|sum|count|created|total)$")


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    panels = json.loads((ROOT / "deploy/grafana/memoryhub.json").read_text())["panels"]
    asked = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"memoryhub_\w+", target["expr"])
    }
    assert counters.REQUESTS
    told = {family.name for family in REGISTRY.collect()} | {
        family.name for family in HubState().collect()
    }
    assert {
        name for name in asked if name not in told and _SUFFIX.sub("", name) not in told
    } == set()
    assert len(asked) > 10


@pytest.mark.parametrize("name", ["memoryhub", "memoryhub-backup"])
def test_a_unit_starts_a_command_that_there_is(name: str) -> None:
    unit = (ROOT / f"deploy/systemd/{name}.service").read_text()
    (command,) = re.findall(r"manage\.py (\w+)", unit)
    assert (ROOT / f"memoryhub/management/commands/{command}.py").exists()
