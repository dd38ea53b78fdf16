import type { FeedStreams } from '#api/core/events/streams/feed-streams.ts'
import type { Tag } from '#api/http/openapi/tags.ts'
import type { PasswordQuota } from '#shared/core/people/passwords.ts'
import type { Permission } from '#shared/core/policy/permissions.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import type { AppName } from '#shared/platform/kernel/apps.ts'
import type { ErrorCode } from '#shared/platform/kernel/errors.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** Names of the path parameters: 'id' in '/records/:id'. */
export type Params<Path extends string> = Path extends `${string}${':' | '*'}${infer Rest}` ? NameOf<Rest> | Params<Rest> : never
type NameOf<Text extends string> = Text extends `${infer Name}${'/' | '{' | '}'}${string}` ? NameOf<Name> : Text

/** The workspace's scope where the path names a workspace, else the platform's. */
export type ScopeOf<Path extends string> = 'orgId' extends Params<Path> ? Scope : PlatformScope

/**
 * Who may call: holders of a permission, or 'public' for anybody, 'any' for every person and key, 'person' for people only (a key
 * gets 401), 'member' for every member and key of the workspace, 'operator' for people who are operators of the installation, by their
 * session token, and on pages by the cookie of the console. A read-only operator may not call a route that is no GET.
 */
export type Admission = Permission | 'public' | 'any' | 'person' | 'member' | 'operator'

const withoutPermission: ReadonlySet<string> = new Set(['public', 'any', 'person', 'member', 'operator'])

/** Whether an admission is no permission: it is not checked against roles. */
export const needsNoPermission = (admission: Admission): admission is Exclude<Admission, Permission> => withoutPermission.has(admission)

/** Names of rate limits; api/access/rate-limit.ts holds their quotas. */
export type LimitName = 'forgot' | 'functions' | 'forms' | 'content' | 'calendar'

/**
 * The part of a request that is known before its body is read. Values computed on demand are functions, not accessors: V8 makes a hidden
 * class for each object literal with an accessor, which keeps the whole request alive until the next full garbage collection.
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
  /** Value of a request header; empty text without it. */
  readonly header: (name: string) => string
  /** The Idempotency-Key; undefined without one. */
  readonly idempotencyKey: () => string | undefined
  /** The client's network address, as the rate limits see it. */
  readonly address: string
  /** Counts the checks and settings of passwords in this request, once each, however often the work is tried. */
  readonly passwordQuota: () => PasswordQuota
  /** The content type that the client prefers among those that a route offers; of equal ones the first. */
  readonly preferredType: (offered: readonly string[]) => string | undefined
  /** The streams of events of this process. */
  readonly feedStreams: FeedStreams
  /** Method, path and query as sent, with the first value of each parameter. */
  readonly line: () => { readonly method: string; readonly path: string; readonly query: Readonly<Record<string, string>> }
}

/** The resource that a request names, and the key on which permissions are checked. */
export interface Resolved<Resource> {
  readonly key: string
  readonly resource: Resource
}

/** A resource whose permissions are checked on its own key. */
export const byKey = <Resource extends { readonly key: string }>(resource: Resource): Resolved<Resource> => ({
  key: resource.key,
  resource,
})

/** A permission that a route requires in addition to its own, possibly on another resource. */
export interface FurtherPermission<Path extends string, Query, Resource> {
  readonly permission: Permission
  /** Key on which the permission is checked; undefined when this request does not need it. Throws NOT_FOUND for an unknown resource. */
  readonly on: (
    head: RequestHead<Path, Query> & { readonly resource: Resource },
    scope: ScopeOf<Path>,
  ) => string | undefined | Promise<string | undefined>
}

/**
 * A call of a route that succeeds, and its answer, as the reference shows them. The walks send this call, with the ids and keys of their
 * own workspace in place of those of the example (test/api/walk).
 */
export type Example<Path extends string> = PathValues<Exclude<Params<Path>, 'orgId'>> & {
  readonly query?: Readonly<Record<string, string | number | boolean>>
  /** JSON; the fields of a form; of an upload the text of the file, or its form with the file as `file`. */
  readonly body?: unknown
  /** Value of `data`, or the whole body where the answer has no envelope. */
  readonly answer?: unknown
  /** Text of a file; the title of a page. */
  readonly file?: string
}

/** Values of the path's parameters, except the workspace. */
type PathValues<Name extends string> = [Name] extends [never]
  ? object
  : string extends Name
    ? { readonly params?: Readonly<Record<string, string>> }
    : { readonly params: Readonly<Record<Name, string>> }

/** Options of every kind of route. */
export interface Declaration<Path extends string, Body, Query, Resource> {
  readonly method: Method
  readonly path: Path
  readonly summary: string
  /** One or two sentences that add to the summary in the reference. */
  readonly description: string
  readonly example: Example<NoInfer<Path>>
  readonly tag: Tag
  /** The app that must be on in the workspace's settings; null for none. */
  readonly app: AppName | null
  readonly permission: Admission
  /** Resolves the resource on which the permission is checked; the handler gets it as `request.resource`. Throws NOT_FOUND. */
  readonly on?: (head: RequestHead<Path, Query>, scope: ScopeOf<Path>) => Resolved<Resource> | Promise<Resolved<Resource>>
  /** Set where the answer lists only items that the permission covers. Holding it for any item then admits the caller. */
  readonly perItem?: true
  /** Key on which the permission is checked, where only the body names it. */
  readonly onBody?: (request: Request<Path, Body, Query, Resource>, scope: ScopeOf<Path>) => string | Promise<string>
  /** Additional permissions, checked after the route's own. */
  readonly further?: readonly FurtherPermission<Path, Query, Resource>[]
  /** Rate limit by the client's network address. */
  readonly limit: LimitName | null
  /** Set where the work checks or sets passwords. It counts itself, by `request.passwordQuota`. */
  readonly usesPasswords?: true
  /**
   * Which websites may call the route from a browser (docs/contract/conventions.md#cors). 'any': every website, without credentials, as
   * below `/v1`. 'own': only this server's pages, without CORS; a cross-site request other than GET gets FORBIDDEN. 'named': as 'own', and
   * a request other than GET must name its origin, as browsers do. Default: 'own' for pages, else 'any'.
   */
  readonly origins?: 'any' | 'own' | 'named'
  /**
   * Set where the work stores a visitor's Idempotency-Key with what it creates, which then exists once, without an answer that is kept and
   * erased. The pipeline keeps the answers of signed-in callers.
   */
  readonly handlesVisitorKeys?: true
  /** Codes that the work itself throws, such as DUPLICATE_VALUE. `codesOf` adds those of the pipeline. */
  readonly fails?: readonly ErrorCode[]
  /** Schema of the body. 'any' takes any body: parsed JSON, other text as it is, null when empty. */
  readonly body?: Schema<Body> | 'any'
  /** Largest body; by default 1 MB, of public routes 64 KB. */
  readonly maxBodyBytes?: number
  readonly query?: Schema<Query>
  /**
   * The object to be changed, as its GET answers it. The body may then repeat keys of the answer that it cannot change, if they equal the
   * stored values (docs/contract/conventions.md#unknown-keys). Required for a PUT or PATCH with a body. Throws NOT_FOUND.
   */
  readonly stored?: (
    request: Pick<Request<Path, Body, Query, Resource>, 'params' | 'line' | 'resource'>,
    scope: ScopeOf<Path>,
  ) => unknown | Promise<unknown>
  /** Schema of the object that clients read and send back, where it differs from the route's own answer. */
  readonly carries?: Schema<unknown>
}
