/** What is asked of a hub: adding, searching, answering, and what concerns all subjects. */

import createClient, { type Client } from "openapi-fetch";

import {
  buildWriteHeaders,
  formatTime,
  readAnswer,
  Listed,
  Rows,
  type Caller,
  type RowOf,
  type Schemas,
  type Time,
} from "./calls.js";
import { JobFailed, MemoryHubError, StillRunning } from "./errors.js";
import type { paths } from "./schema.js";
import { Space } from "./space.js";
import { buildFetch, readEvents, serializeQuery, type Fetch, type Retries } from "./transport.js";

/** `url` and `key` default to the environment's MEMORYHUB_URL and MEMORYHUB_KEY. */
export interface MemoryHubOptions {
  url?: string;
  key?: string;
  /** Seconds without an answer after which a try is over: 30 unless given. */
  timeout?: number;
  retries?: Partial<Retries>;
  /** One of your own, with its proxies and certificates. */
  fetch?: typeof fetch;
}

type Message = Schemas["MessageRequest"];
/** The words of the user, one message, or several. */
export type Messages = string | Message | Message[];
type AddOptions = Omit<Schemas["AddRequest"], "subject" | "messages" | "dry_run"> & { key?: string };
type RememberOptions = Omit<Schemas["RememberFactRequest"], "subject" | "text" | "valid_from" | "valid_to"> & {
  valid_from?: Time;
  valid_to?: Time;
  key?: string;
};
/** What a question may say besides; `as_of`: as things stood then. */
type AskOptions<Body> = Omit<Body, "subject" | "query" | "question" | "as_of"> & { as_of?: Time };

const jobs = "/api/v1/jobs";
export type Job = RowOf<typeof jobs>;
// As long as the hub itself waits for a job, and some more.
const waitSeconds = 40;
const ended = ["done", "dead", "cancelled"];

export class Jobs extends Rows<typeof jobs> {
  /** The job once it is done. Throws JobFailed, StillRunning after `timeout` seconds. */
  async wait(id: string, { timeout = 60, every = 0.5 } = {}): Promise<Job> {
    const ends = Date.now() + timeout * 1000;
    for (;;) {
      const job = await this.get(id);
      if (job.state === "done") {
        return job;
      }
      if (ended.includes(job.state)) {
        throw new JobFailed(job.state, job.error);
      }
      if (Date.now() + every * 1000 > ends) {
        throw new StillRunning(`the job is still ${job.state} after ${timeout} s`);
      }
      await new Promise((resolve) => setTimeout(resolve, every * 1000));
    }
  }

  /** The job whenever it changes, until it has ended; its `state` is "gone" if erased. */
  async *progress(id: string): AsyncGenerator<Schemas["JobProgress"]> {
    for (let again = true; again; ) {
      again = false;
      const call = { params: { path: { row_id: id } }, parseAs: "stream" as const, fetch: this.caller.fetchWithin(waitSeconds) };
      const { data } = await this.caller.api.GET(`${jobs}/{row_id}/progress`, call);
      for await (const [name, told] of readEvents(data!)) {
        again = name === "timeout";
        if (!again) {
          yield JSON.parse(told) as Schemas["JobProgress"];
        }
      }
    }
  }

  /** Give a failed or cancelled job another round of attempts. */
  async retry(id: string, options: { key?: string } = {}): Promise<Job> {
    const params = { path: { row_id: id }, header: buildWriteHeaders(options) };
    return readAnswer(await this.caller.api.POST(`${jobs}/{row_id}/retry`, { params }));
  }

  /** Have a step left undone; messages that it was to read stay, unread. */
  async cancel(id: string, options: { reason?: string; key?: string } = {}): Promise<Job> {
    const params = { path: { row_id: id }, header: buildWriteHeaders(options) };
    const body = { reason: options.reason };
    return readAnswer(await this.caller.api.POST(`${jobs}/{row_id}/cancel`, { params, body }));
  }
}

/** Values of your own by subject, namespace and key. */
export class Items {
  constructor(private readonly caller: Caller) {}

  /** The item, or null. */
  async get(subject: string, namespace: string[], key: string): Promise<Schemas["StoredItem"] | null> {
    return (await this.read({ get: { subject, namespace, key } })) as Schemas["StoredItem"] | null;
  }

  /** Items of the namespaces that begin so, nearest to the query first. */
  async search(
    prefix: string[],
    options: { subject?: string; query?: string; filter?: Record<string, unknown>; limit?: number; offset?: number } = {},
  ): Promise<Schemas["StoredItem"][]> {
    return (await this.read({ search: { prefix, ...options } })) as Schemas["StoredItem"][];
  }

  /** Keep a value; null takes it away. Gives how many items are other than before. */
  async put(
    subject: string,
    namespace: string[],
    key: string,
    value: Record<string, unknown> | null,
    options: { texts?: string[]; ttl_minutes?: number } = {},
  ): Promise<number> {
    const item = { subject, namespace, key, value, ...options };
    const call = { params: { header: buildWriteHeaders() }, body: { items: [item] } };
    return (await this.caller.api.POST("/api/v1/items/write", call)).data!.changed;
  }

  private async read(op: Record<string, unknown>): Promise<unknown> {
    const body = { ops: [op] } as Schemas["ReadItemsRequest"];
    return (await this.caller.api.POST("/api/v1/items/read", { body })).data!.results[0];
  }
}

/**
 * A hub. What has no method of its own here is asked for with `api`, whose paths, bodies and answers
 * have the types of the hub's OpenAPI description.
 */
