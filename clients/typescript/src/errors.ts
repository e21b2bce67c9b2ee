/** What can go wrong, by kind. What the hub refuses is a `ProblemError` with its stable code. */

/** Anything that went wrong between you and the hub. */
export class MemoryHubError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The hub could not be reached, or the connection broke; repeated as far as it is safe. */
export class ConnectionFailed extends MemoryHubError {}

/** No answer came in time. A write may have happened: with its key it can be sent again. */
export class TimedOut extends ConnectionFailed {}

/** The job that was waited for was given up. */
export class JobFailed extends MemoryHubError {
  constructor(
    readonly state: string,
    readonly error: string,
  ) {
    super(error ? `the job is ${state}: ${error}` : `the job is ${state}`);
  }
}

/** The job that was waited for has not ended in the time given; it goes on. */
export class StillRunning extends MemoryHubError {}

/** What is wrong with one field of what was sent: `field` as in "messages[0].content". */
export interface FieldError {
  field: string;
  message: string;
}

/**
 * An error answer (RFC 9457). `code` is stable, `detail` is for people, `errors` names the fields at
 * fault, `requestId` is what the hub's log has, `retryAfter` the seconds it asks to wait, and
 * `problem` the whole document.
 */
export class ProblemError extends MemoryHubError {
  readonly code: string;
  readonly detail: string;
  readonly errors: FieldError[];
  readonly requestId: string;
  readonly retryAfter: number | undefined;

  constructor(
    readonly status: number,
    readonly problem: Record<string, unknown>,
    headers: Headers,
  ) {
    const code = String(problem["code"] ?? "") || `http_${status}`;
    const detail = String(problem["detail"] ?? "");
    super(`${status} ${code}: ${detail}`);
    this.code = code;
    this.detail = detail;
    this.errors = (problem["errors"] as FieldError[] | undefined) ?? [];
    this.requestId = headers.get("X-Request-Id") ?? "";
    this.retryAfter = readRetryAfter(headers);
  }

  /** The first field at fault, or an empty string. */
  get field(): string {
    return this.errors[0]?.field ?? "";
  }
}

/** The hub could not read the request (400, 405, 406, 411, 415). */
export class BadRequest extends ProblemError {}
/** No key, or one that is unknown, expired or revoked (401). */
export class NotAuthenticated extends ProblemError {}
/** The key's scopes do not allow it (403). */
export class NotAllowed extends ProblemError {}
/** There is no such row or subject, or it is not yours (404). */
export class NotFound extends ProblemError {}
/** It does not go with what is held now; the code says why (409). */
export class Conflict extends ProblemError {}
/** It was done, and what it told of has been erased since (410). */
export class Gone extends ProblemError {}
/** The row changed since it was read: `version` is what it is in now (412). */
export class Outdated extends ProblemError {
  get version(): number | undefined {
    return this.problem["version"] as number | undefined;
  }
}
/** Too large a body or text (413). */
export class TooLarge extends ProblemError {}
/** A field is wrong; `errors` says which, and what its limit is (422). */
export class Invalid extends ProblemError {}
/** The key has had its requests of this minute (429). */
export class Throttled extends ProblemError {}
/** A fault of the hub, or of what stands before it (5xx). */
export class ServerError extends ProblemError {}

const errorByStatus: Record<number, typeof ProblemError> = {
  401: NotAuthenticated,
  403: NotAllowed,
  404: NotFound,
  409: Conflict,
  410: Gone,
  412: Outdated,
  413: TooLarge,
  422: Invalid,
  429: Throttled,
};

/** The error that an error answer is; the page of some proxy has no document. */
export async function buildProblemError(response: Response): Promise<ProblemError> {
  const told: unknown = await response.json().catch(() => ({}));
  const problem = told !== null && typeof told === "object" ? told : {};
  const usual = response.status >= 500 ? ServerError : BadRequest;
  const kind = errorByStatus[response.status] ?? usual;
  return new kind(response.status, problem as Record<string, unknown>, response.headers);
}

/** Seconds, where the header gives a number of them. */
export function readRetryAfter(headers: Headers): number | undefined {
  const given = headers.get("Retry-After") ?? "";
  return /^\d+$/.test(given) ? Number(given) : undefined;
}
