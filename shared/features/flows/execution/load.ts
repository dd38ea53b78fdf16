import { toPlainJsonInSlices } from '#shared/core/automation/template.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { type CompiledFlow, compileFlow, loadStepOutputs, type RunExecution } from '#shared/features/flows/execution/run-execution.ts'
import { initialRunState } from '#shared/features/flows/execution/run-state.ts'
import { type FlowRunRow, findRunToExecute } from '#shared/features/flows/execution/store.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import type { TriggerInput } from '#shared/features/flows/runs/schemas.ts'
import { findVersion } from '#shared/features/flows/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Returns a run while it is open; undefined when it has ended. */
export async function findOpenRun({ db }: Pick<PlatformScope, 'db'>, workspaceId: string, runId: string): Promise<FlowRunRow | undefined> {
  const [row] = await db.query(findRunToExecute({ workspaceId, id: runId }))
  return row && (row.status === 'queued' || row.status === 'running') ? row : undefined
}

/** Loads a run for execution from its present state; undefined when its flow is deleted. */
export async function loadRunExecution(platform: PlatformScope, workspaceId: string, row: FlowRunRow): Promise<RunExecution | undefined> {
  const compiled = await loadCompiledFlow(platform, workspaceId, row.flowId, row.version)
  if (!compiled) return undefined
  const execution = await createRunExecution(compiled, row, stepBudget(platform.db))
  if (row.steps > 0) await loadStepOutputs(platform.db, workspaceId, execution)
  return execution
}

/** Compute budget of a run, refilled for each step. `within` is the budget of a whole rehearsal, which each step also uses. */
export const stepBudget = ({ owner }: Pick<Executor, 'owner'>, within?: ComputeBudget): ComputeBudget =>
  computeBudget(owner, {
    steps: flowLimits.computeSteps,
    within,
    bound: `a step may take at most ${flowLimits.computeSteps} steps of computing; use fewer items, fewer clauses or shorter texts`,
  })

/** Makes the execution of a run from a compiled flow; unlike `loadRunExecution`, it does not load the outputs of earlier steps. */
export const createRunExecution = async (
  compiled: CompiledFlow,
  { id, input, state, steps }: Pick<FlowRunRow, 'id' | 'input' | 'state' | 'steps'>,
  budget: ComputeBudget,
): Promise<RunExecution> => ({
  id,
  flow: compiled,
  budget,
  trigger: (await toPlainJsonInSlices(input, budget)) as TriggerInput,
  state: state ?? initialRunState(compiled.graph),
  outputs: new Map(),
  items: new Map(),
  steps,
})

/** Loads a compiled version of a flow; undefined when the flow is deleted. Versions never change, so the result is cached. */
export const loadCompiledFlow = (
  { cache, db }: PlatformScope,
  workspaceId: string,
  flowId: string,
  version: number,
): Promise<CompiledFlow | undefined> =>
  cache.remember(db, workspaceId, `flow ${flowId} ${version}`, async () => {
    const [definition] = await db.query(findVersion({ workspaceId, flowId, version }))
    return definition && compileFlow(definition)
  })
