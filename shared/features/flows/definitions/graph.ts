import type { FlowNode } from '#shared/core/automation/node.ts'
import type { FlowDefinition, FlowEdge } from '#shared/features/flows/definitions/definition.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Blocks that run together: those outside of any loop, or the body of one loop. */
export interface Section {
  /** Id of the loop that repeats the section; null for the blocks outside of loops. */
  readonly loop: string | null
  /**
   * The blocks without the trigger, in topological order. The block of a nested loop is one of them; the blocks of the nested loop's body
   * are not.
   */
  readonly nodes: readonly FlowNode[]
  /** Ids of the loops around the section, outermost first; the loop that repeats the section is the last. */
  readonly path: readonly string[]
}

/** Validated graph of a definition. */
export interface Graph {
  readonly trigger: FlowNode | undefined
  readonly nodeById: ReadonlyMap<string, FlowNode>
  /** Sections by loop id; the flow's own under the empty text. */
  readonly sections: ReadonlyMap<string, Section>
  /** Section by block id. */
  readonly sectionOf: ReadonlyMap<string, Section>
  /** Ids of the blocks that an output leads to. */
  readonly targets: (nodeId: string, handle: string) => readonly string[]
}

/** Properties of a kind of block that the graph depends on. */
export interface BlockShape {
  readonly isTrigger: boolean
  readonly handles: readonly string[]
  readonly isLoop: boolean
  /** Whether the block makes a run wait for a time; blocks that do not depend on such a block run before it. */
  readonly isWait: boolean
}

/**
 * Builds the graph of a definition. Throws VALIDATION_ERROR naming the block or connection and the rule
 * (docs/contract/flows.md#definition).
 */
export function buildGraph(
  { nodes, edges }: Pick<FlowDefinition, 'nodes' | 'edges'>,
  shapeOf: (type: string) => BlockShape | undefined,
): Graph {
  const nodeById = uniqueNodes(nodes)
  const shapes = new Map(nodes.map((node) => [node.id, knownShape(node, shapeOf)]))
  const trigger = onlyTrigger(nodes, shapes)
  const targetsByHandle = mapTargets(edges, nodeById, shapes)
  const order = sortTopologically(nodes, edges, shapes)
  const bodies = bodiesOf(order, edges, shapes, targetsByHandle)
  const sections = sectionsOf(order, bodies, shapes)
  const sectionOf = new Map([...sections.values()].flatMap((section) => section.nodes.map((node) => [node.id, section] as const)))
  return { trigger, nodeById, sections, sectionOf, targets: (nodeId, handle) => targetsByHandle.get(nodeId)?.get(handle) ?? [] }
}

type Shapes = ReadonlyMap<string, BlockShape>
/** Targets by block and handle. */
type TargetsByHandle = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

const validationError = (message: string) => problem('VALIDATION_ERROR', message)

function uniqueNodes(nodes: readonly FlowNode[]): ReadonlyMap<string, FlowNode> {
  const byId = new Map<string, FlowNode>()
  for (const [index, node] of nodes.entries()) {
    if (byId.has(node.id)) throw validationError(`nodes[${index}].id ${node.id} is the id of another block, too`)
    byId.set(node.id, node)
  }
  return byId
}

function knownShape({ id, type }: FlowNode, shapeOf: (type: string) => BlockShape | undefined): BlockShape {
  const shape = shapeOf(type)
  if (!shape) throw validationError(`${id}: there is no block of the type ${type.slice(0, 100)}`)
  return shape
}

function onlyTrigger(nodes: readonly FlowNode[], shapes: Shapes): FlowNode | undefined {
  const triggers = nodes.filter(({ id }) => shapes.get(id)?.isTrigger)
  const [first, second] = triggers
  if (second) throw validationError(`${second.id} is a second trigger beside ${first?.id}: a flow has one`)
  if (!first && nodes.length > 0) throw validationError('a flow with blocks must have a trigger among them')
  return first
}

function mapTargets(edges: readonly FlowEdge[], nodeById: ReadonlyMap<string, FlowNode>, shapes: Shapes): TargetsByHandle {
  const targetsByHandle = new Map<string, Map<string, string[]>>()
  const ids = new Set<string>()
  for (const [index, { id, source, source_handle, target }] of edges.entries()) {
    if (ids.has(id)) throw validationError(`edges[${index}].id ${id} is the id of another connection, too`)
    ids.add(id)
    if (!nodeById.has(source)) throw validationError(`edges[${index}].source ${source.slice(0, 100)} is no block of the flow`)
    if (!nodeById.has(target)) throw validationError(`edges[${index}].target ${target.slice(0, 100)} is no block of the flow`)
    if (shapes.get(target)?.isTrigger) throw validationError(`edges[${index}].target ${target} is the trigger, to which nothing leads`)
    const handles = shapes.get(source)?.handles ?? []
    if (!handles.includes(source_handle)) {
      throw validationError(
        `edges[${index}].source_handle ${source_handle.slice(0, 100)} is no output of ${source}, which has ${handles.join(', ')}`,
      )
    }
    const ofSource = targetsByHandle.get(source) ?? new Map<string, string[]>()
    targetsByHandle.set(source, ofSource)
    const ofHandle = ofSource.get(source_handle) ?? []
    ofSource.set(source_handle, ofHandle)
    if (!ofHandle.includes(target)) ofHandle.push(target)
  }
  return targetsByHandle
}

