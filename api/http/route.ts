import type { Declaration, Request, ScopeOf } from '#api/http/declaration.ts'
import type { Replaced, Reply, WithETag, WithHeaders } from '#api/http/reply/reply.ts'
import type { Page } from '#api/pages/page.ts'
import type { JobDefinition } from '#shared/platform/jobs/job.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import type { Schema } from '#shared/platform/kernel/schema.ts'

/** Every workspace route starts here; the pipeline resolves it before anything else of the route is looked at. */
export const orgPath = '/orgs/:orgId' as const

/** What a `Reply` may say instead of the declared status. */
type OtherStatus = 206 | 302 | 303 | 304 | 416

/** What a route answers when all went well. */
interface Answering<Response> {
  readonly status: 200 | 201 | 202 | 203 | 204
  /** The shape of `data`; null where the answer never has it: 204, or always a Reply of `contentType`. */
  readonly response: Schema<Response> | null
  /** The type of a Reply's body, for the description; a range such as `image/*` where it differs from one to the next. */
  readonly contentType?: string
  /** What else a Reply may say. */
  readonly statuses?: readonly OtherStatus[]
  /** Set where the route creates or replaces: then it also answers 200, with what `Replaced` holds. */
  readonly replaces?: true
  /** Set where the answer is `Tagged`. */
  readonly tagged?: true
  /** Set where the answer may name its next page in the header Link (`linked`). */
  readonly linked?: true
}

type Given<Response> = Promise<
  NoInfer<Response> | Replaced<NoInfer<Response>> | WithETag<NoInfer<Response>> | WithHeaders<NoInfer<Response>> | Reply
>

/** Answers at once. */
interface Answered<Path extends string, Body, Query, Response, Resource>
  extends Declaration<Path, Body, Query, Resource>,
    Answering<Response> {
  /**
   * Set where the work knows what of it was done before, and is long: then it stands in no transaction with the kept answer of an
   * Idempotency-Key, and holds no locks from its beginning to its end.
   */
  readonly repeatable?: true
  readonly handle: (request: Request<Path, Body, Query, Resource>, scope: ScopeOf<Path>) => Given<Response>
}

/** A file that a request carries, which is streamed into storage before anything else is done with it. */
export interface Upload {
  /** 'files' is the installation's limit for files, `DRIVE_MAX_UPLOAD_BYTES`. */
  readonly maxBytes: number | 'files'
  /** Content types whose raw body is the file; 'any' for all of them. */
  readonly contentTypes: readonly string[] | 'any'
  /** False where multipart/form-data is a type like any other. Otherwise the file is its part named `file`, wherever among its fields. */
  readonly form?: false
  /** What the other fields of a form mean, by their names; for the description. */
  readonly fields?: Readonly<Record<string, string>>
}

