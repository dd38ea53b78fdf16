import type { Declaration, Request, ScopeOf } from '#api/http/declaration.ts'
import type { Replaced, Reply, WithETag, WithHeaders } from '#api/http/reply/reply.ts'
import type { Page } from '#api/pages/page.ts'
import type { EventType } from '#shared/core/events/event-type.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

/** Prefix of every path of a workspace. The pipeline enters the workspace first. */
export const orgPath = '/orgs/:orgId' as const

/** Statuses that a `Reply` may have instead of the declared one. */
type OtherStatus = 206 | 302 | 303 | 304 | 416

/** Options of a successful answer. */
interface Answering<Response> {
  readonly status: 200 | 201 | 202 | 203 | 204
  /** Schema of `data`; null for 204, and where the answer is always a Reply of `contentType`. */
  readonly response: Schema<Response> | null
  /** Content type of a Reply, for the reference; a range such as `image/*` where it varies. */
  readonly contentType?: string
  /** Other statuses of a Reply. */
  readonly statuses?: readonly OtherStatus[]
  /** Set where the route creates or replaces a resource. A result of `Replaced` is then answered with 200 instead of `status`. */
  readonly replaces?: true
  /** Set where the answer is `WithETag`. */
  readonly tagged?: true
  /** Set where the header Link of the answer may name the next page (`withNextLink`). */
  readonly linked?: true
}

type Result<Response> = Promise<
  NoInfer<Response> | Replaced<NoInfer<Response>> | WithETag<NoInfer<Response>> | WithHeaders<NoInfer<Response>> | Reply
>

/** Options of a route that answers now. */
interface Answered<Path extends string, Body, Query, Response, Resource>
  extends Declaration<Path, Body, Query, Resource>,
    Answering<Response> {
  /**
   * Set where the work is long and, when repeated, skips what an earlier attempt did. It then runs outside the transaction that stores the
   * idempotency record, so that no lock is held for the whole length of the work.
   */
  readonly repeatable?: true
  /** Set where a POST only reads. Its answer may be refused while memory is short, and is kept under no Idempotency-Key. */
  readonly onlyReads?: true
  readonly handle: (request: Request<Path, Body, Query, Resource>, scope: ScopeOf<Path>) => Result<Response>
}

/** The file of a request, which is streamed into storage before the work begins. */
export interface Upload {
  /** 'files' is `DRIVE_MAX_UPLOAD_BYTES`, the installation's limit. */
  readonly maxBytes: number | 'files'
  /** Content types of a raw body that is the file. */
  readonly contentTypes: readonly string[] | 'any'
  /** False where multipart/form-data has no special meaning. Otherwise its part named `file` is the file. */
  readonly form?: false
  /** Descriptions of the form's other fields by name, for the reference. */
  readonly fields?: Readonly<Record<string, string>>
}

/** The file of a request while it arrives. */
export interface ArrivingFile {
  readonly contentType: string
  /** The charset that its part of a form declares; empty for none. That of a raw body is in `contentType`. */
  readonly charset: string
  /** File name of the form part, without a path; empty for none. */
  readonly name: string
  /** Throws VALIDATION_ERROR when it is too large, breaks off or stalls. */
  readonly bytes: AsyncIterable<Uint8Array>
  /** Counts bytes that `keep` holds in memory; the bytes then end with OVERLOADED when bodies hold too much (`readWholeFile`). */
  readonly hold: (bytes: number) => void
}

/** A request whose file has arrived. `resource` was resolved before the file arrived. */
interface ReceivedRequest<Path extends string, Query, Kept, Resource> extends Omit<Request<Path, undefined, Query, Resource>, 'body'> {
  /** Result of `keep`. */
  readonly kept: Kept
  /** Other fields of the form by name, each with its last value. */
  readonly fields: ReadonlyMap<string, string>
}

/** Options of a route that takes bytes instead of JSON: uploads, and signed bodies that are verified as sent. */
interface Receiving<Path extends string, Query, Kept, Response, Resource>
  extends Omit<Declaration<Path, undefined, Query, Resource>, 'body' | 'onBody'>,
    Answering<Response> {
  readonly upload: Upload
  /** Reads the whole file into storage, not into memory. The file stays invisible; a sweep removes it when the request fails. */
  readonly keep: (
    file: ArrivingFile,
    request: Omit<Request<Path, undefined, Query, Resource>, 'body'>,
    scope: ScopeOf<Path>,
  ) => Promise<Kept>
  /** SHA-256 of the file as storage computed it, for an Idempotency-Key. Null on public and PUT routes, which take no key. */
  readonly digestOf: ((kept: NoInfer<Kept>) => string) | null
  /** Does the work once the whole request has arrived. With an Idempotency-Key it shares the transaction of the idempotency record. */
  readonly handle: (request: ReceivedRequest<Path, Query, NoInfer<Kept>, Resource>, scope: ScopeOf<Path>) => Result<Response>
}

