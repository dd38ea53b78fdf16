import { PgBoss } from 'pg-boss'
import type { Database, Executor, Tx } from '#shared/platform/db/database.ts'
import { enqueueAtGate, GateLimiter } from '#shared/platform/jobs/gate.ts'
import type { AnyJob, Gate, JobDefinition, JobEnvelope } from '#shared/platform/jobs/job.ts'
import { JobSignals } from '#shared/platform/jobs/job-signals.ts'
import type { Continuation } from '#shared/platform/jobs/operations/continuation.ts'
import { insertFiledOperation } from '#shared/platform/jobs/operations/filed-jobs.ts'
import { insertOperation } from '#shared/platform/jobs/operations/operations.ts'
import { JobPauses } from '#shared/platform/jobs/pauses/job-pauses.ts'
import { requireTableVersion } from '#shared/platform/jobs/pgboss/table-version.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** On whose behalf a job is enqueued, and in which workspace; null for work of the platform itself. */
export interface JobOrigin {
  readonly workspaceId: string | null
  readonly cause: Cause
}

/** The queue and gate of a job. */
type JobDestination = Pick<AnyJob, 'name' | 'gate'>

/** Enqueues jobs. A process holds one and closes it when it stops. */
export class JobQueue {
  readonly boss: PgBoss
  readonly signals: JobSignals
  readonly gates: GateLimiter
  readonly pauses: JobPauses

  /** `supervise` makes this process run pg-boss maintenance, such as expiring dead attempts. */
  constructor(database: Database, { supervise }: { supervise: boolean }) {
    this.boss = new PgBoss({
      db: { executeSql: (text, values) => database.executeSql(text, values) },
      migrate: false,
      createSchema: false,
      supervise,
      schedule: false,
      superviseIntervalSeconds: 5,
      monitorIntervalSeconds: 5,
      cronMonitorIntervalSeconds: 5,
      useListenNotify: false,
    })
    this.signals = new JobSignals(database)
    this.pauses = new JobPauses(database)
    this.gates = new GateLimiter(database, (gate) => this.signals.signalJobs(gate))
  }

  /** Starts pg-boss on a migrated database. `onError` receives background failures, which pg-boss retries itself. */
  async open(onError: (error: Error) => void): Promise<void> {
    this.boss.on('error', onError)
    requireTableVersion(await this.boss.schemaVersion())
    await this.boss.start()
  }

  async close(): Promise<void> {
    await this.pauses.close()
    await this.signals.close()
    await this.boss.stop({ graceful: false, close: false })
  }

  /**
   * Persists the job, and its operation when it is tracked, in the caller's transaction. Returns the id of both. Workers are notified after
   * the commit. A tracked job may name a `continuation`, which is enqueued when its operation completes. `isFiled` says that a caller's own
   * request files a tracked job: it throws RATE_LIMITED while the workspace has too many of that kind waiting.
   */
  async enqueue<Payload>(
    db: Executor,
    job: JobDefinition<Payload, unknown>,
    origin: JobOrigin,
    payload: NoInfer<Payload>,
    { continuation, isFiled = false }: { readonly continuation?: Continuation; readonly isFiled?: boolean } = {},
  ): Promise<string> {
    const id = newId()
    const { workspaceId, cause } = origin
    const envelope: JobEnvelope = { workspaceId, cause, payload: job.payload.parse(payload, 'payload') }
    await db.transaction(async (tx) => {
      if (isFiled && workspaceId !== null) await insertFiledOperation(tx, id, workspaceId, job.kind, job.name, cause)
      else if (job.tracked) await tx.query(insertOperation(id, workspaceId, job.kind, job.name, cause, continuation))
      await this.#insert(tx, job, id, envelope)
    })
    if ('inTransaction' in db) db.afterCommit(() => void this.#notifyWorkers(job, workspaceId))
    else await this.#notifyWorkers(job, workspaceId)
    return id
  }

  /** Enqueues a job whose operation already exists. All other callers use `enqueue`. */
  async send(tx: Tx, job: JobDestination, id: string, envelope: JobEnvelope): Promise<void> {
    await this.#insert(tx, job, id, envelope)
    tx.afterCommit(() => void this.#notifyWorkers(job, envelope.workspaceId))
  }

  /**
   * Admits waiting jobs of a gate, after a job was added or has completed. A failure is repaired by the maintenance task `jobs at gates`.
   */
  async admitNext(gate: Gate, workspaceId: string | null): Promise<void> {
    if (workspaceId !== null) await this.gates.admit(workspaceId, gate.name).catch(() => undefined)
  }

  async #insert(tx: Tx, { name, gate }: JobDestination, id: string, envelope: JobEnvelope): Promise<void> {
    if (gate) await enqueueAtGate(tx, gate, name, [{ id, envelope }])
    else await this.#insertIntoQueue(tx, name, id, envelope)
  }

  async #notifyWorkers({ name, gate }: JobDestination, workspaceId: string | null): Promise<void> {
    if (gate) await this.admitNext(gate, workspaceId)
    else this.signals.signalJobs(name)
  }

  async #insertIntoQueue(tx: Tx, queue: string, id: string, envelope: JobEnvelope): Promise<void> {
    const { workspaceId } = envelope
    await this.boss.send(queue, envelope, {
      id,
      db: { executeSql: async (text, values) => ({ rows: await tx.query({ text, values: values ?? [] }) }) },
      ...(workspaceId === null ? {} : { group: { id: workspaceId } }),
    })
  }
}
