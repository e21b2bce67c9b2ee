// What a host written with the protocol's TypeScript SDK does, as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const find = createRequire(pathToFileURL(`${process.env.CLIENTS}/`));
const load = (name) => import(pathToFileURL(find.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");

const headers = { Authorization: `Bearer ${process.env.MEMORYHUB_KEY}` };
const address = new URL(`${process.env.MEMORYHUB_URL}/mcp`);
const client = new Client({ name: "test", version: "1" });
const troubles = [];
client.onerror = (error) => troubles.push(error.message);
await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));

const call = (name, given) => client.callTool({ name, arguments: given });
const told = { version: client.getServerVersion() };
told.tools = (await client.listTools()).tools.map((tool) => tool.name);
told.newcomer = (await call("search", { subject: "newcomer", query: "where she lives" })).structuredContent;
told.wrong = await call("search", { subject: "ana", query: "x", limit: 0 });
told.unknown = await call("correct", { subject: "ana", id: crypto.randomUUID(), text: "x" });
await call("add", { subject: "ana", text: "I live in Lisbon.", wait: true });
told.found = (await call("search", { subject: "ana", query: "where does Ana live" })).structuredContent;
await call("edit_block", { subject: "ana", label: "plans", value: "A trip to Faro." });
told.blocks = (await call("blocks", { subject: "ana" })).structuredContent;
told.resources = (await client.listResources()).resources.map((each) => each.uri);
told.read = (await client.readResource({ uri: told.resources[0] })).contents[0].text;
told.prompts = (await client.listPrompts()).prompts.map((each) => each.name);
const asked = { question: "Where do I live?", subject: "ana" };
told.asked = (await client.getPrompt({ name: "with_memory", arguments: asked })).messages;
const ref = { type: "ref/prompt", name: "with_memory" };
const begun = { name: "subject", value: "a" };
told.completed = (await client.complete({ ref, argument: begun })).completion.values;
await client.close();
console.log(JSON.stringify({ ...told, troubles }));