/** Options of a route that answers HTML, also for failures. A POST takes url-encoded fields. */
interface Paged<Path extends string, Query, Resource> extends Omit<Declaration<Path, URLSearchParams, Query, Resource>, 'method' | 'body'> {
  readonly method: 'GET' | 'POST'
  /** Whether pages of other websites may show it in a frame. */
  readonly framed: 'any' | 'none'
  /** Schema of a POST's fields, for the reference; null where they vary. The page checks them and shows errors beside the fields. */
  readonly form?: Schema<unknown> | null
  /** Set where multipart/form-data is accepted too, for programs other than browsers. */
  readonly multipart?: true
  /** Content type of the answer where it is always a Reply; default: that of a page. */
  readonly contentType?: string
  /** Statuses of a Reply, such as 303 to another page. */
  readonly statuses?: readonly OtherStatus[]
  readonly handle: (request: Request<Path, URLSearchParams, Query, Resource>, scope: ScopeOf<Path>) => Promise<Page | Reply>
}

/** An answer without `{data}`. */
export interface BareResponse<Result> {
  /** The whole body, sent as JSON. A Problem that it throws is answered instead. */
  readonly body: (result: Result) => unknown
  /** The error to answer when the work failed or did not finish in time. */
  readonly failure: (reason: Problem | 'late') => Problem
}

/** Content types of the files that workers create. */
type FileType = 'text/csv' | 'text/calendar' | 'text/plain'

/**
 * Options of a route whose work a worker does. The pipeline enqueues it, waits and answers 200 or 202 (docs/contract/jobs.md#long-work).
 */
interface Delegated<Path extends string, Body, Query, Payload, Result, Resource> extends Declaration<Path, Body, Query, Resource> {
  readonly job: JobDefinition<Payload, Result>
  /** Result of the work: JSON under `data`, or a file with one of these content types. */
  readonly makes: 'json' | FileType | readonly FileType[]
  /** 201 where the work creates; default: 200. */
  readonly status?: 200 | 201
  /** Set where the answer has no envelope and is never a job. */
  readonly bare?: BareResponse<Result>
  /** Returns an answer that needs no work, such as an existing file. `statuses` lists its statuses other than 200. */
  readonly ready?: (request: Request<Path, Body, Query, Resource>, scope: ScopeOf<Path>) => Promise<Reply | undefined>
  readonly statuses?: readonly OtherStatus[]
  readonly upload?: Upload & { readonly maxBytes: number; readonly contentTypes: readonly string[] }
  readonly payload: (
    request: Request<Path, Body, Query, Resource>,
    scope: ScopeOf<Path>,
    fileId: string,
  ) => NoInfer<Payload> | Promise<NoInfer<Payload>>
}

/** Declares a route that answers now. `app`, `permission` and `limit` must be chosen: leaving one out does not compile. */
export const answer = <const Path extends string, Response, Body = unknown, Query = unknown, Resource = undefined>(
  route: Answered<Path, Body, Query, Response, Resource>,
) => Object.freeze({ kind: 'answer' as const, ...route })

/** Declares a route that takes bytes. */
export const receive = <const Path extends string, Kept, Response, Query = unknown, Resource = undefined>(
  route: Receiving<Path, Query, Kept, Response, Resource>,
) => Object.freeze({ kind: 'receive' as const, ...route })

/** Declares a page. */
export const page = <const Path extends string, Query = unknown, Resource = undefined>(route: Paged<Path, Query, Resource>) =>
  Object.freeze({ kind: 'page' as const, ...route })

/** Declares a route whose work a worker does. */
export const delegate = <const Path extends string, Payload, Result, Body = unknown, Query = unknown, Resource = undefined>(
  route: Delegated<Path, Body, Query, Payload, Result, Resource>,
) => Object.freeze({ kind: 'delegate' as const, ...route })

// A table of routes mixes all body, query and result types. The declarations above check each route's own.
/* biome-ignore-start lint/suspicious/noExplicitAny: see above */
export type AnswerRoute = { readonly kind: 'answer' } & Answered<any, any, any, any, any>
export type ReceiveRoute = {
  readonly kind: 'receive'
  readonly onBody?: undefined
  readonly body?: undefined
} & Receiving<any, any, any, any, any>
export type PageRoute = { readonly kind: 'page'; readonly body?: undefined } & Paged<any, any, any>
export type DelegateRoute = { readonly kind: 'delegate' } & Delegated<any, any, any, any, any, any>
/* biome-ignore-end lint/suspicious/noExplicitAny: see above */
export type Route = AnswerRoute | ReceiveRoute | PageRoute | DelegateRoute

/** Routes with a common path prefix. */
export interface Section {
  readonly base: string
  readonly routes: readonly Route[]
  /** The types of events that its workspaces have. */
  readonly events?: readonly EventType[]
}

/** The routes of a feature or of a folder of core, which exports them in its `feature.ts`; `api/routes.ts` lists all. */
export interface FeatureRoutes {
  /** Routes that carry the version prefix. */
  readonly routes?: readonly Route[]
  /** Pages, public routes and callbacks, whose addresses carry no version. */
  readonly unversioned?: readonly Route[]
}
