import { createReadStream } from 'node:fs'
import { readCsv } from '#shared/core/records/csv/read.ts'
import { writeCsv } from '#shared/core/records/csv/write.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { groupBySize } from '#shared/platform/kernel/values/group-by-size.ts'
import type { Api } from '../client/api.ts'
import { importedColumns, type Proposal } from './propose.ts'

/** A row that was not imported and the reason. `row` counts from 1 in the whole file, without the header. */
export interface FailedRow {
  readonly row: number
  readonly message: string
}

/** Result of one request. */
export interface Progress {
  readonly created: number
  readonly failed: readonly FailedRow[]
}

/** Limits of one request, well below those of the API (docs/contract/records.md#files). The size is in bytes. */
const requestLimits = { items: 500, size: 8_000_000 }

/** Sends the rows of a file in groups, in order, and yields the result of each group. */
export async function* sendRows(api: Api, orgId: string, path: string, proposal: Proposal): AsyncGenerator<Progress> {
  const imported = importedColumns(proposal)
  const positions = imported.map((column) => proposal.columns.indexOf(column))
  // The API ignores the column `id`. It holds the row number, so that no row becomes a blank line.
  const header = Buffer.from(writeCsv([['id', ...imported.map(({ key }) => key)]]))
  const limits = { ...requestLimits, size: requestLimits.size - header.length }
  for await (const group of groupBySize(readRows(path, positions), sizeOf, limits)) {
    const sent = group.flatMap((row) => ('line' in row ? [row] : []))
    const refused = group.flatMap((row) => ('message' in row ? [row] : []))
    const csv = Buffer.concat([header, ...sent.map(({ line }) => line)])
    const { created, errors } = sent.length === 0 ? { created: 0, errors: [] } : await sendCsv(api, orgId, proposal.type.key, csv)
    if (created + errors.length !== sent.length)
      throw problem('INTERNAL', `The API read ${created + errors.length} rows where ${sent.length} were sent.`)
    const failed = [...refused, ...errors.map(({ row, message }) => ({ row: sent[row - 1]?.row ?? row, message }))]
    yield { created, failed: failed.sort((one, other) => one.row - other.row) }
  }
}

/** A row of the file: its line of CSV, or the reason why it cannot be sent. */
type FileRow = { readonly row: number; readonly line: Buffer } | FailedRow

async function* readRows(path: string, positions: readonly number[]): AsyncGenerator<FileRow> {
  for await (const row of (await readCsv(createReadStream(path))).rows) {
    if ('error' in row) yield { row: row.row, message: row.error }
    else yield { row: row.row, line: Buffer.from(writeCsv([[String(row.row), ...positions.map((position) => row.cells[position] ?? '')]])) }
  }
}

const sizeOf = (row: FileRow): number => ('line' in row ? row.line.length : 0)

const sendCsv = (api: Api, orgId: string, typeKey: string, csv: Buffer<ArrayBuffer>) =>
  api.post<{ created: number; errors: readonly FailedRow[] }>(`/orgs/${orgId}/records/${typeKey}/import`, { csv })
