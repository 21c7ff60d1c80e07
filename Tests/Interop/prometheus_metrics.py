"""Parses metrics from standard input with Prometheus' own client library, checks its histograms, and writes each sample as JSON."""
import json
import sys

from prometheus_client.parser import text_string_to_metric_families

samples = []
for family in text_string_to_metric_families(sys.stdin.read()):
    buckets = {}
    counts = {}
    for sample in family.samples:
        labels = {name: value for name, value in sample.labels.items() if name != "le"}
        samples.append({"type": family.type, "name": sample.name, "labels": sample.labels, "value": sample.value})
        key = json.dumps(labels, sort_keys=True)
        if sample.name.endswith("_bucket"):
            buckets.setdefault(key, []).append((float(sample.labels["le"]), sample.value))
        elif sample.name.endswith("_count"):
            counts[key] = sample.value
    if family.type == "histogram":
        for key, values in buckets.items():
            assert [bound for bound, _ in values] == sorted(bound for bound, _ in values), family.name
            assert [count for _, count in values] == sorted(count for _, count in values), family.name
            assert values[-1] == (float("inf"), counts[key]), family.name
print(json.dumps(samples))
