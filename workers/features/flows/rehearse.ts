import { type Scope, within } from '#shared/core/scope/scope.ts'
import type { FlowDefinition } from '#shared/features/flows/definitions/definition.ts'
import { getFlow } from '#shared/features/flows/definitions/flows.ts'
import { type ActiveStep, executeRun, type FlowRunner, inputHash } from '#shared/features/flows/execution/execute.ts'
import { createRunExecution, stepBudget } from '#shared/features/flows/execution/load.ts'
import { type CompiledFlow, compileFlow } from '#shared/features/flows/execution/run-execution.ts'
import { redacted } from '#shared/features/flows/execution/step-output.ts'
import { rehearseFlowJob } from '#shared/features/flows/jobs.ts'
import { rehearsalLimits as limits } from '#shared/features/flows/limits.ts'
import type { RehearsedRun } from '#shared/features/flows/runs/rehearsal-schemas.ts'
import { type EndedRun, findRecordedOutput, findRunsToRehearse, selectAuditPosition } from '#shared/features/flows/runs/rehearsal-store.ts'
import { visibleErrorText } from '#shared/features/flows/runs/runs.ts'
import type { RunError } from '#shared/features/flows/runs/schemas.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { isLockTimeout, isStatementCancelled } from '#shared/platform/db/database-errors.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { limitTransaction } from '#shared/platform/db/statements/limit-transaction.ts'
import { causedBy, impersonalCause } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import { messagesToSend, readableInput, recordChangesSince, visibleInput } from '#workers/features/flows/rehearsal-result.ts'
import { enterRun } from '#workers/features/functions/run-rights.ts'

/** Executes the flow with the triggers of earlier runs, each in a transaction that is always rolled back. */
export default defineHandler(rehearseFlowJob, async ({ payload: { flowId, runs, definition }, scope }) => {
  const flow = await getFlow(scope, flowId)
  const { nodes, edges, context } = definition ?? flow
  const compiled = compileFlow({ nodes: nodes.map(({ id, type, config }) => ({ id, type, config })), edges, context } as FlowDefinition)
  // Only a saved definition has an editor whose rights limit the caller's; of a sent definition the caller would be the editor.
  const editors = definition === null ? [flow.editor_id] : []
  const ended = await scope.db.query(findRunsToRehearse({ workspaceId: scope.workspace.id, flowId: flow.id, limit: runs }))
  const budget = computeBudget(scope.db.owner, {
    steps: limits.computeSteps,
    bound: `a rehearsal may take at most ${limits.computeSteps} steps of computing; rehearse fewer runs, or use fewer items or clauses`,
  })
  const rehearsed: RehearsedRun[] = []
  for (const run of ended) {
    rehearsed.push(await rehearse(scope, editors, compiled, run, stepBudget(scope.db, budget)))
    // Throws when the rehearsal's budget is used up: the run that exceeded it failed, and all later runs would fail, too.
    budget.takeSteps(0)
  }
  return { result: { runs: rehearsed } }
})

const tooLong = `the run takes more than ${limits.msPerRun / 1_000} seconds`

/** Thrown at the end of a rehearsal to roll it back. */
class RolledBack extends Error {}

