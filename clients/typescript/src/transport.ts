/** Sending: in time, again where that is safe, and with errors thrown. */

import { buildProblemError, ConnectionFailed, readRetryAfter, TimedOut } from "./errors.js";

/**
 * How often is tried again, and after how many seconds. Pauses double from `first`, with chance in
 * them; where the hub says `Retry-After`, that counts, up to `longest`.
 */
export interface Retries {
  times: number;
  first: number;
  longest: number;
}

export type Fetch = (request: Request) => Promise<Response>;

const usualRetries: Retries = { times: 3, first: 0.5, longest: 60 };
// What is asked and changes nothing, though its question comes in a body.
const asking = /\/api\/v1\/(search|context|answer|items\/read|.+\/query)$/;
const unsent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/**
 * `fetch`, for at most so many seconds a try. Gives good answers only: others, and none, are thrown
 * as a MemoryHubError.
 */
export function buildFetch(base: typeof fetch, seconds: number, given: Partial<Retries>): Fetch {
  const retries = { ...usualRetries, ...given };
  return async (request) => {
    for (let tried = 1; ; tried++) {
      const outcome = await sendOnce(base, request, seconds);
      if (outcome instanceof Response && outcome.ok) {
        return outcome;
      }
      const pause = tried > retries.times ? undefined : await choosePause(request, outcome, tried, retries);
      if (pause === undefined) {
        throw outcome instanceof Response ? await buildProblemError(outcome) : outcome;
      }
      await new Promise((resolve) => setTimeout(resolve, pause * 1000));
    }
  };
}

async function sendOnce(base: typeof fetch, request: Request, seconds: number): Promise<Response | ConnectionFailed> {
  const inTime = AbortSignal.timeout(seconds * 1000);
  try {
    return await base(request.clone(), { signal: AbortSignal.any([request.signal, inTime]) });
  } catch (error) {
    request.signal.throwIfAborted();
    return inTime.aborted
      ? new TimedOut(`no answer in ${seconds} s`, { cause: error })
      : new ConnectionFailed(`the hub can't be reached: ${explain(error)}`, { cause: error });
  }
}

function explain(error: unknown): string {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return reason instanceof Error ? reason.message : String(reason);
}

/** Seconds until the next try, or undefined: this is how it ends. */
async function choosePause(
  request: Request,
  outcome: Response | ConnectionFailed,
  tried: number,
  retries: Retries,
): Promise<number | undefined> {
  if (!(await isWorthRepeating(request, outcome))) {
    return undefined;
  }
  const asked = outcome instanceof Response ? readRetryAfter(outcome.headers) : undefined;
  if (asked !== undefined) {
    return asked <= retries.longest ? asked : undefined;
  }
  return Math.min(retries.longest, retries.first * 2 ** (tried - 1)) * (0.5 + Math.random() / 2);
}

async function isWorthRepeating(request: Request, outcome: Response | ConnectionFailed): Promise<boolean> {
  const repeatable =
    request.method === "GET" || request.headers.has("Idempotency-Key") || asking.test(new URL(request.url).pathname);
  if (!(outcome instanceof Response)) {
    const cause = outcome.cause instanceof Error ? outcome.cause.cause : undefined;
    return repeatable || unsent.has((cause as { code?: string } | undefined)?.code ?? "");
  }
  if ([429, 503].includes(outcome.status)) {
    return true;
  }
  return repeatable && ([502, 504].includes(outcome.status) || (await isUnderWay(outcome)));
}

/** Whether our own earlier try is still being worked on. */
async function isUnderWay(response: Response): Promise<boolean> {
  return response.status === 409 && (await buildProblemError(response.clone())).code === "request_under_way";
}

/** As the hub reads a query string: filters as JSON, lists with commas; what is left out, not at all. */
export function serializeQuery(query: Record<string, unknown>): string {
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) {
      const isPlain = typeof value !== "object";
      told.set(name, isPlain ? String(value) : Array.isArray(value) ? value.join(",") : JSON.stringify(value));
    }
  }
  return told.toString();
}

/** Server-sent events, as pairs of their name and their data. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<[string, string]> {
  let rest = "";
  let name = "";
  let data: string[] = [];
  for await (const piece of body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.map((each) => each.replace(/\r$/, ""))) {
      if (line.startsWith("event:")) {
        name = line.slice(6).trim();
      } else if (line.startsWith("data:")) {
        data.push(line.slice(5).replace(/^ /, ""));
      } else if (line === "" && name) {
        yield [name, data.join("\n")];
        [name, data] = ["", []];
      }
    }
  }
}
