import { createHash } from 'node:crypto'
import type { Block, StepContext, Waiting } from '#shared/core/automation/block.ts'
import type { Node } from '#shared/core/automation/node.ts'
import { plainJsonOf } from '#shared/core/automation/template.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { checked } from '#shared/features/flows/execution/output-size.ts'
import { redact } from '#shared/features/flows/execution/redact.ts'
import { blockOf, contextOf, forgetIteration, keepOutput, type Playing } from '#shared/features/flows/execution/run-execution.ts'
import { enterLoop, goOn, leaveBy, loopsIn, type Place, type RunState } from '#shared/features/flows/execution/run-state.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import type { RunError } from '#shared/features/flows/runs/schemas.ts'
import { isSuspension, requireOpen } from '#shared/platform/kernel/background.ts'
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
export interface Turn {
  readonly steps: readonly StepRow[]
  readonly state: RunState | null
}

/** A step that is under way. */
export interface Doing extends Place {
  readonly place: number
  readonly startedAt: Date
  readonly context: StepContext
}

/** Where a run is played: for good, or in a rehearsal. */
export interface Stage {
  readonly now: () => Date
  readonly stepsAtMost: number
  /** The workspace as the run's editor sees it, with the rights of this moment. */
  readonly enter: () => Promise<Scope>
  /**
   * Does what changes the workspace, and writes the turn that `after` makes of what came of it: both, or neither; `isEnd` ends the run as ok
   * with it. Throws what the work throws, having written nothing.
   */
  readonly act: (
    doing: Doing,
    work: (scope: Scope) => Promise<unknown>,
    after: (output: unknown) => Promise<Turn>,
    isEnd: boolean,
  ) => Promise<unknown>
  /** Parks the run for a step, or gives what it would have waited for at once. */
  readonly park: (doing: Doing, waiting: Waiting, turn: Turn) => Promise<{ readonly output: unknown } | undefined>
  /** Writes a turn without an effect; `isEnd` ends the run as ok. */
  readonly write: (turn: Turn, isEnd: boolean) => Promise<void>
  /** Ends the run as failed. */
  readonly fail: (turn: Turn, error: RunError) => Promise<void>
  /** Whether somebody else should have a turn. Then the run goes on later. */
  readonly isLong: () => boolean
  readonly pause: (turn: Turn) => Promise<void>
}

/** Rows of blocks that only compute are written with the next effect, or when there are so many. */
const mostUnwritten = 200

/**
 * Plays a run as far as it goes: to its end, to a step that waits, or until others should have their turn. Blocks that only compute cost no
 * commit of their own. `rows` are steps that are done already and wait to be written.
 */
