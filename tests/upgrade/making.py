"""Makes what the tests of an upgrade begin with: a hub's dump and what that hub answered.

Run against a hub of the version to upgrade from, with its demo read and its jobs done, started
with MEMORYHUB_FLUSH_SECONDS=0 (so that being asked changes nothing) and MEMORYHUB_SECRET_KEY set
to SECRET_KEY, under which the key was made:

    python -m tests.upgrade.making http://127.0.0.1:8123 KEY

It gives the demo a history with something of everything, asks, and writes `answers.json` and
`ana.jsonl.xz` beside this file. The dump is taken as the database's superuser, without what is
only a log, and without the queue, which belongs to the application's role and makes itself:

    pg_dump --no-owner --no-comments --exclude-table='pgmq.[qa]_*' \\
        --exclude-table-data='recall_recalllog*' --exclude-table-data=inference_modelcall \\
        --exclude-table-data=api_loggedrequest --exclude-table-data=django_session \\
        ADDRESS | xz -9e > tests/upgrade/hub.sql.xz
"""

from __future__ import annotations

import json
import lzma
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

HERE = Path(__file__).parent
ANSWERS, FILE, DUMP = HERE / "answers.json", HERE / "ana.jsonl.xz", HERE / "hub.sql.xz"
SECRET_KEY = "the-upgrade-tests-hub-and-nobody-elses-secret"
# The demo ends in October 2026. Asked as of then, an answer does not change with the clock.
THEN = "2026-11-01T00:00:00Z"
# Asked what holds as of then: everything was done before.
SINCE = "2026-12-01T00:00:00Z"
QUESTIONS: list[dict[str, Any]] = [
    {"subject": "ana", "query": "Where does Ana live?"},
    {"subject": "ana", "query": "Where did Ana live?", "include_past": True},
    {"subject": "ana", "query": "What does Ana drink in the morning?", "kinds": ["fact"]},
    {"subject": "ana", "query": "What does Ana drink?", "as_of": "2026-02-20T00:00:00Z"},
    {"subject": "ana", "query": "Who is Bolota?", "limit": 5},
    {"subject": "ana", "query": "How was the marathon in Madrid?", "kinds": ["turn", "note"]},
    {"subject": "ana", "query": "What happened at the school?", "kinds": ["episode", "page"]},
    {"subject": "ana", "query": "What does Rita do for a living?", "select": "routed"},
    {"subject": "lin", "query": "她现在住在哪里？"},
    {"subject": "lin", "query": "她周末做什么运动？", "include_past": True},
    {"subject": "tomas", "query": "What does Tomas bake?", "as_of": "2027-01-01T00:00:00Z"},
    {"subject": "ana", "query": "quantum chromodynamics lattice"},
]
KINDS: tuple[str, ...] = (
    "turns",
    "facts",
    "notes",
    "links",
    "entities",
    "relations",
    "segments",
    "episodes",
)
KINDS = (*KINDS, "blocks", "profile", "traits", "conflicts", "golden", "items")


class Hub:
    def __init__(self, url: str, key: str) -> None:
        head = {"Authorization": f"Bearer {key}"}
        self.client = httpx.Client(base_url=f"{url}/api/v1", headers=head, timeout=120)

    def get(self, path: str, **query: Any) -> Any:
        return self._answered(self.client.get(path, params=query))

    def post(self, path: str, **body: Any) -> Any:
        return self._answered(self.client.post(path, json=body))

    def _answered(self, answer: httpx.Response) -> Any:
        if not answer.is_success:
            raise SystemExit(f"{answer.request.url}: {answer.status_code} {answer.text}")
        return answer.json()

    def fact(self, subject: str, beginning: str) -> str:
        """The id of the fact that is held and begins so."""
        found = self.get(f"/spaces/{subject}/facts", limit=200)["items"]
        return next(str(each["id"]) for each in found if each["text"].startswith(beginning))

    def rest(self) -> None:
        """Wait until nothing is to be done but by the clock."""
        for _ in range(600):
            jobs = self.get("/jobs", limit=200)["items"]
            if not any(map(is_due, jobs)):
                return
            time.sleep(0.5)
        raise SystemExit("the hub does not come to rest")


