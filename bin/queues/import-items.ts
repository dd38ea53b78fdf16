import { stat } from 'node:fs/promises'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { Api } from '../client/api.ts'
import { formatCount, progressBar } from '../client/progress-bar.ts'
import { findTarget, type TargetOptions } from '../client/target.ts'
import type { CommandResult } from '../command.ts'
import type { Shell } from '../shell.ts'
import { type ItemRow, itemRows } from './item-rows.ts'
import { findQueue } from './queue.ts'

interface Options extends TargetOptions {
  readonly file: string
  readonly queue: string
  readonly batch?: string | undefined
}

/** Limits of one request (document 2, Queue items per add; document 1, Request body). */
const requestLimits = { items: 500, bytes: 700_000 }

interface Failure {
  readonly row: number
  readonly message: string
}

/** Result of sending some rows. */
interface SendResult {
  readonly created: number
  readonly duplicates: number
  readonly failed: readonly Failure[]
}

/** Adds the rows of a CSV file to a queue, as a manifest. A key that is already open is kept. `failed` is true when any row failed. */
export async function importItems({ file, queue: key, batch, ...options }: Options, shell: Shell): Promise<CommandResult> {
  const isFile = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!isFile) throw problem('VALIDATION_ERROR', `file must be a file on a disk, got ${file}`)
  const { api, orgId } = await findTarget(options, shell.environment)
  const queue = await findQueue(api, orgId, key)
  const bar = progressBar(shell.terminal, 0, 'items')
  const total = { created: 0, duplicates: 0, failed: [] as Failure[] }
  const send = async (rows: readonly ItemRow[]) => {
    const sent = await sendRows(api, `/orgs/${orgId}/queues/${queue.id}/items`, rows, batch)
    total.created += sent.created
    total.duplicates += sent.duplicates
    total.failed.push(...sent.failed)
    bar.clear()
    shell.print(sent.failed.map(({ row, message }) => `row ${row}: ${message.replace(/\p{Cc}+/gu, ' ')}`))
    bar.show(total.created + total.duplicates)
  }
  let [rows, bytes]: [ItemRow[], number] = [[], 0]
  for await (const row of itemRows(file, queue)) {
    const size = 'item' in row ? Buffer.byteLength(JSON.stringify(row.item)) + 1 : 0
    if (rows.length === requestLimits.items || (rows.length > 0 && bytes + size > requestLimits.bytes)) {
      await send(rows)
      ;[rows, bytes] = [[], 0]
    }
    rows.push(row)
    bytes += size
  }
  if (rows.length > 0) await send(rows)
  bar.clear()
  const { created, duplicates, failed } = total
  const open = duplicates > 0 ? `, ${formatCount(duplicates)} were open already` : ''
  return {
    data: { queue: queue.key, created, duplicates, failed: failed.length, errors: failed.slice(0, 1_000) },
    lines: [
      `${formatCount(created)} items added to ${queue.name}${open}${failed.length > 0 ? `, ${formatCount(failed.length)} rows failed` : ''}`,
    ],
    failed: failed.length > 0,
  }
}

/** Adds the items of the rows. An item that the API refuses by its index fails, and the others are sent again. */
async function sendRows(api: Api, path: string, rows: readonly ItemRow[], batch: string | undefined): Promise<SendResult> {
  const failed: Failure[] = rows.flatMap((row) => ('message' in row ? [row] : []))
  let open = rows.flatMap((row) => ('item' in row ? [row] : []))
  while (open.length > 0) {
    try {
      const json = { items: open.map(({ item }) => item), source: 'import', ...(batch === undefined ? {} : { batch }) }
      const { created, duplicates } = await api.post<{ created: number; duplicates: number }>(path, { json })
      return { created, duplicates, failed }
    } catch (error) {
      const [, index, message] = /^items\[(\d+)\]\.?(.*)$/s.exec(error instanceof Problem ? error.message : '') ?? []
      const refused = index === undefined ? undefined : open[Number(index)]
      if (!refused) throw error
      failed.push({ row: refused.row, message: message ?? '' })
      open = open.filter((row) => row !== refused)
    }
  }
  return { created: 0, duplicates: 0, failed }
}
