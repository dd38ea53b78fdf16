import type { Executor } from '#shared/platform/db/database.ts'
import type { ByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { type Columns, instant, integer, type Params, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { type Statement, statement } from '#shared/platform/db/statements/statement.ts'
import { type CursorScope, makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { pauseWhenDue } from '#shared/platform/kernel/process/thread-share.ts'
import { instant as instantText, schema, type TypeOf, t, uuid as uuidText } from '#shared/platform/kernel/schema.ts'

/** The most bytes of a list's answer as JSON. A single item may be larger, and is then the only one in its answer. */
const maxListBytes = 10_000_000

/** Bytes for the items; 10,000 are reserved for the envelope, totals and cursors. */
const maxItemBytes = maxListBytes - 10_000

/**
 * Upper bound of the JSON bytes of rows: each byte of a row becomes at most six in JSON (a control character), and the keys of an item take
 * less than 2,000.
 */
const maxJsonBytes = (rowBytes: number, rows: number): number => rowBytes * 6 + rows * 2_000

/** What reads a list, and for whom the measuring of its items counts. */
type ListExecutor = Pick<Executor, 'query' | 'owner'>

/** The rows of a read that fit into its byte limit. */
interface FittingRows<Row> {
  readonly rows: Row[]
  /** Bytes as the database sent them. */
  readonly bytes: number
  /** False when the statement returned more rows than fit. */
  readonly isWhole: boolean
}

/** Reads the first rows of a statement that fit into `maxBytes`, at least one. The rest is never in memory. */
async function queryFitting<Row>(db: ListExecutor, statement: Statement<Row>, maxBytes: number): Promise<FittingRows<Row>> {
  const fit: ByteLimit = { maxBytes, bytes: 0, isWhole: true }
  const rows = await db.query<Row>({ ...statement, byteLimit: fit })
  return { rows, bytes: fit.bytes, isWhole: fit.isWhole }
}

/** A page of rows, and whether more rows follow. */
interface ReadPage<Row> {
  readonly page: Row[]
  readonly hasMore: boolean
}

/** Reads a page of at most `limit` rows and 10 MB; the statement must ask for one row more. Bytes beyond the limit are never in memory. */
export async function readPage<Row>(db: ListExecutor, statement: Statement<Row>, limit: number): Promise<ReadPage<Row>> {
  const { rows, bytes, isWhole } = await queryFitting<Row>(db, statement, maxItemBytes)
  const limited = rows.slice(0, limit)
  const page = maxJsonBytes(bytes, rows.length) <= maxItemBytes ? limited : await takeFittingItems(db, limited)
  return { page, hasMore: !isWhole || rows.length > page.length }
}

/** Reads a list without pages. Throws VALIDATION_ERROR with `hint` above 10 MB, unless it is a single row. */
export async function readWholeList<Row>(db: ListExecutor, statement: Statement<Row>, hint: string): Promise<Row[]> {
  const { page, hasMore } = await readPage<Row>(db, statement, Number.POSITIVE_INFINITY)
  if (hasMore) throw tooLarge(hint)
  return page
}

/** Returns the items of a list without pages. Throws VALIDATION_ERROR with `hint` above 10 MB, unless it is a single item. */
export async function requireFittingItems<Item>(db: Pick<Executor, 'owner'>, items: Item[], hint: string): Promise<Item[]> {
  if ((await takeFittingItems(db, items)).length < items.length) throw tooLarge(hint)
  return items
}

/** Returns the first items, at least one, that together have at most 10 MB as JSON. Measuring many of them shares the thread. */
export async function takeFittingItems<Item>(db: Pick<Executor, 'owner'>, items: Iterable<Item> | AsyncIterable<Item>): Promise<Item[]> {
  return (await collectItems(db, items)).items
}

/** Bytes that are measured before the thread may be given to others. */
const maxPieceBytes = 256_000

const sizeOf = (item: unknown): number => Buffer.byteLength(JSON.stringify(item)) + 1

const tooLarge = (hint: string) => problem('VALIDATION_ERROR', `the list has more than 10 MB: ${hint}`)

/** The parameter `limit` of a list that always has one. */
export const pageLimit = (maximum = 200) => t.Integer({ minimum: 1, maximum, default: 50 })

/** The query parameters of a list that always has pages. `cursor` describes the cursor. */
export const cursorParameters = ({ maximum = 200, cursor = 'next_cursor of the previous page.' } = {}) => ({
  limit: pageLimit(maximum),
  cursor: t.Optional(t.String({ description: cursor })),
})

/** The description of a cursor that the header Link carries. */
export const linkedCursor = 'Where the page starts: as in the address that the header Link names.'

/** The query parameters of a list that has pages when `limit` is given, and is whole otherwise. */
export const linkedParameters = {
  limit: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 200,
      description: 'Items of a page; the header Link names the next page. Without `limit`, the answer has all items, up to 10 MB.',
    }),
  ),
  cursor: t.Optional(t.String({ description: linkedCursor })),
}

