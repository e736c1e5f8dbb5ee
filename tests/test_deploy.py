"""What is needed to run a server elsewhere: the image, compose, systemd, Kubernetes, Grafana."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from fastapi.routing import APIRoute
from packaging.requirements import Requirement

from memorata.engine.settings import Settings
from memorata_server.http.status import router
from memorata_server.http.telemetry import Metrics

ROOT = Path(__file__).parents[1]
KUBERNETES = ROOT / "deploy" / "kubernetes"
MANIFESTS = ("deployment", "service", "disruption")
VARIABLE = re.compile(r"\bMEMORATA_([A-Z_]+)")


def manifest(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((KUBERNETES / f"{name}.yaml").read_text())
    return content


def test_the_image_passes_the_linter() -> None:
    program = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    assert program is not None
    done = subprocess.run([program, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_image_does_not_run_as_root_and_says_how_it_is() -> None:
    last = (ROOT / "Dockerfile").read_text().split("\nFROM ")[-1]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert re.search(r"^VOLUME /data$", last, re.MULTILINE)
    assert "/v1/health" in last


def test_the_image_is_built_from_what_it_copies() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    allowed = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    names = {name for line in copied for name in line.split()}
    assert names == allowed
    assert all((ROOT / name).exists() for name in names)


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_are_what_kubernetes_takes(name: str) -> None:
    kubernetes_validate.validate(manifest(name), "1.30", strict=True)


def test_every_manifest_is_applied() -> None:
    listed = manifest("kustomization")["resources"]
    assert sorted(listed) == sorted(f"{name}.yaml" for name in MANIFESTS)


def test_probes_ask_the_routes_that_are_for_them() -> None:
    routes = {route.path for route in router.routes if isinstance(route, APIRoute)}
    container = manifest("deployment")["spec"]["template"]["spec"]["containers"][0]
    probes = {probe: container[probe]["httpGet"]["path"] for probe in container if probe.endswith("Probe")}
    assert probes["readinessProbe"] == "/v1/ready"
    assert set(probes.values()) <= routes


def test_selectors_select_the_pods() -> None:
    labels = manifest("deployment")["spec"]["template"]["metadata"]["labels"]
    assert manifest("deployment")["spec"]["selector"]["matchLabels"] == labels
    assert manifest("service")["spec"]["selector"] == labels
    assert manifest("disruption")["spec"]["selector"]["matchLabels"] == labels


def test_compose_waits_for_the_database_and_publishes_on_loopback() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    server = services["memorata"]
    assert server["depends_on"]["database"]["condition"] == "service_healthy"
    assert services["database"]["healthcheck"]["test"]
    assert all(port.startswith("127.0.0.1:") for port in server["ports"])


def test_the_unit_keeps_its_state_to_itself() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(ROOT / "deploy" / "memorata.service")
    service = unit["Service"]
    assert "memorata server start --workers" in service["ExecStart"]
    assert "-HUP" in service["ExecReload"], "which one process alone does not survive"
    assert (service["DynamicUser"], service["UMask"], service["StateDirectoryMode"]) == (
        "yes",
        "0077",
        "0700",
    )


@pytest.mark.parametrize(
    "name", ["Dockerfile", "compose.yaml", "deploy/memorata.service", "deploy/kubernetes/deployment.yaml"]
)
def test_environment_variables_are_settings(name: str) -> None:
    variables = {variable.lower() for variable in VARIABLE.findall((ROOT / name).read_text())}
    assert variables
    assert variables <= set(Settings.names)


def test_the_dashboard_asks_for_metrics_that_are_there() -> None:
    metrics = Metrics()
    metrics.observe("POST", "/v1/recall", 200, 0.01)
    exposed = set(re.findall(r"^([a-z_]+)", metrics.text().decode(), re.MULTILINE))
    board = json.loads((ROOT / "deploy" / "grafana" / "memorata.json").read_text())
    asked = {
        metric
        for panel in board["panels"]
        for target in panel["targets"]
        for metric in re.findall(r"\b((?:memorata|process)_[a-z_]+)\b", target["expr"])
    }
    assert asked
    assert asked <= exposed
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)[^\n]*(\n    --hash=sha256:[0-9a-f]{64})?", re.MULTILINE)


def locked(name: str) -> dict[str, tuple[set[str], bool]]:
    """Return the versions of every package in a lock file, and whether all of them have hashes."""
    packages: dict[str, tuple[set[str], bool]] = {}
    for package, version, hashed in LOCKED.findall((ROOT / "deploy" / name).read_text()):
        versions, all_hashed = packages.get(package.lower(), (set(), True))
        packages[package.lower()] = versions | {version}, all_hashed and bool(hashed)
    return packages


@pytest.mark.parametrize(
    ("name", "extras"),
    [("requirements.lock", ("encryption",)), ("constraints.txt", ("dev",))],
)
def test_what_is_needed_is_locked_to_versions_that_are_good(name: str, extras: tuple[str, ...]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in extras for each in project["optional-dependencies"][extra]),
    ]
    packages = locked(name)
    if name == "requirements.lock":
        for satellite in ("memorata-models", "memorata-postgres", "memorata-server"):
            declared = tomllib.loads((ROOT / "packages" / satellite / "pyproject.toml").read_text())
            wanted += [each for each in declared["project"]["dependencies"] if each != "memorata"]
        assert all(hashed for _, hashed in packages.values())
        assert "hatchling" in packages
    for requirement in map(Requirement, wanted):
        if name == "requirements.lock" or requirement.name.lower() in packages:
            versions, _ = packages[requirement.name.lower()]
            assert all(version in requirement.specifier for version in versions), requirement


def test_the_image_installs_what_is_locked_alone() -> None:
    build = (ROOT / "Dockerfile").read_text().split("\nFROM ")[1]
    assert "--require-hashes --requirement requirements.lock" in build
    assert "--no-deps --no-build-isolation ." in build
