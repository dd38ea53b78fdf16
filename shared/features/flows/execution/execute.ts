import { createHash } from 'node:crypto'
import type { Block, StepContext, WaitRequest } from '#shared/core/automation/block.ts'
import type { FlowNode } from '#shared/core/automation/node.ts'
import { toPlainJsonInSlices } from '#shared/core/automation/template.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { checked } from '#shared/features/flows/execution/output-size.ts'
import { redactNamedSecrets } from '#shared/features/flows/execution/redact.ts'
import {
  blockOf,
  dropIterationOutputs,
  type RunExecution,
  rememberOutput,
  stepContextOf,
} from '#shared/features/flows/execution/run-execution.ts'
import {
  advanceToNextStep,
  enterLoop,
  leaveStep,
  openLoopsOf,
  type RunState,
  type StepPosition,
} from '#shared/features/flows/execution/run-state.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import type { RunError } from '#shared/features/flows/runs/schemas.ts'
import { isSuspensionError, requireNotHalted } from '#shared/platform/kernel/background.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** A step that was done, as it is written down. */
export interface StepRow {
  readonly node_id: string
  readonly node_type: string
  readonly iteration: string
  readonly place: number
  readonly status: 'ok' | 'failed'
  readonly output: unknown
  /** Whether `output` is only the beginning of its text. */
  readonly is_cut: boolean
  /** The whole output where `output` is not all of it: where it is cut, or lacks secrets. */
  readonly whole?: unknown
  readonly input_hash: string | null
  readonly error: RunError | null
  readonly started_at: string
  readonly duration_ms: number
}

/** What a turn of a run writes. */
export interface RunCheckpoint {
  readonly steps: readonly StepRow[]
  readonly state: RunState | null
}

/** A step that is under way. */
export interface ActiveStep extends StepPosition {
  readonly ordinal: number
  readonly startedAt: Date
  readonly context: StepContext
}

/** Where a run is played: for good, or in a rehearsal. */
export interface FlowRunner {
  readonly now: () => Date
  readonly maxSteps: number
  /** The workspace as the run's editor sees it, with the rights of this moment. */
  readonly enter: () => Promise<Scope>
  /**
   * Does what changes the workspace, and writes the turn that `after` makes of what came of it: both, or neither; `isEnd` ends the run as ok
   * with it. Throws what the work throws, having written nothing.
   */
  readonly applyStep: (
    doing: ActiveStep,
    work: (scope: Scope) => Promise<unknown>,
    after: (output: unknown) => Promise<RunCheckpoint>,
    isEnd: boolean,
  ) => Promise<unknown>
  /** Parks the run for a step, or gives what it would have waited for at once. */
  readonly park: (doing: ActiveStep, waiting: WaitRequest, turn: RunCheckpoint) => Promise<{ readonly output: unknown } | undefined>
  /** Writes a turn without an effect; `isEnd` ends the run as ok. */
  readonly saveCheckpoint: (turn: RunCheckpoint, isEnd: boolean) => Promise<void>
  /** Ends the run as failed. */
  readonly fail: (turn: RunCheckpoint, error: RunError) => Promise<void>
  /** Whether somebody else should have a turn. Then the run goes on later. */
  readonly isTimeSliceOver: () => boolean
  readonly reschedule: (turn: RunCheckpoint) => Promise<void>
}

/** Rows of blocks that only compute are written with the next effect, or when there are so many. */
const mostUnwritten = 200

/**
 * Plays a run as far as it goes: to its end, to a step that waits, or until others should have their turn. Blocks that only compute cost no
 * commit of their own. `rows` are steps that are done already and wait to be written.
 */
export async function executeRun(playing: RunExecution, stage: FlowRunner, rows: readonly StepRow[] = []): Promise<void> {
  let unwritten: StepRow[] = [...rows]
  const written = (state = playing.state): RunCheckpoint => ({ steps: unwritten, state })
  const { budget } = playing
  for (;;) {
    await budget.pause()
    budget.refill()
    const before = playing.state
    const { state, place } = advanceToNextStep(playing.flow.graph, before)
    playing.state = state
    forgetOver(playing, before)
    if (!place) return stage.saveCheckpoint(written(), true)
    const doing: ActiveStep = { ...place, ordinal: playing.steps, startedAt: stage.now(), context: stepContextOf(playing, place) }
    try {
      if (playing.steps >= stage.maxSteps) throw problem('VALIDATION_ERROR', `a run has at most ${stage.maxSteps} steps`)
      const block = blockOf(place.node)
      const { work } = block
      if ('acts' in work) {
        const behind = after(playing, place, 'out')
        const isEnd = advanceToNextStep(playing.flow.graph, behind).place === undefined
        const output = await stage.applyStep(
          doing,
          async (scope) => checked(await work.acts(doing.context, requireBlockApp(scope, block)), budget),
          async (output) => ({ steps: [...unwritten, await rowOf(doing, output, stage.now())], state: behind }),
          isEnd,
        )
        if (isEnd) return
        await done(playing, place, output, 'out')
        unwritten = []
        if (stage.isTimeSliceOver()) return stage.reschedule(written())
        continue
      }
      if ('waits' in work || 'calls' in work) {
        const inside = requireBlockApp(await stage.enter(), block)
        const waiting: WaitRequest = 'waits' in work ? await work.waits(doing.context, inside) : { kind: 'call' }
        const given = await stage.park(doing, waiting, written())
        if (!given) return
        unwritten.push(await rowOf(doing, given.output, stage.now()))
        await done(playing, place, given.output, 'out')
      } else if ('loops' in work) {
        unwritten.push(await rowOf(doing, begin(playing, doing, work.loops(doing.context)), stage.now()))
      } else {
        const { output, handle = 'out' } = await work.computes(doing.context)
        unwritten.push(await rowOf(doing, await checked(output, budget), stage.now()))
        await done(playing, place, output, handle)
      }
    } catch (error) {
      const failure = runErrorOf(error, place.node.id)
      return stage.fail({ steps: [...unwritten, failedStepRow(doing, failure, stage.now())], state: playing.state }, failure)
    }
    if (stage.isTimeSliceOver()) return stage.reschedule(written())
    if (unwritten.length < mostUnwritten) continue
    await stage.saveCheckpoint(written(), false)
    unwritten = []
  }
}

