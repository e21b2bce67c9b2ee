"""A file that the version before exported is imported by this code, whatever columns are called."""

from __future__ import annotations

import lzma
from typing import Any

from rest_framework.test import APIClient

from tests.upgrade.making import FILE, SINCE, counted
from tests.upgrade.test_upgrade import get, post


def brought(client: APIClient, query: str = "") -> dict[str, Any]:
    raw: Any = lzma.decompress(FILE.read_bytes())  # its stubs know of text alone
    answer = client.generic("POST", f"/api/v1/import?{query}", raw, "application/x-ndjson")
    assert answer.status_code == 200, answer.content
    report: dict[str, Any] = answer.json()
    return report


def test_all_of_it_comes_in_and_nothing_is_unknown(
    fresh: APIClient, answers: dict[str, Any]
) -> None:
    report = brought(fresh)
    assert report["ignored"] == {}
    totals = answers["totals"]["ana"]
    for kind in totals:
        found = get(fresh, f"/spaces/ana/{kind}", **counted(kind))["total"]
        assert (kind, found) == (kind, totals[kind])
    held = get(fresh, "/spaces/ana/facts", limit=200, as_of=SINCE)["items"]
    told = sorted([each["text"], each["valid_from"], each["valid_to"]] for each in held)
    assert told == answers["facts"]["ana"]


def test_a_change_in_it_can_still_be_undone(fresh: APIClient, answers: dict[str, Any]) -> None:
    assert brought(fresh)["ids"] == "kept"
    known = answers["known"]
    texts = {each["text"] for each in get(fresh, "/spaces/ana/facts", limit=200)["items"]}
    assert "Lucía plays the double bass in a trio." in texts
    post(fresh, f"/spaces/ana/events/{known['corrected']}/undo")
    texts = {each["text"] for each in get(fresh, "/spaces/ana/facts", limit=200)["items"]}
    assert "Lucía plays the double bass in an orchestra." in texts


def test_its_words_are_found_at_once(fresh: APIClient) -> None:
    brought(fresh)
    found = post(fresh, "/search", subject="ana", query="celadon glaze", kinds=["fact"])
    assert "Ana Ferreira's favourite glaze is celadon now." in {e["text"] for e in found["items"]}
