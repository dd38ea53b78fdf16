import type { Tag } from '#api/http/openapi/tags.ts'
import type { Permission } from '#shared/core/policy/permissions.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'
import type { ErrorCode } from '#shared/platform/kernel/errors.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** The names after ':' and '*' in a path: 'id' in '/records/:id'. */
export type Params<Path extends string> = Path extends `${string}${':' | '*'}${infer Rest}` ? NameOf<Rest> | Params<Rest> : never
type NameOf<Text extends string> = Text extends `${infer Name}${'/' | '{' | '}'}${string}` ? NameOf<Name> : Text

/** A route of a workspace works in its scope; any other in the platform's. */
export type ScopeOf<Path extends string> = 'orgId' extends Params<Path> ? Scope : PlatformScope

/**
 * Who may call: a permission of the caller's roles, or spelled out: 'public' for anybody, 'any' for every person and key,
 * 'person' for people only (a key answers 401), 'member' for every member and key of the workspace.
 */
export type Admission = Permission | 'public' | 'any' | 'person' | 'member'

/** Names of rate limits; their numbers stand in api/access/rate-limit.ts. */
export type LimitName = 'sign-in' | 'forgot' | 'functions' | 'forms' | 'content' | 'calendar'

/**
 * What is known of a request before its body is read. What is worked out only when asked for is a function here, not an accessor: an
 * accessor in an object literal makes a hidden class for every object, which keeps all of the request alive until the next full sweep.
 */
export interface RequestHead<Path extends string, Query> {
  readonly params: Readonly<Record<Params<Path>, string>>
  readonly query: () => Query
}

export interface Request<Path extends string, Body, Query, Resource = unknown> {
  readonly params: Readonly<Record<Params<Path>, string>>
  readonly query: Query
  readonly body: Body
  /** The resource that `on` resolved. */
  readonly resource: Resource
  /** A request header's value, or empty text. */
  readonly header: (name: string) => string
  /** The client's address, as the rate limits see it. */
  readonly address: string
  /** What was asked for as it came, for work that takes requests of any kind: the first value of each parameter. */
  readonly line: () => { readonly method: string; readonly path: string; readonly query: Readonly<Record<string, string>> }
}

/** The resource that a request names, and the key that permissions are asked for on it. */
export interface Resolved<Resource> {
  readonly key: string
  readonly resource: Resource
}

/** A resource whose permissions are asked for its own key. */
export const byKey = <Resource extends { readonly key: string }>(resource: Resource): Resolved<Resource> => ({
  key: resource.key,
  resource,
})

/** A permission that a route asks for beside its own, on a resource of its own. */
export interface FurtherPermission<Path extends string, Query, Resource> {
  readonly permission: Permission
  /** The key that it is asked for; undefined where this request needs it for nothing. Throws NOT_FOUND when it names nothing. */
  readonly on: (
    head: RequestHead<Path, Query> & { readonly resource: Resource },
    scope: ScopeOf<Path>,
  ) => string | undefined | Promise<string | undefined>
}

/** What every kind of route says of itself. */
export interface Declaration<Path extends string, Body, Query, Resource> {
  readonly method: Method
  readonly path: Path
  readonly summary: string
  /** More than the summary, for the API's description. */
  readonly description: string
  readonly tag: Tag
  /** The app that must be switched on in the workspace's settings; null for what is always there. */
  readonly app: AppName | null
  readonly permission: Admission
  /** Resolves the resource that the permission is asked for; the work gets it as `request.resource`. Throws NOT_FOUND when there is none. */
  readonly on?: (head: RequestHead<Path, Query>, scope: ScopeOf<Path>) => Resolved<Resource> | Promise<Resolved<Resource>>
  /** Set where the answer lists only those items that the permission covers: then holding it for any item is enough to ask. */
  readonly perItem?: true
  /** The key that the permission is asked for, where only the body names it. */
  readonly onBody?: (request: Request<Path, Body, Query, Resource>, scope: ScopeOf<Path>) => string | Promise<string>
  /** Permissions that the caller needs as well, asked for after the route's own. */
  readonly further?: readonly FurtherPermission<Path, Query, Resource>[]
  /** Counts requests by the client's address. */
  readonly limit: LimitName | null
  /** Counts them a second time by what they are about, such as the account that somebody wants into, before anything is done. */
  readonly limitBy?: readonly [LimitName, (request: Request<Path, Body, Query, Resource>, scope: ScopeOf<Path>) => string]
  /**
   * Which websites may call it from a browser (decisions, CORS): 'any', without credentials, as everything below `/v1`; or 'own', this server's
   * pages alone: no CORS, and whatever changes something is FORBIDDEN to a cross-site request. A page is 'own' unless said, all else 'any'.
   */
  readonly origins?: 'any' | 'own'
  /** Set where the work itself keeps one answer for a visitor's Idempotency-Key; a signed-in caller's is kept for every POST but those of /auth. */
  readonly visitorsKey?: true
  /**
   * Codes that the work itself answers, such as DUPLICATE_VALUE. Those that every such route may answer go without saying: a bad request,
   * who may come in, a workspace that is not there or not ready, a place in the path that names nothing.
   */
  readonly fails?: readonly ErrorCode[]
  /** What the body must be; 'any' takes every kind: parsed JSON where it is JSON, else its text, null when there is none. */
  readonly body?: Schema<Body> | 'any'
  /** The largest body, where it is not 1 MB. */
  readonly maxBodyBytes?: number
  readonly query?: Schema<Query>
  /**
   * The object that a change is about, as its GET answers it. Keys of the answer that the body cannot change may then be sent back, if they
   * equal what is stored (page 5, Unknown keys). Throws NOT_FOUND. A route that changes something and has a body declares it.
   */
  readonly stored?: (
    request: Pick<Request<Path, Body, Query, Resource>, 'params' | 'line' | 'resource'>,
    scope: ScopeOf<Path>,
  ) => unknown | Promise<unknown>
  /** The schema of what was read before it is sent, where that is not the route's own answer. */
  readonly carries?: Schema<unknown>
}
