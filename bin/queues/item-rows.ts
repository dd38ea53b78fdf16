import { createReadStream } from 'node:fs'
import { readCsv } from '#shared/core/records/csv/read.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { QueueTarget } from './queue.ts'

/** A row of a file: an item, or the reason why it is invalid. */
export type ItemRow =
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
export async function* itemRows(path: string, queue: QueueTarget): AsyncGenerator<ItemRow> {
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
