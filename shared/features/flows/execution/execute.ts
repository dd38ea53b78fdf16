import { createHash } from 'node:crypto'
import type { Block, StepContext, WaitRequest } from '#shared/core/automation/block.ts'
import type { FlowNode } from '#shared/core/automation/node.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { beginningOf, cutRecordOutput, isRecordOutput } from '#shared/features/flows/execution/record-output.ts'
import {
  advancePast,
  beginLoop,
  blockOf,
  dropEndedIterations,
  type RunExecution,
  stateAfter,
  stepContextOf,
} from '#shared/features/flows/execution/run-execution.ts'
import { advanceToNextStep, type RunState, type StepPosition } from '#shared/features/flows/execution/run-state.ts'
import { checked, redactNamedSecrets } from '#shared/features/flows/execution/step-output.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import type { RunError } from '#shared/features/flows/runs/schemas.ts'
import { isSuspensionError, requireNotHalted } from '#shared/platform/kernel/background.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Stored row of a finished step. */
export interface StepRow {
  readonly node_id: string
  readonly node_type: string
  readonly iteration: string
  readonly place: number
  readonly status: 'ok' | 'failed'
  readonly output: unknown
  /** Whether `output` is only the beginning of the output: of its text, or of the values of a record. */
  readonly is_cut: boolean
  /** Whole output, set only when `output` is cut or redacted. */
  readonly whole?: unknown
  /** Of a record's output: the revision of its type, by which views know the fields of the values. */
  readonly type_revision?: number
  readonly input_hash: string | null
  readonly error: RunError | null
  readonly started_at: string
  readonly duration_ms: number
}

/** Finished steps, and the state after them, that one revision of a run writes. */
export interface RunCheckpoint {
  readonly steps: readonly StepRow[]
  readonly state: RunState | null
}

/** A step in progress. */
export interface ActiveStep extends StepPosition {
  readonly ordinal: number
  readonly startedAt: Date
  readonly context: StepContext
}

/** The effects of executing a run. One implementation persists them, the other, for rehearsals, rolls them back. */
export interface FlowRunner {
  readonly now: () => Date
  readonly maxSteps: number
  /** Enters the workspace as the flow's editor for this run, with the editor's current rights. */
  readonly enter: () => Promise<Scope>
  /**
   * Runs `work`, and writes the checkpoint that `toCheckpoint` makes from the output of `work`, in one transaction, whose scope both get.
   * `isEnd` ends the run as ok. Rethrows an error of `work`, and then writes nothing.
   */
  readonly applyStep: (
    step: ActiveStep,
    work: (scope: Scope) => Promise<unknown>,
    toCheckpoint: (output: unknown, scope: Scope) => Promise<RunCheckpoint>,
    isEnd: boolean,
  ) => Promise<unknown>
  /** Parks the run at a step; a rehearsal does not park, and returns the awaited output at once. */
  readonly park: (step: ActiveStep, waiting: WaitRequest, checkpoint: RunCheckpoint) => Promise<{ readonly output: unknown } | undefined>
  /** Writes a checkpoint without an effect; `isEnd` ends the run as ok. */
  readonly saveCheckpoint: (checkpoint: RunCheckpoint, isEnd: boolean) => Promise<void>
  /** Ends the run as failed. */
  readonly fail: (checkpoint: RunCheckpoint, error: RunError) => Promise<void>
  /** Whether the run must yield to other runs and continue later. */
  readonly isTimeSliceOver: () => boolean
  readonly reschedule: (checkpoint: RunCheckpoint) => Promise<void>
}

/** Rows of blocks that only compute are written with the next effect, or when there are this many. */
const maxUnwrittenRows = 200

/**
 * Executes a run until it ends, waits, or its time slice is over. The rows of blocks that only compute are collected and written later,
 * since such blocks need no commit of their own. `rows` are finished steps that have not been written yet.
 */
export async function executeRun(execution: RunExecution, runner: FlowRunner, rows: readonly StepRow[] = []): Promise<void> {
  let unwritten: StepRow[] = [...rows]
  const checkpoint = (state = execution.state): RunCheckpoint => ({ steps: unwritten, state })
  const { budget } = execution
  for (;;) {
    await budget.pause()
    budget.refill()
    const before = execution.state
    const { state, place } = advanceToNextStep(execution.flow.graph, before)
    execution.state = state
    dropEndedIterations(execution, before)
    if (!place) return runner.saveCheckpoint(checkpoint(), true)
    const step: ActiveStep = { ...place, ordinal: execution.steps, startedAt: runner.now(), context: stepContextOf(execution, place) }
    try {
      if (execution.steps >= runner.maxSteps) throw problem('VALIDATION_ERROR', `a run has at most ${runner.maxSteps} steps`)
      const block = blockOf(place.node)
      const { work } = block
      if ('acts' in work) {
        const nextState = stateAfter(execution, place, 'out')
        const isEnd = advanceToNextStep(execution.flow.graph, nextState).place === undefined
        const output = await runner.applyStep(
          step,
          async (scope) => checked(await work.acts(step.context, requireBlockApp(scope, block)), budget),
          async (output, scope) => {
            const row = await rowOf(step, output, runner.now())
            return { steps: [...unwritten, { ...row, ...(await typeRevisionOf(scope, block, output)) }], state: nextState }
          },
          isEnd,
        )
        if (isEnd) return
        await advancePast(execution, place, output, 'out')
        unwritten = []
        if (runner.isTimeSliceOver()) return runner.reschedule(checkpoint())
        continue
      }
      if ('waits' in work || 'calls' in work) {
        const inside = requireBlockApp(await runner.enter(), block)
        const waiting: WaitRequest = 'waits' in work ? await work.waits(step.context, inside) : { kind: 'call' }
        const recorded = await runner.park(step, waiting, checkpoint())
        if (!recorded) return
        unwritten.push(await completeParkedStep(execution, step, recorded.output, runner.now()))
      } else if ('loops' in work) {
        const loopOutput = beginLoop(execution, step, work.loops(step.context))
        unwritten.push(await rowOf(step, loopOutput, runner.now()))
      } else {
        const { output, handle = 'out' } = await work.computes(step.context)
        unwritten.push(await rowOf(step, await checked(output, budget), runner.now()))
        await advancePast(execution, place, output, handle)
      }
    } catch (error) {
      return failRunAtStep(execution, step, runner, runErrorOf(error, place.node.id), unwritten)
    }
    if (runner.isTimeSliceOver()) return runner.reschedule(checkpoint())
    if (unwritten.length < maxUnwrittenRows) continue
    await runner.saveCheckpoint(checkpoint(), false)
    unwritten = []
  }
}

