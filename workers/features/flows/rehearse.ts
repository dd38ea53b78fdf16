import { type Scope, within } from '#shared/core/scope/scope.ts'
import type { FlowDefinition } from '#shared/features/flows/definitions/definition.ts'
import { getFlow } from '#shared/features/flows/definitions/flows.ts'
import { type ActiveStep, executeRun, type FlowRunner, inputHash } from '#shared/features/flows/execution/execute.ts'
import { createRunExecution, stepBudget } from '#shared/features/flows/execution/load.ts'
import { type CompiledFlow, compileFlow } from '#shared/features/flows/execution/run-execution.ts'
import { rehearseFlowJob } from '#shared/features/flows/jobs.ts'
import { rehearsalLimits as limits } from '#shared/features/flows/limits.ts'
import type { RehearsedRun } from '#shared/features/flows/runs/rehearsal.ts'
import { visibleErrorText } from '#shared/features/flows/runs/runs.ts'
import type { FlowRunView, RunError, TriggerInput, TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'
import { findRecordedOutput, findRunsToRehearse, limitTransactionTime, selectAuditPosition } from '#shared/features/flows/runs/store.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { isLockTimeout, isStatementCancelled } from '#shared/platform/db/database-errors.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { impersonalCause } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { type ComputeBudget, computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { messagesToSend, readableInput, recordChangesSince, visibleInput } from '#workers/features/flows/rehearsal-result.ts'
import { enterRun } from '#workers/features/functions/run-rights.ts'
import { defineHandler } from '#workers/platform/jobs/handler.ts'

/** Plays the triggers of runs that there were, and takes all of it back: one transaction for each run, which is never committed. */
export default defineHandler(rehearseFlowJob, async ({ payload: { flowId, runs, definition }, scope }) => {
  const flow = await getFlow(scope, flowId)
  const { nodes, edges, context } = definition ?? flow
  const score = compileFlow({ nodes: nodes.map(({ id, type, config }) => ({ id, type, config })), edges, context } as FlowDefinition)
  // Of a definition that was sent the caller would be the editor.
  const editors = definition === null ? [flow.editor_id] : []
  const ended = await scope.db.query<EndedRun>(findRunsToRehearse(scope.workspace.id, flow.id, runs))
  const budget = computeBudget(scope.workspace.id, {
    steps: limits.computeSteps,
    bound: `a rehearsal may take at most ${limits.computeSteps} steps of computing; rehearse fewer runs, or use fewer items or clauses`,
  })
  const rehearsed: RehearsedRun[] = []
  for (const run of ended) {
    rehearsed.push(await rehearse(scope, editors, score, run, stepBudget(scope.workspace.id, budget)))
    // The run that passed the bound has failed for it, and so would those behind it.
    budget.takeSteps(0)
  }
  return { result: { runs: rehearsed } }
})

interface EndedRun {
  readonly id: string
  readonly input: TriggerInput
  readonly objectType: string | null
  readonly isPersonal: boolean
  readonly trigger: FlowRunView['trigger']
  readonly guard: TriggerVisibility | null
}

/** Thrown at the end of a rehearsal, so that nothing of it stays. */
class TakenBack extends Error {}

async function rehearse(
  caller: Scope,
  editors: readonly string[],
  score: CompiledFlow,
  run: EndedRun,
  budget: ComputeBudget,
): Promise<RehearsedRun> {
  let outcome: RehearsedRun | undefined
  try {
    await caller.db.transaction(async (tx) => {
      outcome = await playRun(caller, tx, editors, score, run, budget)
      throw new TakenBack()
    })
  } catch (error) {
    if (!(error instanceof TakenBack)) return failed(run, error)
  }
  return outcome ?? failed(run, undefined)
}

async function playRun(
  caller: Scope,
  tx: Tx,
  editors: readonly string[],
  score: CompiledFlow,
  run: EndedRun,
  budget: ComputeBudget,
): Promise<RehearsedRun> {
  await tx.query(limitTransactionTime(limits.lockMs, limits.msPerRun))
  const [mark] = await tx.query<{ id: string }>(selectAuditPosition())
  const requestId = newId()
  const cause = { ...(run.isPersonal ? caller.cause : impersonalCause(caller.cause)), requestId }
  const enter = async (): Promise<Scope> => {
    await caller.cache.refresh()
    // By the connection that it has: it never waits for another.
    const started = within({ ...caller, cause }, tx)
    return { ...(await enterRun(started, caller.workspace.id, { authors: editors, isLesser: true })), rehearsal: true }
  }
  const inside = await enter()
  const input = await visibleInput(caller, await readableInput(inside, run.input, run.objectType), run)
  const told: Told = { wouldCall: new Set(), messages: [], failure: undefined, isLate: false }
  const playing = await createRunExecution(score, { id: requestId, input, state: null, steps: 0 }, budget)
  await executeRun(playing, stageOf(inside.now, enter, tx, run, told))
  const since = { mark: mark?.id ?? '', requestId }
  return {
    run_id: run.id,
    status: told.failure || told.isLate ? 'failed' : 'ok',
    ...(await recordChangesSince(inside, since)),
    messages: await messagesToSend(inside, told.messages),
    would_call: [...told.wouldCall],
    error: told.isLate
      ? `it takes more than ${limits.msPerRun / 1_000} seconds`
      : told.failure
        ? visibleErrorText(told.failure, true)
        : null,
  }
}

/** What a rehearsal has to tell beside what it wrote. */
interface Told {
  readonly wouldCall: Set<string>
  readonly messages: { readonly nodeId: string; readonly output: unknown }[]
  failure: RunError | undefined
  isLate: boolean
}

/** A stage on which nothing stays, and from which nobody is called. */
function stageOf(now: () => Date, enter: () => Promise<Scope>, tx: Tx, run: EndedRun, told: Told): FlowRunner {
  const began = performance.now()
  return {
    now,
    maxSteps: limits.stepsPerRun,
    enter,
    applyStep: async (doing, work) => {
      const scope = await enter()
      const output = await withSavepoint(tx, () => work(scope))
      if (doing.node.type === 'action.send_message') told.messages.push({ nodeId: doing.node.id, output })
      return output
    },
    park: async (doing, waiting) => ({ output: waiting.kind === 'time' ? {} : await recordedOutput(await enter(), run, doing, told) }),
    saveCheckpoint: async () => undefined,
    fail: async (_turn, error) => {
      told.failure = error
    },
    isTimeSliceOver: () => performance.now() - began > limits.msPerRun,
    reschedule: async () => {
      told.isLate = true
    },
  }
}

/** What the block gave when it was asked the same; nothing where it would have to be asked now. */
async function recordedOutput({ db, workspace }: Scope, run: EndedRun, doing: ActiveStep, { wouldCall }: Told): Promise<unknown> {
  const { node, iteration } = doing
  const [row] = await db.query<{ output: unknown }>(findRecordedOutput(workspace.id, run.id, node.id, iteration, inputHash(doing)))
  if (!row) wouldCall.add(node.id)
  return row?.output ?? {}
}

/** A rehearsal that the database ended: somebody holds what it needs, or it takes too long. */
function failed({ id }: EndedRun, error: unknown): RehearsedRun {
  const isTooLong = isStatementCancelled(error)
  if (error !== undefined && !isLockTimeout(error) && !isTooLong) throw error
  const reason = isTooLong ? 'it takes more than 3 seconds' : 'somebody else is changing what it needs at this moment'
  return { run_id: id, status: 'failed', created: [], changed: [], messages: [], would_call: [], error: reason }
}
