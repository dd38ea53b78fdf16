import type { Readable } from 'node:stream'
import type { ErrorCode, Problem } from '#shared/kernel/errors.ts'
import type { Schema } from '#shared/kernel/schema.ts'
import type { AppName, Permission } from '#shared/policy/permissions.ts'
import type { JobDefinition } from '#shared/queue/job.ts'
import type { PlatformScope, Scope } from '#shared/scope/scope.ts'

/** Every workspace route starts here; the pipeline resolves it before anything else of the route is looked at. */
export const org = '/orgs/:orgId' as const

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** The names after ':' in a path: 'id' in '/records/:id'. */
type Params<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Params<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** A route of a workspace works in its scope; any other in the platform's. */
type ScopeOf<Path extends string> = 'orgId' extends Params<Path> ? Scope : PlatformScope

/**
 * Who may call: a permission of the caller's roles, or spelled out: 'public' for anybody, 'any' for every person and key,
 * 'person' for people only (a key answers 401), 'member' for every member and key of the workspace.
 */
export type Admission = Permission | 'public' | 'any' | 'person' | 'member'

/** Names of rate limits; their numbers stand in api/access/rate-limit.ts. */
export type LimitName = 'sign-in' | 'forgot' | 'functions'

/**
 * What is known of a request before its body is read. What is worked out only when asked for is a function here, not an accessor: an
 * accessor in an object literal makes a hidden class for every object, which keeps all of the request alive until the next full sweep.
 */
export interface Head<Path extends string, Query> {
  readonly params: Readonly<Record<Params<Path>, string>>
  readonly query: () => Query
}

export interface Request<Path extends string, Body, Query> {
  readonly params: Readonly<Record<Params<Path>, string>>
  readonly query: Query
  readonly body: Body
  /** A request header's value, or empty text. */
  readonly header: (name: string) => string
  /** The client's address, as the rate limits see it. */
  readonly address: string
  /** What was asked for as it came, for work that takes requests of any kind: the first value of each parameter. */
  readonly line: () => { readonly method: string; readonly path: string; readonly query: Readonly<Record<string, string>> }
}

interface Declaration<Path extends string, Body, Query> {
  readonly method: Method
  readonly path: Path
  readonly summary: string
  /** More than the summary, for the API's description. */
  readonly description?: string
  readonly tag: string
  /** The app that must be switched on in the workspace's settings; null for what is always there. */
  readonly app: AppName | null
  readonly permission: Admission
  /** The key that the permission is asked for, such as a record type's. Throws NOT_FOUND when it names nothing. */
  readonly on?: (head: Head<Path, Query>, scope: ScopeOf<Path>) => string | Promise<string>
  /** Set where the answer lists only those items that the permission covers: then holding it for any item is enough to ask. */
  readonly perItem?: true
  /** The same as `on`, where the body names it. */
  readonly onBody?: (request: Request<Path, Body, Query>, scope: ScopeOf<Path>) => string | Promise<string>
  /** Counts requests by the client's address. */
  readonly limit: LimitName | null
  /** Counts them a second time by what they are about, such as the account that somebody wants into, before anything is done. */
  readonly limitBy?: readonly [LimitName, (request: Request<Path, Body, Query>, scope: ScopeOf<Path>) => string]
  /**
   * Codes that the work itself answers, such as DUPLICATE_VALUE. Those that every such route may answer go without saying: a bad request,
   * who may come in, a workspace that is not there or not ready, a place in the path that names nothing.
   */
  readonly fails?: readonly ErrorCode[]
  /** What the body must be; 'any' takes every kind: parsed JSON where it is JSON, else its text, null when there is none. */
  readonly body?: Schema<Body> | 'any'
  readonly query?: Schema<Query>
}

/** An answer that is no JSON: it is streamed with its own headers. */
export class Download {
  readonly stream: Readable
  readonly headers: Readonly<Record<string, string>>

  constructor(stream: Readable, headers: Readonly<Record<string, string>>) {
    this.stream = stream
    this.headers = headers
  }
}

