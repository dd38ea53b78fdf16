/** All failures that a caller may see, by code (docs/contract/conventions.md#errors). Only this table gives a failure its HTTP status. */
export const errorCatalogue = {
  VALIDATION_ERROR: { status: 400, message: 'The request breaks a rule of this route' },
  UNAUTHORIZED: { status: 401, message: 'Send a valid access key or session token as Authorization: Bearer' },
  LIMIT_EXCEEDED: { status: 402, message: 'A cap of the free plan is reached' },
  FORBIDDEN: { status: 403, message: 'Your roles do not allow this' },
  ORG_SUSPENDED: { status: 403, message: 'This workspace is suspended' },
  NOT_FOUND: { status: 404, message: 'Not found' },
  KEY_TAKEN: { status: 409, message: 'The key is already used' },
  DUPLICATE_VALUE: { status: 409, message: 'A unique field already holds this value' },
  SLOT_TAKEN: { status: 409, message: 'The slot is taken' },
  SHEET_LOCKED: { status: 409, message: 'Another editor holds the workbook' },
  AGENT_BUSY: { status: 409, message: 'The assistant is already working in this conversation' },
  PRECONDITION_FAILED: { status: 412, message: 'The record changed since it was read' },
  RATE_LIMITED: { status: 429, message: 'Too many requests' },
  INTERNAL: { status: 500, message: 'Something went wrong on our side' },
  AGENT_ERROR: { status: 502, message: 'The assistant could not complete the call' },
  MARKETPLACE_ERROR: { status: 502, message: 'A connected store answered with an error' },
  DATASOURCE_ERROR: { status: 502, message: 'A connected data source failed or refused the query' },
  ORG_NOT_READY: { status: 503, message: 'This workspace is being set up' },
  AGENT_DISABLED: { status: 503, message: 'The assistant is not available for this call' },
  KNOWLEDGE_DISABLED: { status: 503, message: 'Knowledge search is not available' },
  OVERLOADED: { status: 503, message: 'The workspace has used up its share of the server; try again soon' },
  UNAVAILABLE: { status: 503, message: 'A part of the server that the call needs cannot be reached; try again soon' },
  CANCELLED: { status: 503, message: 'An operator of the installation has cancelled this work' },
  SHEETS_MEMORY: { status: 503, message: 'The spreadsheet needs more memory than it may have' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorCatalogue

/** The part of a problem that is stored with an operation and shown to callers. */
export interface StoredProblem {
  readonly code: ErrorCode
  readonly message: string
}

interface ProblemOptions {
  readonly cause?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly expected?: boolean
  readonly part?: UnavailablePart | undefined
}

/** The part behind an UNAVAILABLE: a `Part` (process/part.ts). */
export interface UnavailablePart {
  readonly name: string
  /** Counts work that was refused because the part is away. */
  readonly countRefusal: () => void
}

/** Seconds after which a call that was refused for a passing reason may be repeated. */
const retryHeaders: Partial<Readonly<Record<ErrorCode, Readonly<Record<string, string>>>>> = {
  OVERLOADED: { 'Retry-After': '1' },
  UNAVAILABLE: { 'Retry-After': '2' },
}

/** A failure that is shown to the caller. Any other error reaches the caller as INTERNAL, without details. */
export class Problem extends Error {
  readonly code: ErrorCode
  /** Response headers of the failure, such as Retry-After. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether a failure with a status of 500 or above is expected, so that it needs no investigation. */
  readonly expected: boolean
  /** The part whose outage caused this UNAVAILABLE; undefined for any other failure. */
  readonly part: UnavailablePart | undefined

  constructor(code: ErrorCode, message?: string, options: ProblemOptions = {}) {
    super(bounded(message ?? errorCatalogue[code].message), options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.headers = options.headers ?? retryHeaders[code] ?? {}
    this.expected = options.expected ?? false
    this.part = options.part
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }

  toJSON(): StoredProblem {
    return { code: this.code, message: this.message }
  }
}

/**
 * Maximum characters of a message; longer ones are cut. A message may quote a key that the caller sent, which may be as long as the body.
 * A quote may end within a surrogate pair, and a job's failure is stored as JSON, where PostgreSQL refuses half of one.
 */
const maxMessageLength = 4_000

const bounded = (message: string): string =>
  (message.length > maxMessageLength ? `${message.slice(0, maxMessageLength - 1)}…` : message).toWellFormed()

/** Creates a Problem: `throw problem('VALIDATION_ERROR', 'limit must be 1 to 200, got 0')`. */
export const problem = (code: ErrorCode, message?: string, options?: ProblemOptions): Problem => new Problem(code, message, options)

/** The first row of a result. Throws NOT_FOUND when there is none. */
export function requireRow<Row>([row]: readonly Row[]): Row {
  if (!row) throw problem('NOT_FOUND')
  return row
}
