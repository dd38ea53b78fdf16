import { lowerCase, lowerCaseSql } from '#shared/core/policy/conditions/letter-case.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { accessStatement, type ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import { overdueCutoffs } from '#shared/features/queues/items/schemas.ts'
import { itemColumns, itemColumnsOf } from '#shared/features/queues/store.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { hasTrigram, letterPairs, letterPairsSql } from '#shared/platform/db/statements/letter-pairs.ts'
import { asHeavy, asUnprepared, buildStatement, type Statement, sql } from '#shared/platform/db/statements/statement.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/** Items by what their keys hold, and batches by what their labels do. */
interface TextMatches {
  readonly items: readonly string[]
  readonly batches: readonly string[]
}

/** What of a queue's items is meant. */
export interface ItemFilter {
  readonly workspaceId: string
  readonly queue: Queue
  readonly now: Date
  readonly stage?: string | undefined
  /** `closed` for any but open. */
  readonly status?: string | undefined
  readonly batch?: string | undefined
  readonly key?: string | undefined
  readonly q?: string | undefined
  /** What of the queue holds `q`, where an index has told it. */
  readonly textMatches?: TextMatches | undefined
  readonly overdue?: boolean | undefined
  readonly assignee_id?: string | undefined
  readonly record_id?: string | undefined
  /** Only items with a lower id. */
  readonly beforeId?: string | undefined
  /** Only items that the caller sees. */
  readonly access?: ItemAccess | undefined
}

const pattern = (q: string): string => `%${lowerCase(q).replace(/[\\%_]/g, '\\$&')}%`

/** More items than this are found sooner among all. */
const maxHolding = 2_000

/** Of the newest 1,000 items, so many that hold a text say that very many do. */
const manyOfNewest = 20

const texts = (name: string, condition: string) =>
  sql(
    name,
    `select case when held.items > $5::integer then null else array(
     select item_id from queue_history
     where workspace_id = $1 and queue_id = $2 and kind = 'added' and ${lowerCaseSql('key')} like $3 ${condition} limit $4
   ) end as items, array(
     select distinct batch from queue_counts
     where workspace_id = $1 and queue_id = $2 and batch <> '' and ${lowerCaseSql('batch')} like $3 order by batch
   ) as batches
   from (
     select count(*) as items from (
       select key from queue_items where workspace_id = $1 and queue_id = $2 order by id desc limit 1000
     ) as newest where ${lowerCaseSql('key')} like $3
   ) as held`,
  )

const textsByTrigrams = texts('find_queue_texts', '')
const textsByPairs = texts('find_short_queue_texts', `and ${letterPairsSql(lowerCaseSql('key'))} @> $6::text[]`)

/**
 * What of a queue holds a text, by an index; `items` is null where too many do. Measured with 400,000 items on a busy machine: 10 ms where
 * none does, 40 where 50 do, against 1,200 for looking at all.
 */
export function findTextMatches(workspaceId: string, queueId: string, q: string): Statement {
  const values = [workspaceId, queueId, pattern(q), maxHolding + 1, manyOfNewest]
  return asHeavy(asUnprepared(hasTrigram(q) ? textsByTrigrams(...values) : textsByPairs(...values, letterPairs(lowerCase(q)))), 'q')
}

/** Whether what holds a text was found by an index, and is little enough to be asked for by id. */
export const hasFewMatches = (found: { readonly items: readonly string[] | null }): found is TextMatches =>
  found.items !== null && found.items.length <= maxHolding

/** The orders of lists: newest first, as items are claimed, as they were closed. */
export const itemOrders = { newest: 'id desc', claim: 'priority desc, id', ended: 'closed_at desc, id desc' } as const

/** A page of items. It is not prepared: its filters decide which index is right. */
export const selectItems = (filter: ItemFilter, order: string, limit: number, offset: number): Statement =>
  heavyByText(
    filter,
    builder.raw(`select ${itemColumns.join(', ')} from queue_items where ? order by ${order} limit ? offset ?`, [
      conditionOf(filter),
      limit,
      offset,
    ]),
  )