export class MemoryHub {
  readonly url: string;
  readonly api: Client<paths>;
  readonly jobs: Jobs;
  readonly items: Items;
  readonly spaces: Listed<"/api/v1/spaces">;
  readonly keys: Listed<"/api/v1/keys">;
  readonly receipts: Rows<"/api/v1/receipts">;
  readonly #caller: Caller;

  constructor(options: MemoryHubOptions = {}) {
    const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
    this.url = (options.url ?? env["MEMORYHUB_URL"] ?? "http://127.0.0.1:8000").replace(/\/+$/, "");
    const key = options.key ?? env["MEMORYHUB_KEY"];
    if (!key) {
      throw new MemoryHubError("no API key: give `key`, or set MEMORYHUB_KEY");
    }
    const { timeout = 30, retries = {}, fetch: base = globalThis.fetch } = options;
    const fetchWithin = (seconds: number): Fetch => buildFetch(base, Math.max(seconds, timeout), retries);
    this.api = createClient<paths>({
      baseUrl: this.url,
      headers: { Authorization: `Bearer ${key}` },
      fetch: fetchWithin(timeout),
      querySerializer: serializeQuery,
    });
    const caller: Caller = { api: this.api, fetchWithin };
    this.#caller = caller;
    this.jobs = new Jobs(caller, jobs);
    this.items = new Items(caller);
    this.spaces = new Listed(caller, "/api/v1/spaces");
    this.keys = new Listed(caller, "/api/v1/keys");
    this.receipts = new Rows(caller, "/api/v1/receipts");
  }

  /** What is remembered of one subject. Asks for nothing yet. */
  space(subject: string): Space {
    return new Space(this.#caller, subject);
  }

  /**
   * Store what was said and queue its derivation. `wait`: work on it before answering, 30 seconds at
   * most; `jobs.wait` waits longer.
   */
  async add(subject: string, messages: Messages, options: AddOptions = {}): Promise<Schemas["AddResult"]> {
    const { key, ...more } = options;
    const body = { ...buildAddBody(subject, messages), ...more };
    const params = { header: buildWriteHeaders({ key }) };
    const fetch = options.wait ? this.#caller.fetchWithin(waitSeconds) : undefined;
    return readAnswer(await this.api.POST("/api/v1/memories", { params, body, fetch }));
  }

  /**
   * Store one fact as it is given: nothing is read from it. `predicate`: its relation by a key,
   * `lives_in`; `owner`: whom it is about, the subject unless given; `role`: who says so, with that
   * trust; `sources`: ids of turns it rests on.
   */
  async remember(subject: string, text: string, options: RememberOptions = {}): Promise<Schemas["RememberedFact"]> {
    const { key, valid_from, valid_to, ...more } = options;
    const times = { valid_from: formatTime(valid_from), valid_to: formatTime(valid_to) };
    const call = { params: { header: buildWriteHeaders({ key }) }, body: { subject, text, ...times, ...more } };
    return readAnswer(await this.api.POST("/api/v1/facts", call));
  }

  /** A dry run of `add`: what would become of each claim. Nothing is stored. */
  async rehearse(
    subject: string,
    messages: Messages,
    options: Omit<AddOptions, "wait" | "key"> = {},
  ): Promise<Schemas["DryRunResult"]> {
    const body = { ...buildAddBody(subject, messages), ...options, dry_run: true };
    const call = { body, fetch: this.#caller.fetchWithin(waitSeconds) };
    return readAnswer(await this.api.POST("/api/v1/memories", call));
  }

  /** Several adds, all or none. */
  async addBatch(
    adds: (Omit<AddOptions, "key" | "wait"> & { subject: string; messages: Messages })[],
    options: { key?: string } = {},
  ): Promise<Schemas["AddBatchResult"]["items"]> {
    const items = adds.map(({ subject, messages, ...more }) => ({ ...buildAddBody(subject, messages), ...more }));
    const call = { params: { header: buildWriteHeaders(options) }, body: { items } };
    return (await this.api.POST("/api/v1/memories/batch", call)).data!.items;
  }

  /** The memories that bear on a question, best first. `limit` null: as many as it asks for. */
  async search(
    subject: string,
    query: string,
    { as_of, ...options }: AskOptions<Schemas["SearchRequest"]> = {},
  ): Promise<Schemas["SearchResult"]> {
    const body = { subject, query, as_of: formatTime(as_of), ...options };
    return readAnswer(await this.api.POST("/api/v1/search", { body }));
  }

  /** What to put in front of a model that is to answer; `text` is ready for its prompt. */
  async context(
    subject: string,
    query: string,
    { as_of, ...options }: AskOptions<Schemas["ContextRequest"]> = {},
  ): Promise<Schemas["Context"]> {
    const body = { subject, query, as_of: formatTime(as_of), ...options };
    return readAnswer(await this.api.POST("/api/v1/context", { body }));
  }

  /** An answer from a subject's memories, with what it rests on. */
  async answer(
    subject: string,
    question: string,
    { as_of, ...options }: AskOptions<Schemas["AnswerRequest"]> = {},
  ): Promise<Schemas["Answer"]> {
    const body = { subject, question, as_of: formatTime(as_of), ...options };
    return readAnswer(await this.api.POST("/api/v1/answer", { body }));
  }
}

/** The body of an add; words alone are a message of the user. */
function buildAddBody(subject: string, messages: Messages): { subject: string; messages: Message[] } {
  const given = typeof messages === "string" ? { content: messages } : messages;
  return { subject, messages: Array.isArray(given) ? given : [given] };
}