/** The file of a request while it arrives. */
export interface ArrivingFile {
  readonly contentType: string
  /** The name that a form gives it, without a path; empty where there is none. */
  readonly name: string
  /** Its bytes as they come; throws VALIDATION_ERROR when they are too many, break off or stall. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A request whose bytes have arrived. Its resource is as it was before they came. */
export interface ReceivedRequest<Path extends string, Query, Kept, Resource>
  extends Omit<Request<Path, undefined, Query, Resource>, 'body'> {
  /** What `keep` made of the file. */
  readonly kept: Kept
  /** The fields of a form beside its file, each by its last value. */
  readonly fields: ReadonlyMap<string, string>
}

/** Takes bytes instead of JSON: uploads of every kind, and bodies that are judged as they came, such as signed ones. */
interface Receiving<Path extends string, Query, Kept, Response, Resource>
  extends Omit<Declaration<Path, undefined, Query, Resource>, 'body' | 'onBody' | 'limitBy'>,
    Answering<Response> {
  readonly upload: Upload
  /** Reads the file to its end and puts it where it costs no memory. Nobody knows of it yet: what is kept of a request that fails is for a sweep. */
  readonly keep: (
    file: ArrivingFile,
    request: Omit<Request<Path, undefined, Query, Resource>, 'body'>,
    scope: ScopeOf<Path>,
  ) => Promise<Kept>
  /** The SHA-256 of the file's bytes, as storage took it: what an Idempotency-Key stands for. Null where no caller has one: the public, and PUT. */
  readonly digestOf: ((kept: NoInfer<Kept>) => string) | null
  /** Does the work, once the whole request has arrived; in one transaction with an Idempotency-Key's answer, where there is one. */
  readonly handle: (request: ReceivedRequest<Path, Query, NoInfer<Kept>, Resource>, scope: ScopeOf<Path>) => Given<Response>
}

/** Answers HTML, from templates; its failures are pages too. A POST takes url-encoded fields. */
interface Paged<Path extends string, Query, Resource> extends Omit<Declaration<Path, URLSearchParams, Query, Resource>, 'method' | 'body'> {
  readonly method: 'GET' | 'POST'
  /** Whether pages of other websites may show it in a frame. */
  readonly framed: 'any' | 'none'
  /** The fields of a POST, for the description; null where they depend on what the page is about. The page checks them and says beside each what is wrong. */
  readonly form?: Schema<unknown> | null
  /** Set where programs that are no browsers send the form as well, as multipart/form-data if they like. */
  readonly multipart?: true
  /** What a Reply may say, such as 303 to another page. */
  readonly statuses?: readonly OtherStatus[]
  readonly handle: (request: Request<Path, URLSearchParams, Query, Resource>, scope: ScopeOf<Path>) => Promise<Page | Reply>
}

/** An answer without `{data}`. */
export interface BareResponse<Result> {
  /** The whole body, as JSON; throws what is answered instead. */
  readonly body: (result: Result) => unknown
  /** What is answered when the work failed, or did not end in time. */
  readonly failure: (reason: Problem | 'late') => Problem
}

/** Content types of files that workers make. */
type FileType = 'text/csv' | 'text/calendar' | 'text/plain'

/** Hands the work to a worker. The pipeline persists, enqueues, waits and answers 200 or 202 (decisions, Long work). */
interface Delegated<Path extends string, Body, Query, Payload, Result, Resource> extends Declaration<Path, Body, Query, Resource> {
  readonly job: JobDefinition<Payload, Result>
  /** What the work makes: JSON under `data`, or a file with this content type, or with one of these. */
  readonly makes: 'json' | FileType | readonly FileType[]
  /** 201 where the work creates; 200 without it. */
  readonly status?: 200 | 201
  /** Set where the result is answered in a form of its own, to a caller who never hears of a job. */
  readonly bare?: BareResponse<Result>
  /** Gives the answer where it needs no work, such as a file that was made before; `statuses` names what else than 200 it says. */
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

// A table of routes holds every body, query and result type at once; each declaration above has checked its own.
/* biome-ignore-start lint/suspicious/noExplicitAny: see above */
export type AnswerRoute = { readonly kind: 'answer' } & Answered<any, any, any, any, any>
export type ReceiveRoute = {
  readonly kind: 'receive'
  readonly onBody?: undefined
  readonly limitBy?: undefined
  readonly body?: undefined
} & Receiving<any, any, any, any, any>
export type PageRoute = { readonly kind: 'page'; readonly body?: undefined } & Omit<Paged<any, any, any>, 'limitBy'> &
  Pick<AnswerRoute, 'limitBy'>
export type DelegateRoute = { readonly kind: 'delegate' } & Delegated<any, any, any, any, any, any>
/* biome-ignore-end lint/suspicious/noExplicitAny: see above */
export type Route = AnswerRoute | ReceiveRoute | PageRoute | DelegateRoute

/** Routes that stand below the same part of the public address. */
export interface Section {
  readonly base: string
  readonly routes: readonly Route[]
}

/** The routes of a folder of the three floors: its `feature.ts`, which `api/routes.ts` lists. */
export interface FeatureRoutes {
  /** Routes that carry the version prefix. */
  readonly routes?: readonly Route[]
  /** Pages, public routes and callbacks, whose addresses carry no version. */
  readonly unversioned?: readonly Route[]
}