/** How many items match. */
export function countItems(filter: ItemFilter): Statement {
  const statement = heavyByText(filter, builder.raw('select count(*) as items from queue_items where ?', [conditionOf(filter)]))
  return filter.access && !filter.q ? asHeavy(statement, 'stage, status or batch') : statement
}

/** A statement of the query, a heavy one where it looks for a text. */
const heavyByText = ({ q }: ItemFilter, query: Knex.Raw): Statement => (q ? asHeavy(buildStatement(query), 'q') : buildStatement(query))

function conditionOf(filter: ItemFilter): Knex.Raw {
  const { workspaceId, queue, stage, status, batch, key, q, textMatches, overdue, assignee_id, record_id } = filter
  const parts = [builder.raw('workspace_id = ?', [workspaceId]), builder.raw('queue_id = ?', [queue.id])]
  const add = (condition: string, ...values: readonly Knex.Value[]) => parts.push(builder.raw(condition, [...values]))
  if (stage !== undefined) add('stage = ?', stage)
  if (status === 'open') add(`status = 'open'`)
  else if (status !== undefined) add(`status <> 'open'`)
  if (status !== undefined && status !== 'open' && status !== 'closed') add('status = ?', status)
  if (batch !== undefined) add(batch === '' ? 'batch = ?' : `batch = ? and batch <> ''`, batch)
  // Either part has an index of its own.
  if (key !== undefined) add(`key = ? and (status = 'open' or status <> 'open')`, key)
  if (textMatches?.batches.length === 0) add('id = any(?::uuid[])', [...textMatches.items])
  else if (textMatches)
    add(`(id = any(?::uuid[]) or (batch <> '' and batch = any(?::text[])))`, [...textMatches.items], [...textMatches.batches])
  else if (q) add(`(${lowerCaseSql('key')} like ? or ${lowerCaseSql('batch')} like ?)`, pattern(q), pattern(q))
  if (assignee_id !== undefined) add(assignee_id === '' ? 'assignee_id = ?' : `assignee_id = ? and assignee_id <> ''`, assignee_id)
  if (record_id !== undefined) add('record_id = ?', record_id)
  if (filter.beforeId !== undefined) add('id < ?', filter.beforeId)
  if (overdue) parts.push(overdueSql(filter))
  if (filter.access) parts.push(filter.access('queue_items.record_id', 'queue_items.queue_id'))
  return builder.raw(parts.map(() => '?').join(' and '), parts)
}

/** Each part has an index of its own. */
function overdueSql({ queue, now }: ItemFilter): Knex.Raw {
  const { keys, times } = overdueCutoffs(queue, now)
  const parts = [
    builder.raw(`(status = 'open' and due_at < ?::timestamptz)`, [toInstant(now)]),
    ...keys.map((key, index) =>
      builder.raw(`(status = 'open' and stage = ? and entered_stage_at < ?::timestamptz)`, [key, times[index] ?? toInstant(now)]),
    ),
  ]
  return builder.raw(`(${parts.map(() => '?').join(' or ')})`, parts)
}

/**
 * The first items of each stage: open ones as they would be claimed, of the stages named second the newest closed ones. Values: workspace,
 * queue, stages, those that are terminal, how many of each, and a batch or null for all.
 */
export const findBoard = accessStatement(
  'find_queue_board',
  (seen) => `select ${itemColumnsOf('item')} from unnest($3::text[]) as shown (stage), lateral (
     select * from queue_items
     where workspace_id = $1 and queue_id = $2 and stage = shown.stage and status = 'open' and ($6::text is null or batch = $6)${seen('queue_items.record_id', 'queue_items.queue_id')}
     order by priority desc, id limit $5
   ) as item
   union all
   select ${itemColumnsOf('item')} from unnest($4::text[]) as shown (stage), lateral (
     select * from queue_items
     where workspace_id = $1 and queue_id = $2 and stage = shown.stage and status <> 'open' and ($6::text is null or batch = $6)${seen('queue_items.record_id', 'queue_items.queue_id')}
     order by closed_at desc, id desc limit $5
   ) as item`,
)
