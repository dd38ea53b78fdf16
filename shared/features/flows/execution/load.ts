import type { Waiting } from '#shared/core/automation/block.ts'
import { plainJsonOf } from '#shared/core/automation/template.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { Definition } from '#shared/features/flows/definitions/definition.ts'
import { type Playing, readOutputs, type Score, scoreOf } from '#shared/features/flows/execution/run-execution.ts'
import { beginning, type RunState } from '#shared/features/flows/execution/run-state.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import type { RunStatus, TriggerInput } from '#shared/features/flows/runs/schemas.ts'
import { findPlaying } from '#shared/features/flows/runs/store.ts'
import { findVersion } from '#shared/features/flows/store.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** What a parked run waits for, as it is kept with it. */
export type ParkedFor = { readonly started_at: string; readonly node_id: string } & (
  | Extract<Waiting, { kind: 'time' | 'call' }>
  /** A function's run, and how often it was begun. */
  | { readonly kind: 'function'; readonly operation: string; readonly tries: number }
)

/** A run as it is kept. */
export interface RunRow {
  readonly id: string
  readonly flowId: string
  readonly version: number
  readonly editorId: string
  /** Whether it reaches what is personal of its editor. */
  readonly isPersonal: boolean
  readonly status: RunStatus
  readonly input: TriggerInput
  readonly depth: number
  readonly turn: number
  readonly createdAt: string
  readonly steps: number
  readonly state: RunState | null
  readonly waiting: ParkedFor | null
}

/** A run that goes on, if it is open; undefined when it has ended. */
export async function findOpenRun({ db }: Pick<PlatformScope, 'db'>, workspaceId: string, runId: string): Promise<RunRow | undefined> {
  const [row] = await db.query<RunRow>(findPlaying(workspaceId, runId))
  return row && (row.status === 'queued' || row.status === 'running') ? row : undefined
}

/** The run made ready to be played from where it stands; undefined when its flow is gone. */
export async function playingOf(platform: PlatformScope, workspaceId: string, row: RunRow): Promise<Playing | undefined> {
  const score = await scoreOfVersion(platform, workspaceId, row.flowId, row.version)
  if (!score) return undefined
  const playing = await playingFrom(score, row, stepBudget(workspaceId))
  if (row.steps > 0) await readOutputs(platform.db, workspaceId, playing)
  return playing
}

/** What one step of a run may compute, as a part of all that a rehearsal may. It is filled again for each step. */
export const stepBudget = (workspaceId: string, within?: ComputeBudget): ComputeBudget =>
  computeBudget(workspaceId, {
    steps: flowLimits.computeSteps,
    within,
    bound: `a step may take at most ${flowLimits.computeSteps} steps of computing; use fewer items, fewer clauses or shorter texts`,
  })

/** The same from a definition at hand. */
export const playingFrom = async (
  score: Score,
  { id, input, state, steps }: Pick<RunRow, 'id' | 'input' | 'state' | 'steps'>,
  budget: ComputeBudget,
): Promise<Playing> => ({
  id,
  score,
  budget,
  trigger: (await plainJsonOf(input, budget)) as TriggerInput,
  state: state ?? beginning(score.graph),
  outputs: new Map(),
  items: new Map(),
  steps,
})

/** A version made ready to be played; undefined when its flow is gone. It is never changed, so it is remembered. */
export const scoreOfVersion = (
  { cache, db }: PlatformScope,
  workspaceId: string,
  flowId: string,
  version: number,
): Promise<Score | undefined> =>
  cache.remember(db, workspaceId, `flow ${flowId} ${version}`, async () => {
    const [definition] = await db.query<Definition>(findVersion(workspaceId, flowId, version))
    return definition && scoreOf(definition)
  })
