import type { WaitRequest } from '#shared/core/automation/block.ts'
import { toPlainJsonInSlices } from '#shared/core/automation/template.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { FlowDefinition } from '#shared/features/flows/definitions/definition.ts'
import { type CompiledFlow, compileFlow, loadStepOutputs, type RunExecution } from '#shared/features/flows/execution/run-execution.ts'
import { initialRunState, type RunState } from '#shared/features/flows/execution/run-state.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import type { FlowRunStatus, TriggerInput } from '#shared/features/flows/runs/schemas.ts'
import { findRunToExecute } from '#shared/features/flows/runs/store.ts'
import { findVersion } from '#shared/features/flows/store.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** What a parked run waits for, as it is kept with it. */
export type ParkedWait = { readonly started_at: string; readonly node_id: string } & (
  | Extract<WaitRequest, { kind: 'time' | 'call' }>
  /** A function's run, and how often it was begun. */
  | { readonly kind: 'function'; readonly operation: string; readonly tries: number }
)

/** A run as it is kept. */
export interface FlowRunRow {
  readonly id: string
  readonly flowId: string
  readonly version: number
  readonly editorId: string
  /** Whether it reaches what is personal of its editor. */
  readonly isPersonal: boolean
  readonly status: FlowRunStatus
  readonly input: TriggerInput
  readonly depth: number
  readonly turn: number
  readonly createdAt: string
  readonly steps: number
  readonly state: RunState | null
  readonly waiting: ParkedWait | null
}

/** A run that goes on, if it is open; undefined when it has ended. */
export async function findOpenRun({ db }: Pick<PlatformScope, 'db'>, workspaceId: string, runId: string): Promise<FlowRunRow | undefined> {
  const [row] = await db.query<FlowRunRow>(findRunToExecute(workspaceId, runId))
  return row && (row.status === 'queued' || row.status === 'running') ? row : undefined
}

/** The run made ready to be played from where it stands; undefined when its flow is gone. */
export async function loadRunExecution(platform: PlatformScope, workspaceId: string, row: FlowRunRow): Promise<RunExecution | undefined> {
  const score = await loadCompiledFlow(platform, workspaceId, row.flowId, row.version)
  if (!score) return undefined
  const playing = await createRunExecution(score, row, stepBudget(workspaceId))
  if (row.steps > 0) await loadStepOutputs(platform.db, workspaceId, playing)
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
export const createRunExecution = async (
  score: CompiledFlow,
  { id, input, state, steps }: Pick<FlowRunRow, 'id' | 'input' | 'state' | 'steps'>,
  budget: ComputeBudget,
): Promise<RunExecution> => ({
  id,
  flow: score,
  budget,
  trigger: (await toPlainJsonInSlices(input, budget)) as TriggerInput,
  state: state ?? initialRunState(score.graph),
  outputs: new Map(),
  items: new Map(),
  steps,
})

/** A version made ready to be played; undefined when its flow is gone. It is never changed, so it is remembered. */
export const loadCompiledFlow = (
  { cache, db }: PlatformScope,
  workspaceId: string,
  flowId: string,
  version: number,
): Promise<CompiledFlow | undefined> =>
  cache.remember(db, workspaceId, `flow ${flowId} ${version}`, async () => {
    const [definition] = await db.query<FlowDefinition>(findVersion(workspaceId, flowId, version))
    return definition && compileFlow(definition)
  })
