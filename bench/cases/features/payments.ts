import type { Case, Group } from '#bench/case.ts'
import { pathIn } from '#bench/client.ts'
import { makeReceivables } from '#bench/data/receivables.ts'
import { get, race } from '#bench/race.ts'

/** Receivables: the overview of very many invoices. */
export const payments: Group = {
  name: 'payments',
  cases: async (bench) => {
    const workspaceId = await makeReceivables(bench.databaseUrl, bench.loaded.actorId, 10_000)
    const overview = race(
      { ...bench, connections: 1 },
      {
        name: 'overview, 10,000 invoices in 5 currencies',
        aims: {},
        floor: get(() => ''),
        kontor: get(() => pathIn({ workspaceId }, '/payments/overview')),
      },
    )
    const one: Case = { name: overview.name, unit: overview.unit, kontor: overview.kontor, aims: { p50AtMostMs: 100 } }
    return [one]
  },
}
