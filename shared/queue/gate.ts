import type { Executor } from '#shared/db/database.ts'
import { sql } from '#shared/db/statement.ts'
import type { Gate, JobEnvelope } from '#shared/queue/job.ts'

const join = sql(
  'join_gate',
  `insert into gated_jobs (id, workspace_id, gate, queue, slots, lane, envelope) values ($1, $2, $3, $4, $5, $6, $7::jsonb)`,
)
const admit = sql('admit_jobs', 'select from admit_jobs($1, $2)')

/** Puts a job in its gate's line, and lets in what may go. Call it last in a transaction: others of the workspace wait for its end. */
export async function joinGate(tx: Executor, gate: Gate, queue: string, id: string, envelope: JobEnvelope): Promise<void> {
  const { workspaceId } = envelope
  if (workspaceId === null) throw new Error(`${queue} has a gate, so its jobs belong to a workspace`)
  await tx.query(join(id, workspaceId, gate.name, queue, gate.perWorkspace, gate.lane, JSON.stringify(envelope)))
  await tx.query(admit(workspaceId, gate.name))
}
