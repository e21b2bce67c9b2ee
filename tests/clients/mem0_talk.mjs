// Run where `mem0ai` is installed: what its client can do, as JSON.
import { createRequire } from "node:module";

const require = createRequire(`${process.env.CLIENTS}/package.json`);
const { MemoryClient } = require("mem0ai");
const { MEM0_HOST: host, MEM0_API_KEY: apiKey } = process.env;
const client = new MemoryClient({ apiKey, host });
const mine = { user_id: "ana" };

async function settled(eventId) {
  for (let n = 0; n < 300; n += 1) {
    const headers = { Authorization: `Token ${apiKey}` };
    const event = await (await fetch(`${host}/v1/event/${eventId}/`, { headers })).json();
    if (["SUCCEEDED", "FAILED"].includes(event.status)) return event;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("the event did not end");
}

const refused = (call) => call.then(() => [], (error) => [error.name, error.message]);

const told = {};
const said = [{ role: "user", content: "I live in Lisbon." }];
told.added = await client.add(said, { userId: "ana", agentId: "bot", metadata: { k: 1 } });
told.event = await settled(told.added.eventId);
told.kept = await client.add([{ role: "user", content: "The blue key opens the shed." }], {
  userId: "ana",
  runId: "r1",
  infer: false,
});
const memoryId = told.kept.results[0].id;
told.search = await client.search("where does Ana live", { filters: mine });
told.narrow = await client.search("what opens the shed", {
  filters: { AND: [mine, { run_id: "r1" }] },
  topK: 3,
});
told.all = await client.getAll({ filters: mine, page: 1, pageSize: 10 });
told.get = await client.get(memoryId);
told.updated = await client.update(memoryId, { text: "The red key opens the shed." });
told.history = await client.history(memoryId);
told.users = await client.users();
told.batchUpdate = await client.batchUpdate([
  { memoryId, text: "The green key opens the shed." },
]);
told.afterBatch = await client.get(memoryId);
told.feedback = await client.feedback({
  memoryId,
  feedback: "POSITIVE",
  feedbackReason: "Right.",
});
const exported = await client.createMemoryExport({ schema: {}, filters: mine });
told.export = await client.getMemoryExport({ memoryExportId: exported.id });
await client.updateProject({ multilingual: true });
told.steered = await refused(client.updateProject({ customInstructions: "Only food." }));
told.project = await client.getProject({ fields: ["multilingual", "customInstructions"] });
told.schema = { type: "object", properties: { homeCity: { type: "string", description: "x" } } };
told.profileSettings = await client.updateProfileSettings({ schema: told.schema });
told.profile = await client.getProfile({ entityId: "ana" });
told.settings = await client.getProfileSettings();
told.sampled = await client.sampleProfiles({ limit: 1 });
await client.ping();
told.job = await client.getProfileJob((await client.generateProfile({ entityId: "ana" })).statusUrl);
const hook = await client.createWebhook({
  name: "n",
  url: "https://hooks.example.org/",
  eventTypes: ["memory_add"],
});
await client.updateWebhook({ webhookId: hook.webhookId, name: "n2" });
told.hooks = { made: hook, listed: await client.getWebhooks() };
told.hooks.gone = await client.deleteWebhook({ webhookId: hook.webhookId });
told.hooks.left = await client.getWebhooks();
told.deleted = await client.delete(memoryId);
told.gone = await refused(client.get(memoryId));
told.wrong = await refused(client.search("x", { filters: { AND: [mine, { colour: "red" }] } }));
const spare = await client.add([{ role: "user", content: "A spare one." }], {
  userId: "ana",
  infer: false,
});
told.batchDelete = await client.batchDelete([spare.results[0].id]);
told.deleteAll = await client.deleteAll({ userId: "ana" });
told.none = await client.getAll({ filters: mine });
await client.add([{ role: "user", content: "The gate is green." }], {
  userId: "rui",
  infer: false,
});
told.forgotten = await client.deleteUser({ entity_type: "user", entity_id: "rui" });
told.reset = await client.deleteUsers();
told.nobody = await client.users();
process.stdout.write(JSON.stringify(told));
