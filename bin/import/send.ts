import { createReadStream } from 'node:fs'
import { readCsv } from '#shared/core/records/csv/read.ts'
import { writeCsv } from '#shared/core/records/csv/write.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { groupBySize } from '#shared/platform/kernel/values/group-by-size.ts'
import type { Api } from '../client/api.ts'
import type { ImportedColumn, Proposal } from './propose.ts'

/** A row that was not imported and the reason. `row` counts from 1 in the whole file, without the header. */
export interface FailedRow {
  readonly row: number
  /** Name of the column of the file whose field the message names. */
  readonly column?: string
  readonly message: string
}

/** Result of one request. */
export interface Progress {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly failed: readonly FailedRow[]
}

/** How the rows are sent. */
interface Sending {
  readonly path: string
  readonly proposal: Proposal
  /** The columns to send. */
  readonly columns: readonly ImportedColumn[]
  /** Query parameters of the import (docs/contract/records.md#parameters-of-an-import). */
  readonly query: URLSearchParams
}

/** Limits of one request, well below those of the API (docs/contract/records.md#files). The size is in bytes. */
const requestLimits = { items: 500, size: 8_000_000 }

/** Sends the rows of a file in groups, in order, and yields the result of each group. */
export async function* sendRows(api: Api, orgId: string, { path, proposal, columns, query }: Sending): AsyncGenerator<Progress> {
  const positions = columns.map((column) => proposal.columns.indexOf(column))
  // The API ignores the column `id`. It holds the row number, so that no row becomes a blank line.
  const header = Buffer.from(writeCsv([['id', ...columns.map(({ key }) => key)]]))
  const limits = { ...requestLimits, size: requestLimits.size - header.length }
  const address = `/orgs/${orgId}/records/${proposal.type.key}/import${query.size > 0 ? `?${query}` : ''}`
  const headerOf = new Map(columns.map(({ key, column }) => [key, column.header]))
  for await (const group of groupBySize(readRows(path, positions), sizeOf, limits)) {
    const sent = group.flatMap((row) => ('line' in row ? [row] : []))
    const refused = group.flatMap((row) => ('message' in row ? [row] : []))
    const csv = Buffer.concat([header, ...sent.map(({ line }) => line)])
    // An API of an earlier release knows no updates.
    const { created, updated = 0, unchanged = 0, errors } = sent.length === 0 ? nothingSent : await api.post<Outcome>(address, { csv })
    const answered = created + updated + unchanged + errors.length
    if (answered !== sent.length) throw problem('INTERNAL', `The API read ${answered} rows where ${sent.length} were sent.`)
    const failed = errors.map(({ row, column, message }): FailedRow => {
      const named = column === undefined ? undefined : headerOf.get(column)
      return { row: sent[row - 1]?.row ?? row, ...(named === undefined ? {} : { column: named }), message }
    })
    yield { created, updated, unchanged, failed: [...refused, ...failed].sort((one, other) => one.row - other.row) }
  }
}

/** The answer of an import. */
interface Outcome extends Pick<Progress, 'created'>, Partial<Pick<Progress, 'updated' | 'unchanged'>> {
  readonly errors: readonly FailedRow[]
}

const nothingSent: Outcome = { created: 0, errors: [] }

/** A row of the file: its line of CSV, or the reason why it cannot be sent. */
type FileRow = { readonly row: number; readonly line: Buffer } | FailedRow

async function* readRows(path: string, positions: readonly number[]): AsyncGenerator<FileRow> {
  for await (const row of (await readCsv(createReadStream(path))).rows) {
    if ('error' in row) yield { row: row.row, message: row.error }
    else yield { row: row.row, line: Buffer.from(writeCsv([[String(row.row), ...positions.map((position) => row.cells[position] ?? '')]])) }
  }
}

const sizeOf = (row: FileRow): number => ('line' in row ? row.line.length : 0)
