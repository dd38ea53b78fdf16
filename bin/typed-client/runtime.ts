import createClient, { type FetchOptions, type HeadersOptions, mergeHeaders, type ParseAs } from 'openapi-fetch'
import { type ChangedTypes, type components, files, type paths, type ReadTypes, type SentTypes, statuses } from './generated.ts'

export interface KontorOptions {
  /** Address of the installation, with or without `/v1`. */
  readonly url: string
  /** An access key, or the token of a session. */
  readonly key: string
  /** The workspace's id. */
  readonly org: string
}

/** The codes that the API answers. `UNREACHABLE`, with the status 0, is a call without an answer. */
export type ErrorCode = keyof typeof statuses | 'UNREACHABLE'

/** What every failed call throws. */
export class KontorError extends Error {
  override readonly name = 'KontorError'
  readonly code: ErrorCode
  /** The status of the answer. */
  readonly status: number
  /** To be told to the operator; undefined when the work of a job failed. */
  readonly requestId: string | undefined
  constructor(code: ErrorCode, status: number, message: string, requestId?: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = status
    this.requestId = requestId
  }
}

/** A key of a record type. */
export type TypeKey = keyof ReadTypes & keyof SentTypes & keyof ChangedTypes

/** A record of a type as the API answers it. */
export type RecordOf<K extends TypeKey> = Omit<components['schemas']['WorkspaceRecord'], 'object_type' | 'values'> & {
  object_type: K
  values: ReadTypes[K]
}

/** A page of records. */
export interface RecordPage<K extends TypeKey> {
  records: RecordOf<K>[]
  /** In plain listings; absent on the last page. */
  next_cursor?: string
  /** In searches. */
  total?: number
}

/** Conditions on fields; those of a list must all hold. */
export type RecordFilter =
  | { field: string; op?: string; value?: unknown }
  | RecordFilter[]
  | { all: RecordFilter[] }
  | { any: RecordFilter[] }
  | { not: RecordFilter }

type RecordPath = '/v1/orgs/{orgId}/records/{typeKey}'
type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } } ? NonNullable<Query> : never

/** The parameters of a list of records; `filter` may be a value. */
export type RecordQuery = Omit<QueryOf<paths[RecordPath]['get']>, 'filter'> & { filter?: string | RecordFilter }

/** One page when it is awaited; all items, page after page, in a `for await`. Nothing is sent before. */
export interface Pages<Page, Item> extends PromiseLike<Page>, AsyncIterable<Item> {}

type ImportPath = `${RecordPath}/import`
type ImportQuery = QueryOf<paths[ImportPath]['post']>
type ImportResult = DataOf<Success<paths[ImportPath]['post']>>

interface Records {
  /** The values may be left out where no field is needed. */
  create<K extends TypeKey>(type: K, ...values: Optional<SentTypes[K]>): Promise<RecordOf<K>>
  get<K extends TypeKey>(type: K, id: string): Promise<RecordOf<K>>
  /** `await` gives a page, `for await` all records. */
  list<K extends TypeKey>(type: K, query?: RecordQuery): Pages<RecordPage<K>, RecordOf<K>>
  /** Fields that are left out stay; null clears. */
  update<K extends TypeKey>(type: K, id: string, values: ChangedTypes[K]): Promise<void>
  delete(type: TypeKey, id: string): Promise<void>
  /** Creates a record from each row of a CSV file. */
  import(type: TypeKey, csv: string | Blob, query?: ImportQuery): Promise<ImportResult>
}

type Method = 'get' | 'post' | 'patch' | 'put' | 'delete'
type PathWith<M extends Method> = { [P in keyof paths]: paths[P] extends { [Key in M]: object } ? P : never }[keyof paths]
type OperationOf<P extends keyof paths, M extends Method> = M extends keyof paths[P] ? paths[P][M] : never

/** The bodies of the successful answers of an operation. */
type Success<Operation> = Operation extends { responses: infer Answers }
  ? { [Status in keyof Answers]: Answers[Status] extends { content: infer Content } ? Content[keyof Content] : undefined }[keyof Answers]
  : never
