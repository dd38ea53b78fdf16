import type { Group } from '#bench/case.ts'
import { pathIn } from '#bench/client.ts'
import { makeReceivables } from '#bench/data/receivables.ts'
import { alone } from '#bench/race.ts'

/** Receivables: the overview of very many invoices. */
export const payments: Group = {
  name: 'payments',
  cases: async (bench) => {
    const workspaceId = await makeReceivables(bench.databaseUrl, bench.loaded.actorId, 10_000)
    const path = pathIn({ workspaceId }, '/payments/overview')
    return [alone(bench, 'overview, 10,000 invoices in 5 currencies', path, { p50AtMostMs: 100 })]
  },
}
