import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { readCsv } from '#shared/core/records/csv/read.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { groupBySize } from '#shared/platform/kernel/values/group-by-size.ts'
import type { Api } from '../client/api.ts'
import { formatCount, progressBar } from '../client/progress-bar.ts'
import { findTarget, type TargetOptions } from '../client/target.ts'
import type { CommandResult } from '../command.ts'
import type { Shell } from '../shell.ts'
import { findQueue, type QueueTarget } from './queue.ts'

interface Options extends TargetOptions {
  readonly file: string
  readonly queue: string
  readonly batch?: string | undefined
}

/** Limits of one request (docs/contract/queues.md#adding-items, docs/contract/limits.md#request-bodies). The size is in bytes. */
const requestLimits = { items: 500, size: 700_000 }

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

/**
 * Adds the rows of a CSV file to a queue as items. A row whose key already has an open item changes nothing. `failed` is true when any row
 * failed.
 */
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
  for await (const rows of groupBySize(itemRows(file, queue), sizeOf, requestLimits)) await send(rows)
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

/** Bytes of a row in the body of a request. */
const sizeOf = (row: ItemRow): number => ('item' in row ? Buffer.byteLength(JSON.stringify(row.item)) + 1 : 0)

/** A row of a file: an item, or the reason why it is invalid. */
type ItemRow =
  | { readonly row: number; readonly item: Readonly<Record<string, unknown>> }
  | { readonly row: number; readonly message: string }

/** Columns that are properties of an item. Below: columns of an item export that the server assigns; they are ignored. */
const itemProperties = new Set(['key', 'stage', 'batch', 'priority', 'record_id', 'assignee_id', 'payload'])
const ignoredColumns = new Set([
  ...['id', 'status', 'source', 'due_at', 'overdue', 'attempts', 'claimed_by', 'claim_expires_at', 'entered_stage_at', 'created_at'],
])

/**
 * Reads the rows of a CSV file as items. The column `key`, or the only column, is the item's key. Columns named like properties of an item
 * set these; every other column goes into the payload under its name. Throws VALIDATION_ERROR for a file without a key column.
 */
async function* itemRows(path: string, queue: QueueTarget): AsyncGenerator<ItemRow> {
  const { header, rows } = await readCsv(createReadStream(path))
  const names = header.length === 1 ? ['key'] : header
  if (!names.includes('key')) throw problem('VALIDATION_ERROR', `file must have a column named key, got ${header.join(', ')}`)
  for await (const row of rows) {
    if ('error' in row) yield { row: row.row, message: row.error }
    else yield itemOf(row.row, names, row.cells, queue)
  }
}

function itemOf(row: number, names: readonly string[], cells: readonly string[], queue: QueueTarget): ItemRow {
  const given = names
    .map((name, index) => [name, cells[index] ?? ''] as const)
    .filter(([name, cell]) => cell !== '' && !ignoredColumns.has(name))
  const item: Record<string, unknown> = Object.fromEntries(given.filter(([name]) => itemProperties.has(name)))
  const others = Object.fromEntries(given.filter(([name]) => !itemProperties.has(name)))
  if (item.key === undefined) return { row, message: 'key is required' }
  if (item.stage !== undefined && !queue.stages.some(({ key }) => key === item.stage)) {
    return { row, message: `stage must be one of ${queue.stages.map(({ key }) => key).join(', ')}, got ${item.stage}` }
  }
  if (item.priority !== undefined) {
    if (!/^-?\d{1,10}$/.test(String(item.priority))) return { row, message: `priority must be a whole number, got ${item.priority}` }
    item.priority = Number(item.priority)
  }
  const payload = item.payload === undefined ? {} : parseObject(String(item.payload))
  if (payload === undefined) return { row, message: 'payload must be a JSON object' }
  if (item.payload !== undefined || Object.keys(others).length > 0) item.payload = { ...payload, ...others }
  return { row, item }
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Adds the items of the rows. When the API refuses a request because of one item, which it names by index, that row fails and the others
 * are sent again.
 */
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
