import type { HeldLock } from '#test/support/locks.ts'
import type { Db } from '#test/support/rows.ts'

/** Changes of a queue's stored rows that `verify` finds, by the field that it names. */
export const queueTamperings = {
  priority: (db: Db, itemId: string) => db.query('update queue_items set priority = 9 where id = $1', [itemId]),
  due_at: (db: Db, itemId: string) => db.query(`update queue_items set due_at = '2030-01-01' where id = $1`, [itemId]),
  stage: (db: Db, itemId: string) => db.query(`update queue_items set stage = 'out' where id = $1`, [itemId]),
  payload: (db: Db, itemId: string) => db.query(`update queue_items set payload = '{"a":1}' where id = $1`, [itemId]),
  row: (db: Db, itemId: string) => db.query('delete from queue_items where id = $1', [itemId]),
} as const

/** Deletes an item's row as a deletion does, without its history entry, in a transaction that holds a lock. */
export const deleteItemRow = (lock: HeldLock, itemId: string) => lock.query('delete from queue_items where id = $1', [itemId])

/** Adds one to each counter of a queue. */
export async function raiseCounts(db: Db, queueId: string): Promise<void> {
  await db.query('update queue_counts set items = items + 1 where queue_id = $1', [queueId])
}

/** Changes and deletions of a queue's history, which the database refuses. */
export const historyTamperings: readonly ((db: Db, queueId: string) => Promise<unknown>)[] = [
  (db, queueId) => db.query(`update queue_history set key = 'B' where queue_id = $1`, [queueId]),
  (db, queueId) => db.query('delete from queue_history where queue_id = $1', [queueId]),
]

/** The number of rows that each table of queues has for one queue. */
export async function countQueueRows(db: Db, queueId: string): Promise<Record<string, number>> {
  const { rows } = await db.query(
    `select (select count(*)::integer from queues where id = $1) as queues,
       (select count(*)::integer from queue_items where queue_id = $1) as items,
       (select count(*)::integer from queue_history where queue_id = $1) as history,
       (select count(*)::integer from queue_counts where queue_id = $1) as counts,
       (select count(*)::integer from queue_stages where queue_id = $1) as stages`,
    [queueId],
  )
  return rows[0]
}

/** Stores a filter of intake, whatever its size. */
export async function storeIntakeFilter(db: Db, queueId: string, filter: unknown): Promise<void> {
  await db.query(`update queues set intake = jsonb_set(intake::jsonb, '{filter}', $2::jsonb)::json where id = $1`, [
    queueId,
    JSON.stringify(filter),
  ])
}

/** Removes the setting `items_follow_records`, as in a queue that was stored before the setting existed. */
export async function dropFollowSetting(db: Db, queueId: string): Promise<void> {
  await db.query(`update queues set settings = (settings::jsonb - 'items_follow_records')::json where id = $1`, [queueId])
}

/** The ids of the items that were claimed from a queue, in the order of the claims. */
export async function readClaimedItems(db: Db, queueId: string): Promise<string[]> {
  const { rows } = await db.query<{ item_id: string }>(
    `select item_id from queue_history where queue_id = $1 and kind = 'claimed' order by id`,
    [queueId],
  )
  return rows.map(({ item_id }) => item_id)
}

/** The keys that more than one open item of a queue has. */
export async function readKeysOpenTwice(db: Db, queueId: string): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>(
    `select key from queue_items where queue_id = $1 and status = 'open' group by key having count(*) > 1`,
    [queueId],
  )
  return rows.map(({ key }) => key)
}

/** The endings of a function's runs, and the number of runs of each. */
export async function readRunEndings(db: Db, functionId: string): Promise<{ ending: string; runs: number }[]> {
  const { rows } = await db.query<{ ending: string; runs: number }>(
    'select ending, count(*)::integer as runs from function_runs where function_id = $1 group by ending',
    [functionId],
  )
  return rows
}

/** Drops every update of an item, as if another caller had always changed the item first. Returns what lets updates through again. */
export async function dropItemUpdates(db: Db, itemId: string): Promise<() => Promise<void>> {
  const name = `drop_${itemId.replaceAll('-', '')}`
  await db.query(`
    create function ${name}() returns trigger language plpgsql as 'begin return null; end';
    create trigger ${name} before update on queue_items for each row when (old.id = '${itemId}') execute function ${name}()`)
  return async () => void (await db.query(`drop function ${name} cascade`))
}
