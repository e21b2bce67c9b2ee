"""Latency of add and search at the HTTP boundary of a running hub.

`python benchmarks/latency.py --key mh_… [--url http://127.0.0.1:8000] [--subject ana]`
"""

from __future__ import annotations

import argparse
import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

QUESTIONS = ("where does she live", "what does Ana drink", "when was the marathon")


class HubConnection:
    """One connection, as a client that keeps its connections has it."""

    def __init__(self, url: str, key: str) -> None:
        place = urlsplit(url)
        self._http = http.client.HTTPConnection(place.hostname or "127.0.0.1", place.port)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, path: str, body: dict[str, Any]) -> float:
        """Milliseconds until the whole answer was read. Raises SystemExit unless it is 2xx."""
        start = time.perf_counter()
        self._http.request("POST", f"/api/v1/{path}", json.dumps(body), self._headers)
        answer = self._http.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{answer.status} {content.decode()}")
        return (time.perf_counter() - start) * 1000


def print_latencies(name: str, took: list[float]) -> None:
    took.sort()
    middle, late = took[len(took) // 2], took[int(len(took) * 0.95)]
    print(f"{name:<28} p50 {middle:6.1f} ms   p95 {late:6.1f} ms   of {len(took)}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--key", required=True)
    arguments.add_argument("--url", default="http://127.0.0.1:8000")
    arguments.add_argument("--subject", default="ana", help="somebody with memories")
    given = arguments.parse_args()
    hub = HubConnection(given.url, given.key)
    ask = [{"subject": given.subject, "query": QUESTIONS[n % 3]} for n in range(100)]
    hub.post("search", ask[0])
    print_latencies("search", [hub.post("search", body) for body in ask])
    new = uuid4().hex[:8]
    said = [
        {"subject": f"bench-{new}", "messages": [{"content": f"I had soup number {n} today."}]}
        for n in range(60)
    ]
    print_latencies(
        "add, worker busy with them", [hub.post("memories", body) for body in said[:40]]
    )
    time.sleep(15)
    slowly = []
    for body in said[40:]:
        time.sleep(1)
        slowly.append(hub.post("memories", body))
    print_latencies("add, one a second", slowly)


if __name__ == "__main__":
    main()