type DataOf<Answer> = Answer extends { data: infer Data } ? Data : never

interface Parsed {
  json: unknown
  text: string
  blob: Blob
  arrayBuffer: ArrayBuffer
  stream: ReadableStream<Uint8Array> | null
}
type Read<Operation, As> = As extends keyof Parsed ? Parsed[As] : Success<Operation>

/** An argument that may be left out when all its properties may. */
type Optional<Argument> = Record<never, never> extends Argument ? [argument?: Argument] : [argument: Argument]
type BodyOf<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? { body: Content[keyof Content] }
  : Operation extends { requestBody?: { content: infer Content } }
    ? { body?: Content[keyof Content] }
    : { body?: never }
type Init<Operation, As> = Omit<FetchOptions<Operation>, 'body' | 'parseAs'> & BodyOf<Operation> & { parseAs?: As }

type Call<M extends Method> = <P extends PathWith<M>, As extends ParseAs | undefined = undefined>(
  path: P,
  ...init: Optional<Init<OperationOf<P, M>, As>>
) => Promise<{ data: Read<OperationOf<P, M>, As>; response: Response }>

type PagesOf = <P extends PathWith<'get'>>(
  path: P,
  ...init: Optional<Init<OperationOf<P, 'get'>, undefined>>
) => AsyncIterable<DataOf<Success<OperationOf<P, 'get'>>>>

/** Calls every route by its path in the description; `orgId` may be left out. */
export interface Kontor {
  readonly records: Records
  readonly GET: Call<'get'>
  readonly POST: Call<'post'>
  readonly PATCH: Call<'patch'>
  readonly PUT: Call<'put'>
  readonly DELETE: Call<'delete'>
  /** The `data` of each page of a list, from the given page to the last. */
  readonly pages: PagesOf
}

/** A call without the types of its route. */
interface AnyInit {
  readonly params?: { readonly path?: Readonly<Record<string, string>>; readonly query?: AnyQuery }
  readonly body?: unknown
  readonly headers?: HeadersOptions
  readonly parseAs?: ParseAs
}
type AnyCall = (path: string, init?: AnyInit) => Promise<{ data?: unknown; response: Response }>

/** A client of one workspace. A failed call throws a `KontorError`; a call for long work ends with the work. */
export function kontor({ url, key, org }: KontorOptions): Kontor {
  const baseUrl = url.replace(/\/+$/, '').replace(/\/v1$/, '')
  const client = createClient<Record<string, never>>({
    baseUrl,
    headers: { authorization: `Bearer ${key}` },
    bodySerializer: serialize,
    fetch: (request) => answerOf(baseUrl, request),
  }) as unknown as Readonly<Record<Uppercase<Method>, AnyCall>>
  const call =
    (method: Uppercase<Method>): AnyCall =>
    async (path, init = {}) => {
      const { orgId = org, ...others } = init.params?.path ?? {}
      const params = { ...init.params, path: others }
      const ofFile = init.body instanceof Blob ? { 'content-type': init.body.type || 'application/octet-stream' } : {}
      const sent = { ...init, params, headers: mergeHeaders(ofFile, init.headers), parseAs: init.parseAs ?? 'stream' }
      const { data, response } = await client[method](path.replace('{orgId}', encodeURIComponent(orgId)), sent)
      return { data: init.parseAs ? data : await read(response, files.has(`${method} ${path}`)), response }
    }
  const [GET, POST, PATCH, PUT, DELETE] = [call('GET'), call('POST'), call('PATCH'), call('PUT'), call('DELETE')]
  return { records: recordsOf({ GET, POST, PUT, DELETE }), GET, POST, PATCH, PUT, DELETE, pages: pagesOf(GET) } as unknown as Kontor
}

const recordPath: RecordPath = '/v1/orgs/{orgId}/records/{typeKey}'

type AnyQuery = Readonly<Record<string, unknown>>

