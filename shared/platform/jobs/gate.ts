import type { Executor } from '#shared/platform/db/database.ts'
import { boolean, jsonb, smallint, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import type { Gate, JobEnvelope } from '#shared/platform/jobs/job.ts'

const insertGatedJobs = statement(
  'jobs.insertGatedJobs',
  `insert into gated_jobs (id, workspace_id, gate, queue, slots, priority, envelope)
   select id, workspace_id, $gate, $queue, $slots, $priority, envelope
   from jsonb_to_recordset($jobs::jsonb) as job (id uuid, workspace_id uuid, envelope jsonb)`,
  { params: { jobs: jsonb, gate: text, queue: text, slots: smallint, priority: smallint } },
)
/**
 * Adds jobs to the end of their priority in the gate's waiting list, in the given order. After the commit the caller must call
 * `GateLimiter.admit`.
 */
export async function enqueueAtGate(
  tx: Executor,
  gate: Gate,
  queue: string,
  jobs: readonly { readonly id: string; readonly envelope: JobEnvelope }[],
): Promise<void> {
  if (jobs.some(({ envelope }) => envelope.workspaceId === null)) throw new Error(`${queue} has a gate, so its jobs must have a workspace`)
  const rows = jobs.map(({ id, envelope }) => ({ id, workspace_id: envelope.workspaceId, envelope }))
  const { name, perWorkspace, priority } = gate
  await tx.query(insertGatedJobs({ jobs: JSON.stringify(rows), gate: name, queue, slots: perWorkspace, priority }))
}

const admitJobs = statement('jobs.admitJobs', 'select admit_jobs($workspaceId, $gate) as some', {
  params: { workspaceId: uuid, gate: text },
  columns: { some: boolean.notNull },
})
const findWaitingLists = statement('jobs.findWaitingLists', 'select distinct workspace_id, gate from gated_jobs where slot is null', {
  params: {},
  columns: { workspace_id: uuid.notNull, gate: text.notNull },
})

/**
 * Admits waiting jobs to free slots. Callers that add a job or free a slot call `admit` after their commit, so the later of two concurrent
 * calls sees both changes. It runs in a transaction of its own, so that a caller's commit need not wait for the lock under which a gate
 * admits jobs.
 */
export class GateLimiter {
  readonly #db: Executor
  readonly #onFilled: (gate: string) => void
  readonly #running = new Map<string, Promise<void>>()
  readonly #next = new Map<string, Promise<void>>()

  /** `onFilled` is called with a gate whose queues received jobs. */
  constructor(db: Executor, onFilled: (gate: string) => void) {
    this.#db = db
    this.#onFilled = onFilled
  }

  /** Resolves when jobs committed before this call have been considered. Concurrent calls share one statement. */
  admit(workspaceId: string, gate: string): Promise<void> {
    const key = `${workspaceId} ${gate}`
    const running = this.#running.get(key)
    if (!running) {
      const admitting = this.#admit(workspaceId, gate).finally(() => this.#running.delete(key))
      this.#running.set(key, admitting)
      return admitting
    }
    const next =
      this.#next.get(key) ??
      running
        .catch(() => undefined)
        .then(() => {
          this.#next.delete(key)
          return this.admit(workspaceId, gate)
        })
    this.#next.set(key, next)
    return next
  }

  /** Admits jobs at every gate: repairs admissions lost when a process was killed. */
  async admitAll(): Promise<void> {
    for (const { workspace_id, gate } of await this.#db.query(findWaitingLists())) {
      await this.admit(workspace_id, gate)
    }
  }

  async #admit(workspaceId: string, gate: string): Promise<void> {
    const [row] = await this.#db.query(admitJobs({ workspaceId, gate }))
    if (row?.some) this.#onFilled(gate)
  }
}
