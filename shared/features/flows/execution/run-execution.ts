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
  const asked = [...flow.referencedNodeIds].flatMap((nodeId) => {
    const iteration = flow.graph.nodeById.has(nodeId) ? lastIterationOf(flow.graph, state, nodeId) : undefined
    return iteration === undefined ? [] : [{ nodeId, iteration }]
  })
  if (asked.length === 0) return
  const places = [asked.map(({ nodeId }) => nodeId), asked.map(({ iteration }) => iteration)]
  const rows = await db.query<{ node_id: string; output: unknown }>(findOutputs(workspaceId, id, ...places))
  for (const { node_id, output } of rows) outputs.set(node_id, await toPlainJsonInSlices(output, budget))
}

/** Keeps a step's output in memory when a block refers to it. */
export function rememberOutput({ flow, outputs }: RunExecution, nodeId: string, output: unknown): void {
  if (flow.referencedNodeIds.has(nodeId)) outputs.set(nodeId, output)
}

/** Drops the outputs of a loop's previous iteration. */
export function dropIterationOutputs({ flow: { graph }, outputs }: RunExecution, loop: string): void {
  for (const nodeId of outputs.keys()) if (graph.sectionOf.get(nodeId)?.path.includes(loop)) outputs.delete(nodeId)
}

/** Kind of a block in a graph. Throws for triggers and unknown types. */
export function blockOf(node: FlowNode): Block {
  const kind: Block | Trigger | undefined = blockKindOf(node.type)
  if (!kind || kind.isTrigger) throw new Error(`${node.type} is no block that runs`)
  return kind
}

/** Builds the input of a step. */
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

function lookupOf(execution: RunExecution, extra?: Readonly<Record<string, unknown>>): Lookup {
  const { flow, trigger, outputs } = execution
  return ([root, ...path]) => {
    if (extra && Object.hasOwn(extra, root)) return valueAt(extra[root], path)
    if (root === 'trigger') return valueAt(trigger, path)
    if (root === 'context') return valueAt(flow.definition.context, path)
    if (root === 'steps') return stepAt(outputs, path)
    const here = openLoopsOf(execution.state).at(-1)
    if (!here) return undefined
    if (root === 'index') return path.length === 0 ? here.index : undefined
    return root === 'item' ? valueAt(itemsAt(execution, here.loop)[here.index], path) : undefined
  }
}

function stepAt(outputs: ReadonlyMap<string, unknown>, [nodeId = '', ...path]: readonly string[]): unknown {
  return valueAt(outputs.get(nodeId), path)
}

/** Items of an open loop. Rendering the list again gives the same items, since nothing that it refers to changes. */
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