function recordsOf({ GET, POST, PUT, DELETE }: Readonly<Record<'GET' | 'POST' | 'PUT' | 'DELETE', AnyCall>>) {
  const one = `${recordPath}/{recordId}`
  const ofType = (typeKey: string) => ({ params: { path: { typeKey } } })
  const ofRecord = (typeKey: string, recordId: string) => ({ params: { path: { typeKey, recordId } } })
  // A filter that is a value goes into a body, which has room for it.
  const list = (typeKey: string, query: AnyQuery) =>
    typeof query.filter === 'object'
      ? POST(`${recordPath}/query`, { ...ofType(typeKey), body: query })
      : GET(recordPath, { params: { path: { typeKey }, query } })
  return {
    create: async (type: string, values: unknown = {}) => dataOf(await POST(recordPath, { ...ofType(type), body: { values } })),
    get: async (type: string, id: string) => dataOf(await GET(one, ofRecord(type, id))),
    list: (type: string, query: AnyQuery = {}) => ({
      // biome-ignore lint/suspicious/noThenProperty: a list is awaited for one page
      then: (...handlers: Parameters<Promise<unknown>['then']>) =>
        list(type, query)
          .then(dataOf)
          .then(...handlers),
      async *[Symbol.asyncIterator]() {
        for await (const page of pagesFrom((next) => list(type, next), recordPath, query)) yield* (page as { records: unknown[] }).records
      },
    }),
    update: async (type: string, id: string, values: unknown) => {
      await PUT(`${one}/values`, { ...ofRecord(type, id), body: { values } })
    },
    delete: async (type: string, id: string) => {
      await DELETE(one, ofRecord(type, id))
    },
    import: async (typeKey: string, csv: string | Blob, query: AnyQuery = {}) =>
      dataOf(await POST(`${recordPath}/import`, { params: { path: { typeKey }, query }, body: new Blob([csv], { type: 'text/csv' }) })),
  }
}

const dataOf = <Data>({ data }: { data?: unknown }): Data => (data as { data: Data }).data

const pagesOf =
  (GET: AnyCall) =>
  (path: string, init: AnyInit = {}) =>
    pagesFrom((query) => GET(path, { ...init, params: { ...init.params, query } }), path, init.params?.query ?? {})

/** The `data` of the page of a query and of each that follows it. */
async function* pagesFrom(list: (query: AnyQuery) => ReturnType<AnyCall>, path: string, first: AnyQuery) {
  for (let query: AnyQuery | undefined = first; query !== undefined; ) {
    const answer = await list(query)
    const data = dataOf<object>(answer)
    yield data
    query = nextQuery(path, query, data, answer.response.headers.get('link') ?? '')
  }
}

/** What answers say about the next page. */
interface AnyPage {
  readonly next_cursor?: string | null
  /** The next cursor of files. */
  readonly cursor?: string | null
  readonly next_offset?: number | null
  /** Of a search: the number of all items. */
  readonly total?: number
}

/** The list whose cursor is the id of the last item. */
const byLastId = '/v1/orgs/{orgId}/payments/links'

/** The query of the next page, by its address in the header Link, a cursor or an offset; undefined after the last page. */
function nextQuery(path: string, query: AnyQuery, data: AnyPage, link: string): AnyQuery | undefined {
  if (Array.isArray(data)) {
    const [, address] = /<([^>]*)>;\s*rel="next"/.exec(link) ?? []
    if (address !== undefined) return Object.fromEntries(new URL(address, 'http://localhost').searchParams)
    return path === byLastId && data.length > 0 ? { ...query, cursor: data.at(-1).id } : undefined
  }
  const { next_cursor: cursor = data.cursor, next_offset: offset, total } = data
  if (typeof cursor === 'string') return { ...query, cursor }
  if (typeof offset === 'number') return { ...query, offset }
  if (total === undefined || offset === null) return undefined
  const { length } = Object.values(data).find(Array.isArray) ?? []
  const before = Number(query.offset ?? (Number(query.page ?? 1) - 1) * Number(query.limit ?? 50))
  return length > 0 && before + length < total ? { ...query, offset: before + length } : undefined
}

