// Against the hub that MEMORYHUB_URL and MEMORYHUB_KEY name, and against scripted answers.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";

import * as client from "memoryhub-client";

const { MemoryHub } = client;
const hub = new MemoryHub();
const asked = "where does she live";

/** A hub that is answered by these, one after the other, and what it was asked. */
function script(...answers) {
  const requests = [];
  const fetch = async (request, init) => {
    requests.push(request);
    const answer = answers.shift();
    if (answer === undefined) {
      return new Promise((_, reject) => init.signal.addEventListener("abort", () => reject(init.signal.reason)));
    }
    if (answer instanceof Error) {
      throw answer;
    }
    const [status, body, headers] = answer;
    return new Response(JSON.stringify(body), { status, headers });
  };
  const retries = { times: 2, first: 0 };
  return { hub: new MemoryHub({ url: "http://hub", key: "mh_x", retries, fetch }), requests, fetch };
}

test("what is said is found, corrected and undone", async () => {
  const words = "I moved to Lisbon last week.";
  const rehearsed = await hub.rehearse("ana", words);
  assert.ok(rehearsed.decisions.length);
  const added = await hub.add("ana", words, { session: "s", metadata: { k: { deep: [1] } }, wait: true });
  assert.equal(added.job.state, "done");
  assert.equal((await hub.jobs.wait(added.job_id)).state, "done");
  const found = await hub.search("ana", asked, { kinds: ["fact"], explain: true });
  assert.match(found.items[0].text, /Lisbon/);
  assert.match((await hub.context("ana", asked, { budget_tokens: 500 })).text, /Lisbon/);
  assert.ok((await hub.answer("ana", "Where does Ana live?")).citations.length);

  const ana = hub.space("ana");
  const [fact] = await ana.facts.list({ filter: { text: { icontains: "lisbon" } } }).all();
  assert.deepEqual(fact.metadata, { k: { deep: [1] } });
  const done = await ana.facts.correct(fact.id, "Ana lives in the Alfama.", { reason: "nearer", version: fact.version });
  assert.equal(done.row.text, "Ana lives in the Alfama.");
  await assert.rejects(ana.facts.pin(done.row.id, { version: 999 }), client.Outdated);
  assert.equal((await ana.facts.versions(done.row.id).all()).length, 2);
  assert.ok((await ana.events.undo(done.event_id)).undone.length);
  assert.ok((await ana.facts.end(fact.id, { at: new Date() })).row.valid_to);
  await ana.facts.restore(fact.id);
  await ana.facts.retract(fact.id);
  assert.equal((await ana.get()).subject, "ana");
});

test("a fact is kept as it is given, of somebody who has a name", async () => {
  const since = new Date("2026-05-01T00:00:00Z");
  const given = { predicate: "lives_in", value: "Faro", valid_from: since, subject_name: "Eva" };
  const kept = await hub.remember("u-17", "Eva lives in Faro", given);
  assert.equal(kept.decision.op, "add");
  assert.deepEqual([kept.fact.owner, kept.fact.value, new Date(kept.fact.valid_from)], ["Eva", "Faro", since]);
  assert.equal((await hub.space("u-17").setName("Eva Sousa")).name, "Eva Sousa");
  assert.match((await hub.space("u-17").facts.get(kept.fact.id)).text, /Eva Sousa/);
});

test("a filter may be longer than an address", async () => {
  const wanted = Array.from({ length: 400 }, (_, at) => `list/${at}/${"x".repeat(40)}`);
  const found = await hub.spaces.list({ filter: { subject: [...wanted, "u-17"] }, limit: 1 }).all();
  assert.deepEqual(found.map((each) => each.subject), ["u-17"]);
  const { hub: tried, requests } = script([503, {}], [200, { items: [], total: 0, next: null }]);
  await tried.spaces.list({ filter: { subject: "ana" } }).all();
  assert.deepEqual(requests.map((each) => [each.method, new URL(each.url).pathname]), Array(2).fill(["POST", "/api/v1/spaces/query"]));
});

test("a write with the same key happens once", async () => {
  const key = crypto.randomUUID();
  const ana = hub.space("ana");
  const made = await ana.blocks.new("plans", "None.", { key });
  const again = await ana.blocks.new("plans", "None.", { key });
  assert.deepEqual([made.replayed, again.replayed], [false, true]);
  assert.equal((await ana.blocks.revise(made.row.id, { value: "A trip." })).row.value, "A trip.");
  await ana.blocks.delete(made.row.id);
});