/** The query of a list that has no parameters but `linkedParameters`. */
export const linkedQuery = schema(t.Object(linkedParameters))
export type LinkedQuery = TypeOf<typeof linkedQuery>

/** A page of a list with `linkedParameters`, or the whole list. */
export interface LinkedPage<Item> {
  readonly items: Item[]
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null
}

/** Parameters of a position in the order of creation: an instant and an id to continue after, and the row limit; nulls for none. */
const positionParams = { afterTime: instant.orNull, afterId: uuid.orNull, limit: integer.orNull }

/** Declares the statement of a page, in the order of creation, of the rows of `text`; they have the columns `id` and `created_at`. */
export const creationPage = <const P extends Params, const C extends Columns>(
  name: string,
  text: string,
  { params, columns }: { readonly params: P; readonly columns: C },
) =>
  statement(
    name,
    `select * from (${text}) as listed
     where ($afterTime::timestamptz is null or (created_at, id) > ($afterTime::timestamptz, $afterId::uuid))
     order by created_at, id limit $limit::integer`,
    { params: { ...params, ...positionParams }, columns },
  )

interface Created {
  readonly id: string
  readonly created_at: string
}

/** The position of a row in the order of creation. */
const creationPosition = schema(t.Object({ created_at: instantText, id: uuidText }))

interface Listing<Row extends Created, Item> {
  /** The statement of `count` rows (null for all) after a position: an instant and an id, or nulls for the beginning. */
  readonly find: (at: string | null, id: string | null, count: number | null) => Statement<Row>
  readonly isVisible?: (row: Row) => boolean
  /** Converts the rows to the items of the answer, in order. */
  readonly show: (rows: Row[]) => AsyncIterable<Item> | Iterable<Item>
}

/**
 * Reads a list in the order of creation, whole or by pages. A page is filled with visible items, and has a cursor only when another one
 * follows, so that neither tells how many hidden ones there are. Throws VALIDATION_ERROR for a damaged cursor, and above 10 MB without `limit`.
 */
export async function listByCreation<Row extends Created, Item>(
  scope: CursorScope & { readonly db: ListExecutor },
  { limit = Number.POSITIVE_INFINITY, cursor }: LinkedQuery,
  { find, isVisible = () => true, show }: Listing<Row, Item>,
): Promise<LinkedPage<Item>> {
  const isPage = Number.isFinite(limit)
  const visible: Row[] = []
  let after: Created | undefined = cursor === undefined ? undefined : readCursor(scope, cursor, creationPosition)
  let hasMore = true
  for (let bytes = 0; hasMore && visible.length <= limit && bytes <= maxItemBytes; ) {
    const statement = find(after?.created_at ?? null, after?.id ?? null, isPage ? limit + 1 : null)
    const found = await readPage<Row>(scope.db, statement, limit)
    const added = found.page.filter(isVisible)
    visible.push(...added)
    hasMore = found.hasMore
    if (hasMore && !isPage) throw tooLarge(smallerPages)
    if (hasMore) bytes += added.reduce((sum, row) => sum + sizeOf(row), 0)
    after = found.page.at(-1)
  }
  const shown = isPage ? visible.slice(0, limit) : visible
  const { items, isCut } = await collectItems(scope.db, show(shown))
  if (isCut && !isPage) throw tooLarge(smallerPages)
  const last = shown[items.length - 1]
  const isFollowed = isCut || hasMore || visible.length > shown.length
  return { items, next: isFollowed && last ? makeCursor(scope, { created_at: last.created_at, id: last.id }) : null }
}

const smallerPages = 'ask for pages by limit, 1 to 200'

/** Collects items until they have 10 MB together. */
async function collectItems<Item>(
  { owner }: Pick<Executor, 'owner'>,
  source: AsyncIterable<Item> | Iterable<Item>,
): Promise<{ items: Item[]; isCut: boolean }> {
  let remainingBytes = maxItemBytes
  let pieceBytes = 0
  const items: Item[] = []
  for await (const item of source) {
    const bytes = sizeOf(item)
    remainingBytes -= bytes
    if (remainingBytes < 0 && items.length > 0) return { items, isCut: true }
    items.push(item)
    pieceBytes += bytes
    if (pieceBytes < maxPieceBytes) continue
    pieceBytes = 0
    await pauseWhenDue(owner)
  }
  return { items, isCut: false }
}
