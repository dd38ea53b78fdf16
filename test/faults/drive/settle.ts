import type pg from 'pg'
import { Blobs } from '#shared/platform/blobs/blobs.ts'
import { openByteStore } from '#shared/platform/blobs/open-blobs.ts'
import { Database } from '#shared/platform/db/database.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { createParts } from '#shared/platform/kernel/process/part.ts'
import { digestOf } from '#test/faults/drive/writer.ts'

interface Row {
  readonly blob_id: string
  readonly key: string
  readonly sha256: string
}

/**
 * Violations of the files of an installation whose work is done, in words: bytes of a row that are missing or different, bytes without a
 * row after a sweep, and wrong counts.
 */
export async function filesAreWhole(
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 's3'>,
  db: pg.Pool,
  storedIds: () => Promise<readonly string[]>,
): Promise<string[]> {
  const database = new Database(config.databaseUrl, { connections: 2, name: 'faults', statementTimeoutMs: 15_000 })
  const blobs = new Blobs(database, await openByteStore(config), 3_600, createParts(createLogger('faults', 'silent')).fileStore)
  const wrong: string[] = []
  try {
    await blobs.sweep(new AbortController().signal, 0)
    const { rows } = await db.query<Row>('select blob_id, key, sha256 from drive_objects where blob_id is not null')
    for (const { blob_id, key, sha256 } of rows) {
      const bytes = await blobs.read(blob_id).then(async (stream) => Buffer.concat(await stream.toArray()), String)
      if (typeof bytes === 'string' || digestOf(bytes) !== sha256) wrong.push(`${key} cannot be read as it was written`)
    }
    const stored = await storedIds()
    const named = new Set(rows.map(({ blob_id }) => blob_id))
    const loose = stored.filter((id) => !named.has(id))
    if (loose.length > 0)
      wrong.push(`${loose.length} of ${stored.length} stored blobs are named by nothing: ${loose.slice(0, 3).join(', ')}`)
  } finally {
    blobs.close()
    await database.close()
  }
  const { rows: counts } = await db.query(
    `select (select coalesce(sum(size_bytes), 0) from drive_objects) = (select coalesce(sum(total_bytes), 0) from file_usage) as usage,
       (select coalesce(sum(size_bytes), 0) from drive_objects) = (select coalesce(sum(bytes), 0) from drive_totals) as totals,
       (select count(*) from blobs) = (select count(blob_id) from drive_objects) as blobs`,
  )
  for (const [what, isTrue] of Object.entries(counts[0] ?? {})) if (!isTrue) wrong.push(`The count of ${what} is not what is there`)
  return wrong
}