/** The step that a parked run stands at. */
export function parkedStepOf(playing: RunExecution, startedAt: Date): ActiveStep {
  const { state, place } = advanceToNextStep(playing.flow.graph, playing.state)
  if (!place) throw new Error(`Run ${playing.id} waits for no block`)
  playing.state = state
  return { ...place, ordinal: playing.steps, startedAt, context: stepContextOf(playing, place) }
}

/** A step that was parked and is over: goes on behind it. Returns its row. */
export async function completeParkedStep(playing: RunExecution, doing: ActiveStep, output: unknown, now: Date): Promise<StepRow> {
  const row = await rowOf(doing, output, now)
  await done(playing, doing, output, 'out')
  return row
}

/** The row of a step that was parked and has failed. */
export const failedStepRow = (doing: ActiveStep, error: RunError, now: Date): StepRow => ({
  ...rowAt(doing, now),
  status: 'failed',
  output: null,
  is_cut: false,
  input_hash: null,
  error,
})

/** The scope, where a block works in it now: with its app off its room is not there. */
export function requireBlockApp(scope: Scope, { app }: Pick<Block, 'app'>): Scope {
  requireNotHalted({ work: 'step', app }, scope.workspace)
  return scope
}

const after = ({ flow, state }: RunExecution, { node }: StepPosition, handle: string): RunState =>
  leaveStep(flow.graph, state, node.id, handle)

async function done(playing: RunExecution, place: StepPosition, output: unknown, handle: string): Promise<void> {
  playing.state = after(playing, place, handle)
  playing.steps += 1
  const { id } = place.node
  if (playing.flow.referencedNodeIds.has(id)) rememberOutput(playing, id, await toPlainJsonInSlices(output, playing.budget))
}

/** Begins a loop over these items and gives its output. */
function begin(playing: RunExecution, { node }: StepPosition, items: readonly unknown[]): { readonly count: number } {
  const { length } = items
  if (length > flowLimits.itemsPerLoop) {
    throw problem('VALIDATION_ERROR', `list may have at most ${flowLimits.itemsPerLoop} items, it has ${length}`)
  }
  playing.items.set(node.id, items)
  playing.state = enterLoop(playing.flow.graph, playing.state, node.id, length)
  playing.steps += 1
  const output = { count: length }
  rememberOutput(playing, node.id, output)
  return output
}

/** What the blocks of a loop gave is forgotten when its next iteration begins. */
function forgetOver(playing: RunExecution, before: RunState): void {
  const [was, is] = [openLoopsOf(before), openLoopsOf(playing.state)]
  for (const { loop, index } of is) {
    const known = was.find((one) => one.loop === loop)
    if (known && known.index !== index) dropIterationOutputs(playing, loop)
  }
}

/** The row of a step that went well. */
async function rowOf(doing: ActiveStep, output: unknown, now: Date): Promise<StepRow> {
  const { node, context } = doing
  const whole = output ?? null
  // What comes from outside may hold secrets; values of records go by the rights of whoever looks at them.
  const shown = blockOf(node).shown === 'editors' ? await redactNamedSecrets(whole, context.budget) : whole
  const text = JSON.stringify(shown)
  await context.budget.pause()
  const is_cut = Buffer.byteLength(text) > flowLimits.shownBytes
  return {
    ...rowAt(doing, now),
    status: 'ok',
    output: is_cut ? Buffer.from(text).subarray(0, flowLimits.shownBytes).toString().replace(/�$/, '') : shown,
    is_cut,
    ...(is_cut || text !== JSON.stringify(whole) ? { whole } : {}),
    input_hash: inputHash(doing),
    error: null,
  }
}

const rowAt = ({ node, iteration, ordinal, startedAt }: ActiveStep, now: Date) => ({
  node_id: node.id,
  node_type: node.type,
  iteration,
  place: ordinal,
  started_at: startedAt.toISOString(),
  duration_ms: Math.max(0, now.getTime() - startedAt.getTime()),
})

/** A digest of what a block is asked, for those that a rehearsal does not ask again; null for the others. */
export const inputHash = ({ node, context }: Pick<ActiveStep, 'node' | 'context'>): string | null =>
  asksOthers(node) ? createHash('sha256').update(JSON.stringify(context.settings)).digest('base64url') : null

/** What a step's failure is written down as; a fault of ours is thrown on, and so is the suspension of the workspace, in which runs wait. */
export function runErrorOf(error: unknown, nodeId: string | null): RunError {
  if (error instanceof Problem && error.status < 500 && !isSuspensionError(error))
    return { code: error.code, message: error.message, node_id: nodeId }
  throw error
}

const asksOthers = (node: FlowNode): boolean => {
  const { work } = blockOf(node)
  return 'calls' in work || node.type === 'action.run_function'
}