/** Files are sent as they are, an object that holds one as a form, all else as JSON. */
function serialize(body: unknown): unknown {
  if (body instanceof Blob || body instanceof FormData) return body
  const parts = typeof body === 'object' && body !== null ? Object.entries(body) : []
  if (!parts.some(([, part]) => part instanceof Blob)) return JSON.stringify(body)
  const form = new FormData()
  // The file last: the fields before it say where it goes.
  for (const [name, part] of parts) if (!(part instanceof Blob)) form.append(name, String(part))
  for (const [name, part] of parts) if (part instanceof Blob) form.append(name, part)
  return form
}

/** The body of an answer: JSON parsed, and all else, files of JSON too, as a Blob. */
async function read(response: Response, isFile: boolean): Promise<unknown> {
  if (response.status === 204 || response.status === 304) return undefined
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return isJson && !isFile ? response.json() : response.blob()
}

/** Milliseconds between two questions for a job: at first, and at most. */
const [firstWait, longestWait] = [100, 2000]
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Sends a request and, where it began long work, waits for its end. Throws the failure of the answer or of the work. */
async function answerOf(baseUrl: string, request: Request): Promise<Response> {
  const response = await send(request)
  if (response.status >= 400) throw await failureOf(response)
  const address = response.status === 202 ? response.headers.get('location') : null
  if (address === null) return response
  // The address is the operator's; the key goes to the server that was called.
  const job = baseUrl + address.slice(address.indexOf('/v1/'))
  const authorization = request.headers.get('authorization') ?? ''
  return resultOf(job, { headers: { authorization }, signal: request.signal })
}

interface Job {
  readonly status: 'queued' | 'running' | 'done' | 'failed'
  readonly result?: unknown
  readonly error: { readonly code: string; readonly message: string } | null
}

async function resultOf(address: string, init: RequestInit): Promise<Response> {
  for (let wait = firstWait; ; wait = Math.min(wait * 2, longestWait)) {
    const response = await send(new Request(address, init))
    if (response.status === 429 || response.status === 503) {
      await pause(1000 * Number(response.headers.get('retry-after') ?? 1))
      continue
    }
    if (response.status >= 400) throw await failureOf(response)
    const { status, result, error } = ((await response.json()) as { data: Job }).data
    if (status === 'failed') throw new KontorError(codeOf(error?.code), statusOf(error?.code), error?.message ?? 'The work failed')
    if (status === 'done') return result === null ? fileOf(address, init) : Response.json({ data: result })
    await pause(wait)
  }
}

/** The file that a job made; null as JSON for a job without a file. */
async function fileOf(address: string, init: RequestInit): Promise<Response> {
  const response = await send(new Request(`${address}/result`, init))
  if (response.status === 404) return Response.json({ data: null })
  if (response.status >= 400) throw await failureOf(response)
  return response
}

async function send(request: Request): Promise<Response> {
  try {
    return await fetch(request)
  } catch (cause) {
    if (request.signal.aborted) throw cause
    throw new KontorError('UNREACHABLE', 0, `${new URL(request.url).origin} cannot be reached`, undefined, { cause })
  }
}

async function failureOf(response: Response): Promise<KontorError> {
  const text = await response.text()
  const { code, message, request_id: id } = parseFailure(text)
  return new KontorError(codeOf(code), response.status, message ?? `${response.status} ${text.slice(0, 200)}`, id)
}

function parseFailure(text: string): { readonly code?: string; readonly message?: string; readonly request_id?: string } {
  try {
    return (JSON.parse(text) as { error?: object }).error ?? {}
  } catch {
    return {}
  }
}

const codeOf = (code: string | undefined): ErrorCode =>
  code !== undefined && Object.hasOwn(statuses, code) ? (code as ErrorCode) : 'INTERNAL'
const statusOf = (code: string | undefined): number => (statuses as Readonly<Record<string, number>>)[codeOf(code)] ?? 500
