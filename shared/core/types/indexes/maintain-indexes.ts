import type { Services } from '#shared/core/scope/scope.ts'
import { buildIndex, dropIndex, indexKeyOf, indexSessionName } from '#shared/core/types/indexes/build-index.ts'
import { type IndexCandidate, type IndexStep, planIndexSteps } from '#shared/core/types/indexes/plan-indexes.ts'
import { sampleField } from '#shared/core/types/indexes/sample-field.ts'
import { findUsedTypes, recordIndexFailure, takeIndexLock } from '#shared/core/types/indexes/store.ts'
import { deleteRarePairUses, rarePairBatch } from '#shared/core/types/indexes/use-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { type Session, withSession } from '#shared/platform/db/pool/session.ts'
import { hourMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

type IndexServices = Pick<Services, 'config' | 'now' | 'log'> & { readonly db: Executor }

/** Maximum duration of one index build: large tables take hours. */
const statementTimeoutMs = 6 * hourMs
/**
 * Maximum time that a build waits for concurrent transactions. Only a change of the same table waits for a build, and it cancels the build.
 */
const lockTimeoutMs = 30 * minuteMs

/**
 * Builds indexes for frequently used fields, drops unused ones and samples the values of fields with a trigram index, one step at a time.
 * Does nothing while another process runs it. Unfinished indexes of a process that died are built again. Returns the completed steps.
 */
export async function maintainIndexes({ config, now, log, db }: IndexServices, signal: AbortSignal): Promise<IndexStep[]> {
  if (planIndexSteps(await findUsedTypes(db, now()), now()).length === 0) return []
  return withSession(config.databaseUrl, { name: indexSessionName, statementTimeoutMs, lockTimeoutMs }, signal, async (session) => {
    const [lock] = await session.query(takeIndexLock())
    if (!lock?.is_taken) return []
    const done: IndexStep[] = []
    const tried = new Set<string>()
    for (;;) {
      signal.throwIfAborted()
      const steps = planIndexSteps(await findUsedTypes(session, now()), now())
      const step = steps.find((candidateStep) => !tried.has(nameOf(candidateStep)))
      if (!step) return done
      tried.add(nameOf(step))
      if (await executeStep(session, step, { now, log }, signal)) done.push(step)
    }
  })
}

/** Deletes the rarest uses of pairs of each type that has too many of them. */
export async function dropRarePairs({ db, now }: Pick<IndexServices, 'db' | 'now'>, signal: AbortSignal): Promise<void> {
  for (let deleted = rarePairBatch; deleted === rarePairBatch; ) {
    signal.throwIfAborted()
    deleted = (await db.query(deleteRarePairUses({ now: now() }))).length
  }
}

const nameOf = ({ action, candidate: { field, lead, kind } }: IndexStep): string => `${action} ${kind} ${field.id} ${lead?.id}`

interface ActionHandler {
  readonly run: (session: Session, candidate: IndexCandidate, now: () => Date) => Promise<void>
  /** The log message after the action. */
  readonly done: string
}

const actionHandlers: Readonly<Record<IndexStep['action'], ActionHandler>> = {
  build: { run: buildIndex, done: 'index built' },
  drop: { run: dropIndex, done: 'index dropped' },
  sample: { run: sampleField, done: 'field of an index sampled' },
}

/** Executes a step; returns whether it succeeded. A failure is recorded and retried later, unless the field was deleted meanwhile. */
async function executeStep(
  session: Session,
  step: IndexStep,
  { now, log }: Pick<IndexServices, 'now' | 'log'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { action, candidate } = step
  const { type, field, lead, kind } = candidate
  const logFields = { workspace_id: type.workspaceId, type: type.key, field: field.key, index: kind, ...(lead && { lead: lead.key }) }
  const started = performance.now()
  try {
    await actionHandlers[action].run(session, candidate, now)
    log.info({ ...logFields, ms: Math.round(performance.now() - started) }, actionHandlers[action].done)
    return true
  } catch (error) {
    signal.throwIfAborted()
    const failure = String((error as Error).message)
    const recorded = await session.query(recordIndexFailure({ ...indexKeyOf(candidate), now: now(), failure }))
    if (recorded.length > 0) log.warn({ ...logFields, err: error }, `could not ${action} an index`)
    return false
  }
}