async function rehearse(
  caller: Scope,
  editors: readonly string[],
  compiled: CompiledFlow,
  run: EndedRun,
  budget: ComputeBudget,
): Promise<RehearsedRun> {
  let outcome: RehearsedRun | undefined
  try {
    await caller.db.transaction(async (tx) => {
      outcome = await executeRehearsal(caller, tx, editors, compiled, run, budget)
      throw new RolledBack()
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) return failed(run, error)
  }
  return outcome ?? failed(run, undefined)
}

async function executeRehearsal(
  caller: Scope,
  tx: Tx,
  editors: readonly string[],
  compiled: CompiledFlow,
  run: EndedRun,
  budget: ComputeBudget,
): Promise<RehearsedRun> {
  await tx.query(limitTransaction({ lockMs: limits.lockMs, statementMs: limits.msPerRun }))
  const [auditPosition] = await tx.query(selectAuditPosition())
  const requestId = newId()
  const ownCause = causedBy(caller.cause, 'flow', requestId)
  const cause = { ...(run.isPersonal ? ownCause : impersonalCause(ownCause)), requestId }
  const enter = async (): Promise<Scope> => {
    await caller.cache.refresh()
    // The rehearsal's transaction holds a connection; entering uses it instead of waiting for another one.
    const started = within({ ...caller, cause }, tx)
    return { ...(await enterRun(started, caller.workspace.id, { authors: editors, isLesser: true })), rehearsal: true }
  }
  const inside = await enter()
  const input = await visibleInput(caller, await readableInput(inside, run), run)
  const findings: Findings = { wouldCall: new Set(), messages: [], failure: undefined, isLate: false }
  const execution = await createRunExecution(compiled, { id: requestId, input, state: null, steps: 0 }, budget)
  await executeRun(execution, rehearsalRunner(inside.now, enter, tx, run, findings))
  const since = { auditPosition: auditPosition?.id ?? '', requestId }
  return {
    run_id: run.id,
    status: findings.failure || findings.isLate ? 'failed' : 'ok',
    ...(await recordChangesSince(inside, since)),
    messages: await messagesToSend(inside, findings.messages),
    would_call: [...findings.wouldCall],
    error: findings.isLate ? tooLong : findings.failure ? visibleErrorText(findings.failure, true) : null,
  }
}

/** What a rehearsal finds, without the records that it writes. */
interface Findings {
  readonly wouldCall: Set<string>
  readonly messages: { readonly nodeId: string; readonly output: unknown }[]
  failure: RunError | undefined
  isLate: boolean
}

/** Runner that persists nothing and makes no outside calls. */
function rehearsalRunner(now: () => Date, enter: () => Promise<Scope>, tx: Tx, run: EndedRun, findings: Findings): FlowRunner {
  const began = performance.now()
  return {
    now,
    maxSteps: limits.stepsPerRun,
    enter,
    applyStep: async (step, work) => {
      const scope = await enter()
      const output = await withSavepoint(tx, () => work(scope))
      if (step.node.type === 'action.send_message') findings.messages.push({ nodeId: step.node.id, output })
      return output
    },
    park: async (step, waiting) => ({ output: waiting.kind === 'time' ? {} : await recordedOutput(await enter(), run, step, findings) }),
    saveCheckpoint: async () => undefined,
    fail: async (_checkpoint, error) => {
      findings.failure = error
    },
    isTimeSliceOver: () => performance.now() - began > limits.msPerRun,
    reschedule: async () => {
      findings.isLate = true
    },
  }
}

/**
 * The output that the block recorded in the earlier run for the same input. If there is none, returns {} and adds the block to `wouldCall`.
 */
async function recordedOutput({ db, workspace }: Scope, run: EndedRun, step: ActiveStep, { wouldCall }: Findings): Promise<unknown> {
  const { node, iteration } = step
  const place = { workspaceId: workspace.id, runId: run.id, nodeId: node.id, iteration }
  const [row] = await db.query(findRecordedOutput({ ...place, inputHash: inputHash(step), redacted: JSON.stringify(redacted) }))
  if (!row) wouldCall.add(node.id)
  return row?.output ?? {}
}

/** Result of a rehearsal that the database ended by a lock timeout or the time limit. Rethrows other errors. */
function failed({ id }: EndedRun, error: unknown): RehearsedRun {
  const isTooLong = isStatementCancelled(error)
  if (error !== undefined && !isLockTimeout(error) && !isTooLong) throw error
  const reason = isTooLong ? tooLong : 'another request is changing data that the run needs'
  return { run_id: id, status: 'failed', created: [], changed: [], deleted: [], messages: [], would_call: [], error: reason }
}