test("lists are read page by page", async () => {
  await hub.addBatch(["b", "c", "d"].map((subject) => ({ subject: `list/${subject}`, messages: "I play chess." })));
  const pages = hub.spaces.list({ limit: 1, fields: ["subject"], filter: { subject: { contains: "list/" } } });
  const first = await pages.page();
  assert.deepEqual([first.items.length, first.total], [1, 3]);
  const subjects = [];
  for await (const row of pages) {
    subjects.push(row.subject);
  }
  assert.deepEqual(subjects, ["list/b", "list/c", "list/d"]);
  assert.equal((await hub.space("list/b").get()).subject, "list/b");
});

test("a job tells how it gets on", async () => {
  const { job_id } = await hub.add("ana", "I play the oboe.", { wait: true });
  const states = [];
  for await (const told of hub.jobs.progress(job_id)) {
    states.push(told.state);
  }
  assert.equal(states.at(-1), "done");
});

test("values of one's own are kept", async () => {
  const place = ["ana", ["memories", "ana"], "diet"];
  assert.equal(await hub.items.put(...place, { text: "Ana eats fish." }), 1);
  assert.deepEqual((await hub.items.get(...place)).value, { text: "Ana eats fish." });
  assert.equal((await hub.items.search(["memories"], { query: "food" })).length, 1);
  await hub.items.put(...place, null);
  assert.equal(await hub.items.get(...place), null);
});

test("everything else is asked for by its path", async () => {
  const { data } = await hub.api.GET("/api/v1/usage", { params: { query: { days: 7 } } });
  assert.ok(data);
});

test("what the hub refuses is thrown with its code and its field", async () => {
  await assert.rejects(hub.search("nobody-of-this-name", "x"), client.NotFound);
  const wrong = await hub.spaces.list({ limit: 1000 }).page().catch((error) => error);
  assert.ok(wrong instanceof client.Invalid && wrong instanceof client.MemoryHubError);
  assert.deepEqual([wrong.name, wrong.code, wrong.field], ["Invalid", "invalid", "limit"]);
  assert.ok(wrong.requestId);
  const stranger = new MemoryHub({ key: "mh_none" });
  await assert.rejects(stranger.search("ana", "x"), client.NotAuthenticated);
  assert.throws(() => new MemoryHub({ url: "http://hub", key: "" }), /MEMORYHUB_KEY/);
});

test("what may be repeated is, with the same key", async () => {
  const added = [200, { job: null, job_id: null, turns: [] }];
  const busy = [503, { code: "busy" }, { "Retry-After": "0" }];
  const { hub: tried, requests } = script(busy, new TypeError("fetch failed"), added);
  await tried.add("ana", "Hi.");
  const keys = requests.map((each) => each.headers.get("Idempotency-Key"));
  assert.equal(keys.length, 3);
  assert.ok(keys[0] && keys.every((each) => each === keys[0]));
  assert.equal(await requests[2].json().then((body) => body.messages[0].content), "Hi.");
});

test("what would happen twice is not repeated", async () => {
  const { hub: tried, requests } = script(new TypeError("fetch failed"));
  const body = { name: "reader", scopes: ["read"] };
  await assert.rejects(tried.api.POST("/api/v1/keys/new", { body }), client.ConnectionFailed);
  assert.equal(requests.length, 1);
});

test("a hub that is silent is given up in time", async () => {
  const { fetch } = script();
  const silent = new MemoryHub({ url: "http://hub", key: "mh_x", timeout: 0.05, retries: { times: 0 }, fetch });
  await assert.rejects(silent.spaces.list().page(), client.TimedOut);
});

test("what a page of some proxy says is an error, too", async () => {
  const { hub: tried } = script([502, "<html>"], [502, "<html>"], [502, "<html>"]);
  const error = await tried.spaces.list().page().catch((each) => each);
  assert.ok(error instanceof client.ServerError);
  assert.equal(error.code, "http_502");
});

test("a key is not shown", () => {
  const shown = inspect(new MemoryHub({ url: "http://hub", key: "mh_secret" }), { depth: 9, showHidden: true });
  assert.doesNotMatch(shown, /mh_secret/);
});