/** Sorts blocks topologically and otherwise by their order in the definition; blocks that wait for a time come as late as possible. */
function sortTopologically(nodes: readonly FlowNode[], edges: readonly FlowEdge[], shapes: Shapes): readonly FlowNode[] {
  const pending = new Map(nodes.map(({ id }) => [id, 0]))
  const targets = new Map<string, string[]>(nodes.map(({ id }) => [id, []]))
  for (const { source, target } of edges) {
    pending.set(target, (pending.get(target) ?? 0) + 1)
    targets.get(source)?.push(target)
  }
  const indexById = new Map(nodes.map(({ id }, index) => [id, index]))
  const isLate = (id: string) => shapes.get(id)?.isWait ?? false
  const before = (one: string, other: string) =>
    Number(isLate(one)) - Number(isLate(other)) || (indexById.get(one) ?? 0) - (indexById.get(other) ?? 0)
  const ready = nodes.flatMap(({ id }) => (pending.get(id) === 0 ? [id] : []))
  const ordered: FlowNode[] = []
  while (ready.length > 0) {
    ready.sort(before)
    const id = ready.shift() as string
    ordered.push(nodes[indexById.get(id) as number] as FlowNode)
    for (const target of targets.get(id) ?? []) {
      const left = (pending.get(target) ?? 0) - 1
      pending.set(target, left)
      if (left === 0) ready.push(target)
    }
  }
  if (ordered.length < nodes.length) {
    const inLoop = nodes.find(({ id }) => (pending.get(id) ?? 0) > 0)
    throw validationError(`${inLoop?.id} leads back to itself: a flow has no loops but those of logic.for_each`)
  }
  return ordered
}

/**
 * Body of each loop: all blocks reachable from the `loop` output. Throws VALIDATION_ERROR when a block is reachable from the `done` output,
 * too, or when an edge leads into the body from outside.
 */
function bodiesOf(
  order: readonly FlowNode[],
  edges: readonly FlowEdge[],
  shapes: Shapes,
  targetsByHandle: TargetsByHandle,
): ReadonlyMap<string, ReadonlySet<string>> {
  const bodies = new Map<string, ReadonlySet<string>>()
  for (const { id } of order) {
    if (!shapes.get(id)?.isLoop) continue
    const body = reachableFrom(targetsByHandle, targetsByHandle.get(id)?.get('loop') ?? [])
    const after = reachableFrom(targetsByHandle, targetsByHandle.get(id)?.get('done') ?? [])
    const both = [...body].find((inside) => after.has(inside))
    if (both !== undefined)
      throw validationError(`${both} follows both the loop and the done output of ${id}: it would run inside the loop and after it`)
    const entering = edges.find(({ source, target }) => body.has(target) && !body.has(source) && source !== id)
    if (entering)
      throw validationError(`${entering.target} is inside the loop ${id} but follows ${entering.source}, which is outside of it`)
    bodies.set(id, body)
  }
  return bodies
}

function reachableFrom(targetsByHandle: TargetsByHandle, from: readonly string[]): Set<string> {
  const reached = new Set<string>()
  const pending = [...from]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (reached.has(id)) continue
    reached.add(id)
    for (const targets of targetsByHandle.get(id)?.values() ?? []) pending.push(...targets)
  }
  return reached
}

function sectionsOf(
  order: readonly FlowNode[],
  bodies: ReadonlyMap<string, ReadonlySet<string>>,
  shapes: Shapes,
): ReadonlyMap<string, Section> {
  // A nested loop comes after its outer loop in the order, so the last loop that contains a block is the innermost.
  const loopsAround = (id: string) => [...bodies].flatMap(([loop, body]) => (body.has(id) ? [loop] : []))
  const ofSection = Map.groupBy(
    order.filter(({ id }) => !shapes.get(id)?.isTrigger),
    ({ id }) => loopsAround(id).at(-1) ?? '',
  )
  const sectionFor = (loop: string | null, path: readonly string[]): Section => ({ loop, nodes: ofSection.get(loop ?? '') ?? [], path })
  return new Map([
    ['', sectionFor(null, [])],
    ...[...bodies.keys()].map((loop) => [loop, sectionFor(loop, [...loopsAround(loop), loop])] as const),
  ])
}
