import type { Bench, Case, Group, Side } from '#bench/case.ts'
import { pathOf } from '#bench/cases/core/records.ts'
import { load, type Shot } from '#bench/load.ts'
import { peakMegabytes } from '#bench/servers/memory.ts'
import { startWorker } from '#bench/servers/worker.ts'

/** Maximum rows of a file (docs/contract/records.md#files). */
const [rowsIn, rowsOut] = [500, 10_000]

/** Concurrent imports and exports that a workspace may have. */
const connections = 2

const header = 'name,stage,amount,due,email,notes'

/** CSV import and export through a worker, compared with a route that writes or reads the same rows in one statement. */
export const csv: Group = {
  name: 'csv',
  cases: async (bench) => {
    const type = bench.loaded.neighbours[0]
    const worker = await startWorker(bench, 'data')
    const importOf = (path: string) => ({
      method: 'POST' as const,
      contentType: 'text/csv',
      make: (index: number) => ({ path, body: fileOf(index) }),
    })
    const exportOf = (path: string) => ({ method: 'GET' as const, make: () => ({ path }) })
    return [
      perRow(bench, 'export, 10,000 rows', rowsOut, exportOf(`/export/${type.typeId}`), exportOf(`${pathOf(type)}/export`)),
      perRow(bench, 'import, 500 rows', rowsIn, importOf(`/import/${type.typeId}`), importOf(`${pathOf(type)}/import`)),
      {
        name: "the worker's peak",
        unit: 'MB',
        rounds: 1,
        floor: async () => ({ amount: worker.idleMegabytes }),
        kontor: async () => ({ amount: await peakMegabytes(worker.pid) }),
        aims: { amountAtMost: worker.idleMegabytes + connections * 2 * growthMegabytes },
      },
    ]
  },
}

/** Megabytes that one import or export may add to the memory of its worker. */
const growthMegabytes = 64

/** Rows per second of requests with this many rows each; the times are per file. */
function perRow(bench: Bench, name: string, rows: number, floor: Omit<Shot, 'token'>, kontor: Omit<Shot, 'token'>): Case {
  const run = (url: string, shot: Omit<Shot, 'token'>) => async (): Promise<Side> => {
    const side = await load({ url, connections, seconds: bench.seconds }, { ...shot, token: bench.loaded.token })
    return { ...side, amount: side.amount * rows }
  }
  return { name, unit: 'rows/s', floor: run(bench.floorUrl, floor), kontor: run(bench.kontorUrl, kontor) }
}

/** The nth file of new records. */
function fileOf(index: number): string {
  const lines = Array.from(
    { length: rowsIn },
    (_, row) => `Imported ${index} ${row},stage-${row % 200},${row}.25,2026-12-24,row${row}@example.com,What was said on the phone`,
  )
  return `${header}\n${lines.join('\n')}\n`
}
