import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import type { Gate, JobEnvelope } from '#shared/platform/jobs/job.ts'

const join = sql(
  'join_gate',
  `insert into gated_jobs (id, workspace_id, gate, queue, slots, lane, envelope)
   select id, workspace_id, $2, $3, $4, $5, envelope
   from jsonb_to_recordset($1::jsonb) as job (id uuid, workspace_id uuid, envelope jsonb)`,
)
/** Puts jobs in their gate's line, in the order of their ids. Once that is committed somebody has to let them in. */
export async function enqueueAtGate(
  tx: Executor,
  gate: Gate,
  queue: string,
  jobs: readonly { readonly id: string; readonly envelope: JobEnvelope }[],
): Promise<void> {
  if (jobs.some(({ envelope }) => envelope.workspaceId === null)) throw new Error(`${queue} has a gate, so its jobs belong to a workspace`)
  const rows = jobs.map(({ id, envelope }) => ({ id, workspace_id: envelope.workspaceId, envelope }))
  await tx.query(join(JSON.stringify(rows), gate.name, queue, gate.perWorkspace, gate.lane))
}

const admit = sql('admit_jobs', 'select admit_jobs($1, $2) as some')
const lines = sql('find_gate_lines', 'select distinct workspace_id, gate from gated_jobs where slot is null')

/**
 * Lets waiting jobs in where slots are free. Whoever has put a job in a line, or has freed a slot, asks for it after the commit: so of two
 * who do it at once the later one sees what both did. A transaction of its own keeps the lock that orders them away from everybody's commit.
 */
export class GateLimiter {
  readonly #db: Executor
  readonly #filled: (gate: string) => void
  readonly #running = new Map<string, Promise<void>>()
  readonly #next = new Map<string, Promise<void>>()

  /** `filled` hears of a gate whose queues have got jobs. */
  constructor(db: Executor, filled: (gate: string) => void) {
    this.#db = db
    this.#filled = filled
  }

  /** Resolves when jobs have been let in by what was committed before this call. Those who ask at once share one statement. */
  admit(workspaceId: string, gate: string): Promise<void> {
    const line = `${workspaceId} ${gate}`
    const running = this.#running.get(line)
    if (!running) {
      const admitting = this.#admit(workspaceId, gate).finally(() => this.#running.delete(line))
      this.#running.set(line, admitting)
      return admitting
    }
    const next =
      this.#next.get(line) ??
      running
        .catch(() => undefined)
        .then(() => {
          this.#next.delete(line)
          return this.admit(workspaceId, gate)
        })
    this.#next.set(line, next)
    return next
  }

  /** Lets in everywhere, after somebody who should have done it was killed. */
  async admitAll(): Promise<void> {
    for (const { workspace_id, gate } of await this.#db.query<{ workspace_id: string; gate: string }>(lines())) {
      await this.admit(workspace_id, gate)
    }
  }

  async #admit(workspaceId: string, gate: string): Promise<void> {
    const [row] = await this.#db.query<{ some: boolean }>(admit(workspaceId, gate))
    if (row?.some) this.#filled(gate)
  }
}