def is_due(job: dict[str, Any]) -> bool:
    soon = datetime.now(UTC) + timedelta(seconds=5)
    waits = job["state"] in ("queued", "running", "retry")
    return waits and datetime.fromisoformat(job["run_after"]) < soon


def live(hub: Hub) -> dict[str, Any]:
    """Something of everything. Returns what the tests have to know of it."""
    hub.post(
        "/webhooks/new",
        name="Bakery",
        url="https://hooks.example.invalid/memory",
        events=["fact.added"],
    )
    hub.post("/keys/new", name="for Lin's agent", scopes=["read"], subject="lin")
    hub.post("/spaces/ana/policy", preset="", overrides={"stm.pages": 9}, reason="longer talks")
    known = {**worded(hub), **talked(hub), **shelved(hub)}
    hub.post("/members/new", username="ida", role="viewer")
    hub.post("/imports", source="mem0", name="memories.json", content=of_mem0(), subject="tomas")
    hub.rest()
    return known | erased(hub)


def worded(hub: Hub) -> dict[str, Any]:
    """What a person puts right, and takes back."""
    facts = "/spaces/ana/facts/"
    neighbour, usera = hub.fact("ana", "Lucía plays"), hub.fact("ana", "Ana Ferreira rents")
    right = hub.post(f"{facts}{neighbour}/correct", text="Lucía plays the double bass in a trio.")
    wrong = hub.post(f"{facts}{usera}/correct", text="Ana Ferreira rents a house in Carabanchel.")
    back = hub.post(f"/spaces/ana/events/{wrong['event_id']}/undo", reason="it is a flat")
    ended = hub.post(facts + hub.fact("ana", "Ana Ferreira misses the sea") + "/end")
    sleeps = hub.post(facts + hub.fact("ana", "Ana Ferreira sleeps") + "/retract")
    hub.post(facts + hub.fact("ana", "Bolota is Ana") + "/pin")
    hub.post("/spaces/ana/profile/set", key="pronouns", value="she", reason="she said so")
    hub.post("/spaces/ana/traits/set", key="openness", level="high", reason="met her")
    note = hub.get("/spaces/ana/notes", limit=1)["items"][0]["id"]
    hub.post(f"/spaces/ana/notes/{note}/describe", tags=["studio", "celadon"])
    (merge,) = hub.get("/spaces/ana/conflicts")["items"]
    hub.post(f"/spaces/ana/conflicts/{merge['id']}/decide", answer="reject", reason="two races")
    return {
        "corrected": right["event_id"],
        "taken_back": wrong["event_id"],
        "taking_back": back["event_ids"][0],
        "ended": ended["event_id"],
        "retracted": sleeps["event_id"],
    }


def talked(hub: Hub) -> dict[str, Any]:
    """New words, read at once, one of which ends what was held."""
    said = hub.post(
        "/memories",
        subject="ana",
        session="ana-13",
        wait=True,
        messages=[
            {"content": "I moved to Valencia yesterday.", "timestamp": "2026-10-30T09:00:00Z"},
            {
                "content": "My sister Rita lives in Coimbra now.",
                "timestamp": "2026-10-30T09:01:00Z",
            },
        ],
    )
    hub.rest()
    return {"moved": said["turns"][0]["id"]}


