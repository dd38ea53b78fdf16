import { problem } from '#shared/platform/kernel/errors.ts'
import type { Api } from '../client/api.ts'
import { readChunks } from './chunks.ts'
import type { Proposal } from './propose.ts'

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