/** What a handler gives back when it replaced what was there, on a route that creates: answered with 200 (decisions, Create / replace). */
export class Replaced<T> {
  readonly data: T

  constructor(data: T) {
    this.data = data
  }
}

/** What a handler gives back with the ETag of what it answers. */
export class Tagged<T> {
  readonly data: T
  readonly etag: string

  constructor(data: T, etag: string) {
    this.data = data
    this.etag = etag
  }
}

/** Answers at once. */
interface Answered<Path extends string, Body, Query, Response> extends Declaration<Path, Body, Query> {
  readonly status: 200 | 201 | 204
  /** The shape of `data`; null where the answer has no JSON body: 204, or a Download of `contentType`. */
  readonly response: Schema<Response> | null
  readonly contentType?: string
  /** Set where the work writes by one guarded statement (shared/db/guard.ts), so that nothing needs to be asked before it. */
  readonly guarded?: true
  /** Set where the route creates or replaces: then it also answers 200, with what `Replaced` holds. */
  readonly replaces?: true
  /** Set where the answer is `Tagged`. */
  readonly tagged?: true
  readonly handle: (
    request: Request<Path, Body, Query>,
    scope: ScopeOf<Path>,
  ) => Promise<NoInfer<Response> | Replaced<NoInfer<Response>> | Tagged<NoInfer<Response>> | Download>
}

/** A file that the request carries for the worker: streamed into storage before the job is enqueued. */
export interface Upload {
  readonly maxBytes: number
  /** Content types whose raw body is the file; in multipart/form-data it is the part named `file`. */
  readonly contentTypes: readonly string[]
}

/** An answer without `{data}`. */
export interface Bare<Result> {
  /** The whole body, as JSON; throws what is answered instead. */
  readonly body: (result: Result) => unknown
  /** What is answered when the work failed, or did not end in time. */
  readonly failure: (reason: Problem | 'late') => Problem
}

/** Content types of files that workers make. */
type FileType = 'text/csv' | 'text/calendar' | 'text/plain'

/** Hands the work to a worker. The pipeline persists, enqueues, waits and answers 200 or 202 (decisions, Long work). */
interface Delegated<Path extends string, Body, Query, Payload, Result> extends Declaration<Path, Body, Query> {
  readonly job: JobDefinition<Payload, Result>
  /** What the work makes: JSON under `data`, or a file with this content type, or with one of these. */
  readonly makes: 'json' | FileType | readonly FileType[]
  /** 201 where the work creates; 200 without it. */
  readonly status?: 200 | 201
  /** Set where the result is answered in a form of its own, to a caller who never hears of a job. */
  readonly bare?: Bare<Result>
  readonly upload?: Upload
  readonly payload: (
    request: Request<Path, Body, Query>,
    scope: ScopeOf<Path>,
    fileId: string,
  ) => NoInfer<Payload> | Promise<NoInfer<Payload>>
}

/** Declares a route that answers now. `app`, `permission` and `limit` must be chosen: leaving one out does not compile. */
export const answer = <const Path extends string, Response, Body = unknown, Query = unknown>(
  route: Answered<Path, Body, Query, Response>,
) => Object.freeze({ kind: 'answer' as const, ...route })

/** Declares a route whose work a worker does. */
export const delegate = <const Path extends string, Payload, Result, Body = unknown, Query = unknown>(
  route: Delegated<Path, Body, Query, Payload, Result>,
) => Object.freeze({ kind: 'delegate' as const, ...route })

// A table of routes holds every body, query and result type at once; each declaration above has checked its own.
/* biome-ignore-start lint/suspicious/noExplicitAny: see above */
export type AnswerRoute = { readonly kind: 'answer' } & Answered<any, any, any, any>
export type DelegateRoute = { readonly kind: 'delegate' } & Delegated<any, any, any, any, any>
/* biome-ignore-end lint/suspicious/noExplicitAny: see above */
export type Route = AnswerRoute | DelegateRoute

/** Routes that stand below the same part of the public address. */
export interface Section {
  readonly base: string
  readonly routes: readonly Route[]
}