def shelved(hub: Hub) -> dict[str, Any]:
    """Blocks, golden questions, feedback and items."""
    new = {"label": "human", "value": "Ana is a potter.", "shared": False}
    block = hub.post("/spaces/ana/blocks/new", **new)["block"]["id"]
    edit = hub.post(f"/spaces/ana/blocks/{block}/revise", value="Ana teaches pottery.")
    call = {"label": "human", "text": "She likes celadon."}
    done = hub.post("/spaces/ana/tools", tool="core_append", arguments=call, agent="studio")
    if not done["ok"]:
        raise SystemExit(done["result"])
    lives = hub.fact("ana", "Ana Ferreira moved to Valencia")
    expected = [{"kind": "fact", "id": lives}]
    hub.post(
        "/spaces/ana/golden/new", text="Where does Ana live?", expected=expected, tags=["home"]
    )
    word = {"kind": "fact", "memory_id": lives, "verdict": "positive"}
    hub.post("/spaces/ana/feedback/set", **word, comment="right")
    item = {"subject": "ana", "namespace": ["likes"], "key": "glaze", "value": {"name": "celadon"}}
    hub.post("/items/write", items=[item])
    return {"block": block, "block_event": edit["event_id"]}


def erased(hub: Hub) -> dict[str, Any]:
    """One message of Lin's, and all of Marcus."""
    (turn,) = hub.get("/spaces/lin/turns", filter='{"external_id": "lin-02-07"}')["items"]
    one = hub.post("/spaces/lin/erase", target="turns", ids=[turn["id"]])
    hub.post("/spaces/marcus/erase", target="subject", confirm="marcus")
    hub.rest()
    return {"receipt": one["id"] if "id" in one else one["receipt"]["id"], "gone": turn["id"]}


def of_mem0() -> str:
    said = [("m-1", "Tomas bakes rye bread in Ghent"), ("m-2", "Tomas has a sourdough called Otto")]
    rows = [
        {"id": f"00000000-0000-4000-8000-00000000000{each[-1]}", "memory": text, "user_id": "tomas"}
        for each, text in said
    ]
    return json.dumps({"results": rows})


def recorded(hub: Hub) -> dict[str, Any]:
    """What it answers now: what an upgraded hub is to answer as well."""
    spaces = [each["subject"] for each in hub.get("/spaces")["items"]]
    return {
        "searches": [asked(hub, question) for question in QUESTIONS],
        "totals": {name: {kind: total(hub, name, kind) for kind in KINDS} for name in spaces},
        "events": {name: told(hub, name) for name in spaces},
        "facts": {name: held(hub, name) for name in spaces},
    }


def asked(hub: Hub, question: dict[str, Any]) -> dict[str, Any]:
    question = {"as_of": THEN} | question
    answer = hub.post("/search", **question)
    items = [{k: each[k] for k in ("kind", "id", "text", "score")} for each in answer["items"]]
    return {"question": question, "insufficient": answer["insufficient"], "items": items}


def total(hub: Hub, subject: str, kind: str) -> int:
    return int(hub.get(f"/spaces/{subject}/{kind}", **counted(kind))["total"])


def counted(kind: str) -> dict[str, Any]:
    """A query for a total that does not change with the clock, as what holds does."""
    return {"limit": 1, "status": "all"} if kind == "facts" else {"limit": 1}


def told(hub: Hub, subject: str) -> list[list[Any]]:
    """[id, kind, actor] of each change-set, the latest first."""
    items: list[list[Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = hub.get(f"/spaces/{subject}/events", limit=200, **cursor)
        items += [[each["id"], each["kind"], each["actor"]] for each in page["items"]]
        if not page["next"]:
            return items
        cursor = {"cursor": page["next"]}


def held(hub: Hub, subject: str) -> list[list[Any]]:
    """What is held, and since when, sorted."""
    found = hub.get(f"/spaces/{subject}/facts", limit=200, as_of=SINCE)["items"]
    return sorted([each["text"], each["valid_from"], each["valid_to"]] for each in found)


def main(url: str, key: str) -> None:
    hub = Hub(url, key)
    hub.rest()
    known = live(hub)
    answers = {"key": key, "known": known, **recorded(hub)}
    text = json.dumps(answers, ensure_ascii=False, indent=1)
    ANSWERS.write_text(text + "\n", encoding="utf-8")
    file = hub.client.get("/spaces/ana/export").raise_for_status().content
    FILE.write_bytes(lzma.compress(file, preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(*sys.argv[1:])
