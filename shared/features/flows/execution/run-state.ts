import type { FlowNode } from '#shared/core/automation/node.ts'
import type { Graph, Section } from '#shared/features/flows/definitions/graph.ts'

/** How far a section has come: what stands before `place` is settled, and of what stands behind it `taken` are led to. */
interface Frame {
  /** The loop that repeats the section; null for the flow itself. */
  readonly loop: string | null
  readonly index: number
  readonly count: number
  readonly place: number
  readonly taken: readonly string[]
}

/** Where a run stands: the flow itself and the loops that it is in, the innermost last. It is the same after any number of steps. */
export interface RunState {
  readonly frames: readonly Frame[]
  /** The loops that are over in the present iterations, with the number of their items. */
  readonly ended: Readonly<Record<string, number>>
}

/** The next block of a run, and the path through the loops around it. */
export interface StepPosition {
  readonly node: FlowNode
  readonly iteration: string
}

/** The beginning of a run: what the trigger leads to. */
export function initialRunState(graph: Graph): RunState {
  const taken = graph.trigger ? graph.targets(graph.trigger.id, 'out') : []
  return { frames: [{ loop: null, index: 0, count: 1, place: 0, taken }], ended: {} }
}

/**
 * Goes on to the next block that is to run: one that has several connections to it once all of them are settled and one was taken. Blocks to
 * which none was taken are skipped, and what they lead to with them. The place is undefined when the run is at its end.
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
      ended = without(ended, graph, frame.loop)
      frames = [...frames.slice(0, -1), iterationAt(graph, frame.loop, frame.index + 1, frame.count)]
    } else {
      ended = { ...ended, [frame.loop]: frame.count }
      frames = [...frames.slice(0, -2), leave(graph, frames.at(-2) as Frame, frame.loop, 'done')]
    }
  }
}

/** The state behind a block that left by one of its outputs. */
export function leaveStep(graph: Graph, state: RunState, nodeId: string, handle: string): RunState {
  const frame = state.frames.at(-1) as Frame
  return { ...state, frames: [...state.frames.slice(0, -1), leave(graph, frame, nodeId, handle)] }
}

/** The state inside a loop's first iteration, or behind it when its list is empty. */
export function enterLoop(graph: Graph, state: RunState, loop: string, count: number): RunState {
  if (count === 0) return leaveStep(graph, { ...state, ended: { ...state.ended, [loop]: 0 } }, loop, 'done')
  return { frames: [...state.frames, iterationAt(graph, loop, 0, count)], ended: without(state.ended, graph, loop) }
}

/** The loops that a state is in, the innermost last, each with the item that it is at. */
export const openLoopsOf = ({ frames }: RunState): readonly { readonly loop: string; readonly index: number }[] =>
  frames.flatMap(({ loop, index }) => (loop === null ? [] : [{ loop, index }]))

/** The iteration of a block's last step, as far as a state is in the loops around it or has left them; undefined where it had none. */
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

function leave(graph: Graph, frame: Frame, nodeId: string, handle: string): Frame {
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

/** What loops inside another have ended with is of its last iteration, and forgotten in the next. */
const without = (ended: RunState['ended'], graph: Graph, loop: string): RunState['ended'] =>
  Object.fromEntries(Object.entries(ended).filter(([inner]) => inner !== loop && !graph.sectionOf.get(inner)?.path.includes(loop)))
