"""The manifests for Kubernetes: held to the schemas of clusters, strictly, and to their promises
(no root, no writable root, secrets where they are needed alone)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml
from kubernetes_validate.utils import all_versions

from tests.docs.pages import ROOT, list_headings

FOLDER = ROOT / "deploy/kubernetes"
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
EXAMPLE = "secrets.example.yaml"
VERSIONS = all_versions()[-3:]


def load(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


OBJECTS = [
    pytest.param(each, id=f"{name}-{each['kind']}-{each['metadata']['name']}")
    for name in [*KUSTOMIZATION["resources"], EXAMPLE]
    for each in load(name)
]
PODS = {
    each["metadata"]["name"]: each["spec"]["template"]["spec"]
    for name in KUSTOMIZATION["resources"]
    for each in load(name)
    if each["kind"] in ("Deployment", "Job")
}


def list_containers() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, pod in PODS.items():
        for each in [*pod.get("initContainers", []), *pod["containers"]]:
            yield f"{name}/{each['name']}", each


CONTAINERS = dict(list_containers())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("told", OBJECTS)
def test_each_object_is_what_the_cluster_takes(told: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(told, version, strict=True)


def test_a_misspelt_field_would_be_found() -> None:
    told = json.loads(json.dumps(load("web.yaml")[0]))
    told["spec"]["template"]["spec"]["containers"][0]["readOnlyRootFilesytem"] = True
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(told, VERSIONS[-1], strict=True)


def test_all_files_are_applied_but_the_example() -> None:
    named = {*KUSTOMIZATION["resources"], "kustomization.yaml", EXAMPLE}
    assert named == {file.name for file in FOLDER.iterdir()}


def test_there_are_the_parts_of_a_hub() -> None:
    assert set(PODS) == {"web", "worker", "scheduler", "migrate"}


@pytest.mark.parametrize("name", PODS)
def test_no_pod_is_root_or_known_to_the_cluster(name: str) -> None:
    pod = PODS[name]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert f"--uid {pod['securityContext']['runAsUser']} " in dockerfile
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert all(set(each) == {"name", "emptyDir"} for each in pod["volumes"])


@pytest.mark.parametrize("name", CONTAINERS)
def test_no_container_writes_but_where_it_may(name: str) -> None:
    container = CONTAINERS[name]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {each["mountPath"] for each in container["volumeMounts"]} == {"/data", "/tmp"}
    assert {"cpu", "memory"} <= set(container["resources"]["requests"])
    assert "memory" in container["resources"]["limits"]
    assert container["image"] == KUSTOMIZATION["images"][0]["name"]


def test_pods_are_chosen_by_their_labels() -> None:
    for name in KUSTOMIZATION["resources"]:
        for each in load(name):
            if each["kind"] == "Deployment":
                labels = each["spec"]["template"]["metadata"]["labels"]
                assert each["spec"]["selector"]["matchLabels"] == labels
    service = next(each for each in load("web.yaml") if each["kind"] == "Service")
    assert service["spec"]["selector"] == {"app": "memoryhub", "part": "web"}


def test_every_variable_is_a_setting_and_every_secret_is_in_the_example() -> None:
    known = {*list_headings(ROOT / "docs/reference/settings.md", level=3), "MEMORYHUB_PROCESS"}
    held = {each["metadata"]["name"]: set(each["stringData"]) for each in load(EXAMPLE)}
    (config,) = load("settings.yaml")
    given = set(config["data"]).union(*held.values())
    for container in CONTAINERS.values():
        for source in container["envFrom"]:
            ((kind, where),) = source.items()
            assert where["name"] in (held if kind == "secretRef" else {config["metadata"]["name"]})
        for each in container.get("env", []):
            given.add(each["name"])
            if "valueFrom" in each:
                where = each["valueFrom"]["secretKeyRef"]
                assert where["key"] in held[where["name"]]
    assert given <= known


def test_the_owner_of_the_tables_is_known_to_migrations_alone() -> None:
    knowing = {name for name, each in CONTAINERS.items() if "memoryhub-owner" in json.dumps(each)}
    assert knowing == {"migrate/migrate"}


def test_processes_are_started_as_elsewhere() -> None:
    (started,) = re.findall(r"^CMD (\[.*?\])", (ROOT / "Dockerfile").read_text(), re.M | re.S)
    words = json.loads(started.replace("\\\n", ""))
    words[words.index("--workers") + 1] = "1"
    assert CONTAINERS["web/web"]["command"] == words
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    for name in ("worker", "scheduler", "migrate"):
        assert CONTAINERS[f"{name}/{name}"]["command"] == composed[name]["command"]


def test_the_web_server_is_probed_where_it_answers() -> None:
    web = CONTAINERS["web/web"]
    (port,) = web["ports"]
    assert web["readinessProbe"]["httpGet"] == {"path": "/healthz", "port": port["name"]}
    assert str(port["containerPort"]) in web["command"]
    assert PODS["web"]["terminationGracePeriodSeconds"] > 8 + 5  # to end by itself, and to be left
