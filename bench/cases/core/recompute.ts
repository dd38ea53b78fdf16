import type { Bench, Group, Side } from '#bench/case.ts'
import { pathOf } from '#bench/cases/core/records.ts'
import { sender } from '#bench/client.ts'
import { load } from '#bench/load.ts'
import { get, nth } from '#bench/race.ts'
import { withClient } from '#bench/servers/connection.ts'
import { startWorker } from '#bench/servers/worker.ts'

/** Duration of each measurement of reads. */
const seconds = 3
const connections = 4

/** The rate at which a worker computes a new formula and audits what it changes, and the effect on reads. */
export const recompute: Group = {
  name: 'recompute',
  cases: async (bench) => {
    const { loaded, kontorUrl, databaseUrl } = bench
    const { key } = loaded.typical
    const send = sender(kontorUrl, loaded)
    const { id } = await send('POST', '/fields', { entity_type: key, key: 'gross', label: 'Gross', type: 'number' })
    await startWorker(bench, 'data')
    let computed: Side = {}
    return [
      {
        name: 'p95 of get meanwhile',
        unit: 'requests/s',
        rounds: 1,
        compares: 'p95Ms',
        // Formulas that were set before are computed first.
        floor: async () => {
          await lastRecompute(databaseUrl)
          return reads(bench)
        },
        kontor: async () => {
          await send('PUT', `/fields/${id}/formula`, { formula: 'ROUND(amount * 1.19, 2)' })
          const done = lastRecompute(databaseUrl)
          const during = await reads(bench)
          computed = { amount: await done }
          return during
        },
        aims: { ratioAtMost: 2 },
      },
      { name: 'set formula', unit: 'records/s', rounds: 1, kontor: async () => computed, aims: { amountAtLeast: 2_500 } },
    ]
  },
}

function reads({ loaded: { token, typical }, kontorUrl: url }: Bench): Promise<Side> {
  return load({ url, connections, seconds }, { token, ...get((index) => `${pathOf(typical)}/${nth(typical.ids, index)}`) })
}

/** Waits until no recompute is open and returns how many records per second the last one computed. */
function lastRecompute(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (db) => {
    for (;;) {
      const { rows } = await db.query(`
        select finished_at is null as open, (progress ->> 'done')::float8 / extract(epoch from finished_at - started_at)::float8 as rate
        from operations where kind = 'records.recompute' order by created_at`)
      if (!rows.some(({ open }) => open)) return rows.at(-1)?.rate ?? 0
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })
}