export async function play(playing: Playing, stage: Stage, rows: readonly StepRow[] = []): Promise<void> {
  let unwritten: StepRow[] = [...rows]
  const written = (state = playing.state): Turn => ({ steps: unwritten, state })
  const { budget } = playing
  for (;;) {
    await budget.pause()
    budget.refill()
    const before = playing.state
    const { state, place } = goOn(playing.score.graph, before)
    playing.state = state
    forgetOver(playing, before)
    if (!place) return stage.write(written(), true)
    const doing: Doing = { ...place, place: playing.steps, startedAt: stage.now(), context: contextOf(playing, place) }
    try {
      if (playing.steps >= stage.stepsAtMost) throw problem('VALIDATION_ERROR', `a run has at most ${stage.stepsAtMost} steps`)
      const block = blockOf(place.node)
      const { work } = block
      if ('acts' in work) {
        const behind = after(playing, place, 'out')
        const isEnd = goOn(playing.score.graph, behind).place === undefined
        const output = await stage.act(
          doing,
          async (scope) => checked(await work.acts(doing.context, withBlock(scope, block)), budget),
          async (output) => ({ steps: [...unwritten, await rowOf(doing, output, stage.now())], state: behind }),
          isEnd,
        )
        if (isEnd) return
        await done(playing, place, output, 'out')
        unwritten = []
        if (stage.isLong()) return stage.pause(written())
        continue
      }
      if ('waits' in work || 'calls' in work) {
        const inside = withBlock(await stage.enter(), block)
        const waiting: Waiting = 'waits' in work ? await work.waits(doing.context, inside) : { kind: 'call' }
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
      const failure = errorOf(error, place.node.id)
      return stage.fail({ steps: [...unwritten, failedRow(doing, failure, stage.now())], state: playing.state }, failure)
    }
    if (stage.isLong()) return stage.pause(written())
    if (unwritten.length < mostUnwritten) continue
    await stage.write(written(), false)
    unwritten = []
  }
}

/** The step that a parked run stands at. */
export function parkedAt(playing: Playing, startedAt: Date): Doing {
  const { state, place } = goOn(playing.score.graph, playing.state)
  if (!place) throw new Error(`Run ${playing.id} waits for no block`)
  playing.state = state
  return { ...place, place: playing.steps, startedAt, context: contextOf(playing, place) }
}

/** A step that was parked and is over: goes on behind it. Returns its row. */
export async function resume(playing: Playing, doing: Doing, output: unknown, now: Date): Promise<StepRow> {
  const row = await rowOf(doing, output, now)
  await done(playing, doing, output, 'out')
  return row
}

/** The row of a step that was parked and has failed. */
export const failedRow = (doing: Doing, error: RunError, now: Date): StepRow => ({
  ...rowAt(doing, now),
  status: 'failed',
  output: null,
  is_cut: false,
  input_hash: null,
  error,
})

/** The scope, where a block works in it now: with its app off its room is not there. */
export function withBlock(scope: Scope, { app }: Pick<Block, 'app'>): Scope {
  requireOpen({ work: 'step', app }, scope.workspace)
  return scope
}

const after = ({ score, state }: Playing, { node }: Place, handle: string): RunState => leaveBy(score.graph, state, node.id, handle)

async function done(playing: Playing, place: Place, output: unknown, handle: string): Promise<void> {
  playing.state = after(playing, place, handle)
  playing.steps += 1
  const { id } = place.node
  if (playing.score.referred.has(id)) keepOutput(playing, id, await plainJsonOf(output, playing.budget))
}

/** Begins a loop over these items and gives its output. */
function begin(playing: Playing, { node }: Place, items: readonly unknown[]): { readonly count: number } {
  const { length } = items
  if (length > flowLimits.itemsPerLoop) {
    throw problem('VALIDATION_ERROR', `list may have at most ${flowLimits.itemsPerLoop} items, it has ${length}`)
  }
  playing.items.set(node.id, items)
  playing.state = enterLoop(playing.score.graph, playing.state, node.id, length)
  playing.steps += 1
  const output = { count: length }
  keepOutput(playing, node.id, output)
  return output
}

/** What the blocks of a loop gave is forgotten when its next iteration begins. */
function forgetOver(playing: Playing, before: RunState): void {
  const [was, is] = [loopsIn(before), loopsIn(playing.state)]
  for (const { loop, index } of is) {
    const known = was.find((one) => one.loop === loop)
    if (known && known.index !== index) forgetIteration(playing, loop)
  }
}

/** The row of a step that went well. */
async function rowOf(doing: Doing, output: unknown, now: Date): Promise<StepRow> {
  const { node, context } = doing
  const whole = output ?? null
  // What comes from outside may hold secrets; values of records go by the rights of whoever looks at them.
  const shown = blockOf(node).shown === 'editors' ? await redact(whole, context.budget) : whole
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

const rowAt = ({ node, iteration, place, startedAt }: Doing, now: Date) => ({
  node_id: node.id,
  node_type: node.type,
  iteration,
  place,
  started_at: startedAt.toISOString(),
  duration_ms: Math.max(0, now.getTime() - startedAt.getTime()),
})

/** A digest of what a block is asked, for those that a rehearsal does not ask again; null for the others. */
export const inputHash = ({ node, context }: Pick<Doing, 'node' | 'context'>): string | null =>
  asksOthers(node) ? createHash('sha256').update(JSON.stringify(context.settings)).digest('base64url') : null

/** What a step's failure is written down as; a fault of ours is thrown on, and so is the suspension of the workspace, in which runs wait. */
export function errorOf(error: unknown, nodeId: string | null): RunError {
  if (error instanceof Problem && error.status < 500 && !isSuspension(error))
    return { code: error.code, message: error.message, node_id: nodeId }
  throw error
}

const asksOthers = (node: Node): boolean => {
  const { work } = blockOf(node)
  return 'calls' in work || node.type === 'action.run_function'
}
