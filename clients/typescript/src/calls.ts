/** What calls have in common: whose they are, lists that are read page by page, and writes. */

import type { Client } from "openapi-fetch";

import type { Fetch } from "./transport.js";
import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];
/** A time: ISO 8601 with its zone, or a date. */
export type Time = Date | string;
/** Every write: `reason` is kept in the history, `version` is the one that was read (the write then
 * fails with `Outdated` if somebody wrote meanwhile), `key` an Idempotency-Key of your own. */
export interface WriteOptions {
  reason?: string;
  version?: number;
  key?: string;
}

/** Of a list of this path, or of any. */
export interface ListOptions<P extends ListPath = never> {
  /** Conditions, as {owner: "ana", confidence: {gte: 0.8}}, with AND, OR and NOT. */
  filter?: Filter<P>;
  /** Only these columns. */
  fields?: string[];
  /** "all": also what is held no longer. */
  status?: "held" | "all";
  reverse?: boolean;
  /** Rows a page: 1 to 200. */
  limit?: number;
}

export interface Page<Row> {
  items: Row[];
  total: number | null;
  next: string | null;
}

/** A row after a write, and the event by which `events.undo` takes it back. */
export interface Written<Row> {
  row: Row;
  event_id: string | null;
  /** It had been done before, with the same key. */
  replayed: boolean;
}

type JSONPage = { items: unknown[]; total?: number | null; next?: string | null };
/** The paths of lists. */
export type ListPath = {
  [P in keyof paths]: paths[P] extends { get: { responses: { 200: { content: { "application/json": infer Told } } } } }
    ? Told extends JSONPage
      ? P
      : never
    : never;
}[keyof paths];
/** A row of a list, with all its columns, as it is where no `fields` are asked for. */
export type RowOf<P extends ListPath> = paths[P] extends {
  get: { responses: { 200: { content: { "application/json": { items: (infer Row)[] } } } } };
}
  ? Required<Row>
  : never;

/** What the rows of a list may be held against: their columns, and AND, OR and NOT. */
export type Filter<P extends ListPath = never> = [P] extends [never]
  ? Record<string, unknown>
  : NonNullable<QueryOf<P>["filter"]>;
type QueryOf<P extends ListPath> = `${P}/query` extends infer Q extends keyof paths
  ? paths[Q] extends { post: { requestBody?: { content: { "application/json": infer Body } } } }
    ? Body & { filter?: object }
    : never
  : never;

export interface Caller {
  api: Client<paths>;
  /** For calls that may take so many seconds at least. */
  fetchWithin(seconds: number): Fetch;
}

type PathValues = Record<string, string>;

/** The rows of a list, fetched page by page while they are iterated over. */
export class Pages<Row> implements AsyncIterable<Row> {
  constructor(private readonly fetchPage: (cursor?: string) => Promise<Page<Row>>) {}

  /** One page: the first, or the one behind a `next`. */
  page(cursor?: string): Promise<Page<Row>> {
    return this.fetchPage(cursor);
  }

  /** All of them. */
  async all(): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const row of this) {
      rows.push(row);
    }
    return rows;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    let cursor: string | null | undefined;
    do {
      const page = await this.page(cursor ?? undefined);
      yield* page.items;
      cursor = page.next;
    } while (cursor);
  }
}

/** A kind of row that can be listed. */
export class Listed<P extends ListPath> {
  constructor(
    protected readonly caller: Caller,
    protected readonly path: P,
    protected readonly at: PathValues = {},
  ) {}

  list(options: ListOptions<P> = {}): Pages<RowOf<P>> {
    return buildPages(this.caller, this.path, this.at, { ...options });
  }
}

/** A kind of row that can also be read one by one. */
export class Rows<P extends ListPath> extends Listed<P> {
  /** One row, with what lists leave out. */
  async get(id: string, options: { fields?: string[] } = {}): Promise<RowOf<P>> {
    const path = `${this.path}/{row_id}` as "/api/v1/spaces/{subject}/facts/{row_id}";
    const params = { path: { ...this.at, row_id: id } as never, query: options as never };
    const { data } = await this.caller.api.GET(path, { params });
    return data as RowOf<P>;
  }
}

/** Of a list that takes more than the usual. */
export function buildPages<P extends ListPath>(
  caller: Caller,
  path: P,
  at: PathValues,
  query: Record<string, unknown>,
): Pages<RowOf<P>> {
  return new Pages(async (cursor) => {
    const asked = { ...query, cursor };
    // A filter goes into a body: it may be longer than an address.
    const { data } = query["filter"]
      ? await caller.api.POST(`${path}/query` as "/api/v1/spaces/query", { params: { path: at as never }, body: asked })
      : await caller.api.GET(path as "/api/v1/spaces", { params: { path: at as never, query: asked as never } });
    const { items, total, next } = data as JSONPage;
    return { items: items as RowOf<P>[], total: total ?? null, next: next ?? null };
  });
}

/** The headers that make a write happen once, on the version that was read. */
export function buildWriteHeaders({ key, version }: WriteOptions = {}): Record<string, string> {
  const once = { "Idempotency-Key": key ?? crypto.randomUUID() };
  return version === undefined ? once : { ...once, "If-Match": `"${version}"` };
}

interface Answered {
  data?: unknown;
  response: Response;
}

/** The answer of a call, as the description has it: openapi-fetch takes pairs for lists. */
export function readAnswer<Told>({ data }: Answered): Told {
  return data as Told;
}

/** What a write is answered with: the row under its name, beside its event. */
export function readWritten<Row>(name: string, { data, response }: Answered): Written<Row> {
  const told = data as Record<string, unknown>;
  const replayed = response.headers.has("Idempotent-Replayed");
  return { row: told[name] as Row, event_id: told["event_id"] as string | null, replayed };
}

export function formatTime(given: Time): string;
export function formatTime(given: Time | undefined): string | undefined;
export function formatTime(given: Time | undefined): string | undefined {
  return given instanceof Date ? given.toISOString() : given;
}
