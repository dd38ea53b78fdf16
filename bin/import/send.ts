import { createReadStream } from 'node:fs'
import { type CsvRow, readCsv } from '#shared/core/records/csv/read.ts'
import { writeCsv } from '#shared/core/records/csv/write.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { Api } from '../client/api.ts'
import { importedColumns, type Proposal } from './propose.ts'

/** A row that was not imported and the reason. `row` counts from 1 in the whole file, without the header. */
export interface FailedRow {
  readonly row: number
  readonly message: string
}

/** Result of one chunk. */
export interface Progress {
  readonly created: number
  readonly failed: readonly FailedRow[]
}

/** Sends the rows of a file chunk by chunk, in order, and yields the result of each. */
export async function* sendRows(api: Api, orgId: string, path: string, proposal: Proposal): AsyncGenerator<Progress> {
  for await (const { csv, rows, refused } of readChunks(path, proposal)) {
    const { created, errors } = rows.length === 0 ? { created: 0, errors: [] } : await sendChunk(api, orgId, proposal.type.key, csv)
    if (created + errors.length !== rows.length)
      throw problem('INTERNAL', `The API read ${created + errors.length} rows where ${rows.length} were sent.`)
    const failed = [...refused, ...errors.map(({ row, message }) => ({ row: rows[row - 1] ?? row, message }))]
    yield { created, failed: failed.sort((one, other) => one.row - other.row) }
  }
}

const sendChunk = (api: Api, orgId: string, typeKey: string, csv: Buffer<ArrayBuffer>) =>
  api.post<{ created: number; errors: readonly FailedRow[] }>(`/orgs/${orgId}/records/${typeKey}/import`, { csv })

/** The part of a file that one request carries, with the keys of the fields in its header. */
interface Chunk {
  readonly csv: Buffer<ArrayBuffer>
  /** Row number in the file for each row of the chunk. */
  readonly rows: readonly number[]
  /** Rows since the last chunk that cannot be sent, each with the reason. */
  readonly refused: readonly { readonly row: number; readonly message: string }[]
}

/** Limits of one request, well below those of the API (document 1, Limits, and decisions, Import). */
const chunkLimits = { rows: 500, bytes: 8_000_000 }

/** Reads the chunks of a file on demand. */
async function* readChunks(path: string, proposal: Proposal): AsyncGenerator<Chunk> {
  const imported = importedColumns(proposal)
  const positions = imported.map((column) => proposal.columns.indexOf(column))
  // The API ignores the column `id`. It holds the row number, so that no row becomes a blank line.
  const header = Buffer.from(writeCsv([['id', ...imported.map(({ key }) => key)]]))
  let chunk = startChunk(header)
  for await (const row of (await readCsv(createReadStream(path))).rows) {
    const line = 'cells' in row ? lineOf(row, positions) : undefined
    if (isFull(chunk, line?.length ?? 0)) {
      yield endChunk(chunk)
      chunk = startChunk(header)
    }
    if (line) addLine(chunk, row.row, line)
    else if ('error' in row) chunk.refused.push({ row: row.row, message: row.error })
  }
  if (chunk.rows.length > 0 || chunk.refused.length > 0) yield endChunk(chunk)
}

interface OpenChunk {
  readonly lines: Buffer[]
  readonly rows: number[]
  readonly refused: { readonly row: number; readonly message: string }[]
  bytes: number
}

const startChunk = (header: Buffer): OpenChunk => ({ lines: [header], rows: [], refused: [], bytes: header.length })

const isFull = ({ rows, refused, bytes }: OpenChunk, more: number): boolean =>
  rows.length + refused.length === chunkLimits.rows || (rows.length > 0 && bytes + more > chunkLimits.bytes)

function addLine(chunk: OpenChunk, row: number, line: Buffer): void {
  chunk.lines.push(line)
  chunk.rows.push(row)
  chunk.bytes += line.length
}

const endChunk = ({ lines, rows, refused }: OpenChunk): Chunk => ({ csv: Buffer.concat(lines), rows, refused })

const lineOf = ({ row, cells }: Extract<CsvRow, { cells: unknown }>, positions: readonly number[]): Buffer =>
  Buffer.from(writeCsv([[String(row), ...positions.map((position) => cells[position] ?? '')]]))
