import { randomUUID } from 'node:crypto'
import { makeIndexes } from '#bench/data/indexes.ts'
import { makePipeline, makeWorkspace, type Pipeline } from '#bench/data/pipeline.ts'
import { withDatabase } from '#bench/servers/connection.ts'
import { makeToken } from '#shared/core/people/tokens.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** The loaded data of the cases. */
export interface Loaded {
  readonly workspaceId: string
  readonly actorId: string
  /** A session token of the owner of all workspaces. */
  readonly token: string
  /** Types of the workspace, the smallest first. */
  readonly sizes: readonly [Pipeline, ...Pipeline[]]
  /** The type for cases of one size: the largest with at most 100,000 records, else the smallest. */
  readonly typical: Pipeline
  /** A type in each of the other workspaces. */
  readonly neighbours: readonly [Pipeline, ...Pipeline[]]
}

/** Number of the other workspaces, and records in each. */
const neighbours = { count: 20, records: 10_000 }

/** Fills the database directly, in sorted order, and reports the amounts. */
export function loadData(databaseUrl: string, records: readonly number[], say: (line: string) => void): Promise<Loaded> {
  return withDatabase(databaseUrl, 'data', async (db) => {
    const [actorId, token] = await makeOwner(db)
    const others: Pipeline[] = []
    await timed(say, `${neighbours.count} other workspaces of ${neighbours.records.toLocaleString('en')} records`, async () => {
      for (let index = 1; index <= neighbours.count; index++) {
        const id = await makeWorkspace(db, actorId, `Neighbour ${index}`)
        others.push(await makeIndexed(db, id, 'deals', neighbours.records))
      }
    })
    const workspaceId = await makeWorkspace(db, actorId, 'Bench')
    const sizes: Pipeline[] = []
    for (const count of records.toSorted((one, other) => one - other)) {
      await timed(say, `a type of ${count.toLocaleString('en')} records`, async () => {
        sizes.push(await makeIndexed(db, workspaceId, `deals_${count}`, count))
      })
    }
    for (const table of ['audit_entries', 'record_counts', 'record_types', 'fields']) await db.query({ text: `vacuum analyze ${table}` })
    await db.query({ text: 'checkpoint' }).catch(() => undefined)
    const [neighbour, size] = [others[0], sizes[0]]
    if (!neighbour || !size) throw new Error('--records must name at least one number of records')
    const typical = sizes.findLast((one) => one.records <= 100_000) ?? size
    return { workspaceId, actorId, token, sizes: [size, ...sizes.slice(1)], typical, neighbours: [neighbour, ...others.slice(1)] }
  })
}

/** Creates the person for all requests, straight in the database, with a session. */
export async function makeOwner(db: Database): Promise<[id: string, token: string]> {
  const id = randomUUID()
  const { text: token, hash } = makeToken('session', id)
  await db.query({
    // The workspaces of the bench count one by one, as those of different owners.
    text: `insert into users (id, email, name, password_hash, shares_apart) values ($1, 'bench@example.com', 'Bench', 'none', true)`,
    values: [id],
  })
  await db.query({
    text: `insert into sessions (id, user_id, token_hash, expires_at) values ($1, $2, $3, now() + interval '30 days')`,
    values: [newId(), id, hash],
  })
  return [id, token]
}

async function makeIndexed(db: Database, workspaceId: string, key: string, records: number): Promise<Pipeline> {
  const made = await makePipeline(db, workspaceId, key, records)
  await makeIndexes(db, made)
  return made
}

async function timed(say: (line: string) => void, what: string, work: () => Promise<void>): Promise<void> {
  const started = performance.now()
  await work()
  say(`Loaded ${what} in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
}
