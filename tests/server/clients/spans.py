#!/usr/bin/env python3
"""spans.py FILE - what a collector was sent (collector.py), checked against OTLP's JSON; then a line for each span:
trace, span, parent or -, kind, name, request id or -."""
import json
import re
import sys

ids = set()
spans = []
for line in open(sys.argv[1], encoding="utf-8"):
    call = json.loads(line)
    if call["status"] != 200:
        continue
    assert call["path"] == "/v1/traces", call["path"]
    assert call["headers"]["Content-Type"] == "application/json"
    for resource in call["body"]["resourceSpans"]:
        of = {a["key"]: a["value"] for a in resource["resource"]["attributes"]}
        assert of["service.name"] == {"stringValue": "forage"}, of
        for scope in resource["scopeSpans"]:
            spans += scope["spans"]
times = {}
for s in spans:
    assert re.fullmatch("[0-9a-f]{32}", s["traceId"]) and re.fullmatch("[0-9a-f]{16}", s["spanId"]), s
    assert s["spanId"] not in ids, "a span's id twice"
    ids.add(s["spanId"])
    begin, end = int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"])
    assert 1.7e18 < begin <= end, s
    times[s["spanId"]] = (begin, end)
for s in spans:
    attributes = {a["key"]: a["value"] for a in s.get("attributes", [])}
    if s["kind"] == 1:  # a stage lies within its request
        outer = times[s["parentSpanId"]]
        begin, end = times[s["spanId"]]
        assert outer[0] <= begin and end <= outer[1], (s, outer)
    else:
        assert attributes["http.response.status_code"]["intValue"].isdigit(), s
    request = attributes.get("forage.request_id", {}).get("stringValue", "-")
    print(s["traceId"], s["spanId"], s.get("parentSpanId", "-"), s["kind"], s["name"].replace(" ", "_"), request)
