import type { Executor } from '#shared/platform/db/database.ts'
import type { ByteLimit } from '#shared/platform/db/statements/byte-limit.ts'
import { type Statement, sql } from '#shared/platform/db/statements/statement.ts'
import { makeCursor, readCursor } from '#shared/platform/kernel/cursor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** The most bytes of a list's answer as JSON; a single item above that is answered alone. */
export const maxListBytes = 10_000_000

/** Bytes that are left for what stands around the items: the envelope, totals and cursors. */
const roomForItems = maxListBytes - 10_000

/** One byte of a row becomes at most six as JSON, as a control character does; the keys of an item take less than 2,000. */
const worst = (rowBytes: number, rows: number): number => rowBytes * 6 + rows * 2_000

/** The rows of a read that were kept in memory. */
interface FittingRows<Row> {
  readonly rows: Row[]
  /** Their bytes as the database sent them. */
  readonly bytes: number
  /** False where the statement gave more rows than fit. */
  readonly isWhole: boolean
}

/** Reads as many of a statement's rows, from its first, as fit into so many bytes, at least one. The others never are in memory together. */
async function queryFitting<Row>(db: Pick<Executor, 'query'>, statement: Statement, maxBytes: number): Promise<FittingRows<Row>> {
  const fit: ByteLimit = { maxBytes, bytes: 0, isWhole: true }
  const rows = await db.query<Row>({ ...statement, byteLimit: fit })
  return { rows, bytes: fit.bytes, isWhole: fit.isWhole }
}

/** A page of rows, and whether the list goes on behind it. */
export interface ReadPage<Row> {
  readonly page: Row[]
  readonly hasMore: boolean
}

/** Reads a page of at most `limit` rows and 10 MB by a statement that asks for one row more. Bytes beyond that never are in memory. */
export async function readPage<Row>(db: Pick<Executor, 'query'>, statement: Statement, limit: number): Promise<ReadPage<Row>> {
  const { rows, bytes, isWhole } = await queryFitting<Row>(db, statement, roomForItems)
  const asked = rows.slice(0, limit)
  const page = worst(bytes, rows.length) <= roomForItems ? asked : takeFittingItems(asked)
  return { page, hasMore: !isWhole || rows.length > page.length }
}

/** Reads a list that has no pages. Throws VALIDATION_ERROR with `hint` where it has more than 10 MB and more than one row. */
export async function readWholeList<Row>(db: Pick<Executor, 'query'>, statement: Statement, hint: string): Promise<Row[]> {
  const { page, hasMore } = await readPage<Row>(db, statement, Number.POSITIVE_INFINITY)
  if (hasMore) throw tooLarge(hint)
  return page
}

/** The items of a list that has no pages. Throws VALIDATION_ERROR with `hint` where they have more than 10 MB, unless it is one alone. */
export function requireFittingItems<Item>(items: Item[], hint: string): Item[] {
  if (takeFittingItems(items).length < items.length) throw tooLarge(hint)
  return items
}

/** The first of the items, at least one, that have 10 MB as JSON together. */
export function takeFittingItems<Item>(items: readonly Item[]): Item[] {
  let room = roomForItems
  const kept: Item[] = []
  for (const item of items) {
    room -= sizeOf(item)
    if (room < 0 && kept.length > 0) break
    kept.push(item)
  }
  return kept
}

const sizeOf = (item: unknown): number => Buffer.byteLength(JSON.stringify(item)) + 1

const tooLarge = (hint: string) => problem('VALIDATION_ERROR', `the list has more than 10 MB: ${hint}`)

/** The parameters of a list that is whole without `limit`, and has pages with it. */
export const linkedParameters = {
  limit: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 200,
      description: 'Items of a page; the header Link leads to the next. Without it all come, up to 10 MB.',
    }),
  ),
  cursor: t.Optional(t.String({ description: 'Where the page starts: as in the address that the header Link names.' })),
}

/** The query of such a list that has no other parameters. */
export const linkedQuery = schema(t.Object(linkedParameters))
export type LinkedQuery = TypeOf<typeof linkedQuery>

/** A page of such a list. */
export interface LinkedPage<Item> {
  readonly items: Item[]
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null
}

/** The statement of a page of a list in the order of creation. Values: those of the text (as many as `given`), then as `positioned` adds. */
export const creationPageSql = (name: string, text: string, given: number) =>
  sql(
    name,
    `select * from (${text}) as listed
     where ($${given + 1}::timestamptz is null or (created_at, id) > ($${given + 1}::timestamptz, $${given + 2}::uuid))
     order by created_at, id limit $${given + 3}::integer`,
  )

interface Created {
  readonly id: string
  readonly created_at: string
}

interface Listing<Row extends Created, Item> {
  /** Names the list, so that a cursor of another one is told. */
  readonly list: string
  /** Makes the statement of rows behind a position: an instant and an id, or nulls, and how many (null for all). */
  readonly find: (at: string | null, id: string | null, count: number | null) => Statement
  readonly isVisible?: (row: Row) => boolean
  /** What the answer shows of the rows, one after the other; the rows themselves without it. */
  readonly show: (rows: Row[]) => AsyncIterable<Item> | Iterable<Item>
}

/** A list in the order of creation, whole or by pages. Throws VALIDATION_ERROR for a damaged cursor, and naming `limit` above 10 MB without one. */
export async function listByCreation<Row extends Created, Item>(
  db: Pick<Executor, 'query'>,
  { limit, cursor }: LinkedQuery,
  { list, find, isVisible = () => true, show }: Listing<Row, Item>,
): Promise<LinkedPage<Item>> {
  let [at, id] = cursor === undefined ? [null, null] : positionOf(list, cursor)
  for (;;) {
    const statement = find(at, id, limit === undefined ? null : limit + 1)
    const { page, hasMore } = await readPage<Row>(db, statement, limit ?? Number.POSITIVE_INFINITY)
    const visible = page.filter(isVisible)
    const { items, isCut } = await shown(show(visible))
    if (limit === undefined && (hasMore || isCut)) throw tooLarge('ask for pages by limit, 1 to 200')
    const last = isCut ? visible[items.length - 1] : page.at(-1)
    if (!last || !(hasMore || isCut)) return { items, next: null }
    if (items.length > 0) return { items, next: makeCursor(list, `${last.created_at} ${last.id}`) }
    ;[at, id] = [last.created_at, last.id]
  }
}

/** Takes items until they have 10 MB together. */
async function shown<Item>(made: AsyncIterable<Item> | Iterable<Item>): Promise<{ items: Item[]; isCut: boolean }> {
  let room = roomForItems
  const items: Item[] = []
  for await (const item of made) {
    room -= sizeOf(item)
    if (room < 0 && items.length > 0) return { items, isCut: true }
    items.push(item)
  }
  return { items, isCut: false }
}

function positionOf(list: string, cursor: string): [string, string] {
  const [at = '', id = ''] = readCursor(list, cursor).split(' ')
  if (!isUuid(id) || toUtcInstant(at) !== at) throw problem('VALIDATION_ERROR', 'cursor is damaged')
  return [at, id]
}
