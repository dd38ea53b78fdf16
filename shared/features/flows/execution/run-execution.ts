import type { Block, StepContext, Trigger } from '#shared/core/automation/block.ts'
import type { Node } from '#shared/core/automation/node.ts'
import { type Lookup, pathsIn, plainJsonOf, type Render, render, valueAt } from '#shared/core/automation/template.ts'
import { kindOf } from '#shared/features/flows/blocks.ts'
import { savedGraph } from '#shared/features/flows/definitions/check.ts'
import type { Definition } from '#shared/features/flows/definitions/definition.ts'
import type { Graph } from '#shared/features/flows/definitions/graph.ts'
import { iterationFor, loopsIn, type Place, type RunState } from '#shared/features/flows/execution/run-state.ts'
import type { TriggerInput } from '#shared/features/flows/runs/schemas.ts'
import { findOutputs } from '#shared/features/flows/runs/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** A definition made ready to be played. */
export interface Score {
  readonly definition: Definition
  readonly graph: Graph
  /** The blocks whose outputs any block refers to: those of the others need not be kept at hand. */
  readonly referred: ReadonlySet<string>
}

/** Makes a definition ready to be played. */
export function scoreOf(definition: Definition): Score {
  const paths = definition.nodes.flatMap(({ config }) => [...pathsIn(config)])
  const referred = new Set(paths.flatMap(([root, nodeId]) => (root === 'steps' && nodeId !== undefined ? [nodeId] : [])))
  return { definition, graph: savedGraph(definition), referred }
}

/** A run that is being played: what it was set off by, where it stands, and what its steps gave that others refer to. */
export interface Playing {
  readonly id: string
  readonly score: Score
  readonly trigger: TriggerInput
  state: RunState
  readonly outputs: Map<string, unknown>
  /** The items of the loops that it is in. */
  readonly items: Map<string, readonly unknown[]>
  /** How many steps it has done. */
  steps: number
  /** What the step under way may still compute. */
  readonly budget: ComputeBudget
}

/** Reads what the steps of a run gave so far as blocks refer to it: a look-up for each such block, however many steps there were. */
export async function readOutputs(db: Executor, workspaceId: string, { id, score, state, outputs, budget }: Playing): Promise<void> {
  const asked = [...score.referred].flatMap((nodeId) => {
    const iteration = score.graph.nodeById.has(nodeId) ? iterationFor(score.graph, state, nodeId) : undefined
    return iteration === undefined ? [] : [{ nodeId, iteration }]
  })
  if (asked.length === 0) return
  const places = [asked.map(({ nodeId }) => nodeId), asked.map(({ iteration }) => iteration)]
  const rows = await db.query<{ node_id: string; output: unknown }>(findOutputs(workspaceId, id, ...places))
  for (const { node_id, output } of rows) outputs.set(node_id, await plainJsonOf(output, budget))
}

/** Keeps what a step gave at hand if a block refers to it. */
export function keepOutput({ score, outputs }: Playing, nodeId: string, output: unknown): void {
  if (score.referred.has(nodeId)) outputs.set(nodeId, output)
}

/** Forgets what the blocks of a loop gave in the iteration before. */
export function forgetIteration({ score: { graph }, outputs }: Playing, loop: string): void {
  for (const nodeId of outputs.keys()) if (graph.sectionOf.get(nodeId)?.path.includes(loop)) outputs.delete(nodeId)
}

/** The kind of a block that stands in a graph. */
export function blockOf(node: Node): Block {
  const kind: Block | Trigger | undefined = kindOf(node.type)
  if (!kind || kind.isTrigger) throw new Error(`${node.type} is no block that runs`)
  return kind
}

/** What a step is told of its run. */
export function contextOf(playing: Playing, { node, iteration }: Place): StepContext {
  const renderIt: Render = (value, extra) => render(value, lookupOf(playing, extra), playing.budget)
  return {
    node,
    get settings() {
      return renderIt(node.config) as StepContext['settings']
    },
    render: renderIt,
    budget: playing.budget,
    runId: playing.id,
    key: `${playing.id}:${node.id}:${iteration}`,
  }
}

function lookupOf(playing: Playing, extra?: Readonly<Record<string, unknown>>): Lookup {
  const { score, trigger, outputs } = playing
  return ([root, ...path]) => {
    if (extra && Object.hasOwn(extra, root)) return valueAt(extra[root], path)
    if (root === 'trigger') return valueAt(trigger, path)
    if (root === 'context') return valueAt(score.definition.context, path)
    if (root === 'steps') return stepAt(outputs, path)
    const here = loopsIn(playing.state).at(-1)
    if (!here) return undefined
    if (root === 'index') return path.length === 0 ? here.index : undefined
    return root === 'item' ? valueAt(itemsAt(playing, here.loop)[here.index], path) : undefined
  }
}

function stepAt(outputs: ReadonlyMap<string, unknown>, [nodeId = '', ...path]: readonly string[]): unknown {
  return valueAt(outputs.get(nodeId), path)
}

/** The items of a loop that a run is in: what its list was when it began, since nothing that it refers to changes. */
function itemsAt(playing: Playing, loop: string): readonly unknown[] {
  const known = playing.items.get(loop)
  if (known) return known
  const { graph } = playing.score
  const node = graph.nodeById.get(loop) as Node
  const { work } = blockOf(node)
  const depth = loopsIn(playing.state).findIndex((open) => open.loop === loop)
  const outside: Playing = { ...playing, state: { ...playing.state, frames: playing.state.frames.slice(0, depth + 1) } }
  const items = 'loops' in work ? work.loops(contextOf(outside, { node, iteration: '' })) : []
  playing.items.set(loop, items)
  return items
}
