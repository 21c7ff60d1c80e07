"""Checks the files of deploy/: their syntax, and that each metric, setting and service that they name exists. Prints what is wrong."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

root = pathlib.Path(sys.argv[1])
deploy = root / "deploy"
problems = []
sources = "\n".join(file.read_text() for file in (root / "Sources").rglob("*.swift"))
labels = set(re.findall(r'"((?:countersign|process)_[a-z_]+)"', sources))

# The metrics of the alert rules and of the dashboard
alerts = yaml.safe_load((deploy / "prometheus-alerts.yml").read_text())
rules = [rule for group in alerts["groups"] for rule in group["rules"]]
dashboard = json.loads((deploy / "grafana-dashboard.json").read_text())
expressions = [rule["expr"] for rule in rules] + [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
for expression in expressions:
    for name in re.findall(r"\b((?:countersign|process)_[a-z_]+)\b", re.sub(r'"[^"]*"', '""', expression)):
        if re.sub(r"_(bucket|sum|count)$", "", name) not in labels and name not in labels:
            problems.append(f"no metric {name}: {expression}")
    # An event name without its dot would match no event.
    for name in re.findall(r'type="([a-z_.]+)"', expression):
        if f'"{name}"' not in sources:
            problems.append(f"no event {name}: {expression}")
for rule in rules:
    if not {"summary", "description"} <= set(rule["annotations"]) or rule["labels"]["severity"] not in ("page", "ticket"):
        problems.append(f"{rule['alert']} lacks a summary, a description or a severity")
if len({rule["alert"] for rule in rules}) != len(rules):
    problems.append("two alerts have one name")

# The settings
loading = (root / "Sources/AuthorizationServer/Start/ConfigurationLoading.swift").read_text()
keys = {key.replace("-", "_").upper() for key in re.findall(r'"([a-z-]+)"', loading[loading.index("static let keys"):loading.index("private static func refuseUnknownKeys")])}
for file in deploy.iterdir():
    for name in re.findall(r"COUNTERSIGN_([A-Z_]+)", file.read_text()):
        if name not in keys | {"POSTGRESQL", ""}:
            problems.append(f"{file.name}: no setting COUNTERSIGN_{name}")

# The containers
compose = yaml.safe_load((deploy / "compose.yaml").read_text())
for name, service in compose["services"].items():
    for other in service.get("depends_on", {}):
        if other not in compose["services"]:
            problems.append(f"compose.yaml: {name} waits for {other}, which is no service")
    for secret in service.get("secrets", []):
        if secret not in compose["secrets"]:
            problems.append(f"compose.yaml: no secret {secret}")
dockerfile = re.sub(r"\\\n", " ", (deploy / "Dockerfile").read_text())
for line in dockerfile.splitlines():
    if line and not re.match(r"(#|FROM|RUN|WORKDIR|COPY|USER|VOLUME|EXPOSE|HEALTHCHECK|STOPSIGNAL|ENTRYPOINT|CMD) ?", line.strip()):
        problems.append(f"Dockerfile: {line}")
    words = re.match(r"(ENTRYPOINT|CMD) (\[.*)", line) or re.match(r"(HEALTHCHECK).* CMD (\[.*)", line)
    if words:
        json.loads(words.group(2))
if dockerfile.index("USER countersign") > dockerfile.index("ENTRYPOINT"):
    problems.append("Dockerfile: the server runs as root")

# The systemd unit, with a command that exists on this machine
if shutil.which("systemd-analyze"):
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder) / "countersign.service"
        unit.write_text((deploy / "countersign.service").read_text().replace("/usr/bin/countersign", "/bin/true"))
        for arguments in (["verify", str(unit)], ["security", "--offline=true", "--threshold=20", str(unit)]):
            ended = subprocess.run(["systemd-analyze"] + arguments, capture_output=True, text=True)
            if ended.returncode != 0:
                problems.append(f"countersign.service: {ended.stdout[-500:]}{ended.stderr}")
elif "--require-all" in sys.argv:
    problems.append("systemd-analyze is missing")

print("\n".join(problems))
sys.exit(1 if problems else 0)
