// Run where `mem0ai` is installed: its version and the methods of its client, as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.CLIENTS}/package.json`);
const { MemoryClient } = require("mem0ai");
const about = readFileSync(`${process.env.CLIENTS}/node_modules/mem0ai/package.json`, "utf8");
const methods = Object.getOwnPropertyNames(MemoryClient.prototype);
process.stdout.write(JSON.stringify({ version: JSON.parse(about).version, methods }));
