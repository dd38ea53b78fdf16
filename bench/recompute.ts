import pg from 'pg'
import type { Loaded } from '#bench/data.ts'
import { load, type Shot } from '#bench/load.ts'
import { startServer } from '#bench/servers.ts'

/** How long the API is looked at before the recompute, and again while it runs. */
const seconds = 3

/**
 * Prints how fast a worker computes the records of a type whose formula is set, and what reading records costs meanwhile: at least 5,000
 * records a second, and a p95 for get by id that at most doubles.
 */
export async function benchRecompute(url: string, { workspaceId, token, ids }: Loaded, environment: NodeJS.ProcessEnv): Promise<void> {
  const org = `/v1/orgs/${workspaceId}`
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(url + org + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
    return ((await answer.json()) as { data: { id: string } }).data
  }
  const get: Shot = { method: 'GET', make: (index) => ({ path: `${org}/records/deals/${ids[index % ids.length]}` }) }
  const { id } = await send('POST', '/fields', { entity_type: 'deals', key: 'gross', label: 'Gross', type: 'number' })
  const worker = await startServer('workers/main.ts', environment, ['--pools=data'])
  try {
    // Formulas that were set before have their records computed first.
    await lastRecompute(environment.DATABASE_URL)
    const before = await load(url, token, get, 4, seconds)
    await send('PUT', `/fields/${id}/formula`, { formula: 'ROUND(amount * 1.19, 2)' })
    const done = lastRecompute(environment.DATABASE_URL)
    const during = await load(url, token, get, 4, seconds)
    const { records, milliseconds } = await done
    const rate = Math.round((records / milliseconds) * 1_000).toLocaleString('en')
    console.log(
      `${'recompute'.padEnd(20)}${records.toLocaleString('en')} records in ${(milliseconds / 1_000).toFixed(1)} s: ${rate} a second (at least 5,000)`,
    )
    const ratio = (during.p95Ms / before.p95Ms).toFixed(2)
    console.log(
      `${'recompute, get p95'.padEnd(20)}${before.p95Ms.toFixed(2)} ms before, ${during.p95Ms.toFixed(2)} ms meanwhile: ${ratio} (at most 2)`,
    )
  } finally {
    await worker.stop()
  }
}

/** Waits until no recompute is open and gives the last one's figures. */
async function lastRecompute(databaseUrl: string | undefined): Promise<{ records: number; milliseconds: number }> {
  const db = new pg.Client(databaseUrl)
  await db.connect()
  try {
    for (;;) {
      const { rows } = await db.query(`
        select finished_at is null as open, (progress ->> 'done')::integer as records,
          extract(epoch from finished_at - started_at)::float8 * 1000 as milliseconds
        from operations where kind = 'records.recompute' order by created_at`)
      if (rows.length > 0 && !rows.some(({ open }) => open)) return rows.at(-1)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  } finally {
    await db.end()
  }
}
