import type { Block, StepContext, Trigger } from '#shared/core/automation/block.ts'
import type { FlowNode } from '#shared/core/automation/node.ts'
import { pathsIn, type Render, toPlainJsonInSlices } from '#shared/core/automation/template.ts'
import { blockKindOf } from '#shared/features/flows/blocks.ts'
import { graphOfSavedDefinition } from '#shared/features/flows/definitions/check.ts'
import type { FlowDefinition } from '#shared/features/flows/definitions/definition.ts'
import type { Graph } from '#shared/features/flows/definitions/graph.ts'
import { type Lookup, renderTemplate, valueAt } from '#shared/features/flows/execution/render-template.ts'
import {
  enterLoop,
  lastIterationOf,
  leaveStep,
  openLoopsOf,
  type RunState,
  type StepPosition,
} from '#shared/features/flows/execution/run-state.ts'
import { findOutputs } from '#shared/features/flows/execution/store.ts'
import { flowLimits } from '#shared/features/flows/limits.ts'
import type { TriggerInput } from '#shared/features/flows/runs/schemas.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** A definition prepared for execution. */
export interface CompiledFlow {
  readonly definition: FlowDefinition
  readonly graph: Graph
  /** Ids of the blocks whose outputs other blocks refer to; only these outputs are kept in memory. */
  readonly referencedNodeIds: ReadonlySet<string>
}

/** Compiles a definition. */
export function compileFlow(definition: FlowDefinition): CompiledFlow {
  const paths = definition.nodes.flatMap(({ config }) => [...pathsIn(config)])
  const referencedNodeIds = new Set(paths.flatMap(([root, nodeId]) => (root === 'steps' && nodeId !== undefined ? [nodeId] : [])))
  return { definition, graph: graphOfSavedDefinition(definition), referencedNodeIds }
}

/** A run in execution: its trigger input, its state, and the outputs that other blocks refer to. */
export interface RunExecution {
  readonly id: string
  readonly flow: CompiledFlow
  readonly trigger: TriggerInput
  state: RunState
  readonly outputs: Map<string, unknown>
  /** Items of the open loops, by loop id. */
  readonly items: Map<string, readonly unknown[]>
  /** Number of finished steps. */
  steps: number
  /** Remaining compute budget of the step in progress. */
  readonly budget: ComputeBudget
}

/** Loads the step outputs that blocks refer to: one look-up per such block, regardless of the number of steps. */
export async function loadStepOutputs(
  db: Executor,
  workspaceId: string,
  { id, flow, state, outputs, budget }: RunExecution,
): Promise<void> {
  const places = [...flow.referencedNodeIds].flatMap((nodeId) => {
    const iteration = flow.graph.nodeById.has(nodeId) ? lastIterationOf(flow.graph, state, nodeId) : undefined
    return iteration === undefined ? [] : [{ nodeId, iteration }]
  })
  if (places.length === 0) return
  const [nodeIds, iterations] = [places.map(({ nodeId }) => nodeId), places.map(({ iteration }) => iteration)]
  const rows = await db.query(findOutputs({ nodeIds, iterations, workspaceId, runId: id }))
  for (const { node_id, output } of rows) outputs.set(node_id, await toPlainJsonInSlices(output, budget))
}

/** Drops the outputs of the blocks inside a loop when the loop's next iteration begins. */
export function dropEndedIterations({ flow: { graph }, state, outputs }: RunExecution, before: RunState): void {
  const openBefore = openLoopsOf(before)
  for (const { loop, index } of openLoopsOf(state)) {
    const known = openBefore.find((one) => one.loop === loop)
    if (!known || known.index === index) continue
    for (const nodeId of outputs.keys()) if (graph.sectionOf.get(nodeId)?.path.includes(loop)) outputs.delete(nodeId)
  }
}

/** State of the run after a block that continues from `handle`. */
export const stateAfter = ({ flow, state }: RunExecution, { node }: StepPosition, handle: string): RunState =>
  leaveStep(flow.graph, state, node.id, handle)

/** Advances the run past a block that continues from `handle`, and keeps the output when a block refers to it. */
export async function advancePast(execution: RunExecution, place: StepPosition, output: unknown, handle: string): Promise<void> {
  const { flow, outputs, budget } = execution
  execution.state = stateAfter(execution, place, handle)
  execution.steps += 1
  const { id } = place.node
  if (flow.referencedNodeIds.has(id)) outputs.set(id, await toPlainJsonInSlices(output, budget))
}

/** Begins the loop of a block over these items and returns the block's output. Throws VALIDATION_ERROR for too many items. */
export function beginLoop(execution: RunExecution, { node }: StepPosition, items: readonly unknown[]): { readonly count: number } {
  const { flow, outputs } = execution
  const { length } = items
  if (length > flowLimits.itemsPerLoop) {
    throw problem('VALIDATION_ERROR', `list may have at most ${flowLimits.itemsPerLoop} items, it has ${length}`)
  }
  execution.items.set(node.id, items)
  execution.state = enterLoop(flow.graph, execution.state, node.id, length)
  execution.steps += 1
  const output = { count: length }
  if (flow.referencedNodeIds.has(node.id)) outputs.set(node.id, output)
  return output
}

/** Kind of a block in a graph. Throws for triggers and unknown types. */
export function blockOf(node: FlowNode): Block {
  const kind: Block | Trigger | undefined = blockKindOf(node.type)
  if (!kind || kind.isTrigger) throw new Error(`${node.type} is no block that runs`)
  return kind
}

/** Builds the input of a step. The settings are rendered when they are read. */
export function stepContextOf(execution: RunExecution, { node, iteration }: StepPosition): StepContext {
  const render: Render = (value, extra) => renderTemplate(value, lookupOf(execution, extra), execution.budget)
  return {
    node,
    get settings() {
      return render(node.config) as StepContext['settings']
    },
    render,
    budget: execution.budget,
    runId: execution.id,
    key: `${execution.id}:${node.id}:${iteration}`,
  }
}

function lookupOf(execution: RunExecution, extra: Readonly<Record<string, unknown>> = {}): Lookup {
  const { outputs } = execution
  return ([root, ...path]) => {
    const isStep = root === 'steps'
    const value = isStep ? outputs.get(path[0] ?? '') : Object.hasOwn(extra, root) ? extra[root] : rootValueOf(execution, root)
    return valueAt(value, isStep ? path.slice(1) : path)
  }
}

function rootValueOf(execution: RunExecution, root: string): unknown {
  if (root === 'trigger') return execution.trigger
  if (root === 'context') return execution.flow.definition.context
  const here = openLoopsOf(execution.state).at(-1)
  if (!here) return undefined
  if (root === 'index') return here.index
  return root === 'item' ? itemsAt(execution, here.loop)[here.index] : undefined
}

/**
 * Items of an open loop. When they are not in memory, the loop's list is rendered again: it gives the same items, since no value that it
 * refers to changes while the loop is open.
 */
function itemsAt(execution: RunExecution, loop: string): readonly unknown[] {
  const known = execution.items.get(loop)
  if (known) return known
  const { graph } = execution.flow
  const node = graph.nodeById.get(loop) as FlowNode
  const { work } = blockOf(node)
  const depth = openLoopsOf(execution.state).findIndex((open) => open.loop === loop)
  const outside: RunExecution = { ...execution, state: { ...execution.state, frames: execution.state.frames.slice(0, depth + 1) } }
  const items = 'loops' in work ? work.loops(stepContextOf(outside, { node, iteration: '' })) : []
  execution.items.set(loop, items)
  return items
}
