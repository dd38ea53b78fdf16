import type { Services } from '#shared/core/scope/scope.ts'
import { buildIndex, dropIndex, indexSessionName } from '#shared/core/types/indexes/build-index.ts'
import { type IndexCandidate, type IndexStep, planIndexSteps } from '#shared/core/types/indexes/plan-indexes.ts'
import { sampleField } from '#shared/core/types/indexes/sample-field.ts'
import { findUsedTypes, recordIndexFailure, takeIndexLock } from '#shared/core/types/indexes/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { type Session, withSession } from '#shared/platform/db/pool/session.ts'

type Following = Pick<Services, 'config' | 'now' | 'log'> & { readonly db: Executor }

/** An index on very many records may take so long. */
const statementTimeoutMs = 6 * 3_600_000
/** How long one waits for others' transactions; nobody but a change of its own type waits for it, and that makes it give way. */
const lockTimeoutMs = 30 * 60_000

/**
 * Makes the indexes that fields are used enough for, drops those that nobody uses any more, and looks now and then at what the values of
 * indexed fields have in common, one after the other. Whoever comes while another process does so does nothing. Returns what was done. What
 * a process that died left unfinished is made again.
 */
export async function maintainIndexes({ config, now, log, db }: Following, signal: AbortSignal): Promise<IndexStep[]> {
  if (planIndexSteps(await findUsedTypes(db, now()), now()).length === 0) return []
  return withSession(config.databaseUrl, { name: indexSessionName, statementTimeoutMs, lockTimeoutMs }, signal, async (session) => {
    const [turn] = await session.query<{ is_taken: boolean }>(takeIndexLock())
    if (!turn?.is_taken) return []
    const done: IndexStep[] = []
    const tried = new Set<string>()
    for (;;) {
      signal.throwIfAborted()
      const steps = planIndexSteps(await findUsedTypes(session, now()), now())
      const step = steps.find((one) => !tried.has(nameOf(one)))
      if (!step) return done
      tried.add(nameOf(step))
      if (await carryOut(session, step, { now, log }, signal)) done.push(step)
    }
  })
}

const nameOf = ({ action, candidate: { field, kind } }: IndexStep): string => `${action} ${kind} ${field.id}`

interface Act {
  readonly run: (session: Session, wish: IndexCandidate, now: () => Date) => Promise<void>
  /** What the log says of it. */
  readonly done: string
}

const acts: Readonly<Record<IndexStep['action'], Act>> = {
  build: { run: buildIndex, done: 'index built' },
  drop: { run: dropIndex, done: 'index dropped' },
  sample: { run: sampleField, done: 'field of an index sampled' },
}

/** Does a step. When it fails that is noted, and it waits for its next time; a field that was deleted meanwhile needs no note. */
async function carryOut(
  session: Session,
  step: IndexStep,
  { now, log }: Pick<Following, 'now' | 'log'>,
  signal: AbortSignal,
): Promise<boolean> {
  const { action, candidate } = step
  const { type, field, kind } = candidate
  const told = { workspace_id: type.workspaceId, type: type.key, field: field.key, index: kind }
  const started = performance.now()
  try {
    await acts[action].run(session, candidate, now)
    log.info({ ...told, ms: Math.round(performance.now() - started) }, acts[action].done)
    return true
  } catch (error) {
    signal.throwIfAborted()
    const why = String((error as Error).message)
    const kept = await session.query(recordIndexFailure(type.workspaceId, field.id, kind, now(), why))
    if (kept.length > 0) log.warn({ ...told, err: error }, `could not ${action} an index`)
    return false
  }
}
