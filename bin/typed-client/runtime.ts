import createClient, { type FetchOptions, type HeadersOptions, mergeHeaders, type ParseAs } from 'openapi-fetch'
import { answers, type ChangedTypes, type components, type paths, type ReadTypes, type SentTypes } from './generated.ts'
import { answerOf, KontorError, read } from './transport.ts'

export interface KontorOptions {
  /** Address of the installation, with or without `/v1`. */
  readonly url: string
  /** An access key, or the token of a session. */
  readonly key: string
  /** The workspace's id. */
  readonly org: string
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
/** The parameters of an import; `map` may be a value. */
export type ImportQuery = Omit<QueryOf<paths[ImportPath]['post']>, 'map'> & { map?: string | Readonly<Record<string, string | null>> }
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
  /** Creates a record from each row of a CSV file; with `upsert_by` a row changes the record that has its value of that field. */
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
  readonly signal?: AbortSignal | null
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
      checkPath(path, { ...others, orgId })
      const params = { ...init.params, path: others }
      const ofFile = init.body instanceof Blob ? { 'content-type': init.body.type || 'application/octet-stream' } : {}
      const sent = { ...init, params, headers: mergeHeaders(ofFile, init.headers), parseAs: 'stream' as const }
      const { response } = await client[method](path.replace('{orgId}', encodeURIComponent(orgId)), sent)
      return { data: await read(response, answers[`${method} ${path}`] ?? 'data', init), response }
    }
  const [GET, POST, PATCH, PUT, DELETE] = [call('GET'), call('POST'), call('PATCH'), call('PUT'), call('DELETE')]
  return { records: recordsOf({ GET, POST, PUT, DELETE }), GET, POST, PATCH, PUT, DELETE, pages: pagesOf(GET) } as unknown as Kontor
}

/** Throws when a value would be no part of the path, or lead out of it: the address of a member `..` is that of all members. */
function checkPath(path: string, values: Readonly<Record<string, unknown>>): void {
  for (const [, name = ''] of path.matchAll(/\{([^{}]+)\}/g)) {
    const value = values[name]
    if (!/^(\.|%2e){0,2}$/i.test(String(value ?? ''))) continue
    throw new KontorError('VALIDATION_ERROR', 0, `${name} must be an id or a key, got ${JSON.stringify(value)}`)
  }
}

const recordPath: RecordPath = '/v1/orgs/{orgId}/records/{typeKey}'

/** Parameters of a list, by name. */
interface AnyQuery extends Readonly<Record<string, unknown>> {
  readonly filter?: unknown
  readonly limit?: unknown
  readonly offset?: unknown
  readonly page?: unknown
}

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
      [Symbol.asyncIterator]: () => recordsFrom((next) => list(type, next), query),
    }),
    update: async (type: string, id: string, values: unknown) => {
      await PUT(`${one}/values`, { ...ofRecord(type, id), body: { values } })
    },
    delete: async (type: string, id: string) => {
      await DELETE(one, ofRecord(type, id))
    },
    import: async (typeKey: string, csv: string | Blob, { map, ...others }: AnyQuery = {}) => {
      const query = { ...others, ...(map !== undefined && { map: typeof map === 'string' ? map : JSON.stringify(map) }) }
      return dataOf(
        await POST(`${recordPath}/import`, { params: { path: { typeKey }, query }, body: new Blob([csv], { type: 'text/csv' }) }),
      )
    },
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

const searchParameters = ['q', 'filter', 'sort', 'page', 'offset']

/** All records of a query, page after page. */
async function* recordsFrom(list: (query: AnyQuery) => ReturnType<AnyCall>, query: AnyQuery) {
  if (searchParameters.some((name) => query[name] !== undefined)) yield* searchedRecords(list, query)
  else for await (const page of pagesFrom(list, recordPath, query)) yield* (page as { records: unknown[] }).records
}

interface SearchPage {
  readonly records: readonly { readonly id: string }[]
  readonly total: number
}

/**
 * The records of a search, each once. Its pages go by offset, so a record that is deleted, or matches no longer, moves those behind it forward.
 * Each page therefore begins with the last record of the page before; one that begins with another record is read again from further back.
 */
async function* searchedRecords(list: (query: AnyQuery) => ReturnType<AnyCall>, { page = 1, ...query }: AnyQuery) {
  const { limit = 50 } = query
  // A page of one record would end where it begins.
  const size = limit === 1 ? 2 : Number(limit)
  const start = Number(query.offset ?? (Number(page) - 1) * Number(limit))
  const given = new Set<string>()
  for (let [offset, back] = [start, size]; ; ) {
    const { records, total } = dataOf<SearchPage>(await list({ ...query, limit: size, offset }))
    if (offset > start && !given.has(records[0]?.id ?? '')) {
      offset = Math.max(start, offset - back)
      back *= 2
      continue
    }
    for (const record of records) {
      if (given.has(record.id)) continue
      given.add(record.id)
      yield record
    }
    if (offset + records.length >= total) return
    offset += records.length - 1
    back = size
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
