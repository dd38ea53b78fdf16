import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { requireRecordAccess } from '#shared/core/records/access.ts'
import { type CompiledQuery, compileQuery, type QueryPage, type RecordQuery } from '#shared/core/records/query/query.ts'
import { readFieldSelection } from '#shared/core/records/query/read-search.ts'
import { matchesOf, maxPageBytes, pageBytes, pageOf, pageWithTotal, totalOf } from '#shared/core/records/query/search-store.ts'
import { toShownViews } from '#shared/core/records/query/shown-columns-store.ts'
import { cachedSearchStatement } from '#shared/core/records/query/statement-cache.ts'
import { toVisibleViews } from '#shared/core/records/read.ts'
import type { RecordRow, RecordView } from '#shared/core/records/record.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { takeFittingItems } from '#shared/platform/db/lists.ts'
import type { ByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { asArrays, asUnprepared, type Statement } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

interface SearchPage {
  readonly records: RecordView[]
  /** Exact number of matching records that the caller may read. */
  readonly total: number
}

/**
 * A page of the matching records that the caller may read, with their exact number (docs/contract/records.md#search-mode). Throws FORBIDDEN
 * when the caller may read no record of the type, VALIDATION_ERROR like `compileQuery` and when a page would exceed 10 MB or its records
 * hold more than `maxPageBytes` of text.
 */
export async function searchRecords(scope: Scope, typeKey: string, query: RecordQuery & QueryPage): Promise<SearchPage> {
  const type = await requireRecordType(scope, typeKey)
  const access = requireRecordAccess(scope, type, 'records:read')
  const selected = readFieldSelection(type, access, query.fields)
  const { limit, offset = 0 } = query
  const search = await compileQuery(scope, type, access, query)
  if (type.longRecords) await admitLongPage(scope, type, access, search, limit, offset)
  const page = cachedSearchStatement(access, `search ${search.shape}`, () => pageWithTotal(type, access, search))
  const found = await readQueryRows(scope, search, page({ ...search.values, limit, offset }))
  if (found.length > 0) {
    const records = type.longRecords ? toShownViews(type, found, access, selected) : toVisibleViews(type, found, access, selected)
    if (type.longRecords && (await takeFittingItems(scope.db, records)).length < records.length)
      throw tooLong(limit, 'have more than 10 MB')
    return { records, total: found[0]?.at(-1) as number }
  }
  // The statement gives no total for an empty page. For an empty first page the total is 0.
  if (offset === 0) return { records: [], total: 0 }
  return { records: [], total: await countOf(scope, type, access, search) }
}

/** A matching record: its id, and the bytes of its text. */
interface Match {
  readonly id: string
  readonly bytes: number
}

/** The matches that the caller may read in their order, at most `limit`, in memory at once. Later steps read the records by id. */
export async function findMatches(
  scope: Scope,
  type: RecordType,
  access: RecordAccess,
  query: RecordQuery,
  limit: number,
): Promise<Match[]> {
  const search = await compileQuery(scope, type, access, query)
  return scope.db.query(search.asSearch(matchesStatement(type, access, search, limit)))
}

/**
 * The ids of the matches among the records of `query.ids`, in no order. It is no search: it tests these records alone, which the caller has
 * locked, and must not wait for a turn meanwhile.
 */
export async function findMatchesAmong(
  scope: Scope,
  type: RecordType,
  access: RecordAccess,
  query: RecordQuery & { readonly ids: readonly string[] },
): Promise<string[]> {
  const among = await compileQuery(scope, type, access, query)
  const found = await scope.db.query(matchesStatement(type, access, among, query.ids.length))
  return found.map(({ id }) => id)
}

function matchesStatement(type: RecordType, access: RecordAccess, search: CompiledQuery, limit: number): Statement<Match> {
  const fill = cachedSearchStatement(access, `matches ${search.shape}`, () => matchesOf(type, search))
  return asUnprepared(fill({ ...search.values, limit }))
}

/** The number of matches that the caller may read. */
export const countMatches = async (scope: Scope, type: RecordType, access: RecordAccess, query: RecordQuery): Promise<number> =>
  countOf(scope, type, access, await compileQuery(scope, type, access, query))

async function countOf(scope: Scope, type: RecordType, access: RecordAccess, search: CompiledQuery): Promise<number> {
  const count = cachedSearchStatement(access, `total ${search.shape}`, () => totalOf(type, search))
  return ((await readQueryRows(scope, search, count(search.values)))[0]?.[0] ?? 0) as number
}

/** Has the database measure a page of long records before it is read: too long a page is refused, others are admitted by their bytes. */
async function admitLongPage(
  scope: Scope,
  type: RecordType,
  access: RecordAccess,
  search: CompiledQuery,
  limit: number,
  offset: number,
): Promise<void> {
  const measure = cachedSearchStatement(access, `bytes ${search.shape}`, () => pageBytes(type, access, search))
  const [measured] = await readQueryRows(scope, search, measure({ ...search.values, limit, offset }))
  const [bytes, records] = measured as unknown as readonly [number, number]
  if (bytes > maxPageBytes && records > 1)
    throw tooLong(limit, `hold more than ${maxPageBytes / 1_000_000} MB of text in all the fields that you see, selected or not`)
  await scope.admitAnswer?.(bytes)
}

/**
 * A page of the matching records that the caller may read, as in `searchRecords`, without the total. The text of a page is unbounded: use
 * a small limit for long records.
 */
export async function findRecords(scope: Scope, typeKey: string, query: RecordQuery & QueryPage): Promise<RecordView[]> {
  const type = await requireRecordType(scope, typeKey)
  const access = requireRecordAccess(scope, type, 'records:read')
  const selected = readFieldSelection(type, access, query.fields)
  const compiled = await compileQuery(scope, type, access, query)
  return readPageOf(scope, type, access, compiled, query.limit, query.offset ?? 0, selected)
}

/**
 * The records of these ids that the caller may read, at most `limit`, and with `fit` at most `fit.maxBytes`, as it then tells. It looks them
 * up by their ids, which is no search unless conditions limit the caller.
 */
export async function readRecordsByIds(
  scope: Scope,
  type: RecordType,
  access: RecordAccess,
  ids: readonly string[],
  limit: number,
  fit: ByteLimit | undefined,
): Promise<RecordView[]> {
  return readPageOf(scope, type, access, await compileQuery(scope, type, access, { ids }), limit, 0, undefined, fit)
}

async function readPageOf(
  scope: Scope,
  type: RecordType,
  access: RecordAccess,
  compiled: CompiledQuery,
  limit: number,
  offset: number,
  selected: ReadonlySet<string> | undefined,
  byteLimit?: ByteLimit | undefined,
): Promise<RecordView[]> {
  // Hidden text is not measured.
  const isLeftOut = type.longRecords || (byteLimit !== undefined && !access.alwaysVisible)
  const fill = cachedSearchStatement(access, `page ${isLeftOut} ${compiled.shape}`, () => pageOf(type, access, compiled, isLeftOut))
  const rows = await readQueryRows(scope, compiled, fill({ ...compiled.values, limit, offset }), byteLimit)
  return isLeftOut ? toShownViews(type, rows, access, selected) : toVisibleViews(type, rows, access, selected)
}

/** Reads rows as arrays. */
const readQueryRows = (
  scope: Scope,
  { isPlain, asSearch }: CompiledQuery,
  statement: Statement<unknown>,
  byteLimit?: ByteLimit | undefined,
): Promise<RecordRow[]> => readRows(scope, { ...asArrays(isPlain ? statement : asSearch(statement)), ...(byteLimit && { byteLimit }) })

const tooLong = (limit: number, reason: string) =>
  problem('VALIDATION_ERROR', `limit must be less than ${limit} here: together these records ${reason}`)
