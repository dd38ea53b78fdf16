import type { Tx } from '#shared/platform/db/database.ts'
import { text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue } from '#shared/platform/jobs/job.ts'

const deleteEnded = statement(
  'jobs.deleteEnded',
  `delete from pgboss.job
   where (name = $queue and id = $id) or (name = $deadLetters and (source_id = $id or data ->> 'operationId' = $id::text))`,
  { params: { queue: text, id: uuid, deadLetters: text } },
)
/** Deletes the job of an operation that has ended, and its dead letters, so that its id is free for another attempt. */
export async function deleteEndedJob(tx: Tx, queue: string, operationId: string): Promise<void> {
  await tx.query(deleteEnded({ queue, id: operationId, deadLetters: deadLetterQueue }))
}
