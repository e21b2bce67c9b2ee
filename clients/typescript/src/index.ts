/** MemoryHub from TypeScript and JavaScript: Node, Deno, Bun, workers and browsers. */

export { Pages } from "./calls.js";
export type { Filter, ListOptions, Page, Schemas, Time, WriteOptions, Written } from "./calls.js";
export * from "./errors.js";
export { MemoryHub } from "./hub.js";
export type { Job, MemoryHubOptions, Messages } from "./hub.js";
export type { components, paths } from "./schema.js";
export { Space } from "./space.js";
export type { Block, Event, Fact, Note, Window } from "./space.js";
export type { Retries } from "./transport.js";
