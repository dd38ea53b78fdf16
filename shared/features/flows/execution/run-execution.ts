import type { Block, StepContext, Trigger } from '#shared/core/automation/block.ts'
import type { FlowNode } from '#shared/core/automation/node.ts'
import { type Lookup, pathsIn, type Render, renderTemplate, toPlainJsonInSlices, valueAt } from '#shared/core/automation/template.ts'
import { blockKindOf } from '#shared/features/flows/blocks.ts'
import { graphOfSavedDefinition } from '#shared/features/flows/definitions/check.ts'
import type { FlowDefinition } from '#shared/features/flows/definitions/definition.ts'
import type { Graph } from '#shared/features/flows/definitions/graph.ts'
import { lastIterationOf, openLoopsOf, type RunState, type StepPosition } from '#shared/features/flows/execution/run-state.ts'
import type { TriggerInput } from '#shared/features/flows/runs/schemas.ts'
import { findOutputs } from '#shared/features/flows/runs/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** A definition made ready to be played. */
export interface CompiledFlow {
  readonly definition: FlowDefinition
  readonly graph: Graph
  /** The blocks whose outputs any block refers to: those of the others need not be kept at hand. */
  readonly referencedNodeIds: ReadonlySet<string>
}

/** Makes a definition ready to be played. */
export function compileFlow(definition: FlowDefinition): CompiledFlow {
  const paths = definition.nodes.flatMap(({ config }) => [...pathsIn(config)])
  const referred = new Set(paths.flatMap(([root, nodeId]) => (root === 'steps' && nodeId !== undefined ? [nodeId] : [])))
  return { definition, graph: graphOfSavedDefinition(definition), referencedNodeIds: referred }
}

/** A run that is being played: what it was set off by, where it stands, and what its steps gave that others refer to. */
export interface RunExecution {
  readonly id: string
  readonly flow: CompiledFlow
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
export async function loadStepOutputs(
  db: Executor,
  workspaceId: string,
  { id, flow, state, outputs, budget }: RunExecution,
): Promise<void> {
  const asked = [...flow.referencedNodeIds].flatMap((nodeId) => {
    const iteration = flow.graph.nodeById.has(nodeId) ? lastIterationOf(flow.graph, state, nodeId) : undefined
    return iteration === undefined ? [] : [{ nodeId, iteration }]
  })
  if (asked.length === 0) return
  const places = [asked.map(({ nodeId }) => nodeId), asked.map(({ iteration }) => iteration)]
  const rows = await db.query<{ node_id: string; output: unknown }>(findOutputs(workspaceId, id, ...places))
  for (const { node_id, output } of rows) outputs.set(node_id, await toPlainJsonInSlices(output, budget))
}

/** Keeps what a step gave at hand if a block refers to it. */
export function rememberOutput({ flow, outputs }: RunExecution, nodeId: string, output: unknown): void {
  if (flow.referencedNodeIds.has(nodeId)) outputs.set(nodeId, output)
}

/** Forgets what the blocks of a loop gave in the iteration before. */
export function dropIterationOutputs({ flow: { graph }, outputs }: RunExecution, loop: string): void {
  for (const nodeId of outputs.keys()) if (graph.sectionOf.get(nodeId)?.path.includes(loop)) outputs.delete(nodeId)
}

/** The kind of a block that stands in a graph. */
export function blockOf(node: FlowNode): Block {
  const kind: Block | Trigger | undefined = blockKindOf(node.type)
  if (!kind || kind.isTrigger) throw new Error(`${node.type} is no block that runs`)
  return kind
}

/** What a step is told of its run. */
export function stepContextOf(playing: RunExecution, { node, iteration }: StepPosition): StepContext {
  const renderIt: Render = (value, extra) => renderTemplate(value, lookupOf(playing, extra), playing.budget)
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

function lookupOf(playing: RunExecution, extra?: Readonly<Record<string, unknown>>): Lookup {
  const { flow, trigger, outputs } = playing
  return ([root, ...path]) => {
    if (extra && Object.hasOwn(extra, root)) return valueAt(extra[root], path)
    if (root === 'trigger') return valueAt(trigger, path)
    if (root === 'context') return valueAt(flow.definition.context, path)
    if (root === 'steps') return stepAt(outputs, path)
    const here = openLoopsOf(playing.state).at(-1)
    if (!here) return undefined
    if (root === 'index') return path.length === 0 ? here.index : undefined
    return root === 'item' ? valueAt(itemsAt(playing, here.loop)[here.index], path) : undefined
  }
}

function stepAt(outputs: ReadonlyMap<string, unknown>, [nodeId = '', ...path]: readonly string[]): unknown {
  return valueAt(outputs.get(nodeId), path)
}

/** The items of a loop that a run is in: what its list was when it began, since nothing that it refers to changes. */
function itemsAt(playing: RunExecution, loop: string): readonly unknown[] {
  const known = playing.items.get(loop)
  if (known) return known
  const { graph } = playing.flow
  const node = graph.nodeById.get(loop) as FlowNode
  const { work } = blockOf(node)
  const depth = openLoopsOf(playing.state).findIndex((open) => open.loop === loop)
  const outside: RunExecution = { ...playing, state: { ...playing.state, frames: playing.state.frames.slice(0, depth + 1) } }
  const items = 'loops' in work ? work.loops(stepContextOf(outside, { node, iteration: '' })) : []
  playing.items.set(loop, items)
  return items
}
