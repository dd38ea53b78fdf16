import type { FlowNode } from '#shared/core/automation/node.ts'
import type { Graph, Section } from '#shared/features/flows/definitions/graph.ts'

/** Progress of a section of the graph. */
interface Frame {
  /** Id of the loop that repeats the section; null for the flow itself. */
  readonly loop: string | null
  /** The loop's present item, and its number of items; 0 and 1 for the flow itself. */
  readonly index: number
  readonly count: number
  /** Index in the section's blocks: those before it are finished or skipped. */
  readonly place: number
  /** Ids of unfinished blocks that taken edges lead to. */
  readonly taken: readonly string[]
}

/**
 * Progress of a run: a frame for the flow itself, and one for each open loop, innermost last. Its size does not grow with the number of
 * steps.
 */
export interface RunState {
  readonly frames: readonly Frame[]
  /** Number of items by loop id, of loops that have ended in the present iterations of the loops around them. */
  readonly ended: Readonly<Record<string, number>>
}

/** Next block of a run, and the present indexes of the loops around it, joined by dots, outermost first. */
export interface StepPosition {
  readonly node: FlowNode
  readonly iteration: string
}

/** Initial state: the blocks that the trigger leads to. */
export function initialRunState(graph: Graph): RunState {
  const taken = graph.trigger ? graph.targets(graph.trigger.id, 'out') : []
  return { frames: [{ loop: null, index: 0, count: 1, place: 0, taken }], ended: {} }
}

/**
 * Advances to the next block. A block with several incoming edges runs once all their sources are finished and at least one edge was taken.
 * A block that no taken edge leads to is skipped, and no edge from it is taken. `place` is undefined at the end of the run.
 */
export function advanceToNextStep(graph: Graph, state: RunState): { readonly state: RunState; readonly place: StepPosition | undefined } {
  let [frames, ended] = [state.frames, state.ended]
  for (;;) {
    const frame = frames.at(-1) as Frame
    const section = sectionAt(graph, frame)
    const place = section.nodes.findIndex(({ id }, index) => index >= frame.place && frame.taken.includes(id))
    const node = section.nodes[place]
    if (node) {
      const moved = { ...frame, place }
      return { state: { frames: [...frames.slice(0, -1), moved], ended }, place: { node, iteration: iterationOf(frames) } }
    }
    if (frame.loop === null) return { state: { frames, ended }, place: undefined }
    if (frame.index + 1 < frame.count) {
      ended = withoutLoop(ended, graph, frame.loop)
      frames = [...frames.slice(0, -1), iterationAt(graph, frame.loop, frame.index + 1, frame.count)]
    } else {
      ended = { ...ended, [frame.loop]: frame.count }
      frames = [...frames.slice(0, -2), frameAfter(graph, frames.at(-2) as Frame, frame.loop, 'done')]
    }
  }
}

/** State after a block has finished and the run leaves it by its output `handle`. */
export function leaveStep(graph: Graph, state: RunState, nodeId: string, handle: string): RunState {
  const frame = state.frames.at(-1) as Frame
  return { ...state, frames: [...state.frames.slice(0, -1), frameAfter(graph, frame, nodeId, handle)] }
}

/** State in a loop's first iteration, or after the loop when its list is empty. */
export function enterLoop(graph: Graph, state: RunState, loop: string, count: number): RunState {
  if (count === 0) return leaveStep(graph, { ...state, ended: { ...state.ended, [loop]: 0 } }, loop, 'done')
  return { frames: [...state.frames, iterationAt(graph, loop, 0, count)], ended: withoutLoop(state.ended, graph, loop) }
}

/** Open loops, innermost last, each with the index of its present item. */
export const openLoopsOf = ({ frames }: RunState): readonly { readonly loop: string; readonly index: number }[] =>
  frames.flatMap(({ loop, index }) => (loop === null ? [] : [{ loop, index }]))

/**
 * Iteration of a block's last step: of each loop around it the present index, or the last index if the loop has ended. Undefined when one
 * of them has not begun or had no items.
 */
export function lastIterationOf(graph: Graph, state: RunState, nodeId: string): string | undefined {
  const path = graph.sectionOf.get(nodeId)?.path ?? []
  const open = openLoopsOf(state)
  const indexes: number[] = []
  for (const [depth, loop] of path.entries()) {
    const at = open[depth]
    const index = at?.loop === loop ? at.index : (state.ended[loop] ?? 0) - 1
    if (index < 0) return undefined
    indexes.push(index)
  }
  return indexes.join('.')
}

const sectionAt = (graph: Graph, { loop }: Frame): Section => graph.sections.get(loop ?? '') as Section

const iterationAt = (graph: Graph, loop: string, index: number, count: number): Frame => ({
  loop,
  index,
  count,
  place: 0,
  taken: graph.targets(loop, 'loop'),
})

function frameAfter(graph: Graph, frame: Frame, nodeId: string, handle: string): Frame {
  const taken = new Set(frame.taken)
  taken.delete(nodeId)
  for (const target of graph.targets(nodeId, handle)) taken.add(target)
  return { ...frame, place: frame.place + 1, taken: [...taken] }
}

const iterationOf = (frames: readonly Frame[]): string =>
  frames
    .slice(1)
    .map(({ index }) => index)
    .join('.')

/** Drops a loop and the loops inside it from `ended`: their counts are of an earlier iteration. */
const withoutLoop = (ended: RunState['ended'], graph: Graph, loop: string): RunState['ended'] =>
  Object.fromEntries(Object.entries(ended).filter(([inner]) => inner !== loop && !graph.sectionOf.get(inner)?.path.includes(loop)))