/** Step at which a run is parked. */
export function parkedStepOf(execution: RunExecution, startedAt: Date): ActiveStep {
  const { state, place } = advanceToNextStep(execution.flow.graph, execution.state)
  if (!place) throw new Error(`Run ${execution.id} waits for no block`)
  execution.state = state
  return { ...place, ordinal: execution.steps, startedAt, context: stepContextOf(execution, place) }
}

/** Completes a parked step, advances the run past it, and returns the step's row. */
export async function completeParkedStep(execution: RunExecution, step: ActiveStep, output: unknown, now: Date): Promise<StepRow> {
  const row = await rowOf(step, output, now)
  await advancePast(execution, step, output, 'out')
  return row
}

/** Ends a run as failed at a step. `unwritten` are finished steps that have not been written yet. */
export function failRunAtStep(
  execution: RunExecution,
  step: ActiveStep,
  runner: FlowRunner,
  error: RunError,
  unwritten: readonly StepRow[] = [],
): Promise<void> {
  const failed: StepRow = { ...rowAt(step, runner.now()), status: 'failed', output: null, is_cut: false, input_hash: null, error }
  return runner.fail({ steps: [...unwritten, failed], state: execution.state }, error)
}

/** Returns the scope. Throws when the workspace is halted or the block's app is off. */
export function requireBlockApp(scope: Scope, { app }: Pick<Block, 'app'>): Scope {
  requireNotHalted({ work: 'step', app }, scope.workspace)
  return scope
}

/**
 * The revision of the type of a record that a step wrote. The step's transaction still holds the lock of the type's table, so the fields
 * whose values it wrote are those that this revision counts.
 */
async function typeRevisionOf(scope: Scope, { shown }: Block, output: unknown): Promise<Pick<StepRow, 'type_revision'>> {
  const type = shown === 'record' && isRecordOutput(output) ? await findRecordType(scope, output.object_type) : undefined
  return type ? { type_revision: type.revision } : {}
}

/** Row of a successful step. */
async function rowOf(step: ActiveStep, output: unknown, now: Date): Promise<StepRow> {
  const { node, context } = step
  const whole = output ?? null
  // Outputs from outside may hold secrets; record values are filtered by the viewer's rights when they are read.
  const shown = blockOf(node).shown === 'editors' ? await redactNamedSecrets(whole, context.budget) : whole
  const text = JSON.stringify(shown)
  await context.budget.pause()
  const is_cut = Buffer.byteLength(text) > flowLimits.shownBytes
  return {
    ...rowAt(step, now),
    status: 'ok',
    output: is_cut ? cutOutput(shown, text) : shown,
    is_cut,
    ...(is_cut || text !== JSON.stringify(whole) ? { whole } : {}),
    input_hash: inputHash(step),
    error: null,
  }
}

/** The beginning of an output, as text; a record's stays an object, from which a view removes what its caller may not read. */
const cutOutput = (output: unknown, text: string): unknown =>
  isRecordOutput(output) ? cutRecordOutput(output) : beginningOf(text, flowLimits.shownBytes)

const rowAt = ({ node, iteration, ordinal, startedAt }: ActiveStep, now: Date) => ({
  node_id: node.id,
  node_type: node.type,
  iteration,
  place: ordinal,
  started_at: startedAt.toISOString(),
  duration_ms: Math.max(0, now.getTime() - startedAt.getTime()),
})

/** Digest of a block's settings, by which a rehearsal finds the recorded output of a call or function; null for other blocks. */
export const inputHash = ({ node, context }: Pick<ActiveStep, 'node' | 'context'>): string | null =>
  hasRecordedInput(node) ? createHash('sha256').update(JSON.stringify(context.settings)).digest('base64url') : null

/** The error to store for a step's failure. Rethrows internal faults, and the error of a suspended workspace, whose runs wait. */
export function runErrorOf(error: unknown, nodeId: string | null): RunError {
  if (error instanceof Problem && error.status < 500 && !isSuspensionError(error))
    return { code: error.code, message: error.message, node_id: nodeId }
  throw error
}

const hasRecordedInput = (node: FlowNode): boolean => {
  const { work } = blockOf(node)
  return 'calls' in work || node.type === 'action.run_function'
}
